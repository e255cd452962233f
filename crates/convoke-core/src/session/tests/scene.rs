//! A stage for sessions: speaks the session's API in one place, and writes down what follows.

use serde_json::json;

use crate::content::{Content, Tool, ToolStatus};
use crate::id::{MessageId, RequestId, SessionId};
use crate::message::{Message, Role, Seq};
use crate::notice::{Event, Resumed};
use crate::process::Exit;
use crate::request::{Answers, Choice, Request, Verdict};
use crate::session::{Command, Cut, Decision, Effect, Refusal, Reply, Report, Session, ToolUpdate};
use crate::time::Timestamp;
use crate::turn::Stop;

/// A session, its log, and the requests that were ever asked in it.
pub(super) struct Scene {
    pub(super) session: Session,
    pub(super) log: Vec<Message>,
    pub(super) requests: Vec<Request>,
}

/// Plays words against a new session.
pub(super) fn play(script: &str) -> String {
    play_from(&script.split_whitespace().collect::<Vec<_>>())
}

/// Plays steps against a new session; `prompt:` may be followed by any text.
pub(super) fn play_from(steps: &[&str]) -> String {
    let mut scene = Scene::new();
    let mut lines = Vec::new();
    for step in steps {
        lines.push(step.split(':').next().unwrap().to_owned());
        match scene.step(step) {
            Ok(decision) => {
                let first = scene.log.len() - decision.drafts.len();
                lines.extend(scene.log[first..].iter().map(written));
                lines.extend(decision.effects.iter().map(|effect| scene.effect(effect)));
            }
            Err(refusal) => lines.push(format!("  refused: {refusal}")),
        }
    }
    lines.push(scene.ending());
    lines.join("\n")
}

impl Scene {
    pub(super) fn new() -> Self {
        let session = Session::new(Timestamp::from_millis(0));
        Self { session, log: Vec::new(), requests: Vec::new() }
    }

    pub(super) fn played(script: &str) -> Self {
        let mut scene = Self::new();
        for word in script.split_whitespace() {
            scene.step(word).unwrap();
        }
        scene
    }

    /// Gives the session a command, and stores and applies what follows.
    pub(super) fn step(&mut self, word: &str) -> Result<Decision, Refusal> {
        let decision = self.session.handle(self.command(word))?;
        for draft in decision.drafts.clone() {
            let number = self.log.len() as u64 + 1;
            let at = Timestamp::from_millis(number as i64 * 1000);
            let id = MessageId::from_random([number as u8; 16]);
            let message = draft.stamp(id, SessionId::from_random([1; 16]), Seq::new(number), at);
            self.session.apply(&message);
            self.remember(&message.content);
            self.log.push(message);
        }
        Ok(decision)
    }

    /// Seconds at which the session was last active.
    pub(super) fn active_at(&self) -> i64 {
        self.session.summary().last_active_at.as_millis() / 1000
    }

    fn remember(&mut self, content: &Content) {
        let request = if let Content::Permission(record) = content {
            Request::Permission(record.clone())
        } else if let Content::Question(record) = content {
            Request::Questions(record.clone())
        } else {
            return;
        };
        self.requests.retain(|known| known.id() != request.id());
        self.requests.push(request);
    }

    pub(super) fn command(&self, word: &str) -> Command {
        let last = |kind: &str| {
            let of_kind = |request: &&Request| request_kind(request) == kind;
            self.requests.iter().rev().find(of_kind).cloned()
        };
        let settle = |kind: &str, verdict| Command::Settle {
            request: last(kind).map_or(RequestId::from_random([9; 16]), |request| request.id()),
            verdict,
        };
        let count = self.requests.len() as u8 + 1;
        match word {
            "prompt" => Command::Prompt { text: "p".to_owned() },
            "blank" => Command::Prompt { text: " \n".to_owned() },
            "stop" => Command::CancelTurn,
            "stop-all" => Command::CancelTurns,
            "complete" => Command::Complete { reason: "user".to_owned() },
            "cancel" => Command::Cancel { reason: "user".to_owned() },
            "resume" => Command::Resume,
            "rename" => Command::Rename { title: " renamed ".to_owned() },
            "archive" => Command::Archive,
            "unarchive" => Command::Unarchive,
            "allow" => settle("permission", choose("yes")),
            "answer" => settle("question", answers()),
            "reject" => settle("question", Verdict::Reject { reason: None }),
            "timeout" => settle("question", Verdict::TimeOut),
            "late-answer" => Command::SettleLate {
                request: last("question").unwrap_or_else(|| question(count)),
                verdict: answers(),
            },
            "recover" => Command::Recover(Cut::Ended),
            word => match word.strip_prefix("prompt:") {
                Some(text) => Command::Prompt { text: text.to_owned() },
                None => Command::Agent(self.report(word, count, last("permission"))),
            },
        }
    }

    fn report(&self, word: &str, count: u8, permitted: Option<Request>) -> Report {
        let tool = |update| Report::ToolCalled(ToolUpdate { tool_call_id: "t1".into(), ..update });
        let running = self.session.running().unwrap_or(Seq::START);
        match word {
            "say" => Report::Said("s".to_owned()),
            "silence" => Report::Said(String::new()),
            "think" => Report::Thought("t".to_owned()),
            "plan" => Report::Planned(Vec::new()),
            "tool" => tool(ToolUpdate { tool: Some("read".into()), ..ToolUpdate::default() }),
            "rename-tool" => tool(ToolUpdate {
                tool: Some("write".into()),
                args: Some(json!({"path": "a"})),
                ..ToolUpdate::default()
            }),
            "finish-tool" => {
                tool(ToolUpdate { status: Some(ToolStatus::Complete), ..ToolUpdate::default() })
            }
            "spend" => Report::Spent(crate::content::Usage::default()),
            "ask" => Report::Asked(permission(count)),
            "question" => Report::Asked(question(count)),
            "withdraw" => Report::Withdrew(permitted.unwrap_or_else(|| permission(count)).id()),
            "end" => Report::TurnEnded { turn: running, stop: Stop::EndTurn },
            "stale-end" => Report::TurnEnded { turn: Seq::new(1), stop: Stop::EndTurn },
            "exit" => Report::Exited(Exit::default()),
            "fail" => Report::Failed { error: "no such program".to_owned() },
            "resumed" => Report::Resumed(Resumed::Native),
            other => panic!("unknown word {other}"),
        }
    }

    fn effect(&self, effect: &Effect) -> String {
        let Effect::Reply { request, reply } = effect else {
            return format!("  ! {effect:?}");
        };
        let asked = self.requests.iter().find(|known| known.id() == *request).unwrap();
        if let Reply::Answered(_) = reply {
            format!("  ! Reply {} Answered", request_kind(asked))
        } else {
            format!("  ! Reply {} {reply:?}", request_kind(asked))
        }
    }

    fn ending(&self) -> String {
        let summary = self.session.summary();
        let mut text = format!("= {}, settled at {}", summary.status, summary.settled_seq);
        if let Some(title) = &summary.title {
            text.push_str(&format!(", titled {title}"));
        }
        if let Some(turn) = self.session.running() {
            text.push_str(&format!(", running {turn}"));
        }
        if !self.session.pending().is_empty() {
            text.push_str(&format!(", {} pending", self.session.pending().len()));
        }
        if summary.archived {
            text.push_str(", archived");
        }
        text
    }
}

fn request_kind(request: &Request) -> &'static str {
    match request {
        Request::Permission(_) => "permission",
        Request::Questions(_) => "question",
    }
}

fn choose(option_id: &str) -> Verdict {
    Verdict::Choose(Choice { option_id: option_id.to_owned() })
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
    let options = json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]);
    request(json!({"kind": "permission", "title": "Write a file", "options": options}), count)
}

fn question(count: u8) -> Request {
    let questions = json!([{"prompt": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]);
    request(json!({"kind": "questions", "questions": questions}), count)
}

fn request(mut value: serde_json::Value, count: u8) -> Request {
    value["requestId"] = json!(request_id(count));
    value["status"] = json!("pending");
    serde_json::from_value(value).unwrap()
}

/// One line for one message.
fn written(message: &Message) -> String {
    let role = match message.role {
        Role::User => "user",
        Role::Agent => "agent",
        Role::System => "system",
    };
    let piece = |text: &str, partial: Option<bool>| {
        let mut first = text.lines().next().unwrap_or_default().to_owned();
        if text.contains('\n') {
            first.push('…');
        }
        let end = match partial {
            Some(true) => " partial",
            Some(false) => " last",
            None => "",
        };
        format!("\"{first}\"{end}")
    };
    let content = match &message.content {
        Content::Text { text, partial } => format!("text {}", piece(text, *partial)),
        Content::Thinking { text, partial } => format!("thinking {}", piece(text, Some(*partial))),
        Content::Plan { .. } => "plan".to_owned(),
        Content::Tool(Tool { tool, status, .. }) => {
            format!("tool {tool} {}", json!(status).as_str().unwrap())
        }
        Content::Permission(record) => format!("permission {}", record.state.status()),
        Content::Question(record) => format!("question {}", record.state.status()),
        Content::Usage(_) => "usage".to_owned(),
        Content::Notice(notice) => event(&notice.event),
    };
    format!("  {} {role} {content}", message.seq)
}

fn event(event: &Event) -> String {
    let value = json!(event);
    let details = ["event", "turn", "stopReason", "why", "how", "reason"];
    let words = details.into_iter().filter_map(|detail| value.get(detail));
    words.map(|word| word.to_string().replace('"', "")).collect::<Vec<_>>().join(" ")
}
