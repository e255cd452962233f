//! What the tests share: a store in a temporary directory, and conversations to put into it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use convoke_core::content::Content;
use convoke_core::id::{MessageId, ProjectId, RequestId, SessionId};
use convoke_core::message::{Draft, Message};
use convoke_core::session::{Session, Summary};
use convoke_core::time::Timestamp;
use convoke_store::{NewProject, NewSession, SessionKind, Store};
use tempfile::TempDir;

/// A moment, counted from the beginning of every test.
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

/// A store with one project, in a directory of its own.
pub(crate) struct World {
    folder: TempDir,
    pub(crate) store: Store,
    pub(crate) project: ProjectId,
}

impl World {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("convoke.db"), at(0)).await.unwrap();
        let project = add_project(&store, "/srv/app").await;
        Self { folder, store, project }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("convoke.db")
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopen(&mut self) {
        self.store.close().await;
        self.store = Store::open(self.path(), at(0)).await.unwrap();
    }

    /// A connection of another program, to see or to spoil what is stored.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
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
        Talk { id, state: Session::new(created_at), log: Vec::new() }
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

/// One conversation: its state as the core folds it, and its log as it should be stored.
pub(crate) struct Talk {
    pub(crate) id: SessionId,
    pub(crate) state: Session,
    pub(crate) log: Vec<Message>,
}

impl Talk {
    /// What the next append would be, a millisecond after the last one.
    pub(crate) fn next(
        &mut self,
        drafts: impl IntoIterator<Item = Draft>,
    ) -> (Vec<Message>, Summary) {
        let last = self.log.last().map_or(at(0), |message| message.timestamp);
        self.next_at(Timestamp::from_millis(last.as_millis() + 1), drafts)
    }

    pub(crate) fn next_at(
        &mut self,
        at: Timestamp,
        drafts: impl IntoIterator<Item = Draft>,
    ) -> (Vec<Message>, Summary) {
        let mut messages = Vec::new();
        for draft in drafts {
            let id = MessageId::from_random(bytes());
            let message = draft.stamp(id, self.id, self.state.summary().last_seq.next(), at);
            self.state.apply(&message);
            messages.push(message);
        }
        self.log.extend(messages.iter().cloned());
        (messages, self.state.summary().clone())
    }

    /// Appends to the log.
    pub(crate) async fn say(&mut self, store: &Store, drafts: impl IntoIterator<Item = Draft>) {
        let (messages, summary) = self.next(drafts);
        store.append(self.id, messages, summary).await.unwrap();
    }

    /// A prompt and its answer in pieces, the closing one included.
    pub(crate) async fn turn(&mut self, store: &Store, prompt: &str, answer: &[&str]) {
        let pieces = answer.iter().map(|text| piece(text));
        let drafts = std::iter::once(Draft::user(prompt)).chain(pieces).chain([closing()]);
        self.say(store, drafts).await;
    }
}

/// Some of the agent's words, more follow.
pub(crate) fn piece(text: &str) -> Draft {
    Draft::agent(Content::Text { text: text.to_owned(), partial: Some(true) })
}

/// The end of the agent's words.
pub(crate) fn closing() -> Draft {
    Draft::agent(Content::Text { text: String::new(), partial: Some(false) })
}
