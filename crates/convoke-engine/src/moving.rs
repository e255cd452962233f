//! Sessions that move to another machine: to which they can, and how they get there.
//!
//! The owner stops the agent, stores the files that go along in the database (`pack`), and hands
//! the session over in one transaction. The new owner writes the files (`unpack`) before the
//! session's task starts there, and its first update completes the move. If a daemon is killed
//! before the transaction, the old owner begins the move again; after it, the new owner completes
//! the move at its next start.
//!
//! A work tree is created anew on the other machine (`worktree`). The old one is removed after the
//! move is complete; if it cannot be created there, the session is handed back to it.

mod cargo;
mod error;
mod pack;
pub(crate) mod remotes;
mod unpack;
mod worktree;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use convoke_core::content::Content;
use convoke_core::id::{NodeId, ProjectId, SessionId};
use convoke_core::notice::{Event, LifecycleEvent, MovedFiles, Notice};
use convoke_core::user::UserName;
use convoke_store::nodes::Node;
use convoke_store::{Error as StoreError, HandOver, Owner, Project, SessionKind, StoredSession};
use tokio::time::Instant;

use crate::blocking::blocking;
use crate::comparisons::is_undecided;
use crate::error::{Error, Result};
use crate::nodes::Nodes;
use crate::projects::Projects;
use crate::session::{self, Request};
use crate::sessions::Sessions;
use crate::view::SessionView;
use crate::worktrees::{LeftWorktree, WorktreeError, moved};

pub(crate) use cargo::Cargo;
pub use error::MoveError;
pub(crate) use pack::pack;
pub(crate) use unpack::{Unpacked, arrival};

/// How long the sender waits for the new owner; after that it is answered, and the move continues.
const ARRIVAL_MAX: Duration = Duration::from_secs(60);
/// How often the sender polls for the arrival.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often this node polls for sessions that moved here, in case the announcement was lost.
const ARRIVALS_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Messages that are searched for the notice of an arrival.
const NOTICE_SEARCH_MAX: u32 = 50;

/// What becomes of the files of a session that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MoveFiles {
    /// They go along, and are written if the folder there has the same commit and no changes.
    Auto,
    /// They go along, and are written after a checkpoint of what is there.
    Restore,
    /// They go along as a checkpoint, and are not written.
    Checkpoint,
    /// They stay.
    Leave,
}

/// What is done about a turn that runs or a request that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveRunning {
    /// The move is refused.
    Refuse,
    /// The turn is stopped, and the requests are withdrawn.
    Stop,
}

/// Where a session is that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveSource {
    /// On a machine that runs.
    Running,
    /// On a machine that is away, with its files.
    Away,
}

/// How a session is to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveOrder {
    /// The machine.
    pub to: NodeId,
    /// The project there.
    pub project: ProjectId,
    /// What becomes of the files.
    pub files: MoveFiles,
    /// What is done about a running turn.
    pub running: MoveRunning,
    /// Where it is.
    pub source: MoveSource,
    /// The user who moves it.
    pub by: Option<UserName>,
}

/// A machine and a project there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The machine.
    pub node: Node,
    /// The project.
    pub project: Project,
}

/// A machine to which a session may move, or why it may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveTarget {
    /// The machine.
    pub node: Node,
    /// The projects there with the same remote.
    pub fitting: Vec<Project>,
    /// The other projects there, which must be chosen.
    pub others: Vec<Project>,
    /// Why it cannot move there by itself.
    pub reason: Option<String>,
}

/// A session that moved.
#[derive(Debug)]
pub struct Moved {
    /// The session.
    pub session: SessionView,
    /// What went along, once it has arrived.
    pub notice: Option<Notice>,
    /// The work tree that could not be removed on this machine.
    pub remains: Option<LeftWorktree>,
}

/// An order, with what its notice needs.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingMove {
    pub(crate) order: MoveOrder,
    /// The name of this machine.
    pub(crate) from: String,
}

/// The moves of sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Moves {
    sessions: Arc<Sessions>,
    projects: Projects,
    nodes: Arc<Nodes>,
}

impl Moves {
    /// Abandons the moves that this daemon began before it was stopped, and starts to record the
    /// remotes of its projects.
    pub(crate) async fn start(
        sessions: &Arc<Sessions>,
        projects: &Projects,
        nodes: &Arc<Nodes>,
    ) -> Result<Self> {
        sessions.store.abandon_moves(None).await?;
        remotes::start(sessions);
        let (sessions, nodes) = (Arc::clone(sessions), Arc::clone(nodes));
        Ok(Self { sessions, projects: projects.clone(), nodes })
    }

    /// The other machines, by name, with their projects.
    pub async fn targets(&self, id: SessionId) -> Result<Vec<MoveTarget>> {
        let session = self.sessions.get(id).await?.stored;
        self.check_kind(&session)?;
        let (nodes, remotes) = (self.nodes.list().await?, self.sessions.store.remotes().await?);
        let mut projects: HashMap<Option<NodeId>, Vec<Project>> = HashMap::new();
        for project in self.projects.list().await? {
            projects.entry(project.node).or_default().push(project);
        }
        let remote = remotes.get(&session.project_id);
        let others = nodes.into_iter().filter(|node| Some(node.id) != session.node);
        let targets = others.map(|node| {
            let there = projects.remove(&Some(node.id)).unwrap_or_default();
            let is_same =
                |project: &Project| remote.is_some() && remotes.get(&project.id) == remote;
            let (fitting, others): (Vec<_>, Vec<_>) = there.into_iter().partition(is_same);
            let reason = match (node.is_away, remote, fitting.len()) {
                (true, ..) => Some(away(&node).to_string()),
                (false, _, 1) => None,
                (false, None, _) => Some(MoveError::NoRemote.to_string()),
                (false, Some(remote), 0) => Some(
                    MoveError::NoProject { remote: remote.clone(), node: node.name.clone() }
                        .to_string(),
                ),
                (false, Some(_), _) => Some(several(&node, &fitting).to_string()),
            };
            MoveTarget { node, fitting, others, reason }
        });
        Ok(targets.collect())
    }

    /// The machine and the project that texts name; without a text for the project, the one with the same remote.
    pub async fn destination(
        &self,
        id: SessionId,
        to: &str,
        project: Option<&str>,
    ) -> Result<Destination> {
        let session = self.sessions.get(id).await?.stored;
        self.check_kind(&session)?;
        let nodes = self.nodes.list().await?;
        let is_named = |node: &&Node| node.name == to || node.id.to_string() == to;
        let node = nodes.iter().find(is_named).cloned().ok_or_else(|| {
            let known = nodes.iter().map(|node| node.name.clone()).collect();
            MoveError::UnknownNode { text: to.to_owned(), known }
        })?;
        if session.node == Some(node.id) {
            return Err(MoveError::SameNode { node: node.name }.into());
        }
        if node.is_away {
            return Err(away(&node));
        }
        let there = self.projects.list().await?.into_iter();
        let there: Vec<Project> = there.filter(|it| it.node == Some(node.id)).collect();
        let project = match project {
            Some(text) => named(&there, text).ok_or_else(|| MoveError::UnknownProject {
                text: text.to_owned(),
                node: node.name.clone(),
            })?,
            None => self.same_remote(&session, &node, there).await?,
        };
        Ok(Destination { node, project })
    }

    /// Moves a session, and waits for a while until it has arrived.
    pub async fn go(&self, id: SessionId, order: MoveOrder) -> Result<Moved> {
        let target = order.to;
        let session = self.sessions.get(id).await?.stored;
        self.check_kind(&session)?;
        if session.node == Some(order.to) {
            let node = self.nodes.name(order.to).await?.unwrap_or_default();
            return Err(MoveError::SameNode { node }.into());
        }
        match (session.node == self.nodes.own(), order.source) {
            (true, MoveSource::Running) => self.depart(id, order).await?,
            (true, MoveSource::Away) => {
                let node = match session.node {
                    Some(id) => self.nodes.name(id).await?.unwrap_or_default(),
                    None => String::new(),
                };
                return Err(MoveError::SourceRuns { node }.into());
            }
            (false, MoveSource::Away) => self.take(&session, order).await?,
            (false, MoveSource::Running) => return Err(Error::OtherNode { session: id }),
        }
        let moved = self.wait(id, target).await?;
        self.check_returned(&moved, target).await?;
        let remains = moved::remove_left(&self.sessions, id).await.unwrap_or_else(|error| {
            tracing::warn!(session.id = %id, "a work tree is not removed yet: {error}");
            None
        });
        Ok(Moved { remains, ..moved })
    }

    /// Fails if the target handed the session back.
    async fn check_returned(&self, moved: &Moved, target: NodeId) -> Result<()> {
        let event = moved.notice.as_ref().map(|notice| &notice.event);
        if let Some(Event::Lifecycle(LifecycleEvent::Moved(session_move))) = event
            && let MovedFiles::Stayed { why: Some(why), .. } = &session_move.files
            && moved.session.stored.node != Some(target)
        {
            let node = self.nodes.name(target).await?.unwrap_or_default();
            return Err(MoveError::Returned { node, why: why.clone() }.into());
        }
        Ok(())
    }

    /// Gives a session of this machine away.
    async fn depart(&self, id: SessionId, order: MoveOrder) -> Result<()> {
        let home = self.sessions.host.home.clone();
        if blocking(move || is_undecided(&home, id)).await? {
            return Err(MoveError::Compared.into());
        }
        let own = self.nodes.own();
        let nodes = self.nodes.list().await?;
        let name = nodes.iter().find(|node| Some(node.id) == own).map(|node| node.name.clone());
        let outgoing = OutgoingMove { order, from: name.unwrap_or_default() };
        let outgoing = Box::new(outgoing);
        session::ask(&self.sessions, id, |reply| Request::Move { outgoing, reply }).await
    }

    /// Takes a session from a machine that is away.
    async fn take(&self, session: &StoredSession, order: MoveOrder) -> Result<()> {
        let MoveOrder { to: target, project, by, .. } = order;
        let source = session.node.ok_or(MoveError::Alone)?;
        let nodes = self.nodes.list().await?;
        let from = nodes.iter().find(|node| node.id == source).map(|node| node.name.clone());
        // The files of a session that has not arrived there are in the database.
        if session.worktree.is_some() && !self.sessions.store.is_moving(session.id).await? {
            return Err(MoveError::WorktreeAway { node: from.unwrap_or_default() }.into());
        }
        let cargo = Cargo::of_away(from.unwrap_or_default(), by).to_json();
        let (session, from) = (session.id, Owner::Away(source));
        let handed =
            self.sessions.store.hand_over(HandOver { session, from, target, project, cargo }).await;
        match handed {
            Err(StoreError::NodeRuns { name }) => {
                return Err(MoveError::SourceRuns { node: name }.into());
            }
            handed => handed?,
        }
        // Other nodes are notified by the database.
        if Some(target) == self.nodes.own() {
            take_arrivals(&self.sessions).await;
        }
        Ok(())
    }

    /// Waits until the new owner has completed the move, or is away.
    async fn wait(&self, id: SessionId, target: NodeId) -> Result<Moved> {
        let deadline = Instant::now() + ARRIVAL_MAX;
        let store = &self.sessions.store;
        while store.is_moving(id).await? {
            let is_away = store.nodes(Some(target)).await?.iter().any(|node| node.is_away);
            if is_away || Instant::now() >= deadline || self.sessions.registry.is_stopping() {
                let session = self.sessions.get(id).await?;
                return Ok(Moved { session, notice: None, remains: None });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let session = self.sessions.get(id).await?;
        let end = session.stored.summary.last_seq.next();
        let page = store.messages_before(id, end, NOTICE_SEARCH_MAX).await?;
        let notice = page.messages.into_iter().rev().find_map(|message| match message.content {
            Content::Notice(notice)
                if matches!(notice.event, Event::Lifecycle(LifecycleEvent::Moved(_))) =>
            {
                Some(notice)
            }
            Content::Notice(_)
            | Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_) => None,
        });
        Ok(Moved { session, notice, remains: None })
    }

    /// Refuses a session that cannot move at all.
    fn check_kind(&self, session: &StoredSession) -> Result<()> {
        if self.nodes.own().is_none() {
            return Err(MoveError::Alone.into());
        }
        let removed = session.worktree.as_ref().and_then(|own| own.removed.as_ref());
        match (session.kind, removed) {
            (SessionKind::Team, _) => Err(Error::TeamSession { session: session.id }),
            (SessionKind::Session, Some(_)) => Err(WorktreeError::Removed.into()),
            (SessionKind::Session, None) => Ok(()),
        }
    }

    async fn same_remote(
        &self,
        session: &StoredSession,
        node: &Node,
        there: Vec<Project>,
    ) -> Result<Project> {
        let remotes = self.sessions.store.remotes().await?;
        let remote = remotes.get(&session.project_id).ok_or(MoveError::NoRemote)?;
        let fits = |project: &Project| remotes.get(&project.id) == Some(remote);
        let mut fitting: Vec<Project> = there.into_iter().filter(fits).collect();
        if fitting.len() > 1 {
            return Err(several(node, &fitting).into());
        }
        let none = || MoveError::NoProject { remote: remote.clone(), node: node.name.clone() };
        Ok(fitting.pop().ok_or_else(none)?)
    }
}

fn away(node: &Node) -> Error {
    Error::NodeAway { name: node.name.clone(), since: node.quiet_for }
}

fn several(node: &Node, fitting: &[Project]) -> MoveError {
    let paths = fitting.iter().map(|project| project.path.display().to_string()).collect();
    MoveError::SeveralProjects { node: node.name.clone(), paths }
}

/// The project with this id, path or name, or the only one whose id begins so.
fn named(there: &[Project], text: &str) -> Option<Project> {
    let path = text.trim_end_matches('/');
    let is_it = |project: &&Project| {
        project.id.to_string() == text
            || project.path.to_str() == Some(path)
            || project.name == text
    };
    let exact: Vec<&Project> = there.iter().filter(is_it).collect();
    let begins = |project: &&Project| text.len() >= 4 && project.id.to_string().starts_with(text);
    let found = if exact.is_empty() { there.iter().filter(begins).collect() } else { exact };
    match found.as_slice() {
        [one] => Some((*one).clone()),
        _ => None,
    }
}

/// Completes the moves of sessions to this machine until the daemon stops.
pub(crate) async fn follow_arrivals(sessions: Arc<Sessions>) {
    // Work trees that cannot be removed; the next start of the daemon tries it again.
    let mut remaining = HashSet::new();
    loop {
        take_arrivals(&sessions).await;
        moved::remove_all_left(&sessions, &mut remaining).await;
        // Polled as well, in case the announcement was lost with its connection.
        let announced = sessions.arrival_announced.notified();
        tokio::select! {
            _ = tokio::time::timeout(ARRIVALS_POLL_INTERVAL, announced) => {}
            () = sessions.registry.stopped() => return,
        }
    }
}

/// Starts the tasks of sessions that have moved here; failures are retried at the next poll.
async fn take_arrivals(sessions: &Arc<Sessions>) {
    let arriving = match sessions.store.arriving().await {
        Ok(arriving) => arriving,
        Err(error) => return tracing::warn!("arriving sessions cannot be listed: {error}"),
    };
    for id in arriving {
        leave_stale(sessions, id).await;
        match session::start_task(sessions, id).await {
            // A session whose work tree cannot be created was handed back.
            Ok(()) | Err(Error::Stopping | Error::OtherNode { .. }) => {}
            Err(error) => {
                tracing::warn!(session.id = %id, "a session cannot arrive yet: {error}");
            }
        }
    }
}

/// Ends a task from before the session moved away and back: it does not have the messages of the
/// time between.
async fn leave_stale(sessions: &Arc<Sessions>, id: SessionId) {
    // A task that completes the move is started under the lock.
    let Ok(_arriving) = sessions.arriving.acquire().await else { return };
    let is_arriving = matches!(sessions.store.arrival(id).await, Ok(Some(_)));
    if is_arriving && sessions.registry.has_task(id) {
        session::leave(sessions, id).await;
    }
}

/// Stops the task and the agent of a session that belongs to another machine now.
pub(crate) async fn leave_if_moved(sessions: &Sessions, id: SessionId) {
    match sessions.store.session(id).await {
        Ok(Some(session)) if session.node != sessions.store.node() => {
            session::leave(sessions, id).await;
        }
        Ok(_) => {}
        Err(error) => {
            tracing::warn!(session.id = %id, "it is unknown whose session it is: {error}");
        }
    }
}

/// The same for all sessions that have a task.
pub(crate) async fn leave_moved(sessions: Arc<Sessions>) {
    for id in sessions.registry.tasks() {
        leave_if_moved(&sessions, id).await;
    }
}
