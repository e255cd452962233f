//! A harness for sessions: calls the session's API in one place, and records what follows.

use std::collections::BTreeMap;

use serde_json::json;

use crate::content::{Content, Tool, ToolStatus};
use crate::id::{MessageId, RequestId, SessionId};
use crate::message::{Draft, Message, Seq};
use crate::notice::{Event, Notice, Resumed, TurnEvent};
use crate::process::Exit;
use crate::request::{Answers, Choice, Request, Verdict};
use crate::session::{
    Change, Command, Decision, Effect, EndReason, Interruption, QueueChoice, Refusal, Reply,
    Report, Session, Stamp, ToolUpdate,
};
use crate::state::{SessionState, StateKind};
use crate::time::Timestamp;
use crate::turn::{Stop, Turn};
use crate::update::{OpenMessages, Update, UpdateStamp, append};

/// A session, its messages and state as a store would keep them, and the requests that were ever asked in it.
pub(super) struct Scene {
    pub(super) session: Session,
    pub(super) messages: Vec<Message>,
    pub(super) states: BTreeMap<StateKind, SessionState>,
    pub(super) requests: Vec<Request>,
    pub(super) open: OpenMessages,
    changes: u64,
    prompts: u8,
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
        let mut next = scene.session.summary().last_seq;
        match scene.step(step) {
            Ok(decision) => {
                for change in &decision.changes {
                    if matches!(change, Change::Begin(_)) {
                        next = next.next();
                    }
                    lines.push(written(change, next));
                }
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
        Self {
            session: Session::new(Timestamp::from_millis(0)),
            messages: Vec::new(),
            states: BTreeMap::new(),
            requests: Vec::new(),
            open: OpenMessages::default(),
            changes: 0,
            prompts: 0,
        }
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
        let command = self.command(word);
        let decision = self.session.handle(command)?;
        for change in &decision.changes {
            self.changes += 1;
            let at = Timestamp::from_millis(self.changes as i64 * 1000);
            self.session.apply(change, at);
            self.store(change, at);
        }
        Ok(decision)
    }

    fn store(&mut self, change: &Change, at: Timestamp) {
        let summary = self.session.summary();
        let stamp = UpdateStamp {
            session_id: SessionId::from_random([1; 16]),
            id: MessageId::from_random([self.changes as u8; 16]),
            seq: summary.last_seq,
            rev: summary.rev,
            at,
        };
        if let Change::Replace { seq, .. } = change {
            self.open.reopen(self.messages[seq.get() as usize - 1].clone());
        }
        if let Change::Seen = change {
            return;
        }
        match self.open.apply(change.clone(), stamp).expect("the message is open") {
            Update::Message(message) => {
                self.remember(&message.content);
                let at = message.seq.get() as usize - 1;
                match self.messages.get_mut(at) {
                    Some(there) => *there = (*message).clone(),
                    None => self.messages.push((*message).clone()),
                }
            }
            Update::Delta(delta) => {
                let message = &mut self.messages[delta.seq.get() as usize - 1];
                append(&mut message.content, &delta.text);
                (message.rev, message.updated_at) = (delta.rev, delta.at);
            }
            Update::State { state, .. } => {
                self.states.insert(state.kind(), (*state).clone());
            }
        }
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

    pub(super) fn command(&mut self, word: &str) -> Command {
        let last = |kind: &str| {
            let of_kind = |request: &&Request| request_kind(request) == kind;
            self.requests.iter().rev().find(of_kind).cloned()
        };
        let settle = |kind: &str, verdict| Command::Settle {
            request: last(kind).map_or(RequestId::from_random([9; 16]), |request| request.id()),
            verdict,
        };
        let count = self.requests.len() as u8 + 1;
        self.prompts += 1;
        let id = MessageId::from_random([100 + self.prompts % 100; 16]);
        let stamp = Stamp { id, at: Timestamp::from_millis(self.changes as i64 * 1000) };
        let queued = self.session.queue().last().map_or(id, |prompt| prompt.id);
        match word {
            "prompt" => Command::Prompt { prompt: "p".to_owned().into(), stamp },
            "blank" => Command::Prompt { prompt: " \n".to_owned().into(), stamp },
            "edit" => Command::EditQueued { id: queued, text: "edited".to_owned(), by: None },
            "remove" => Command::RemoveQueued { id: queued },
            "send" => Command::SendQueued { id: queued },
            "move" => Command::MoveQueued { id: queued, to: 0 },
            "stop" => Command::CancelTurn { queue: QueueChoice::Send },
            "stop-keep" => Command::CancelTurn { queue: QueueChoice::Keep },
            "stop-all" => Command::CancelTurn { queue: QueueChoice::Discard },
            "see" => Command::See,
            "close" => Command::CloseStream,
            "complete" => Command::Complete { reason: EndReason::User },
            "cancel" => Command::Cancel { reason: EndReason::User },
            "resume" => Command::Resume,
            "rename" => Command::Rename { title: " renamed ".to_owned() },
            "archive" => Command::Archive,
            "unarchive" => Command::Unarchive,
            "allow" => settle("permission", choose("yes")),
            "answer" => settle("question", answers()),
            "reject" => settle("question", Verdict::Reject { reason: None }),
            "timeout" => settle("question", Verdict::TimeOut),
            "late-answer" => Command::SettleLate {
                by: None,
                request: last("question").unwrap_or_else(|| question(count)),
                seq: self.question_place(),
                verdict: answers(),
                stamp,
            },
            "recover" => Command::Recover(Interruption::Ended),
            word => match word.strip_prefix("prompt:") {
                Some(text) => Command::Prompt { prompt: text.to_owned().into(), stamp },
                None => Command::Agent(self.report(word, count, last("permission"))),
            },
        }
    }

    fn question_place(&self) -> Seq {
        let is_question = |message: &&Message| matches!(message.content, Content::Question(_));
        self.messages.iter().rfind(is_question).map_or(Seq::START, |message| message.seq)
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
            "spend" => Report::State(SessionState::Usage(crate::content::Usage::default())),
            "wait" => Report::Noticed(Notice::new(TurnEvent::Waiting { place: 1 })),
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
        if self.session.pending().len() > 0 {
            text.push_str(&format!(", {} pending", self.session.pending().len()));
        }
        if self.session.queue().len() > 0 {
            text.push_str(&format!(", {} queued", self.session.queue().len()));
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

/// One line for one change; `next` is the place of a message that begins.
fn written(change: &Change, next: Seq) -> String {
    match change {
        Change::Begin(Draft { role, content, turn, .. }) => {
            let role = json!(role).as_str().unwrap().to_owned();
            let turn =
                turn.as_ref().map_or_else(String::new, |turn| format!(", turn {}", told(turn)));
            format!("  {next} begins: {role} {}{turn}", shown(content))
        }
        Change::Append { seq, text } => format!("  {seq} grows: {text:?}"),
        Change::Close { seq } => format!("  {seq} is whole"),
        Change::Replace { seq, content } => format!("  {seq} is now: {}", shown(content)),
        Change::Turn { seq, turn } => format!("  {seq} turn {}", told(turn)),
        Change::State(SessionState::Queue { prompts, held }) => {
            format!("  queue of {}{}", prompts.len(), if *held { ", held" } else { "" })
        }
        Change::Seen => "  seen".to_owned(),
        Change::Described { title, .. } => format!("  described: {title:?}"),
        Change::State(state) => format!("  {}", state.kind().as_str()),
    }
}

fn told(turn: &Turn) -> String {
    let value = json!(turn);
    let words = ["status", "stopReason", "why"].into_iter().filter_map(|word| value[word].as_str());
    words.collect::<Vec<_>>().join(" ")
}

fn shown(content: &Content) -> String {
    let piece = |text: &str, partial: bool| {
        let mut first = text.lines().next().unwrap_or_default().to_owned();
        if text.contains('\n') {
            first.push('…');
        }
        format!("\"{first}\"{}", if partial { " partial" } else { "" })
    };
    match content {
        Content::Text { text, partial, .. } => format!("text {}", piece(text, *partial)),
        Content::Thinking { text, partial } => format!("thinking {}", piece(text, *partial)),
        Content::Plan { .. } => "plan".to_owned(),
        Content::Tool(Tool { tool, status, .. }) => {
            format!("tool {tool} {}", json!(status).as_str().unwrap())
        }
        Content::Permission(record) => format!("permission {}", record.state.status()),
        Content::Question(record) => format!("question {}", record.state.status()),
        Content::Notice(notice) => event(&notice.event),
    }
}

fn event(event: &Event) -> String {
    let value = json!(event);
    let details = ["event", "turn", "stopReason", "why", "how", "reason"];
    let words = details.into_iter().filter_map(|detail| value.get(detail));
    words.map(|word| word.to_string().replace('"', "")).collect::<Vec<_>>().join(" ")
}
