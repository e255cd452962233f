//! Requests of the agent to the human: permissions and questions.

use convoke_core::bounds::json_bytes;
use convoke_core::id::RequestId;
use convoke_core::question::{Answer, Choice, Limits, Question, check_questions};
use convoke_core::request::{
    PermissionKind, PermissionOption, PermissionRecord, QuestionRecord, Request, State,
};
use convoke_core::session::{PENDING_MAX, Reply, Report};
use serde_json::{Map, Value, json};

use super::tool::full_title;
use super::{Conversation, list, word};
use crate::evidence::{Call, of_call};

const ALLOW: &str = "allow";
const DENY: &str = "deny";
/// Bytes of input of open requests, which must be returned to the agent; further requests are
/// denied.
const INPUTS_BYTES_MAX: usize = 16 << 20;
/// The tool for questions. Its permission request is answered with the answers.
const QUESTION_TOOL: &str = "AskUserQuestion";
/// Above the agent's own limits, which may change; the user interfaces must handle this many.
const QUESTION_LIMITS: Limits = Limits { questions_max: 16, options_max: 32 };

/// An open request of the agent.
#[derive(Debug)]
pub(super) struct Ask {
    /// The agent's id of it.
    wire_id: String,
    /// The arguments of the tool call.
    input: Value,
    subject: Subject,
}

#[derive(Debug)]
enum Subject {
    /// A permission.
    Permission,
    /// A set of questions.
    Questions(Vec<Question>),
}

impl Conversation {
    pub(super) fn handle_request(&mut self, frame: &Value) {
        let (wire_id, request) = (word(frame, "request_id"), &frame["request"]);
        let subtype = word(request, "subtype");
        if subtype != "can_use_tool" {
            let error = format!("Convoke does not take requests of the kind `{subtype}`");
            return self.respond(&json!({
                "subtype": "error", "request_id": wire_id, "error": error,
            }));
        }
        let bytes: usize = self.asked.values().map(|ask| json_bytes(&ask.input)).sum();
        if self.asked.len() >= PENDING_MAX || bytes > INPUTS_BYTES_MAX {
            return self.answer(wire_id, &deny("Too many requests wait for the user already."));
        }
        let id = RequestId::from_random((self.random)());
        let (tool, input) = (word(request, "tool_name"), &request["input"]);
        let tool_call_id = request["tool_use_id"].as_str().map(str::to_owned);
        if let Some(call) = &tool_call_id {
            self.announce(call, tool, input, None);
        }
        let (subject, record) = match questions(tool, input) {
            Some(questions) => {
                let record = QuestionRecord {
                    by: None,
                    request_id: id,
                    questions: questions.clone(),
                    state: State::Pending,
                };
                (Subject::Questions(questions), Request::Questions(record))
            }
            None => {
                let named = Some(tool).filter(|tool| !tool.is_empty());
                let call = Call { tool: named, kind: None, args: input, diffs: &[] };
                let record = PermissionRecord {
                    by: None,
                    request_id: id,
                    tool_call_id,
                    evidence: of_call(call),
                    rules: Vec::new(),
                    tool: named.map(str::to_owned),
                    title: title(request, tool, input),
                    options: options(),
                    state: State::Pending,
                };
                (Subject::Permission, Request::Permission(record))
            }
        };
        let ask = Ask { wire_id: wire_id.to_owned(), input: input.clone(), subject };
        self.asked.insert(id, ask);
        self.report(Report::Asked(record));
    }

    pub(super) fn handle_withdrawal(&mut self, wire_id: &str) {
        let found = self.asked.iter().find(|(_, ask)| ask.wire_id == wire_id).map(|(id, _)| *id);
        if let Some(id) = found {
            self.asked.remove(&id);
            self.report(Report::Withdrew(id));
        }
    }

    pub(super) fn reply(&mut self, request: RequestId, reply: Reply) {
        // The agent may have withdrawn it meanwhile.
        let Some(ask) = self.asked.remove(&request) else { return };
        let answer = match (ask.subject, reply) {
            (Subject::Permission, Reply::Chosen { option_id }) => chosen(&option_id, &ask.input),
            (Subject::Questions(questions), Reply::Answered(answers)) => {
                answered(ask.input, &questions, &answers)
            }
            (Subject::Permission, Reply::Answered(_))
            | (Subject::Questions(_), Reply::Chosen { .. }) => {
                deny("The user's answer does not fit the request.")
            }
            (_, Reply::Rejected { reason }) => {
                let reason = reason.filter(|reason| !reason.trim().is_empty());
                deny(reason.as_deref().unwrap_or("The user does not want this."))
            }
            (_, Reply::TimedOut) => deny(
                "The user did not answer in time. This is not a refusal: do something else that needs no permission, or end your turn and say what you are waiting for.",
            ),
            (_, Reply::Cancelled) => self.take_back(),
        };
        self.answer(&ask.wire_id, &answer);
    }

    /// The response if no answer will come. While its turn is running, it interrupts the agent,
    /// which must not try something else instead.
    fn take_back(&mut self) -> Value {
        const WHY: &str = "The request was cancelled.";
        let Some(turn) = &mut self.turn else { return deny(WHY) };
        turn.interrupted = true;
        json!({"behavior": "deny", "message": WHY, "interrupt": true})
    }

    fn answer(&mut self, wire_id: &str, answer: &Value) {
        self.respond(&json!({"subtype": "success", "request_id": wire_id, "response": answer}));
    }

    fn respond(&mut self, response: &Value) {
        self.send(json!({"type": "control_response", "response": response}));
    }
}

fn deny(message: &str) -> Value {
    json!({"behavior": "deny", "message": message})
}

fn chosen(option_id: &str, input: &Value) -> Value {
    match option_id {
        ALLOW => json!({"behavior": "allow", "updatedInput": input}),
        // Any other reply is not an approval.
        _ => deny("The user denied this."),
    }
}

/// The input with the answers, which the agent's tool reads by the text of the questions.
fn answered(mut input: Value, questions: &[Question], answers: &[Answer]) -> Value {
    let words = |index: usize| {
        let fitting = answers.iter().filter(|answer| answer.question_index == index);
        fitting.flat_map(words_of).collect::<Vec<_>>().join(", ")
    };
    let said = questions.iter().enumerate();
    let said: Map<String, Value> =
        said.map(|(index, question)| (question.prompt.clone(), words(index).into())).collect();
    if let Some(fields) = input.as_object_mut() {
        fields.insert("answers".to_owned(), said.into());
    }
    json!({"behavior": "allow", "updatedInput": input})
}

fn words_of(answer: &Answer) -> Vec<&str> {
    // Several selections take precedence over one, as everywhere.
    let selected = match &answer.selected_options {
        Some(labels) => labels.iter().map(String::as_str).collect(),
        None => answer.selected_option.as_deref().into_iter().collect::<Vec<_>>(),
    };
    selected.into_iter().chain(answer.custom_text.as_deref()).filter(|w| !w.is_empty()).collect()
}

/// The questions, if the request is a valid set of them.
fn questions(tool: &str, input: &Value) -> Option<Vec<Question>> {
    if tool != QUESTION_TOOL {
        return None;
    }
    let questions: Vec<_> = list(input, "questions").iter().map(question).collect();
    check_questions(&questions, QUESTION_LIMITS).is_ok().then_some(questions)
}

fn question(asked: &Value) -> Question {
    let option = |option: &Value| Choice {
        label: word(option, "label").to_owned(),
        description: option["description"].as_str().map(str::to_owned),
    };
    Question {
        prompt: word(asked, "question").to_owned(),
        title: word(asked, "header").to_owned(),
        options: list(asked, "options").iter().map(option).collect(),
        multi_select: asked["multiSelect"] == true,
    }
}

fn title(request: &Value, tool: &str, input: &Value) -> String {
    let shown = request["display_name"].as_str().filter(|name| !name.is_empty()).unwrap_or(tool);
    let title = full_title(shown, input);
    match request["description"].as_str().filter(|text| title == shown && !text.is_empty()) {
        Some(description) => format!("{shown}: {description}"),
        None => title,
    }
}

/// The options of a permission, without the agent's own suggestions, which would be permanent.
fn options() -> Vec<PermissionOption> {
    let option = |id: &str, name: &str, kind| PermissionOption {
        option_id: id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    vec![
        option(ALLOW, "Allow", PermissionKind::AllowOnce),
        option(DENY, "Deny", PermissionKind::RejectOnce),
    ]
}
