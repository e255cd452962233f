//! What the tests share: a store in a temporary directory, and conversations to put into it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use convoke_core::content::Content;
use convoke_core::id::{MessageId, ProjectId, RequestId, SessionId};
use convoke_core::message::{Draft, Message, Rev, Seq};
use convoke_core::notice::{Event, Notice};
use convoke_core::session::{Change, Command, Report, Session, Stamp, Summary};
use convoke_core::state::{SessionState, StateKind};
use convoke_core::time::Timestamp;
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{OpenMessages, Update, UpdateStamp, Updates, append};
use convoke_store::{NewProject, NewSession, SessionKind, Store, Sync};

use crate::database::Database;

/// A time, counted from the beginning of every test.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis)
}

/// Sixteen bytes that no other call returns.
pub(crate) fn bytes() -> [u8; 16] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // An odd factor spreads the numbers without making two of them equal.
    let spread = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    spread.to_be_bytes()
}

/// A store with one project, in a database of the kind that this program tests.
pub(crate) struct World {
    pub(crate) database: Database,
    pub(crate) store: Store,
    pub(crate) project: ProjectId,
}

impl World {
    pub(crate) async fn new() -> Self {
        let database = Database::new();
        let store = database.open().await;
        let project = add_project(&store, "/srv/app").await;
        Self { database, store, project }
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopen(&mut self) {
        self.store.close().await;
        self.store = self.database.open().await;
    }

    /// A session that has just begun.
    pub(crate) async fn talk(&self) -> Talk {
        self.talk_in(self.project, SessionKind::Session, at(0)).await
    }

    pub(crate) async fn talk_in(
        &self,
        project_id: ProjectId,
        kind: SessionKind,
        created_at: Timestamp,
    ) -> Talk {
        let new = NewSession { project_id, kind, created_at, ..new_session(project_id) };
        let id = new.id;
        self.store.create_session(new).await.unwrap();
        Talk::new(id, created_at)
    }
}

pub(crate) async fn add_project(store: &Store, path: &str) -> ProjectId {
    let id = ProjectId::from_random(bytes());
    let new = NewProject { id, name: "app".to_owned(), path: path.into(), added_at: at(0) };
    store.add_project(new).await.unwrap();
    id
}

pub(crate) fn new_session(project_id: ProjectId) -> NewSession {
    NewSession {
        id: SessionId::from_random(bytes()),
        project_id,
        agent: "claude-code".parse().unwrap(),
        kind: SessionKind::Session,
        created_at: at(0),
    }
}

pub(crate) fn request_id() -> RequestId {
    RequestId::from_random(bytes())
}

/// One conversation: the session as the core has it, and its messages and state as they should be stored.
pub(crate) struct Talk {
    pub(crate) id: SessionId,
    pub(crate) session: Session,
    pub(crate) messages: Vec<Message>,
    pub(crate) state: BTreeMap<StateKind, (Rev, SessionState)>,
    open: OpenMessages,
    now: Timestamp,
}

/// What one call of `record` stores.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) updates: Updates,
    pub(crate) summary: Summary,
}

impl Talk {
    pub(crate) fn new(id: SessionId, created_at: Timestamp) -> Self {
        Self {
            id,
            session: Session::new(created_at),
            messages: Vec::new(),
            state: BTreeMap::new(),
            open: OpenMessages::default(),
            now: at(0),
        }
    }

    /// What would be recorded next, a millisecond after the last.
    pub(crate) fn next(&mut self, changes: impl IntoIterator<Item = Change>) -> Batch {
        self.next_at(Timestamp::from_millis(self.now.as_millis() + 1), changes)
    }

    pub(crate) fn next_at(
        &mut self,
        at: Timestamp,
        changes: impl IntoIterator<Item = Change>,
    ) -> Batch {
        self.now = at;
        let mut updates = Updates::default();
        changes.into_iter().for_each(|change| updates.push(self.apply(change)));
        Batch { updates, summary: self.session.summary().clone() }
    }

    fn apply(&mut self, change: Change) -> Update {
        self.session.apply(&change, self.now);
        let summary = self.session.summary();
        let stamp = UpdateStamp {
            session_id: self.id,
            id: MessageId::from_random(bytes()),
            seq: summary.last_seq,
            rev: summary.rev,
            at: self.now,
        };
        if let Change::Replace { seq, .. } = &change {
            self.open.reopen(self.messages[index(*seq)].clone());
        }
        let update = self.open.apply(change, stamp).expect("the message is open");
        receive(&mut self.messages, &mut self.state, update.clone());
        update
    }

    /// What follows from a command, to be recorded with one call.
    pub(crate) fn decide(&mut self, command: Command) -> Batch {
        let decision = self.session.handle(command).expect("the session follows the command");
        self.next(decision.changes)
    }

    /// Records changes.
    pub(crate) async fn say(&mut self, store: &Store, changes: impl IntoIterator<Item = Change>) {
        let batch = self.next(changes);
        self.record(store, &batch).await.unwrap();
    }

    /// Gives the session a command, and records what follows.
    pub(crate) async fn play(&mut self, store: &Store, command: Command) {
        let batch = self.decide(command);
        if !batch.updates.is_empty() {
            self.record(store, &batch).await.unwrap();
        }
    }

    pub(crate) async fn record(&self, store: &Store, batch: &Batch) -> convoke_store::Result<()> {
        let Batch { updates, summary } = batch.clone();
        store.record(self.id, updates.as_slice(), summary, Sync::Now).await
    }

    /// A whole turn in one commit: a prompt and its answer in pieces.
    pub(crate) async fn turn(&mut self, store: &Store, prompt: &str, answer: &[&str]) {
        let mut updates = Updates::default();
        let commands = std::iter::once(prompts(prompt)).chain(answer.iter().map(|text| says(text)));
        for command in commands {
            self.decide(command).updates.into_iter().for_each(|update| updates.push(update));
        }
        let end = self.ends();
        self.decide(end).updates.into_iter().for_each(|update| updates.push(update));
        let summary = self.session.summary().clone();
        self.record(store, &Batch { updates, summary }).await.unwrap();
    }

    /// The end of the running turn.
    pub(crate) fn ends(&self) -> Command {
        let turn = self.session.running().expect("a turn is running");
        Command::Agent(Report::TurnEnded { turn, stop: Stop::EndTurn })
    }
}

/// Applies an update as every reader does.
pub(crate) fn receive(
    messages: &mut Vec<Message>,
    states: &mut BTreeMap<StateKind, (Rev, SessionState)>,
    update: Update,
) {
    match update {
        Update::Message(message) => {
            let at = index(message.seq);
            if let Some(there) = messages.get_mut(at) {
                *there = (*message).clone();
            } else {
                assert_eq!(messages.len(), at, "a message is missing");
                messages.push((*message).clone());
            }
        }
        Update::Delta(delta) => {
            let message = &mut messages[index(delta.seq)];
            append(&mut message.content, &delta.text);
            (message.rev, message.updated_at) = (delta.rev, delta.at);
        }
        Update::State { rev, state } => {
            states.insert(state.kind(), (rev, (*state).clone()));
        }
    }
}

fn index(seq: Seq) -> usize {
    usize::try_from(seq.get() - 1).unwrap()
}

/// A prompt, as people send it.
pub(crate) fn prompts(text: &str) -> Command {
    let stamp = Stamp { id: MessageId::from_random(bytes()), at: at(0) };
    Command::Prompt { prompt: text.to_owned().into(), stamp }
}

/// A piece of the agent's answer.
pub(crate) fn says(text: &str) -> Command {
    Command::Agent(Report::Said(text.to_owned()))
}

/// A prompt whose turn is over at once.
pub(crate) fn prompt(text: impl Into<String>) -> Change {
    let (text, turn): (String, _) = (text.into(), Turn::Ended(Stop::EndTurn));
    Change::Begin(Draft::prompt(MessageId::from_random(bytes()), text, turn))
}

/// A whole answer.
pub(crate) fn answer(text: impl Into<String>) -> Change {
    Change::Begin(Draft::agent(Content::text(text.into())))
}

/// A message that Convoke records.
pub(crate) fn system(content: impl Into<Content>) -> Change {
    Change::Begin(Draft::system(content))
}

pub(crate) fn notice(event: impl Into<Event>) -> Change {
    system(Notice::new(event))
}
