//! Permission requests of the agent: each is asked once and answered exactly once.

use convoke_core::content::Diff;
use convoke_core::evidence::Evidence;
use convoke_core::id::RequestId;
use convoke_core::request::{
    PermissionKind, PermissionOption, PermissionRecord, QuestionRecord, Request, State,
};
use convoke_core::session::{Reply, ToolUpdate};
use serde_json::{Value, json};

use super::files::ProtectedChange;
use super::question::Form;
use super::text::{cut_to, of_block};
use super::tool::name;
use super::wire::{BAD_PARAMS, CANCELLED, Fault, INTERNAL, Outcome};
use crate::evidence::{Call, of_call};

/// Open permission requests; further ones are refused. The session accepts fewer, so this is only a
/// last bound.
const OPEN_MAX: usize = 64;
/// Options of one permission; further ones are dropped.
const OPTIONS_MAX: usize = 16;
/// The longest id of an option; an option with a longer id is left out, since the agent must get
/// its id back unchanged.
const OPTION_ID_BYTES_MAX: usize = 1 << 10;
/// The longest title or name; longer ones are cut.
const TITLE_BYTES_MAX: usize = 4 << 10;
/// The addition to the title if an agent offers no option to allow it once.
const ONLY_FOR_GOOD: &str = " (it cannot be allowed: the agent offers no way to allow it once, and Convoke passes on no other)";
/// Fewer changes than this of one call are certainly complete: a message that is too long keeps
/// more.
const DIFFS_MAX: usize = 16;
const ALLOW: &str = "allow";
const DENY: &str = "deny";
/// The title of a request without one.
const UNTITLED: &str = "The agent asks for permission";

/// The open permission requests.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    open: Vec<Open>,
}

/// An unanswered request.
#[derive(Debug)]
struct Open {
    /// The agent's id of its request.
    id: Value,
    request: RequestId,
    purpose: Purpose,
}

/// The purpose of a permission.
#[derive(Debug)]
enum Purpose {
    /// An action of the agent itself, with the options that it offers.
    Act(Vec<PermissionOption>),
    /// A change of a protected file, which Convoke makes on behalf of the agent.
    Write(ProtectedChange),
    /// Questions to the human.
    Questions(Form),
}

/// The result of a human's answer. The id is that of the agent's request.
#[derive(Debug)]
pub(super) enum Settled {
    Answer {
        id: Value,
        result: Value,
    },
    /// A protected file may be changed.
    Allowed {
        id: Value,
        change: ProtectedChange,
    },
    Denied {
        id: Value,
        change: ProtectedChange,
        fault: Fault,
    },
}

impl Permissions {
    /// Registers a request; `known` is what was reported of the tool call before.
    pub(super) fn ask(
        &mut self,
        id: &Value,
        request: RequestId,
        params: &Value,
        known: Option<&ToolUpdate>,
    ) -> Result<Request, Fault> {
        self.check_room()?;
        let options = params.get("options").and_then(Value::as_array).map(Vec::as_slice);
        let options: Vec<_> =
            options.unwrap_or_default().iter().filter_map(option).take(OPTIONS_MAX).collect();
        // Options that the agent itself would apply permanently are not offered: rules are
        // Convoke's, and can be revoked.
        let (options, for_good): (Vec<_>, Vec<_>) =
            options.into_iter().partition(|option| holds_once(option.kind));
        if options.is_empty() {
            let fault = "a permission needs options to choose from that hold once";
            return Err(Fault::new(BAD_PARAMS, fault));
        }
        let allows = |options: &[PermissionOption], kind| options.iter().any(|it| it.kind == kind);
        let cannot_allow = allows(&for_good, PermissionKind::AllowAlways)
            && !allows(&options, PermissionKind::AllowOnce);
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let title = title(call, known.and_then(known_title));
        let record = PermissionRecord {
            by: None,
            request_id: request,
            tool_call_id: field(call, "toolCallId").map(str::to_owned),
            evidence: evidence(call, known),
            rules: Vec::new(),
            tool: tool(call, known),
            title: if cannot_allow { format!("{title}{ONLY_FOR_GOOD}") } else { title },
            options: options.clone(),
            state: State::Pending,
        };
        self.open.push(Open { id: id.clone(), request, purpose: Purpose::Act(options) });
        Ok(Request::Permission(record))
    }

    /// Registers questions that the agent asks in a form of its own.
    pub(super) fn ask_questions(
        &mut self,
        id: &Value,
        request: RequestId,
        form: Form,
    ) -> Result<Request, Fault> {
        self.check_room()?;
        let questions = form.questions.clone();
        self.open.push(Open { id: id.clone(), request, purpose: Purpose::Questions(form) });
        let record =
            QuestionRecord { by: None, request_id: request, questions, state: State::Pending };
        Ok(Request::Questions(record))
    }

    /// Asks whether a protected file may be changed. No rule allows that.
    pub(super) fn ask_to_write(
        &mut self,
        id: &Value,
        request: RequestId,
        change: ProtectedChange,
    ) -> Result<Request, Fault> {
        self.check_room()?;
        let option = |option_id: &str, name: &str, kind| PermissionOption {
            option_id: option_id.to_owned(),
            name: name.to_owned(),
            kind,
        };
        let record = PermissionRecord {
            by: None,
            request_id: request,
            tool_call_id: Some(change.call.clone()),
            evidence: Some(
                Evidence::Changes { diffs: vec![protected_diff(&change)], omitted_bytes: 0 }
                    .bounded(),
            ),
            rules: Vec::new(),
            tool: None,
            title: cut_to(&protected_title(&change), TITLE_BYTES_MAX),
            options: vec![
                option(ALLOW, "Allow this change", PermissionKind::AllowOnce),
                option(DENY, "Deny", PermissionKind::RejectOnce),
            ],
            state: State::Pending,
        };
        self.open.push(Open { id: id.clone(), request, purpose: Purpose::Write(change) });
        Ok(Request::Permission(record))
    }

    fn check_room(&self) -> Result<(), Fault> {
        if self.open.len() >= OPEN_MAX {
            return Err(Fault::new(INTERNAL, "too many permissions are open already"));
        }
        Ok(())
    }

    /// Handles the decision of the human or of a timeout; `None` if the agent has its answer
    /// already.
    pub(super) fn reply(&mut self, request: RequestId, reply: &Reply) -> Option<Settled> {
        let place = self.open.iter().position(|open| open.request == request)?;
        let Open { id, purpose, .. } = self.open.remove(place);
        let options = match purpose {
            Purpose::Act(options) => options,
            Purpose::Write(change) => return Some(settle_write(id, change, reply)),
            Purpose::Questions(form) => {
                let result = match reply {
                    Reply::Answered(answers) => form.answered(answers),
                    Reply::Rejected { .. } => form.declined(),
                    Reply::Chosen { .. } | Reply::TimedOut | Reply::Cancelled => form.cancelled(),
                };
                return Some(Settled::Answer { id, result });
            }
        };
        let option_id = match reply {
            Reply::Chosen { option_id } => Some(option_id.clone()),
            Reply::Rejected { .. } => rejection(&options),
            Reply::Answered(_) | Reply::TimedOut | Reply::Cancelled => None,
        };
        let outcome = match option_id {
            Some(option_id) => json!({"outcome": "selected", "optionId": option_id}),
            None => json!({"outcome": "cancelled"}),
        };
        Some(Settled::Answer { id, result: json!({"outcome": outcome}) })
    }

    /// Cancels all open requests; returns the agent's ids of them, and their outcomes.
    pub(super) fn cancel_all(&mut self) -> Vec<(Value, Outcome)> {
        let cancelled = |open: Open| match open.purpose {
            Purpose::Act(_) => (open.id, Ok(json!({"outcome": {"outcome": "cancelled"}}))),
            Purpose::Questions(form) => (open.id, Ok(form.cancelled())),
            Purpose::Write(_) => {
                (open.id, Err(Fault::new(CANCELLED, "the turn was cancelled, and nothing written")))
            }
        };
        self.open.drain(..).map(cancelled).collect()
    }

    /// Removes the request with this JSON-RPC id, which the agent has cancelled.
    pub(super) fn withdraw(&mut self, id: &Value) -> Option<RequestId> {
        let place = self.open.iter().position(|open| open.id == *id)?;
        Some(self.open.remove(place).request)
    }
}

/// The option that rejects once.
fn rejection(options: &[PermissionOption]) -> Option<String> {
    let once = options.iter().find(|option| option.kind == PermissionKind::RejectOnce)?;
    Some(once.option_id.clone())
}

fn settle_write(id: Value, change: ProtectedChange, reply: &Reply) -> Settled {
    let why = match reply {
        Reply::Chosen { option_id } if option_id == ALLOW => {
            return Settled::Allowed { id, change };
        }
        Reply::Rejected { reason: Some(reason) } if !reason.trim().is_empty() => {
            format!("the user denied the change: {}", cut_to(reason.trim(), TITLE_BYTES_MAX))
        }
        Reply::Chosen { .. } | Reply::Answered(_) | Reply::Rejected { .. } => {
            "the user denied the change".to_owned()
        }
        Reply::TimedOut => "the user did not answer in time".to_owned(),
        Reply::Cancelled => "the request was cancelled".to_owned(),
    };
    let fault = protected_denied(&change, &why);
    Settled::Denied { id, change, fault }
}

/// The error for the agent when a protected file stays unchanged.
pub(super) fn protected_denied(change: &ProtectedChange, why: &str) -> Fault {
    let path = change.inside.display();
    Fault::new(BAD_PARAMS, format!("{path} is protected and was not changed: {why}"))
}

/// The tool call that shows a change of a protected file, in ACP's format.
pub(super) fn protected_call(change: &ProtectedChange, status: &str) -> Value {
    let Diff { path, old_text, new_text } = protected_diff(change);
    let diff = json!({"type": "diff", "path": path, "oldText": old_text, "newText": new_text});
    json!({
        "toolCallId": change.call,
        "title": protected_title(change),
        "kind": "edit",
        "status": status,
        "content": [diff],
    })
}

fn protected_diff(change: &ProtectedChange) -> Diff {
    Diff {
        path: change.inside.to_string_lossy().into_owned(),
        old_text: change.old.clone(),
        new_text: change.new.clone(),
    }
}

fn protected_title(change: &ProtectedChange) -> String {
    let verb = if change.old.is_some() { "Change" } else { "Create" };
    let path = change.inside.display();
    format!("{verb} {path}, which programs outside of the sandbox obey")
}

const fn holds_once(kind: PermissionKind) -> bool {
    match kind {
        PermissionKind::AllowOnce | PermissionKind::RejectOnce => true,
        PermissionKind::AllowAlways | PermissionKind::RejectAlways => false,
    }
}

/// The evidence of a call: the arguments as the agent gives them, never its title.
fn evidence(call: &Value, known: Option<&ToolUpdate>) -> Option<Evidence> {
    let raw = call.get("rawInput").filter(|args| !args.is_null());
    let args = raw.or_else(|| known?.args.as_ref()).unwrap_or(&Value::Null);
    let announced = known.and_then(|known| known.result.as_ref()).map(|result| &*result.diffs);
    let kind = known.and_then(|known| known.kind.as_deref()).or_else(|| field(call, "kind"));
    // The request decides, not what was announced under the same id.
    let named = name(call);
    let tool = named.as_deref().or_else(|| known?.tool.as_deref());
    let diffs = announced.unwrap_or_default();
    let evidence = of_call(Call { tool, kind, args, diffs })?;
    match evidence {
        // Only the beginning of very long lists of changes is stored, and this one may be cut.
        Evidence::Changes { diffs, omitted_bytes: 0 } if diffs.len() >= DIFFS_MAX => {
            Some(Evidence::Changes { diffs, omitted_bytes: 1 })
        }
        Evidence::Changes { .. }
        | Evidence::Command { .. }
        | Evidence::Read { .. }
        | Evidence::Fetch { .. }
        | Evidence::Tool { .. } => Some(evidence),
    }
}

/// The tool, else the kind of tool.
fn tool(call: &Value, known: Option<&ToolUpdate>) -> Option<String> {
    // `other` covers unrelated tools, so it identifies none.
    let is_sort = |kind: &&str| *kind != "other";
    let reported = known.and_then(|known| known.tool.as_deref());
    let kind = known.and_then(|known| known.kind.as_deref()).or_else(|| field(call, "kind"));
    let named = name(call);
    let tool = named.as_deref().or(reported).or(kind.filter(is_sort))?;
    Some(cut_to(tool, TITLE_BYTES_MAX))
}

/// The title of the call from earlier updates.
fn known_title(known: &ToolUpdate) -> Option<&str> {
    [&known.title, &known.tool, &known.kind].into_iter().find_map(Option::as_deref)
}

/// The title of the request.
fn title(call: &Value, known_title: Option<&str>) -> String {
    let named = field(call, "title").or(known_title).or_else(|| field(call, "name"));
    let Some(title) = named else { return UNTITLED.to_owned() };
    // Some titles are a model's description of a command, or only the name of a tool.
    let command = call.pointer("/rawInput/command").and_then(Value::as_str);
    let detail =
        command.filter(|command| !title.contains(command)).map(str::to_owned).or_else(|| {
            let is_word = !title.contains(char::is_whitespace) && command.is_none();
            let blocks = call.get("content").and_then(Value::as_array).filter(|_| is_word)?;
            blocks.iter().find_map(|block| of_block(block.get("content")?))
        });
    let title = detail.map_or_else(|| title.to_owned(), |detail| format!("{title}: {detail}"));
    cut_to(&title, TITLE_BYTES_MAX)
}

fn field<'a>(call: &'a Value, name: &str) -> Option<&'a str> {
    call.get(name)?.as_str().filter(|text| !text.is_empty())
}

fn option(option: &Value) -> Option<PermissionOption> {
    let option_id = option.get("optionId")?.as_str()?;
    let option_id = Some(option_id.to_owned()).filter(|id| id.len() <= OPTION_ID_BYTES_MAX)?;
    let name = option.get("name").and_then(Value::as_str).unwrap_or(&option_id);
    let kind = match option.get("kind").and_then(Value::as_str) {
        Some("allow_always") => PermissionKind::AllowAlways,
        Some("reject_once") => PermissionKind::RejectOnce,
        Some("reject_always") => PermissionKind::RejectAlways,
        Some("allow_once") => PermissionKind::AllowOnce,
        // An unknown kind of option may be permanent.
        Some(_) | None => PermissionKind::AllowAlways,
    };
    Some(PermissionOption { name: cut_to(name, OPTION_ID_BYTES_MAX), option_id, kind })
}
