//! Broadcasts to every socket: each change that the engine announces is encoded once.

use axum::extract::ws::Utf8Bytes;
use convoke_api::frames::{AgentState, Envelope, ServerFrame};
use convoke_core::id::CanonicalId;
use convoke_engine::{AgentStatus, Archiving, Change, Engine, SessionChange, SessionKind};
use tokio::sync::broadcast;

use crate::view;

/// Frames that a socket may fall behind; then it is closed, and its client reconnects and lists
/// everything again.
const BACKLOG: usize = 1024;

/// A broadcast to every socket.
#[derive(Debug, Clone)]
pub(super) enum Broadcast {
    /// This frame.
    Frame(Utf8Bytes),
    /// Some changes were lost, so clients must list everything again.
    Lost,
}

/// Sends broadcasts to every socket.
#[derive(Clone)]
pub(crate) struct Broadcasts {
    items: broadcast::Sender<Broadcast>,
}

impl Broadcasts {
    /// Follows the engine until it stops.
    pub(crate) fn start(engine: &Engine) -> Self {
        let broadcasts = Self { items: broadcast::Sender::new(BACKLOG) };
        let (sender, changes) = (broadcasts.clone(), engine.follow());
        tokio::spawn(async move { sender.follow(changes).await });
        broadcasts
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Broadcast> {
        self.items.subscribe()
    }

    async fn follow(&self, mut changes: broadcast::Receiver<Change>) {
        loop {
            match changes.recv().await {
                Ok(change) => self.announce(change),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    // Without sockets there is no receiver.
                    self.items.send(Broadcast::Lost).ok();
                }
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    fn announce(&self, change: Change) {
        match change {
            // The sessions of teams have lists of their own.
            Change::SessionCreated(session) if session.stored.kind == SessionKind::Team => {}
            Change::SessionChanged(change) if change.now.stored.kind == SessionKind::Team => {}
            Change::SessionCreated(session) => {
                let session = view::session_item(*session);
                let (session_id, uid) = (session.id.clone(), session.uid);
                let project_id = session.project_id;
                let refused = None;
                let frame =
                    ServerFrame::SessionCreated { session_id, uid, project_id, session, refused };
                self.send(frame);
            }
            Change::SessionErased(stored) => {
                let (session_id, uid) = view::names(&stored);
                self.send(ServerFrame::SessionErased { session_id, uid });
            }
            Change::SessionChanged(change) => self.changed(*change),
            Change::ProjectAdded(project) => {
                self.send(ServerFrame::ProjectAdded { project: view::repo(project) });
            }
            Change::ProjectRemoved(project_id) => {
                self.send(ServerFrame::ProjectRemoved { project_id });
            }
            Change::Agent { agent, session, agent_session, status } => {
                let canonical =
                    agent_session.map(|it| CanonicalId { agent: agent.clone(), agent_session: it });
                self.send(ServerFrame::AgentStatus {
                    cli_type: agent,
                    status: match status {
                        AgentStatus::Starting => AgentState::Starting,
                        AgentStatus::Ready => AgentState::Ready,
                        AgentStatus::Exited => AgentState::Exited,
                    },
                    session_id: canonical.map(|id| id.to_string()),
                    uid: Some(session),
                });
            }
            Change::ChangesUpdated { session, turn } => {
                let (session_id, uid) = view::names(&session);
                let changes = session.changes;
                self.send(ServerFrame::ChangesUpdated { session_id, uid, turn, changes });
            }
            Change::Histories(run) => {
                self.send(ServerFrame::HistoryImport { import: view::history_import(*run) });
            }
            Change::Rules => self.send(ServerFrame::RuleChanged {}),
            Change::Comparison { id } => {
                self.send(ServerFrame::ComparisonChanged { comparison_id: id });
            }
            Change::Inbox { count } => self.send(ServerFrame::InboxChanged { count }),
        }
    }

    fn changed(&self, change: SessionChange) {
        let title = change.new_title().map(str::to_owned);
        let archiving = change.archiving();
        let session = view::session_item(change.now);
        let (session_id, uid) = (session.id.clone(), session.uid);
        if let Some(title) = title {
            let session_id = session_id.clone();
            self.send(ServerFrame::SessionTitleUpdated { session_id, uid, title });
        }
        self.send(ServerFrame::SessionChanged { session: session.clone() });
        match archiving {
            Some(Archiving::Archived) => {
                self.send(ServerFrame::SessionArchived { session_id, uid });
            }
            Some(Archiving::Unarchived) => {
                self.send(ServerFrame::SessionUnarchived { session_id, uid, session });
            }
            None => {}
        }
    }

    fn send(&self, frame: ServerFrame) {
        match Envelope::push(frame).to_text() {
            // Without sockets there is no receiver.
            Ok(text) => drop(self.items.send(Broadcast::Frame(text.into()))),
            Err(error) => tracing::error!("a frame for every socket cannot be written: {error}"),
        }
    }
}
