//! A session as a story: one line for each message as it stands, in the order of their places.
//!
//! The log is a reader like any other: it replaces messages by their place, appends deltas, and replaces state of a kind.
//! What it has read is the same however the updates came: one by one, joined, or read again from the store.

use std::collections::BTreeMap;
use std::time::Duration;

use convoke_core::content::{Content, ToolStatus};
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Rev, Role, Seq};
use convoke_core::notice::{Event, LifecycleEvent, ProcessEvent, RuleEvent, TurnEvent};
use convoke_core::state::{SessionState, StateKind};
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{self, Delta, Update};
use convoke_engine::{Engine, Watcher};
use serde_json::Value;
use tokio::time::timeout;

/// Longer than any machine takes; a test that gets there has failed.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A session, as far as it was read.
pub(crate) struct Log {
    engine: Engine,
    watcher: Watcher,
    rev: Rev,
    conversation: Conversation,
    /// What was taken is not told again.
    taken: Seq,
}

/// What the updates of a session make.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Conversation {
    messages: BTreeMap<Seq, Message>,
    state: BTreeMap<StateKind, (Rev, SessionState)>,
}

/// A prompt, by its id or by its place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prompt {
    Id(MessageId),
    Place(u64),
}

impl From<MessageId> for Prompt {
    fn from(id: MessageId) -> Self {
        Self::Id(id)
    }
}

impl From<u64> for Prompt {
    fn from(place: u64) -> Self {
        Self::Place(place)
    }
}

impl Conversation {
    /// Takes in an update.
    pub(crate) fn apply(&mut self, update: &Update) {
        match update {
            Update::Message(message) => {
                let before = self.messages.insert(message.seq, (**message).clone());
                if let Some(before) = before {
                    let fixed = |it: &Message| (it.id, it.session_id, it.role, it.timestamp);
                    assert_eq!(fixed(&before), fixed(message), "another message at its place");
                    assert!(before.rev < message.rev, "{before:#?} is not older than {message:#?}");
                }
            }
            Update::Delta(Delta { id, seq, rev, at, text }) => {
                let message = self.messages.get_mut(seq).expect("a delta of a known message");
                assert!(message.id == *id && message.is_open(), "{update:?} for {message:#?}");
                update::append(&mut message.content, text);
                (message.rev, message.updated_at) = (*rev, *at);
            }
            Update::State { rev, state } => {
                self.state.insert(state.kind(), (*rev, (**state).clone()));
            }
        }
    }

    /// Whether a message is missing that is to come: one that changed after others began.
    fn has_gap(&self) -> bool {
        let last = self.messages.keys().next_back();
        last.is_some_and(|last| last.get() != self.messages.len() as u64)
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.messages.values().cloned().collect()
    }

    pub(crate) fn state(&self) -> Vec<(Rev, SessionState)> {
        self.state.values().cloned().collect()
    }

    fn prompt(&self, prompt: Prompt) -> Option<&Message> {
        match prompt {
            Prompt::Id(id) => self.messages.values().find(|message| message.id == id),
            Prompt::Place(place) => self.messages.get(&Seq::new(place)),
        }
    }
}

impl Log {
    pub(crate) async fn of(engine: &Engine, session: SessionId) -> Self {
        let watcher = engine.sessions().watch(session, Rev::START).await.unwrap();
        Self {
            engine: engine.clone(),
            watcher,
            rev: Rev::START,
            conversation: Conversation::default(),
            taken: Seq::START,
        }
    }

    /// Reads the next update; revisions only grow.
    pub(crate) async fn next(&mut self) {
        let next = timeout(TIMEOUT, self.watcher.next()).await;
        let next = next.unwrap_or_else(|_| panic!("nothing comes after {:#?}", self.story()));
        let update = &next.unwrap().update;
        assert!(update.rev() > self.rev, "{update:?} after revision {}", self.rev);
        self.rev = update.rev();
        self.conversation.apply(update);
    }

    /// Reads on until the story has this line, or the state is as it says.
    pub(crate) async fn until(&mut self, line: &str) -> &mut Self {
        while self.conversation.has_gap() || !self.has(line) {
            self.next().await;
        }
        self
    }

    /// Reads on until there is such a message.
    pub(crate) async fn until_message(&mut self, wanted: impl Fn(&Message) -> bool) -> Message {
        loop {
            let found = self.conversation.messages.values().find(|message| wanted(message));
            if let Some(found) = found.filter(|_| !self.conversation.has_gap()) {
                return found.clone();
            }
            self.next().await;
        }
    }

    /// Reads on until a turn has ended and all that was stored with its end, and tells how it ended.
    pub(crate) async fn until_end_of(&mut self, prompt: impl Into<Prompt>) -> Stop {
        let prompt = prompt.into();
        let stop = loop {
            let turn = self.conversation.prompt(prompt).and_then(|message| message.turn.as_ref());
            if let Some(Turn::Ended(stop)) = turn {
                break stop.clone();
            }
            self.next().await;
        };
        self.catch_up().await;
        stop
    }

    /// Reads all that is stored by now.
    pub(crate) async fn catch_up(&mut self) {
        let stored = self.engine.sessions().get(self.watcher.session()).await.unwrap().stored;
        while self.rev < stored.summary.rev {
            self.next().await;
        }
        assert!(!self.conversation.has_gap(), "{:#?}", self.conversation);
    }

    /// All that was read so far.
    pub(crate) fn story(&self) -> Vec<String> {
        let told = self.conversation.messages.values().filter(|message| message.seq > self.taken);
        told.map(line).collect()
    }

    /// What was read since the last time, or since the beginning.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let story = self.story();
        self.taken = self.last_seq();
        story
    }

    pub(crate) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.conversation.messages()
    }

    pub(crate) fn last_seq(&self) -> Seq {
        self.conversation.messages.keys().next_back().copied().unwrap_or_default()
    }

    pub(crate) fn rev(&self) -> Rev {
        self.rev
    }

    /// The state of a kind, and since when it is so.
    pub(crate) fn state(&self, kind: StateKind) -> Option<(Rev, SessionState)> {
        self.conversation.state.get(&kind).cloned()
    }

    /// How the turn of a prompt stands.
    pub(crate) fn turn_of(&self, prompt: impl Into<Prompt>) -> String {
        let prompt = prompt.into();
        let message = self.conversation.prompt(prompt);
        let message = message.unwrap_or_else(|| panic!("no {prompt:?} in {:#?}", self.story()));
        stands(message.turn.as_ref().unwrap())
    }

    /// The line that begins so.
    pub(crate) fn line(&self, beginning: &str) -> String {
        let line = self.story().into_iter().find(|line| line.starts_with(beginning));
        line.unwrap_or_else(|| panic!("no {beginning} in {:#?}", self.story()))
    }

    /// How often the story has a line.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.story().iter().filter(|told| is_line(told, line)).count()
    }

    fn has(&self, line: &str) -> bool {
        let is_state = |(_, state): &(Rev, SessionState)| now_is(state) == line;
        self.count(line) > 0 || self.conversation.state.values().any(is_state)
    }
}

/// Whether a line says this. How the turn of a prompt stands need not be said.
fn is_line(told: &str, line: &str) -> bool {
    told.strip_prefix(line).is_some_and(|rest| rest.is_empty() || rest.starts_with(" → "))
}

/// A message in a line.
fn line(message: &Message) -> String {
    match &message.content {
        Content::Text { text, .. } if message.role == Role::User => {
            match message.turn.as_ref().expect("a prompt has a turn") {
                Turn::Running => format!("user: {text}"),
                turn @ (Turn::Cancelling | Turn::Ended(_)) => {
                    format!("user: {text} → {}", stands(turn))
                }
            }
        }
        Content::Text { text, .. } => format!("agent: {text}"),
        Content::Thinking { text, .. } => format!("thought: {text}"),
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
        Content::Notice(notice) => happened(&notice.event),
    }
}

/// State in a line.
fn now_is(state: &SessionState) -> String {
    match state {
        SessionState::Queue { prompts, .. } => format!("queue: {}", prompts.len()),
        SessionState::Commands { commands } => format!("commands: {}", commands.len()),
        SessionState::Modes { current, .. } => format!("mode: {current}"),
        SessionState::Settings { settings } => format!("settings: {}", settings.len()),
        SessionState::Usage(_) => "usage".to_owned(),
    }
}

fn stands(turn: &Turn) -> String {
    match turn {
        Turn::Running => "running".to_owned(),
        Turn::Cancelling => "cancelling".to_owned(),
        Turn::Ended(stop) => stopped(stop),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what no test is about is called by its name")]
fn happened(event: &Event) -> String {
    match event {
        Event::Turn(TurnEvent::Ended { turn, stop }) => format!("turn {turn}: {}", stopped(stop)),
        Event::Process(ProcessEvent::Resumed { how }) => {
            format!("resumed: {}", word(serde_json::to_value(how)))
        }
        Event::Process(ProcessEvent::Exited { exit }) => match (exit.exit_code, exit.signal) {
            (Some(code), _) => format!("exited: {code}"),
            (None, Some(signal)) => format!("exited: signal {signal}"),
            (None, None) => "exited".to_owned(),
        },
        Event::Lifecycle(LifecycleEvent::Completed { reason }) => format!("completed: {reason}"),
        Event::Lifecycle(LifecycleEvent::Cancelled { reason }) => format!("cancelled: {reason}"),
        Event::Lifecycle(LifecycleEvent::Renamed { title }) => format!("renamed: {title}"),
        Event::Turn(TurnEvent::Waiting { place }) => format!("waiting: {place}"),
        Event::Rule(RuleEvent::Made { rule, .. }) => format!("rule made: {rule}"),
        Event::Rule(RuleEvent::Applied { what, .. }) => format!("rule applied: {what}"),
        Event::Rule(RuleEvent::Denied { what, .. }) => format!("rule denied: {what}"),
        Event::Rule(RuleEvent::Dropped { tool }) => format!("rule dropped: {tool}"),
        Event::Turn(TurnEvent::Limit { max }) => format!("turn limit: {max}"),
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
