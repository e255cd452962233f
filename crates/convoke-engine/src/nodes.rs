//! Several daemons that share a database: this node's lease, announcements of the others, and
//! commands between nodes.
//!
//! A session belongs to the node in whose folder its agent works; only that node writes to it. The others read it from the
//! database, and ask its node for everything else.

mod announcements;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_core::id::{NodeId, ProjectId, SessionId};
use convoke_core::notice::{Notice, TurnEvent};
use convoke_core::session::{Command, Report};
use convoke_core::time::Timestamp;
use convoke_store::nodes::{Beginning, LEASE, Node, NodeCommand, Notice as Announced};
use convoke_store::{Error as StoreError, Store, StoredSession};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior};

use crate::error::{Error, Result};
use crate::moving;
use crate::sessions::Sessions;
use crate::view::SessionView;
use announcements::Announcements;

pub use announcements::ListSubscription;

/// How often the lease is renewed.
const RENEWAL: Duration = Duration::from_secs(LEASE.as_secs() / 3);
/// How long the response to a command is waited for; the longest command starts an agent.
const RESPONSE_MAX: Duration = Duration::from_secs(110);
/// How often a response is polled for, in case its announcement was lost.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How long the names of the nodes are cached; an unknown one is looked up at once.
const NAMES_AGE: Duration = Duration::from_secs(30);
/// How long to wait before a failed write of the server's start is tried again.
const BOOT_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Changes of waiting prompts that a subscriber may fall behind; then it reads those of its session
/// again.
const WAITING: usize = 64;
/// Commands that are read at once.
const COMMANDS: u32 = 100;

/// The nodes, as one of them sees them.
#[derive(Debug)]
pub struct Nodes {
    sessions: Arc<Sessions>,
    store: Store,
    known: Mutex<NodeCache>,
    announcements: Announcements,
    /// Sends a session when a prompt begins or ceases to wait for the session's node.
    waiting: broadcast::Sender<SessionId>,
}

#[derive(Debug, Default)]
struct NodeCache {
    /// The names of the nodes, and when they were read.
    names: Option<(Instant, HashMap<NodeId, String>)>,
    /// Wakes the callers that wait for the response to a command.
    waiting: HashMap<u64, oneshot::Sender<()>>,
}

/// A command that another node sent, and the way to answer it.
#[derive(Debug)]
pub struct Incoming {
    /// The command.
    pub command: NodeCommand,
    read_at: Instant,
    store: Store,
    handed_out: HandedOut,
}

/// Commands that were handed to the executor and are not finished.
type HandedOut = Arc<Mutex<HashSet<u64>>>;

impl Incoming {
    /// Whether the sender's timeout for the response is over.
    pub fn is_forgotten(&self) -> bool {
        self.command.age + self.read_at.elapsed() >= RESPONSE_MAX
    }

    /// Records that it is about to be carried out, if it is still for this node.
    pub async fn begin(&self) -> Result<Beginning> {
        Ok(self.store.begin_command(self.command.id).await?)
    }

    /// Forwards it to the node that its session has moved to; nothing of it was done here.
    pub async fn pass_on(&self) -> Result<()> {
        let passed_on = self.store.pass_on_command(self.command.id).await;
        self.put_back();
        Ok(passed_on?)
    }

    /// Allows it to be handed out again, if it is for this node: its session may have moved away
    /// and back.
    pub fn put_back(&self) {
        locked(&self.handed_out).remove(&self.command.id);
    }

    /// Answers it.
    pub async fn finish(&self, response: String) -> Result<()> {
        Ok(self.store.finish_command(self.command.id, response).await?)
    }
}

impl Nodes {
    pub(crate) fn new(sessions: &Arc<Sessions>) -> Arc<Self> {
        let store = sessions.store.clone();
        Arc::new(Self {
            sessions: Arc::clone(sessions),
            store,
            known: Mutex::default(),
            announcements: Announcements::default(),
            waiting: broadcast::Sender::new(WAITING),
        })
    }

    /// Starts to renew the lease and to follow the other nodes; the commands for this node go to
    /// the receiver.
    pub(crate) fn start(self: &Arc<Self>) -> mpsc::Receiver<Incoming> {
        let (to_executor, commands) = mpsc::channel(1);
        if let Some(notices) = self.store.listen() {
            tokio::spawn(Arc::clone(self).keep_lease());
            tokio::spawn(moving::follow_arrivals(Arc::clone(&self.sessions)));
            tokio::spawn(Arc::clone(self).read_for_lists());
            tokio::spawn(Arc::clone(self).poll());
            tokio::spawn(Arc::clone(self).follow(notices, to_executor));
        }
        commands
    }

    /// The id of this node; none if the database is a file.
    pub fn own(&self) -> Option<NodeId> {
        self.store.node()
    }

    /// All nodes, by name, as they are now.
    pub async fn list(&self) -> Result<Vec<Node>> {
        let nodes = self.store.nodes(None).await?;
        let names = nodes.iter().map(|node| (node.id, node.name.clone())).collect();
        self.known().names = Some((Instant::now(), names));
        Ok(nodes)
    }

    /// The name of a node, which may be half a minute old.
    pub async fn name(&self, id: NodeId) -> Result<Option<String>> {
        let known = self.known().names.as_ref().and_then(|(read_at, names)| {
            names.get(&id).filter(|_| read_at.elapsed() < NAMES_AGE).cloned()
        });
        match known {
            Some(name) => Ok(Some(name)),
            None => Ok(self.list().await?.into_iter().find(|it| it.id == id).map(|it| it.name)),
        }
    }

    /// The other node that a session belongs to, if it does.
    pub async fn of_session(&self, id: SessionId) -> Result<Option<NodeId>> {
        if self.own().is_none() {
            return Ok(None);
        }
        let found = self.store.session(id).await?;
        Ok(found.and_then(|session| session.node).filter(|node| self.own() != Some(*node)))
    }

    /// The other node that a project belongs to, if it does.
    pub async fn of_project(&self, id: ProjectId) -> Result<Option<NodeId>> {
        if self.own().is_none() {
            return Ok(None);
        }
        let found = self.store.project(id).await?;
        Ok(found.and_then(|project| project.node).filter(|node| self.own() != Some(*node)))
    }

    /// The prompts for a session of another node that that node has not begun to execute: their
    /// numbers, when they were sent, and the requests.
    pub async fn waiting_prompts(
        &self,
        session: SessionId,
    ) -> Result<Vec<(u64, Timestamp, String)>> {
        Ok(self.store.waiting_prompts(session).await?)
    }

    /// Withdraws a prompt that waits for its node; returns whether it still waited.
    pub async fn withdraw(&self, command: u64) -> Result<bool> {
        Ok(self.store.withdraw_command(command).await?)
    }

    /// Subscribes to the sessions whose prompts begin or cease to wait.
    pub fn follow_waiting(&self) -> broadcast::Receiver<SessionId> {
        self.waiting.subscribe()
    }

    /// Adds a notice to a session's log that a prompt which had waited for this node was refused:
    /// its sender no longer waits for a response.
    pub async fn add_refused_notice(
        &self,
        session: &str,
        prompt: String,
        why: String,
    ) -> Result<()> {
        let session = self.sessions.find(session).await?;
        let notice = Notice::new(TurnEvent::Refused { prompt, why });
        self.sessions.send_command(session, Command::Agent(Report::Noticed(notice))).await?;
        Ok(())
    }

    /// Sends a command to another node and returns its response.
    ///
    /// A command that may wait is queued for a node that is away; other commands fail with
    /// `NodeAway`. `request` builds the command for the way it is delivered. A command about a
    /// session fails with `OtherNode` if the session belongs to another node, and follows the
    /// session if it moves.
    pub async fn call(
        &self,
        session: Option<SessionId>,
        to: NodeId,
        queue_policy: QueuePolicy,
        request: impl FnOnce(Delivery) -> String,
    ) -> Result<CallOutcome> {
        let node = self.store.nodes(Some(to)).await?.pop();
        let node = node.ok_or(StoreError::UnknownNode { id: to })?;
        if node.is_away && queue_policy == QueuePolicy::Now {
            return Err(Error::NodeAway { name: node.name, since: node.quiet_for });
        }
        let delivery = if node.is_away { Delivery::Later } else { Delivery::Now };
        let id = self.store.post_command(to, session, request(delivery)).await?;
        if node.is_away {
            return Ok(CallOutcome::Queued { node });
        }
        match self.response(id).await? {
            Some(response) => Ok(CallOutcome::Answered(response)),
            None if queue_policy == QueuePolicy::MayQueue => Ok(CallOutcome::Queued { node }),
            None => Err(Error::NodeSilent { name: node.name }),
        }
    }

    /// Waits for the response to a command; `None` when there is none in time.
    async fn response(&self, id: u64) -> Result<Option<String>> {
        let deadline = Instant::now() + RESPONSE_MAX;
        while Instant::now() < deadline {
            let (wake, announced) = oneshot::channel();
            self.known().waiting.insert(id, wake);
            if let Some(response) = self.store.command_response(id).await? {
                self.known().waiting.remove(&id);
                return Ok(Some(response));
            }
            // Polled as well, in case the announcement was lost with its connection.
            tokio::time::timeout(POLL_INTERVAL, announced).await.ok();
        }
        self.known().waiting.remove(&id);
        Ok(None)
    }

    async fn keep_lease(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(RENEWAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.sessions.registry.stopped() => return,
            }
            match self.store.renew_lease().await {
                Ok(()) => {}
                Err(StoreError::Fenced) => {
                    tracing::error!(
                        "another daemon runs with this home's id; all agents are stopped"
                    );
                    self.sessions.registry.stop().await;
                    self.sessions.processes.pool.stop().await;
                    return;
                }
                Err(error) => tracing::warn!("the lease of this node cannot be renewed: {error}"),
            }
        }
    }

    async fn follow(
        self: Arc<Self>,
        mut notices: mpsc::Receiver<Announced>,
        commands: mpsc::Sender<Incoming>,
    ) {
        let own = self.own();
        let taker = Arc::new(tokio::sync::Notify::new());
        tokio::spawn(Arc::clone(&self).take_commands(Arc::clone(&taker), commands));
        loop {
            let notice = tokio::select! {
                notice = notices.recv() => notice,
                () = self.sessions.registry.stopped() => return,
            };
            match notice {
                None => return,
                Some(Announced::Connected) => {
                    self.begin_generation().await;
                    taker.notify_one();
                    tokio::spawn(moving::leave_moved(Arc::clone(&self.sessions)));
                    self.sessions.arrival_announced.notify_one();
                    self.sessions.registry.announce_all();
                    self.sessions.inbox_changed.notify_one();
                }
                Some(Announced::Sessions { node, .. }) if Some(node) == own => {}
                Some(Announced::Sessions { sessions, .. }) => self.announced(sessions),
                Some(Announced::Command(node)) if Some(node) == own => {
                    taker.notify_one();
                    self.sessions.arrival_announced.notify_one();
                }
                Some(Announced::Command(_)) => {}
                Some(Announced::Waiting(session)) => {
                    // Without a client that shows the session there is no receiver.
                    self.waiting.send(session).ok();
                }
                Some(Announced::Response(id)) => {
                    if let Some(wake) = self.known().waiting.remove(&id) {
                        // The receiver is gone if the caller stopped waiting.
                        wake.send(()).ok();
                    }
                }
            }
        }
    }

    /// Begins a new generation of revisions if the server was restarted; the first node that
    /// notices does it. A standby that took over may lack the last commits of its predecessor.
    async fn begin_generation(&self) {
        let Some(boot) = convoke_agents::leftovers::boot() else { return };
        // A server that accepts connections may refuse writes for a while after its start.
        while let Err(error) = self.store.booted(boot.clone()).await {
            tracing::warn!("the start of the database server cannot be recorded: {error}");
            tokio::select! {
                () = tokio::time::sleep(BOOT_RETRY_DELAY) => {}
                () = self.sessions.registry.stopped() => return,
            }
        }
    }

    /// Hands the commands for this node to their executor, one by one and in order.
    async fn take_commands(
        self: Arc<Self>,
        taker: Arc<tokio::sync::Notify>,
        commands: mpsc::Sender<Incoming>,
    ) {
        // The ids of commands that were handed out and are not finished. The highest id would not
        // do: when two nodes send at once, the higher id may be committed first.
        let handed_out = HandedOut::default();
        loop {
            let before = locked(&handed_out).clone();
            let limit = COMMANDS + u32::try_from(before.len()).unwrap_or(COMMANDS);
            match self.store.waiting_commands(limit).await {
                Ok(waiting) => {
                    let ids: HashSet<u64> = waiting.iter().map(|command| command.id).collect();
                    // A command that was put back during the query stays out of the set, and is
                    // handed out again.
                    locked(&handed_out).retain(|id| ids.contains(id));
                    for command in waiting {
                        if before.contains(&command.id) {
                            continue;
                        }
                        locked(&handed_out).insert(command.id);
                        let (read_at, store) = (Instant::now(), self.store.clone());
                        let handed_out = Arc::clone(&handed_out);
                        let incoming = Incoming { command, read_at, store, handed_out };
                        if commands.send(incoming).await.is_err() {
                            return;
                        }
                    }
                }
                Err(error) => tracing::warn!("commands of other nodes cannot be read: {error}"),
            }
            tokio::select! {
                _ = tokio::time::timeout(POLL_INTERVAL, taker.notified()) => {}
                () = self.sessions.registry.stopped() => return,
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, NodeCache> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked(handed_out: &HandedOut) -> MutexGuard<'_, HashSet<u64>> {
    // Each change is one call, so the set is consistent after a panic.
    handed_out.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a command may be queued for a node that is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePolicy {
    /// It is carried out now or not at all.
    Now,
    /// It is queued, as prompts are.
    MayQueue,
}

/// How a command is delivered to its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Its sender waits for the response.
    Now,
    /// It is queued for a node that is away, and its sender does not wait.
    Later,
}

/// What became of a command.
#[derive(Debug)]
pub enum CallOutcome {
    /// The other node answered.
    Answered(String),
    /// It is queued for this node.
    Queued {
        /// The node.
        node: Node,
    },
}

/// A session of another node, from its row in the database alone.
pub(crate) fn remote_view(stored: StoredSession) -> SessionView {
    use convoke_core::session::Activity;
    let activity = match stored.summary.work.running_since {
        Some(_) if stored.is_asking => Activity::Waiting,
        Some(_) => Activity::Running,
        None => Activity::Idle,
    };
    SessionView { stored, activity }
}
