//! A stage: plays words against a session of the core's, and keeps the log that follows.

use convoke_core::content::{PlanStatus, PlanStep, ToolResult, ToolStatus, Usage};
use convoke_core::id::{MessageId, RequestId, SessionId};
use convoke_core::message::{Message, Seq};
use convoke_core::notice::{Event, Notice, OfferedChoice, Resumed};
use convoke_core::process::Exit;
use convoke_core::request::{Answers, Choice, Request, Verdict};
use convoke_core::session::{Command, Cut, Report, Session, ToolUpdate};
use convoke_core::time::Timestamp;
use convoke_core::turn::Stop;
use serde_json::{Value, json};

/// Every word there is, the common ones more than once.
pub(super) const WORDS: [&str; 41] = [
    "prompt",
    "prompt",
    "prompt",
    "stop",
    "complete",
    "resume",
    "resume",
    "rename",
    "archive",
    "unarchive",
    "allow",
    "answer",
    "reject",
    "timeout",
    "late",
    "recover",
    "say",
    "say",
    "say",
    "think",
    "think",
    "plan",
    "tool",
    "tool",
    "tool2",
    "done",
    "done2",
    "spend",
    "ask",
    "question",
    "withdraw",
    "end",
    "end",
    "end",
    "exit",
    "fail",
    "resumed",
    "modes",
    "mode",
    "wait",
    "advice",
];

/// A session and its log.
pub(super) struct Scene {
    pub(super) session: Session,
    pub(super) log: Vec<Message>,
    requests: Vec<Request>,
}

impl Scene {
    pub(super) fn played<'a>(script: impl IntoIterator<Item = &'a str>) -> Self {
        let session = Session::new(Timestamp::from_millis(0));
        let mut scene = Self { session, log: Vec::new(), requests: Vec::new() };
        script.into_iter().for_each(|word| scene.step(word));
        scene
    }

    /// Gives the session a command, and keeps what follows; a refused one changes nothing.
    fn step(&mut self, word: &str) {
        let Ok(decision) = self.session.handle(self.command(word)) else { return };
        for draft in decision.drafts {
            let number = self.log.len() as u64 + 1;
            let at = Timestamp::from_millis(1_794_736_800_000 + number as i64 * 1000);
            let mut bytes = [0; 16];
            bytes[8..].copy_from_slice(&number.to_be_bytes());
            let id = MessageId::from_random(bytes);
            let message = draft.stamp(id, SessionId::from_random([1; 16]), Seq::new(number), at);
            self.session.apply(&message);
            self.remember(&json!(message.content));
            self.log.push(message);
        }
    }

    fn remember(&mut self, content: &Value) {
        let mut content = content.clone();
        content["kind"] = match content["type"].as_str() {
            Some("permission") => json!("permission"),
            Some("question") => json!("questions"),
            _ => return,
        };
        let request: Request = serde_json::from_value(content).unwrap();
        self.requests.retain(|known| known.id() != request.id());
        self.requests.push(request);
    }

    fn last(&self, kind: &str) -> Option<Request> {
        let of_kind = |request: &&Request| json!(request)["kind"] == kind;
        self.requests.iter().rev().find(of_kind).cloned()
    }

    fn command(&self, word: &str) -> Command {
        let settle = |kind: &str, verdict| Command::Settle {
            request: self.last(kind).map_or(request_id(99), |request| request.id()),
            verdict,
        };
        match word {
            "prompt" => Command::Prompt { text: format!("prompt {}", self.log.len() + 1) },
            "stop" => Command::CancelTurn,
            "complete" => Command::Complete { reason: "user".to_owned() },
            "resume" => Command::Resume,
            "rename" => Command::Rename { title: "renamed".to_owned() },
            "archive" => Command::Archive,
            "unarchive" => Command::Unarchive,
            "allow" => {
                settle("permission", Verdict::Choose(Choice { option_id: "yes".to_owned() }))
            }
            "answer" => settle("questions", answers()),
            "reject" => settle("questions", Verdict::Reject { reason: Some("no".to_owned()) }),
            "timeout" => settle("questions", Verdict::TimeOut),
            "late" => Command::SettleLate {
                request: self.last("questions").unwrap_or_else(|| question(99)),
                verdict: answers(),
            },
            "recover" => Command::Recover(Cut::Ended),
            word => Command::Agent(self.report(word)),
        }
    }

    fn report(&self, word: &str) -> Report {
        let count = self.requests.len() as u8 + 1;
        let turn = self.session.running().unwrap_or(Seq::START);
        match word {
            "say" => Report::Said(format!("s{} ", self.log.len() + 1)),
            "think" => Report::Thought(format!("t{} ", self.log.len() + 1)),
            "plan" => Report::Planned(vec![PlanStep {
                content: format!("step {}", self.log.len() + 1),
                status: PlanStatus::Pending,
                priority: None,
            }]),
            "tool" => tool("t1", None, None),
            "tool2" => tool("t2", None, None),
            "done" => tool("t1", Some(ToolStatus::Complete), Some("out")),
            "done2" => tool("t2", Some(ToolStatus::Error), None),
            "spend" => Report::Spent(Usage {
                input_tokens: Some(self.log.len() as u64),
                ..Usage::default()
            }),
            "ask" => Report::Asked(permission(count)),
            "question" => Report::Asked(question(count)),
            "withdraw" => {
                Report::Withdrew(self.last("permission").map_or(request_id(99), |it| it.id()))
            }
            "end" => Report::TurnEnded { turn, stop: Stop::EndTurn },
            "exit" => Report::Exited(Exit::default()),
            "fail" => Report::Failed { error: "no such program".to_owned() },
            "resumed" => Report::Resumed(Resumed::Native),
            "modes" => noticed(Event::Modes {
                current: "code".to_owned(),
                available: ["code", "plan"].map(mode).into(),
            }),
            "mode" => noticed(Event::Modes { current: "plan".to_owned(), available: Vec::new() }),
            "wait" => noticed(Event::Waiting { place: self.log.len() as u64 }),
            "advice" => noticed(Event::Advice { severity: "info".to_owned() }),
            other => panic!("unknown word {other}"),
        }
    }
}

fn noticed(event: Event) -> Report {
    Report::Noticed(Notice::new(event))
}

fn mode(id: &str) -> OfferedChoice {
    OfferedChoice { id: id.to_owned(), name: id.to_uppercase(), description: None }
}

fn tool(id: &str, status: Option<ToolStatus>, text: Option<&str>) -> Report {
    let result =
        text.map(|text| ToolResult { text: Some(text.to_owned()), ..ToolResult::default() });
    Report::ToolCalled(ToolUpdate {
        tool_call_id: id.to_owned(),
        tool: Some("Read".to_owned()),
        args: Some(json!({"path": "a.txt"})),
        status,
        result,
        ..ToolUpdate::default()
    })
}

fn answers() -> Verdict {
    let value =
        json!([{"questionIndex": 0, "selectedOption": "A", "timestamp": "2026-11-15T10:00:00Z"}]);
    Verdict::Answer(Answers { answers: serde_json::from_value(value).unwrap() })
}

fn request_id(count: u8) -> RequestId {
    let mut bytes = [0; 16];
    bytes[15] = count;
    RequestId::from_random(bytes)
}

fn permission(count: u8) -> Request {
    request(
        count,
        json!({
            "kind": "permission",
            "title": "Read a.txt",
            "toolCallId": "t1",
            "options": [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}],
        }),
    )
}

fn question(count: u8) -> Request {
    let questions = json!([{"prompt": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]);
    request(count, json!({"kind": "questions", "questions": questions}))
}

fn request(count: u8, mut value: Value) -> Request {
    value["requestId"] = json!(request_id(count));
    value["status"] = json!("pending");
    serde_json::from_value(value).unwrap()
}
