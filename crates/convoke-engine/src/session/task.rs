//! The task of a session: its event loop and the handling of requests.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use convoke_agents::pool::Seat;
use convoke_core::id::{MessageId, RequestId, SessionId};
use convoke_core::message::{Message, Rev, Role, Seq};
use convoke_core::process::Exit;
use convoke_core::prompt::Prompt;
use convoke_core::session::{Command, EndReason, Interruption, Reply, Report, Session, Status};
use convoke_core::team::TeamName;
use convoke_core::turn::Stop;
use convoke_core::update::OpenMessages;
use convoke_store::{SessionKind, StoredSession};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::capture::Capture;
use super::holding::{Hold, workspace_of};
use super::load::{Loaded, Opening, open_as};
use super::moving::{Departure, Leaving};
use super::progress::Progress;
use super::quota::Quota;
use super::refusing::{interruption_of, refuse_all, refuse_moved};
use super::registry::Left;
use super::seating::Waiting;
use super::start::{ProcessSpec, ProcessUpdate};
use super::{Begin, CommandOutcome, Completed, Request};
use crate::error::{Error, Result};
use crate::sessions::Sessions;
use crate::view::Live;
use crate::watch::WatchEvent;

/// Reports that are stored in one commit when they arrive faster than the disk is.
const BATCH: usize = 64;
/// The page size when searching for the previous prompt.
const PAGE: u32 = 100;
/// The capacity of the channel for process updates; the sender waits.
const UPDATES_MAX: usize = 8;
/// How long an agent may take to cancel a turn before its process is stopped. The ACP driver gives up after 10 s, and
/// an agent that still works on the turn must not be given the next one.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(8);

/// The arguments of `run`.
pub(super) struct Parts {
    pub(super) id: SessionId,
    pub(super) published: broadcast::Sender<WatchEvent>,
    pub(super) live: watch::Sender<Live>,
}

/// A session with its process, requests and deadlines.
pub(super) struct Task {
    pub(super) shared: Arc<Sessions>,
    pub(super) id: SessionId,
    pub(super) stored: StoredSession,
    pub(super) session: Session,
    /// The messages that may still change.
    pub(super) open: OpenMessages,
    /// The key of the session's process in the pool.
    pub(super) key: String,
    /// The team that answers in the session.
    pub(super) team: Option<TeamName>,
    /// The agent's working directory.
    pub(super) workspace: PathBuf,
    pub(super) published: broadcast::Sender<WatchEvent>,
    pub(super) live: watch::Sender<Live>,
    pub(super) process: Process,
    pub(super) reports_to: mpsc::Sender<Report>,
    pub(super) reports: mpsc::Receiver<Report>,
    pub(super) progress: Progress,
    pub(super) updates_to: mpsc::Sender<ProcessUpdate>,
    /// Orders that are queued for the starting process.
    pub(super) waiting: Vec<Waiting>,
    /// The turn that the process is working on.
    pub(super) given: Option<Seq>,
    /// Reply channels of the tool calls that wait for the human.
    pub(super) askers: HashMap<RequestId, oneshot::Sender<Reply>>,
    /// The conversation so far, to be sent with the next prompt because the agent does not remember it.
    pub(super) transcript: Option<String>,
    /// The time of the last activity.
    pub(super) touched: Instant,
    /// The turn that is being cancelled, and the deadline for that.
    pub(super) cancelling: Option<(Seq, Instant)>,
    pub(super) quota: Quota,
    pub(super) capture: Capture,
    pub(super) hold: Hold,
    /// The machine that the session is about to leave for.
    pub(super) leaving: Option<Leaving>,
    /// The project's folder, in which the session works unless it has a work tree of its own.
    pub(super) project: PathBuf,
    /// The newest messages of a conversation that another program writes, once that has grown.
    pub(super) grown: Option<HashMap<MessageId, Seq>>,
    /// Why the task must end.
    pub(super) broken: Option<Error>,
}

/// The task's share of its agent's process. A warm process without work belongs to the pool.
pub(super) enum Process {
    None,
    /// Requested from the pool, for the prompts from this seq on.
    Awaited {
        from: Seq,
        _asking: AbortOnDrop,
    },
    Seated(Seat),
}

/// Runs until nothing is left to do. Fails with the reason of an interruption; the supervisor then starts another
/// task.
pub(super) async fn run(
    shared: Arc<Sessions>,
    parts: Parts,
    begin: Begin,
    mut requests: mpsc::Receiver<Request>,
) -> std::result::Result<(), Interruption> {
    let id = parts.id;
    let was_interrupted = matches!(begin, Begin::Interrupted(_));
    let begun = match Task::begin(Arc::clone(&shared), parts, begin).await {
        Ok(begun) => begun,
        Err(error) => {
            tracing::error!(session.id = %id, "a session cannot be restored: {error}");
            let interruption = was_interrupted.then(|| interruption_of(&error));
            refuse_all(&shared, id, requests, error);
            let is_unstored = |it: &Interruption| matches!(it, Interruption::Unstored { .. });
            return interruption.filter(is_unstored).map_or(Ok(()), Err);
        }
    };
    let (mut task, mut updates) = begun;
    let mut batch = Vec::new();
    loop {
        let (idle_at, cancel_at) = (task.idle_at(), task.cancelling.map(|(_, until)| until));
        let (progress_at, close_at) = (task.progress.due(), task.close_at());
        tokio::select! {
            // A session that is about to move answers no requests; the new machine does.
            request = requests.recv(), if task.leaving.is_none() => match request {
                None => break,
                // Reports that have arrived are still stored.
                Some(stop @ Request::Stop { .. }) => {
                    task.handle_remaining_reports().await;
                    task.close_stream().await;
                    shared.registry.remove(id);
                    drop(stop);
                    break;
                }
                Some(Request::Erase { reply }) => match task.erase().await {
                    Ok(()) => {
                        // The caller may have stopped waiting.
                        reply.send(Ok(())).ok();
                        break;
                    }
                    Err(error) => drop(reply.send(Err(error))),
                },
                Some(Request::Move { outgoing, reply }) => {
                    task.prepare_to_leave(*outgoing, reply).await;
                }
                Some(leave @ Request::Leave { .. }) => {
                    tracing::warn!(session.id = %id, "the session was moved away; its agent is stopped");
                    task.stop_process().await;
                    refuse_moved(&shared, id, requests);
                    drop(leave);
                    break;
                }
                Some(request) => task.handle_request(request).await,
            },
            _ = task.reports.recv_many(&mut batch, BATCH), if task.progress.held.len() < BATCH => {
                if let Some(reports) = task.progress.admit(std::mem::take(&mut batch)) {
                    task.handle_reports(reports).await;
                    task.hold_process().await;
                }
            }
            () = at(progress_at) => {
                task.handle_reports(Vec::new()).await;
                task.hold_process().await;
            }
            Some(update) = updates.recv() => task.handle_process_update(update).await,
            () = task.process.closed() => task.lost().await,
            () = at(close_at) => task.close_stream().await,
            () = at(idle_at) => task.complete_idle(EndReason::IdleTimeout).await,
            () = at(cancel_at) => task.give_up_waiting().await,
        }
        if let Some(error) = task.broken.take() {
            tracing::error!(session.id = %id, "a session cannot continue: {error}");
            shared.registry.remove(id);
            return Err(interruption_of(&error));
        }
        if task.is_ready_to_leave() && task.leave().await == Departure::Gone {
            refuse_moved(&shared, id, requests);
            break;
        }
        if task.is_over() && shared.registry.leave(id, &requests) == Left::Yes {
            break;
        }
    }
    Ok(())
}

impl Task {
    async fn begin(
        shared: Arc<Sessions>,
        parts: Parts,
        begin: Begin,
    ) -> Result<(Self, mpsc::Receiver<ProcessUpdate>)> {
        let Parts { id, published, live } = parts;
        let Opening { loaded, interruption, reports, first, set_up, arrived } =
            open_as(&shared.store, id, begin).await?;
        let (reports_to, reports) = reports;
        let Loaded { stored, mut session, open } = loaded;
        if interruption.is_some() {
            session.skip_lost_revisions();
        }
        let project = shared.store.project(stored.project_id).await?;
        let project = project.map(|project| project.path).unwrap_or_default();
        let workspace = workspace_of(&stored, &project);
        let pair = match stored.kind {
            SessionKind::Session => None,
            SessionKind::Team => shared.pair_of(id).await?,
        };
        let pair = pair.map(|(pair, _)| pair);
        let key = pair.as_ref().map_or_else(|| id.to_string(), ToString::to_string);
        // A session without messages was just created, whatever the age of its transcript.
        let since = Some(&stored.summary).filter(|summary| summary.last_seq > Seq::START);
        let quiet = since.map_or(0, |summary| shared.now().millis_since(summary.updated_at));
        let quiet = Duration::from_millis(u64::try_from(quiet).unwrap_or_default());
        let (updates_to, updates) = mpsc::channel(UPDATES_MAX);
        let mut task = Self {
            touched: Instant::now().checked_sub(quiet).unwrap_or_else(Instant::now),
            shared,
            id,
            stored,
            session,
            open,
            key,
            team: pair.map(|pair| pair.to),
            workspace,
            published,
            live,
            process: Process::None,
            reports_to,
            reports,
            progress: Progress::new(),
            updates_to,
            waiting: Vec::new(),
            given: None,
            askers: HashMap::new(),
            transcript: None,
            cancelling: None,
            quota: Quota::default(),
            capture: Capture::default(),
            hold: Hold::default(),
            leaving: None,
            project,
            grown: None,
            broken: None,
        };
        if let Some(interruption) = interruption {
            // What the interrupted turn changed is captured when it is ended.
            task.capture.running = task.session.running();
            if interruption != Interruption::Ended {
                // It may still be working on the interrupted turn.
                task.stop_process().await;
            }
            task.handle_command(Command::Recover(interruption)).await?;
        }
        if let Some(unpacked) = arrived {
            task.arrive(unpacked).await?;
        }
        task.handle_reports(first).await;
        if let Some(command) = set_up {
            task.begin_set_up(command);
        }
        task.show();
        Ok((task, updates))
    }

    async fn handle_request(&mut self, request: Request) {
        // A request is handled even if its caller has stopped waiting.
        match request {
            Request::Command { command, reply } => {
                let outcome = self.handle_command(command).await;
                reply.send(outcome).ok();
            }
            Request::Prompt { prompt, id, reply } => {
                let prompted = self.accept_prompt(prompt, id).await;
                reply.send(prompted).ok();
            }
            Request::CompleteIfIdle { longer_than, reason, reply } => {
                let is_due = self.session.is_idle() && self.touched.elapsed() >= longer_than;
                if is_due {
                    self.complete_idle(reason).await;
                }
                let is_done = self.session.summary().status != Status::Active;
                reply.send(Ok(if is_done { Completed::Yes } else { Completed::No })).ok();
            }
            Request::Ask { request, reply } => {
                let asked = self.ask(request).await;
                reply.send(asked).ok();
                self.hold_process().await;
            }
            Request::Withdraw { request, reply } => {
                self.askers.remove(&request);
                self.handle_reports(vec![Report::Withdrew(request)]).await;
                reply.send(Ok(())).ok();
            }
            Request::Verdict { request, verdict, by, reply } => {
                let settled = self.settle(request, verdict, by).await;
                reply.send(settled).ok();
            }
            Request::Order { order, reply } => self.order(order, reply).await,
            Request::Import { import, reply } => {
                reply.send(self.import(&import).await).ok();
            }
            Request::Grow { growth, reply } => {
                reply.send(self.grow(*growth).await).ok();
            }
            Request::ShowChanges { totals, reply } => {
                self.captured(Ok(totals)).await;
                reply.send(Ok(())).ok();
            }
            Request::Captured { reply } => self.reply_when_captured(reply),
            Request::Hold { until, process, reply } => {
                reply.send(self.hold(until, process).await).ok();
            }
            Request::SetWorktree { worktree, reply } => {
                reply.send(self.set_worktree(*worktree).await).ok();
            }
            Request::Settle { reply } => {
                reply.send(Ok(())).ok();
            }
            Request::Erase { .. }
            | Request::Stop { .. }
            | Request::Move { .. }
            | Request::Leave { .. } => {}
        }
    }

    /// Accepts a prompt. A repeated request with the same id returns the prompt that the first one created.
    async fn accept_prompt(
        &mut self,
        prompt: Prompt,
        id: Option<MessageId>,
    ) -> Result<CommandOutcome> {
        if let Some(id) = id {
            let is_queued = self.session.queue().any(|prompt| prompt.id == id);
            let known = self.shared.store.prompt(self.id, Some(id)).await?;
            if is_queued || known.is_some() {
                let mut prompt = self.prompted(id);
                if let Some(message) = known {
                    prompt.seq = Some(message.seq);
                    prompt.rev = self.rev_before(&message).await?;
                }
                return Ok(CommandOutcome { view: self.view(), prompt: Some(prompt) });
            }
        }
        self.check_worktree()?;
        let stamp = self.new_stamp(id);
        self.handle_command(Command::Prompt { prompt, stamp }).await
    }

    /// A revision before all effects of the prompt: that of the previous prompt, whose turn ended
    /// earlier.
    async fn rev_before(&self, prompt: &Message) -> Result<Rev> {
        let mut before = prompt.seq;
        let rev = loop {
            let page = self.shared.store.messages_before(self.id, before, PAGE).await?;
            let found = page.messages.iter().rfind(|message| message.role == Role::User);
            match (found, page.messages.first().filter(|_| page.more)) {
                (Some(found), _) => break found.rev,
                (None, Some(first)) => before = first.seq,
                (None, None) => break Rev::START,
            }
        };
        // A prompt that never ran ended while the one before it was being cancelled.
        Ok(rev.min(Rev::new(prompt.rev.get().saturating_sub(1))))
    }

    async fn complete_idle(&mut self, reason: EndReason) {
        self.end_at_agent().await;
        let completed = self.handle_command(Command::Complete { reason }).await;
        if let Err(error) = completed {
            tracing::warn!(session.id = %self.id, "an idle session cannot be completed: {error}");
            // Retried after another idle timeout.
            self.touched = Instant::now();
        }
    }

    /// Stops the process of an agent that did not cancel its turn in time.
    async fn give_up_waiting(&mut self) {
        let Some((turn, _)) = self.cancelling.take() else { return };
        if self.session.running() != Some(turn) {
            return;
        }
        tracing::warn!(session.id = %self.id, "an agent did not stop its turn, so it is stopped");
        self.handle_remaining_reports().await;
        self.stop_process().await;
        self.handle_reports(vec![Report::TurnEnded { turn, stop: Stop::Cancelled }]).await;
    }

    /// The process has exited without an exit report.
    async fn lost(&mut self) {
        // Its last reports may still be in the channel; the exit report is the last one.
        self.handle_remaining_reports().await;
        if let Process::Seated(_) = self.process {
            self.process = Process::None;
            if !self.session.is_idle() {
                self.handle_reports(vec![Report::Exited(Exit::default())]).await;
            }
        }
    }

    /// Handles the reports that are in the channel.
    async fn handle_remaining_reports(&mut self) {
        let rest = std::iter::from_fn(|| self.reports.try_recv().ok()).collect();
        self.handle_reports(rest).await;
    }

    /// Whether the task may end. An active session of a human keeps its task for the idle timeout.
    fn is_over(&mut self) -> bool {
        if self.hold.is_on() || self.leaving.is_some() {
            return false;
        }
        let is_kept = self.stored.kind == SessionKind::Session
            && self.session.summary().status == Status::Active;
        let is_busy = !self.session.is_idle()
            || self.session.is_speaking_between_turns()
            || !matches!(self.process, Process::None);
        !is_kept && !is_busy && self.askers.is_empty()
    }

    pub(super) fn spec(&self) -> ProcessSpec {
        ProcessSpec {
            session: self.id,
            key: self.key.clone(),
            kind: self.stored.kind,
            team: self.team.clone(),
            agent: self.stored.agent.clone(),
            project: self.stored.project_id,
            workspace: self.workspace.clone(),
            agent_session: self.stored.agent_session_id.clone(),
            worktree: self.stored.worktree.clone().map(|own| (own, self.project.clone())),
        }
    }
}

impl Process {
    /// Drops the seat of a process that has exited; one that is starting is kept.
    pub(super) fn forget(&mut self) {
        if let Self::Seated(_) = self {
            *self = Self::None;
        }
    }

    /// Completes when a seated process has exited.
    async fn closed(&self) {
        match self {
            Self::Seated(seat) => seat.closed().await,
            Self::None | Self::Awaited { .. } => std::future::pending().await,
        }
    }
}

/// A spawned request for a process, aborted on drop.
pub(super) struct AbortOnDrop(pub(super) AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits until a deadline; for ever if there is none.
async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
