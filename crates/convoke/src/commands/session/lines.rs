//! Messages and entries, in one line each.

use convoke_api::entry::{EntryBody, Permission, QuestionSet, ToolCall};
use convoke_core::bounds::beginning;
use convoke_core::content::{Content, PlanStatus, PlanStep, ToolStatus};
use convoke_core::id::short;
use convoke_core::message::{Message, Role};
use convoke_core::notice::Notice;
use convoke_core::request::Status;
use convoke_core::review;
use convoke_core::turn::Stop;

use crate::output::plain;

/// Characters of a line; the JSON output has the rest.
const LINE_MAX: usize = 120;

/// A message in one line: its seq, its time, the speaker, and the start of its text.
pub(super) fn message(message: &Message) -> String {
    let time = message.timestamp.to_string();
    let time = time.get(11..19).unwrap_or_default();
    let (kind, text) = match &message.content {
        Content::Text { text, review, .. } if message.role == Role::User => {
            ("you", review::words(text, review).into_owned())
        }
        Content::Text { text, .. } => ("agent", text.clone()),
        Content::Thinking { text, .. } => ("thinks", text.clone()),
        Content::Plan { steps } => ("plan", plan(steps)),
        Content::Tool(call) => ("tool", tool(&ToolCall::from(call))),
        Content::Permission(record) => ("asks", permission(&Permission::from(record))),
        Content::Question(record) => ("asks", questions(&QuestionSet::from(record))),
        Content::Notice(Notice { text, .. }) => ("notice", text.clone()),
    };
    let line = one_line(&text);
    format!("{:>5} {time} {kind:<6} {line}", message.seq)
}

/// The end of the turn that a prompt began, in one line.
pub(super) fn turn_ended(prompt: &Message) -> String {
    let time = prompt.updated_at.to_string();
    let time = time.get(11..19).unwrap_or_default();
    format!("{:>5} {time} {:<6} {}", prompt.seq, "notice", Stop::EndTurn.sentence())
}

/// The beginning of a text, in one line.
pub(super) fn one_line(text: &str) -> String {
    let words = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    beginning(&words, LINE_MAX)
}

/// The line of an entry that is not text of the conversation.
pub(super) fn aside(body: &EntryBody) -> Option<String> {
    let text = match body {
        EntryBody::ToolCall(call) => tool(call),
        EntryBody::Plan { steps } => plan(steps),
        EntryBody::Permission(record) => permission(record),
        EntryBody::Question(record) => questions(record),
        EntryBody::Notice(notice) => notice.text.clone(),
        EntryBody::User(_)
        | EntryBody::Assistant(_)
        | EntryBody::Thinking(_)
        | EntryBody::Queue { .. }
        | EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => return None,
    };
    Some(one_line(&text))
}

fn tool(call: &ToolCall) -> String {
    let what = call.title.as_deref().filter(|title| *title != call.name).map_or_else(
        || argument(call).map_or_else(|| call.name.clone(), |it| format!("{} {it}", call.name)),
        |title| format!("{} {title}", call.name),
    );
    match (call.status, &call.error) {
        (ToolStatus::Running, _) => format!("{what} …"),
        (ToolStatus::Complete, _) => what,
        (ToolStatus::Error, Some(error)) => format!("{what}: failed, {error}"),
        (ToolStatus::Error, None) => format!("{what}: failed"),
    }
}

/// The most relevant argument, if there is just one text among them.
fn argument(call: &ToolCall) -> Option<&str> {
    let mut texts = call.args.as_object()?.values().filter_map(|value| value.as_str());
    let first = texts.next()?;
    texts.next().is_none().then_some(first)
}

fn plan(steps: &[PlanStep]) -> String {
    let done = steps.iter().filter(|step| step.status == PlanStatus::Completed).count();
    let current = steps.iter().find(|step| step.status == PlanStatus::InProgress);
    let current = current.map_or_else(String::new, |step| format!(": {}", step.content));
    format!("plan, {done} of {} done{current}", steps.len())
}

fn permission(record: &Permission) -> String {
    let id = short(record.permission_id);
    let title = &record.title;
    match record.verdict() {
        None => format!("{id} permission: {title}"),
        Some(verdict) => {
            let because = record.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{id} permission: {title} → {}{because}", verdict.text())
        }
    }
}

fn questions(set: &QuestionSet) -> String {
    let id = short(set.question_id);
    let prompts: Vec<&str> =
        set.questions.iter().map(|question| question.prompt.as_str()).collect();
    match set.status {
        Status::Pending => format!("{id} {}", prompts.join(" / ")),
        Status::Answered | Status::Rejected | Status::TimedOut | Status::Abandoned => {
            format!("{id} {} → {}", prompts.join(" / "), set.status)
        }
    }
}

/// How to answer a pending request, for users without another interface.
pub(super) fn way_to_answer(body: &EntryBody) -> Option<String> {
    match body {
        EntryBody::Permission(record) if record.status == Status::Pending => {
            let id = short(record.permission_id);
            let title = one_line(&record.title);
            Some(format!(
                "The agent asks for permission: {title}\n  \
                 `convoke inbox allow {id}` or `convoke inbox deny {id}`"
            ))
        }
        EntryBody::Question(set) if set.status == Status::Pending => {
            let id = short(set.question_id);
            let mut text = "The agent asks you:".to_owned();
            for question in &set.questions {
                let labels: Vec<&str> =
                    question.options.iter().map(|it| it.label.as_str()).collect();
                let line = one_line(&format!("{} [{}]", question.prompt, labels.join(" | ")));
                text.push_str(&format!("\n  {line}"));
            }
            let form = r#"'{"0": {"selectedOption": "…"}}'"#;
            Some(format!(
                "{text}\n  `convoke inbox answer {id} --answers {form}` or `convoke inbox reject {id}`"
            ))
        }
        EntryBody::Permission(_)
        | EntryBody::Question(_)
        | EntryBody::User(_)
        | EntryBody::Assistant(_)
        | EntryBody::Thinking(_)
        | EntryBody::ToolCall(_)
        | EntryBody::Plan { .. }
        | EntryBody::Notice(_)
        | EntryBody::Queue { .. }
        | EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => None,
    }
}
