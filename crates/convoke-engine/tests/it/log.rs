//! A session's log as a story: one line for each thing that was said or happened.

use std::time::Duration;

use convoke_core::content::{Content, ToolStatus};
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::{Event, Notice};
use convoke_core::turn::Stop;
use convoke_engine::{Engine, Watcher};
use serde_json::Value;
use tokio::time::timeout;

/// Longer than any machine takes; a test that gets there has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A session's log, as far as it was read.
pub(crate) struct Log {
    watcher: Watcher,
    messages: Vec<Message>,
    story: Vec<String>,
}

impl Log {
    pub(crate) async fn of(engine: &Engine, session: SessionId) -> Self {
        let watcher = engine.watch(session, Seq::START).await.unwrap();
        Self { watcher, messages: Vec::new(), story: Vec::new() }
    }

    /// The next message; there is no gap before it.
    pub(crate) async fn next(&mut self) -> &Message {
        let next = timeout(PATIENCE, self.watcher.next()).await;
        let next = next.unwrap_or_else(|_| panic!("nothing comes after {:#?}", self.story));
        let message = next.unwrap().message.clone();
        let before = self.messages.last().map_or(Seq::START, |message| message.seq);
        assert_eq!(message.seq, before.next(), "a gap or a repetition");
        let is_more = matches!(message.content, Content::Text { partial: Some(_), .. })
            && self.messages.last().is_some_and(|before| is_open(&before.content));
        match (self.story.last_mut(), line(&message)) {
            (Some(last), Some(line)) if is_more => {
                last.push_str(line.strip_prefix("agent: ").unwrap());
            }
            (_, line) => self.story.extend(line),
        }
        self.messages.push(message);
        self.messages.last().unwrap()
    }

    /// Reads on until the story has this line.
    pub(crate) async fn until(&mut self, line: &str) -> &mut Self {
        if self.story.iter().any(|told| told == line) {
            return self;
        }
        loop {
            self.next().await;
            if self.story.last().is_some_and(|last| last == line) {
                return self;
            }
        }
    }

    /// Reads on until a turn has ended, and tells how.
    pub(crate) async fn until_end_of(&mut self, turn: u64) -> Stop {
        loop {
            let ended = self.messages.iter().find_map(|message| end_of(message, turn));
            if let Some(stop) = ended {
                return stop.clone();
            }
            self.next().await;
        }
    }

    /// All that was read so far.
    pub(crate) fn story(&self) -> Vec<String> {
        self.story.clone()
    }

    /// What was read since the last time, or since the beginning.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.story)
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn last_seq(&self) -> Seq {
        self.messages.last().map_or(Seq::START, |message| message.seq)
    }

    /// The text of the prompt or answer whose line begins so.
    pub(crate) fn line(&self, beginning: &str) -> &str {
        let line = self.story.iter().find(|line| line.starts_with(beginning));
        line.unwrap_or_else(|| panic!("no {beginning} in {:#?}", self.story))
    }

    /// How often the story has a line.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.story.iter().filter(|told| *told == line).count()
    }
}

fn is_open(content: &Content) -> bool {
    matches!(content, Content::Text { partial: Some(true), .. })
}

fn end_of(message: &Message, turn: u64) -> Option<&Stop> {
    let Content::Notice(Notice { event: Event::TurnEnded { turn: ended, stop }, .. }) =
        &message.content
    else {
        return None;
    };
    (ended.get() == turn).then_some(stop)
}

/// A message in a line; the empty last piece of an answer has none of its own.
fn line(message: &Message) -> Option<String> {
    Some(match &message.content {
        Content::Text { text, .. } if message.role == Role::User => format!("user: {text}"),
        Content::Text { text, partial: Some(false) } if text.is_empty() => return None,
        Content::Text { text, .. } => format!("agent: {text}"),
        Content::Thinking { text, partial: true } => format!("thought: {text}"),
        Content::Thinking { .. } => return None,
        Content::Plan { steps } => format!("plan of {} steps", steps.len()),
        Content::Tool(tool) => {
            let status = match tool.status {
                ToolStatus::Running => "running",
                ToolStatus::Complete => "complete",
                ToolStatus::Error => "error",
            };
            format!("tool {}: {status}", tool.tool)
        }
        Content::Permission(record) => {
            format!("permission {}: {}", record.title, record.state.status())
        }
        Content::Question(record) => format!("question: {}", record.state.status()),
        Content::Usage(_) => "usage".to_owned(),
        Content::Notice(notice) => happened(&notice.event),
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what no test is about is called by its name")]
fn happened(event: &Event) -> String {
    match event {
        Event::TurnEnded { turn, stop } => format!("turn {turn}: {}", stopped(stop)),
        Event::CancelAsked { turn } => format!("turn {turn}: cancelling"),
        Event::Resumed { how } => format!("resumed: {}", word(serde_json::to_value(how))),
        Event::ProcessExited { exit } => match (exit.exit_code, exit.signal) {
            (Some(code), _) => format!("exited: {code}"),
            (None, Some(signal)) => format!("exited: signal {signal}"),
            (None, None) => "exited".to_owned(),
        },
        Event::Completed { reason } => format!("completed: {reason}"),
        Event::Cancelled { reason } => format!("cancelled: {reason}"),
        Event::Renamed { title } => format!("renamed: {title}"),
        Event::Commands { commands } => format!("commands: {}", commands.len()),
        Event::Modes { current, .. } => format!("mode: {current}"),
        Event::Settings { settings } => format!("settings: {}", settings.len()),
        Event::Waiting { place } => format!("waiting: {place}"),
        Event::RuleMade { tool } => format!("rule made: {tool}"),
        Event::RuleApplied { tool } => format!("rule applied: {tool}"),
        Event::RuleDropped { tool } => format!("rule dropped: {tool}"),
        Event::TurnLimit { max } => format!("turn limit: {max}"),
        event => word(serde_json::to_value(event).map(|value| value["event"].clone())),
    }
}

/// The word that stores and wires have for something.
fn word(value: serde_json::Result<Value>) -> String {
    value.unwrap().as_str().unwrap().to_owned()
}

fn stopped(stop: &Stop) -> String {
    match stop {
        Stop::EndTurn => "end_turn".to_owned(),
        Stop::Cancelled => "cancelled".to_owned(),
        Stop::Refusal => "refusal".to_owned(),
        Stop::MaxTokens => "max_tokens".to_owned(),
        Stop::MaxTurnRequests => "max_turn_requests".to_owned(),
        Stop::Failed(failure) => format!("failed({})", word(serde_json::to_value(failure.why))),
    }
}
