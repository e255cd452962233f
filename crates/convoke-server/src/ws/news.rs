//! What every socket is told by itself: worded once, however many listen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::ws::Utf8Bytes;
use convoke_api::frames::{AgentState, Envelope, ServerFrame};
use convoke_core::id::SessionId;
use convoke_engine::{AgentStatus, Change, Engine, Kind, SessionKind, SessionView};
use tokio::sync::broadcast;

use crate::failure;
use crate::view;

/// News that a socket may fall behind; then it is cut off, comes back, and lists everything again.
const BACKLOG: usize = 1024;
/// Sessions whose titles are remembered; of others a title may be told that is not new.
const KNOWN_MAX: usize = 10_000;

/// Something that every socket is told.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// This frame.
    Frame(Utf8Bytes),
    /// Some news were lost: everything must be listed again.
    Lost,
}

/// What every socket is told.
#[derive(Clone)]
pub(crate) struct News {
    items: broadcast::Sender<Item>,
    known: Arc<Mutex<HashMap<SessionId, Shown>>>,
}

/// What lists show of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    title: Option<String>,
    archived: bool,
}

impl News {
    /// Follows the engine until it stops.
    pub(crate) fn start(engine: &Engine) -> Self {
        let news = Self { items: broadcast::Sender::new(BACKLOG), known: Arc::default() };
        let (teller, engine, changes) = (news.clone(), engine.clone(), engine.follow());
        tokio::spawn(async move { teller.follow(&engine, changes).await });
        news
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Item> {
        self.items.subscribe()
    }

    /// Remembers how a session is shown, so that the next change of it is known to be one.
    pub(super) fn learn(&self, session: &SessionView) {
        let summary = &session.stored.summary;
        self.remember(
            session.stored.id,
            Shown { title: summary.title.clone(), archived: summary.archived },
        );
    }

    fn remember(&self, id: SessionId, shown: Shown) -> Option<Shown> {
        // A map is whole after every step, so whoever panicked with it left it usable.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX && !known.contains_key(&id) {
            known.clear();
        }
        known.insert(id, shown)
    }

    async fn follow(&self, engine: &Engine, mut changes: broadcast::Receiver<Change>) {
        loop {
            match changes.recv().await {
                Ok(change) => self.word(engine, change).await,
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    // Nobody may be listening.
                    self.items.send(Item::Lost).ok();
                }
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    async fn word(&self, engine: &Engine, change: Change) {
        match change {
            // The sessions of teams have lists of their own.
            Change::SessionCreated(session) | Change::SessionChanged(session)
                if session.stored.kind == SessionKind::Team => {}
            Change::SessionCreated(session) => {
                self.learn(&session);
                let session = view::session_item(session);
                let (session_id, uid) = (session.id.clone(), session.uid);
                let project_id = session.project_id;
                self.tell(ServerFrame::SessionCreated { session_id, uid, project_id, session });
            }
            Change::SessionChanged(session) => self.changed(session),
            Change::ProjectAdded(project) => {
                self.tell(ServerFrame::ProjectAdded { project: view::repo(project) });
            }
            Change::ProjectRemoved(project_id) => {
                self.tell(ServerFrame::ProjectRemoved { project_id });
            }
            Change::Agent { agent, session, status } => {
                let named = engine.sessions().get(session).await.ok().map(view::session_item);
                self.tell(ServerFrame::AgentStatus {
                    cli_type: agent,
                    status: match status {
                        AgentStatus::Starting => AgentState::Starting,
                        AgentStatus::Ready => AgentState::Ready,
                        AgentStatus::Exited => AgentState::Exited,
                    },
                    session_id: named.map(|session| session.id),
                    uid: Some(session),
                });
            }
            Change::Inbox => match engine.inbox().list().await {
                Ok(items) => self.tell(ServerFrame::InboxChanged { count: items.len() as u64 }),
                // A daemon that stops has closed its store; nobody is left to tell.
                Err(error) if error.kind() == Kind::Unavailable => {
                    tracing::debug!("the inbox is not told: {}", failure::chain(&error));
                }
                Err(error) => tracing::warn!("the inbox is not told: {}", failure::chain(&error)),
            },
        }
    }

    fn changed(&self, session: SessionView) {
        let summary = &session.stored.summary;
        let now = Shown { title: summary.title.clone(), archived: summary.archived };
        let before = self.remember(session.stored.id, now.clone());
        let item = view::session_item(session);
        let (session_id, uid) = (item.id.clone(), item.uid);
        let had_title = before.as_ref().and_then(|before| before.title.clone());
        if let Some(title) = now.title.filter(|title| had_title.as_ref() != Some(title)) {
            let session_id = session_id.clone();
            self.tell(ServerFrame::SessionTitleUpdated { session_id, uid, title });
        }
        let was_archived = before.map(|before| before.archived);
        self.tell(ServerFrame::SessionChanged { session: item.clone() });
        if now.archived && was_archived != Some(true) {
            self.tell(ServerFrame::SessionArchived { session_id, uid });
        } else if !now.archived && was_archived == Some(true) {
            self.tell(ServerFrame::SessionUnarchived { session_id, uid, session: item });
        }
    }

    fn tell(&self, frame: ServerFrame) {
        match Envelope::push(frame).to_text() {
            // Nobody may be listening.
            Ok(text) => drop(self.items.send(Item::Frame(text.into()))),
            Err(error) => tracing::error!("news cannot be written: {error}"),
        }
    }
}
