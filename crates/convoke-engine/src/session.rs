//! One task per session: the only writer of its log.
//!
//! Callers post requests to the task. The core decides, the store persists, watchers are notified, effects are carried
//! out, and only then is the caller answered.

mod capture;
pub(crate) mod choices;
mod clocks;
mod command;
mod effects;
pub(crate) mod history;
mod holding;
mod import;
mod load;
mod moving;
mod progress;
mod quota;
mod refusing;
pub(crate) mod registry;
mod replay;
mod ruling;
mod seating;
pub(crate) mod start;
mod task;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use convoke_agents::driver::Order;
use convoke_core::files::{ChangeTotals, OwnWorktree};
use convoke_core::id::{MessageId, RequestId, SessionId};
use convoke_core::prompt::Prompt;
use convoke_core::request::{self, Verdict};
use convoke_core::session::{Command, EndReason, Interruption, Reply, Report};
use convoke_core::user::UserName;
use convoke_store::StoredSession;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::histories::HistoryGrowth;
use crate::moving::{self as moves, OutgoingMove, Unpacked};
use crate::sessions::Sessions;
use crate::sessions::{Import, ImportedInto, Prompted};
use crate::view::{Live, SessionView};
pub(crate) use holding::HeldProcess;
use registry::{Entered, Mailbox, Posted};

/// The capacity of a task's mailbox; further senders wait.
const REQUESTS_MAX: usize = 64;

/// A task that failed again within this time after its restart is not restarted.
const LIFE_MIN: Duration = Duration::from_secs(1);

/// The pause before a session is restored whose output could not be stored.
const UNSTORED_PAUSE: Duration = Duration::from_secs(1);

/// A request to a session's task.
#[derive(Debug)]
pub(crate) enum Request {
    /// Handle a command.
    Command { command: Command, reply: Answer<CommandOutcome> },
    /// Send a prompt to the agent; a repeated id is accepted once.
    Prompt { prompt: Prompt, id: Option<MessageId>, reply: Answer<CommandOutcome> },
    /// Complete the session, if it has been idle for this long.
    CompleteIfIdle { longer_than: Duration, reason: EndReason, reply: Answer<Completed> },
    /// Ask the human; the inner channel delivers the reply.
    Ask { request: request::Request, reply: Answer<oneshot::Receiver<Reply>> },
    /// The asker has disconnected.
    Withdraw { request: RequestId, reply: Answer<()> },
    /// Settle a request, pending or not.
    Verdict { request: RequestId, verdict: Verdict, by: Option<UserName>, reply: Answer<()> },
    /// Make sure that a process runs, and send it an order that is not a prompt.
    Order { order: Option<Order>, reply: Answer<()> },
    /// Add turns of a transcript.
    Import { import: Import, reply: Answer<ImportedInto> },
    /// Add what another program wrote of the conversation.
    Grow { growth: Box<HistoryGrowth>, reply: Answer<u64> },
    /// Publish what the session has changed in its files, which is stored already.
    ShowChanges { totals: ChangeTotals, reply: Answer<()> },
    /// Reply when the checkpoint that is being made is done.
    Captured { reply: Answer<()> },
    /// Accept no prompts until the sender is dropped; refused while the agent works.
    Hold { until: oneshot::Receiver<()>, process: HeldProcess, reply: Answer<()> },
    /// Record what became of the session's work tree.
    SetWorktree { worktree: Box<OwnWorktree>, reply: Answer<()> },
    /// Give the session to another machine, and end the task.
    Move { outgoing: Box<OutgoingMove>, reply: Answer<()> },
    /// Stop the agent, and end the task: the session belongs to another machine.
    Leave { _done: oneshot::Sender<()> },
    /// Erase the session, and end the task.
    Erase { reply: Answer<()> },
    /// Reply when all earlier requests are done.
    Settle { reply: Answer<()> },
    /// End the task. The caller notices when the task ends, which drops the sender.
    Stop { _done: oneshot::Sender<()> },
}

impl Request {
    /// Answers with an error. The caller may have stopped waiting.
    fn refuse(self, error: Error) {
        match self {
            Self::Command { reply, .. } | Self::Prompt { reply, .. } => {
                drop(reply.send(Err(error)));
            }
            Self::CompleteIfIdle { reply, .. } => drop(reply.send(Err(error))),
            Self::Ask { reply, .. } => drop(reply.send(Err(error))),
            Self::Import { reply, .. } => drop(reply.send(Err(error))),
            Self::Grow { reply, .. } => drop(reply.send(Err(error))),
            Self::Hold { reply, .. } | Self::SetWorktree { reply, .. } => {
                drop(reply.send(Err(error)));
            }
            Self::Order { reply, .. }
            | Self::Verdict { reply, .. }
            | Self::Withdraw { reply, .. }
            | Self::ShowChanges { reply, .. }
            | Self::Captured { reply }
            | Self::Move { reply, .. }
            | Self::Erase { reply }
            | Self::Settle { reply } => drop(reply.send(Err(error))),
            Self::Stop { .. } | Self::Leave { .. } => {}
        }
    }
}

/// The reply channel of a request.
pub(crate) type Answer<T> = oneshot::Sender<Result<T>>;

/// The result of a command.
#[derive(Debug)]
pub(crate) struct CommandOutcome {
    /// The session after the command.
    pub(crate) view: SessionView,
    /// The state of the prompt, if the command was one.
    pub(crate) prompt: Option<Prompted>,
}

/// Whether an idle session was completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completed {
    Yes,
    No,
}

/// How a task starts.
pub(crate) enum Begin {
    /// Load the stored session.
    Stored,
    /// Load the stored session and recover it.
    Interrupted(Interruption),
    /// Load the stored session, which has moved here with its files.
    Arrived(Unpacked),
    /// A new session whose agent is already running.
    New {
        /// The session.
        stored: Box<StoredSession>,
        /// The channel of its agent's reports.
        reports: Reports,
        /// Reports to record first.
        first: Vec<Report>,
        /// A command that runs in the session's work tree before its first turn.
        set_up: Option<String>,
    },
}

/// Both ends of the channel from an agent to its session.
pub(crate) type Reports = (mpsc::Sender<Report>, mpsc::Receiver<Report>);

/// Sends a request to a session's task, starting the task first if it is not running.
pub(crate) async fn ask<T>(
    shared: &Arc<Sessions>,
    id: SessionId,
    request: impl FnOnce(Answer<T>) -> Request,
) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    post(shared, id, request(reply)).await?;
    match answer.await {
        Ok(answer) => answer,
        Err(_) if shared.registry.is_stopping() => Err(Error::Stopping),
        Err(_) => Err(shared.gone_or_broken(id).await),
    }
}

/// Posts a request to the task of a session, starting the task first if it is not running.
async fn post(shared: &Arc<Sessions>, id: SessionId, mut request: Request) -> Result<()> {
    loop {
        request = match shared.registry.post(id, request) {
            Posted::Yes => return Ok(()),
            Posted::NoTask(request) => {
                start_task(shared, id).await?;
                request
            }
            Posted::Full(request, mailbox) => {
                // Returns when there is room or the mailbox is closed; the next attempt distinguishes the two.
                drop(mailbox.reserve().await);
                request
            }
        };
    }
}

/// Keeps a session from working until it is dropped.
pub(crate) struct Held(#[expect(dead_code, reason = "its end is what counts")] oneshot::Sender<()>);

/// Refuses prompts of a session until the result is dropped; fails while its agent works.
pub(crate) async fn hold(
    shared: &Arc<Sessions>,
    id: SessionId,
    process: HeldProcess,
) -> Result<Held> {
    let (held, until) = oneshot::channel();
    ask(shared, id, |reply| Request::Hold { until, process, reply }).await?;
    Ok(Held(held))
}

/// Waits for the checkpoint that a session is making. A session without a task makes none.
pub(crate) async fn captured(shared: &Sessions, id: SessionId) -> Result<()> {
    let (reply, answer) = oneshot::channel();
    post_if_running(shared, id, Request::Captured { reply }).await;
    // A task that ends drops the request, and makes no further checkpoint.
    answer.await.unwrap_or(Ok(()))
}

/// Posts a request to the task of a session; without a task the request is dropped.
async fn post_if_running(shared: &Sessions, id: SessionId, request: Request) {
    let mut request = request;
    loop {
        request = match shared.registry.post(id, request) {
            Posted::Yes | Posted::NoTask(_) => return,
            Posted::Full(request, mailbox) => {
                drop(mailbox.reserve().await);
                request
            }
        };
    }
}

/// Starts the task of a session, if it is not running.
///
/// Every request may lead here. The future is a trait object, so that it, and with it the arrival of a moved session,
/// is compiled once and not into every caller.
pub(crate) fn start_task(
    shared: &Arc<Sessions>,
    id: SessionId,
) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
    Box::pin(load_and_start(shared, id))
}

async fn load_and_start(shared: &Arc<Sessions>, id: SessionId) -> Result<()> {
    own_session(shared, id).await?;
    if shared.store.arrival(id).await?.is_none() {
        return begin(shared, id, Begin::Stored);
    }
    // One task at a time, so that files are written once.
    let _arriving = shared.arriving.acquire().await.map_err(|_| Error::Stopping)?;
    if shared.registry.has_task(id) {
        return Ok(());
    }
    // It may have been handed back in the meantime.
    let found = own_session(shared, id).await?;
    let Some(unpacked) = moves::arrival(shared, &found).await? else {
        return begin(shared, id, Begin::Stored);
    };
    begin(shared, id, Begin::Arrived(unpacked))?;
    let (reply, settled) = oneshot::channel();
    post_if_running(shared, id, Request::Settle { reply }).await;
    // A task that ends drops the request; the next request reports why it ended.
    settled.await.unwrap_or(Ok(()))
}

/// A session that belongs to this machine.
async fn own_session(shared: &Sessions, id: SessionId) -> Result<StoredSession> {
    let found = shared.store.session(id).await?;
    let found = found.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
    if found.node != shared.store.node() {
        return Err(Error::OtherNode { session: id });
    }
    Ok(found)
}

/// Ends the task of a session that does not belong to this machine any more, and waits until it has ended.
pub(crate) async fn leave(shared: &Sessions, id: SessionId) {
    let (done, end) = oneshot::channel();
    post_if_running(shared, id, Request::Leave { _done: done }).await;
    // The sender is dropped when the task ends.
    end.await.ok();
}

/// Restores a session that was interrupted when the daemon ended, and waits until that is stored.
pub(crate) async fn recover(shared: &Arc<Sessions>, id: SessionId) -> Result<()> {
    begin(shared, id, Begin::Interrupted(Interruption::Ended))?;
    ask(shared, id, |reply| Request::Settle { reply }).await
}

/// Starts the task of a session; does nothing if it is running.
pub(crate) fn begin(shared: &Arc<Sessions>, id: SessionId, begin: Begin) -> Result<()> {
    if let Some(place) = ReservedTask::reserve(shared, id)? {
        place.begin(begin);
    }
    Ok(())
}

/// A registered task that has not started. Requests wait for it, and fail if it never starts.
pub(crate) struct ReservedTask {
    shared: Arc<Sessions>,
    parts: task::Parts,
    inbox: mpsc::Receiver<Request>,
}

impl ReservedTask {
    /// Registers the task of a session; `None` if it has one.
    pub(crate) fn reserve(shared: &Arc<Sessions>, id: SessionId) -> Result<Option<Self>> {
        let (requests, inbox) = mpsc::channel(REQUESTS_MAX);
        let (live_to, live) = watch::channel(Live::default());
        let published = match shared.registry.enter(id, Mailbox { requests, live }) {
            Entered::Yes(published) => published,
            Entered::AlreadyRunning => return Ok(None),
            Entered::Stopping => return Err(Error::Stopping),
        };
        let parts = task::Parts { id, published, live: live_to };
        Ok(Some(Self { shared: Arc::clone(shared), parts, inbox }))
    }

    /// Removes the registration without starting a task.
    pub(crate) fn leave(self) {
        self.shared.registry.remove(self.parts.id);
    }

    /// Starts the task.
    pub(crate) fn begin(self, begin: Begin) {
        let Self { shared, parts, inbox } = self;
        let (id, was_broken) =
            (parts.id, matches!(begin, Begin::Interrupted(Interruption::Broken)));
        let since = Instant::now();
        let task = tokio::spawn(task::run(Arc::clone(&shared), parts, begin, inbox));
        tokio::spawn(async move {
            let interruption = match task.await {
                Ok(Ok(())) => return,
                Ok(Err(interruption)) => interruption,
                Err(error) => {
                    tracing::error!(session.id = %id, "a session's task panicked: {error}");
                    shared.registry.remove(id);
                    Interruption::Broken
                }
            };
            match interruption {
                // A session that fails again at once is not restarted until the next request for
                // it.
                Interruption::Broken if was_broken && since.elapsed() < LIFE_MIN => return,
                Interruption::Broken | Interruption::Ended | Interruption::Moved => {}
                // Recovered without waiting for a request, so that its turn ends as soon as that can be stored.
                Interruption::Unstored { .. } => tokio::time::sleep(UNSTORED_PAUSE).await,
            }
            match self::begin(&shared, id, Begin::Interrupted(interruption)) {
                Ok(()) | Err(Error::Stopping) => {}
                Err(error) => {
                    tracing::error!(session.id = %id, "a session cannot be restored: {error}");
                }
            }
        });
    }
}
