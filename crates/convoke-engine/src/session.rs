//! One task a session: the only writer of its log.
//!
//! Callers post requests. The core decides what follows, the store keeps it, watchers get it, and only then is the
//! caller answered and the effect carried out.

mod carry;
mod effects;
mod import;
mod load;
mod progress;
mod quota;
pub(crate) mod registry;
mod replay;
mod seating;
pub(crate) mod start;
mod task;

use std::sync::Arc;
use std::time::Duration;

use convoke_agents::driver::Order;
use convoke_core::id::{MessageId, RequestId, SessionId};
use convoke_core::request::{self, Verdict};
use convoke_core::session::{Command, Cut, EndReason, Reply, Report};
use convoke_store::StoredSession;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::sessions::Sessions;
use crate::sessions::{Import, ImportedInto, Prompted};
use crate::view::{Live, SessionView};
use registry::{Entered, Mailbox, Posted};

/// Requests that may wait for a session's task; one more waits with its sender.
const REQUESTS_MAX: usize = 64;

/// How long a task that restored a broken session must have lived to be followed by another one.
const LIFE_MIN: Duration = Duration::from_secs(1);

/// How long a store that fails is left alone before a session that was cut off by it is restored.
const UNSTORED_PAUSE: Duration = Duration::from_secs(1);

/// What a session's task is asked.
#[derive(Debug)]
pub(crate) enum Request {
    /// Follow a command.
    Carry { command: Command, reply: Answer<Carried> },
    /// Say something to the agent; once, however often the same id is sent.
    Prompt { text: String, id: Option<MessageId>, reply: Answer<Carried> },
    /// Complete, if nothing has happened for so long and nothing goes on.
    CompleteIfIdle { longer_than: Duration, reason: EndReason, reply: Answer<Completed> },
    /// Put this to the human; the answer comes later.
    Ask { request: request::Request, reply: Answer<oneshot::Receiver<Reply>> },
    /// The asker has gone.
    Withdraw { request: RequestId, reply: Answer<()> },
    /// Settle a request, however it stands.
    Verdict { request: RequestId, verdict: Verdict, reply: Answer<()> },
    /// Have a process ready, and send it an order that is no prompt.
    Order { order: Option<Order>, reply: Answer<()> },
    /// Add turns of a transcript.
    Import { import: Import, reply: Answer<ImportedInto> },
    /// Say when everything before this is done.
    Settle { reply: Answer<()> },
    /// End. The caller is answered by the end of the task, which drops the sender.
    Stop { _done: oneshot::Sender<()> },
}

/// Where the answer to a request goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T>>;

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Carried {
    /// The session after it.
    pub(crate) view: SessionView,
    /// Where the prompt is that it was.
    pub(crate) prompt: Option<Prompted>,
}

/// Whether an idle session was completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completed {
    Yes,
    No,
}

/// How a task begins.
pub(crate) enum Begin {
    /// With what is stored.
    Stored,
    /// With what is stored, after something cut it off.
    Cut(Cut),
    /// With a new session, whose agent is running already.
    New {
        /// The session.
        stored: Box<StoredSession>,
        /// What its agent reports.
        reports: Reports,
        /// What is to be noted first.
        first: Vec<Report>,
    },
}

/// Both ends of the way from an agent to its session.
pub(crate) type Reports = (mpsc::Sender<Report>, mpsc::Receiver<Report>);

/// Asks a session's task something, giving it one first if it has none.
pub(crate) async fn ask<T>(
    shared: &Arc<Sessions>,
    id: SessionId,
    request: impl FnOnce(Answer<T>) -> Request,
) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    let mut request = request(reply);
    loop {
        request = match shared.registry.post(id, request) {
            Posted::Yes => break,
            Posted::NoTask(request) => {
                start_task(shared, id).await?;
                request
            }
            Posted::Full(request, mailbox) => {
                // Whether there is room or no mailbox any more: the next try finds out.
                drop(mailbox.reserve().await);
                request
            }
        };
    }
    match answer.await {
        Ok(answer) => answer,
        Err(_) if shared.registry.is_stopping() => Err(Error::Stopping),
        Err(_) => Err(shared.broken(id)),
    }
}

/// Gives a session its task, if it has none.
pub(crate) async fn start_task(shared: &Arc<Sessions>, id: SessionId) -> Result<()> {
    let found = shared.store.session(id).await?;
    found.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
    begin(shared, id, Begin::Stored)
}

/// Restores a session that was cut off when the daemon ended, and waits until that is stored.
pub(crate) async fn recover(shared: &Arc<Sessions>, id: SessionId) -> Result<()> {
    begin(shared, id, Begin::Cut(Cut::Ended))?;
    ask(shared, id, |reply| Request::Settle { reply }).await
}

/// Starts the task of a session; a task that is there already goes on.
pub(crate) fn begin(shared: &Arc<Sessions>, id: SessionId, begin: Begin) -> Result<()> {
    if let Some(place) = Place::reserve(shared, id)? {
        place.begin(begin);
    }
    Ok(())
}

/// The place of a task that has not begun. Requests wait meanwhile, and fail if the task never begins.
pub(crate) struct Place {
    shared: Arc<Sessions>,
    parts: task::Parts,
    inbox: mpsc::Receiver<Request>,
}

impl Place {
    /// Reserves the place of a session's task; `None` when it is taken.
    pub(crate) fn reserve(shared: &Arc<Sessions>, id: SessionId) -> Result<Option<Self>> {
        let (requests, inbox) = mpsc::channel(REQUESTS_MAX);
        let (live_to, live) = watch::channel(Live::default());
        let published = match shared.registry.enter(id, Mailbox { requests, live }) {
            Entered::Yes(published) => published,
            Entered::ThereIsOne => return Ok(None),
            Entered::Stopping => return Err(Error::Stopping),
        };
        let parts = task::Parts { id, published, live: live_to };
        Ok(Some(Self { shared: Arc::clone(shared), parts, inbox }))
    }

    /// Leaves the place without a task.
    pub(crate) fn leave(self) {
        self.shared.registry.remove(self.parts.id);
    }

    /// Starts the task.
    pub(crate) fn begin(self, begin: Begin) {
        let Self { shared, parts, inbox } = self;
        let (id, was_broken) = (parts.id, matches!(begin, Begin::Cut(Cut::Broken)));
        let since = Instant::now();
        let task = tokio::spawn(task::run(Arc::clone(&shared), parts, begin, inbox));
        tokio::spawn(async move {
            let cut = match task.await {
                Ok(Ok(())) => return,
                Ok(Err(cut)) => cut,
                Err(error) => {
                    tracing::error!(session.id = %id, "a session's task broke down: {error}");
                    shared.registry.remove(id);
                    Cut::Broken
                }
            };
            match cut {
                // A session that breaks its task again at once is left alone until the next request for it.
                Cut::Broken if was_broken && since.elapsed() < LIFE_MIN => return,
                Cut::Broken | Cut::Ended => {}
                // Its turn ends as soon as that can be stored, also without a request.
                Cut::Unstored { .. } => tokio::time::sleep(UNSTORED_PAUSE).await,
            }
            match self::begin(&shared, id, Begin::Cut(cut)) {
                Ok(()) | Err(Error::Stopping) => {}
                Err(error) => {
                    tracing::error!(session.id = %id, "a session cannot be restored: {error}");
                }
            }
        });
    }
}
