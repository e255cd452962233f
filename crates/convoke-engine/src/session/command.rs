//! Decide, store, publish, answer: in this order, for every command and every report.

use std::sync::atomic::Ordering;
use std::time::Duration;

use convoke_core::content::Content;
use convoke_core::id::{MessageId, RequestId};
use convoke_core::message::{Draft, Seq};
use convoke_core::notice::{Notice, ProcessEvent};
use convoke_core::process::Exit;
use convoke_core::request::Request as HumanRequest;
use convoke_core::session::{
    Change, Command, Decision, Effect, Refusal, Reply, Report, Session, Stamp, Summary,
};
use convoke_core::time::Timestamp;
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{OpenMessages, UpdateStamp, Updates};
use convoke_store::{HistoryMark, StoredSession, Sync};
use tokio::time::Instant;

use super::CommandOutcome;
use super::ruling::Ruled;
use super::task::Task;
use crate::error::{Error, Result};
use crate::full_disk::make_room;
use crate::sessions::Prompted;
use crate::view::{
    AgentStatus, Change as EngineChange, Live, RunningTurn, SessionChange, SessionView,
};
use crate::watch::WatchEvent;

/// The delay before a failed write is retried. The agent is blocked meanwhile.
const RETRY: Duration = Duration::from_millis(500);
/// The attempts before the turn is ended: meanwhile the task handles no requests, not even a
/// cancellation.
const TRIES: usize = 6;

/// How long a turn waits for a database server that cannot be reached. The agent is blocked
/// meanwhile, which bounds the output that is not stored; requests for the session are refused
/// before they reach its task, since they read the same server.
const SERVER_AWAY_MAX: Duration = Duration::from_secs(15 * 60);

/// The attempts to write the same thing.
pub(super) struct Attempts {
    begun: Instant,
    failed: usize,
}

impl Attempts {
    pub(super) fn begin() -> Self {
        Self { begun: Instant::now(), failed: 0 }
    }
}

/// What is decided and not committed yet.
pub(super) struct Uncommitted {
    pub(super) session: Session,
    pub(super) open: OpenMessages,
    changes: Vec<Change>,
    updates: Updates,
    sync: Sync,
    effects: Vec<Effect>,
    /// The cursor of the imported conversation after these changes.
    pub(super) mark: Option<HistoryMark>,
    /// Whether the commit also completes the session's move to this machine.
    move_end: MoveEnd,
}

/// Whether a commit completes a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoveEnd {
    No,
    Complete,
}

/// Whether a command may use the disk space that is reserved for decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Priority {
    /// The owner settles a request or stops something.
    Decision,
    /// Anything that can wait for space.
    Ordinary,
}

impl Priority {
    const fn of(command: &Command) -> Self {
        match command {
            Command::CancelTurn { .. }
            | Command::Complete { .. }
            | Command::Cancel { .. }
            | Command::Settle { .. }
            | Command::SettleLate { .. } => Self::Decision,
            Command::Prompt { .. }
            | Command::EditQueued { .. }
            | Command::RemoveQueued { .. }
            | Command::MoveQueued { .. }
            | Command::SendQueued { .. }
            | Command::CloseStream
            | Command::See
            | Command::Resume
            | Command::Rename { .. }
            | Command::Archive
            | Command::Unarchive
            | Command::Recover(_)
            | Command::Arrive(_)
            | Command::Agent(_) => Self::Ordinary,
        }
    }
}

impl Task {
    /// Handles a command whose caller waits for the answer.
    pub(super) async fn handle_command(&mut self, command: Command) -> Result<CommandOutcome> {
        let prompt =
            if let Command::Prompt { stamp, .. } = &command { Some(stamp.id) } else { None };
        if prompt.is_some() {
            self.check_session_quota().await?;
        }
        let mut uncommitted = self.uncommitted();
        let priority = Priority::of(&command);
        let decision =
            uncommitted.session.handle(command).map_err(|refusal| self.explain(refusal))?;
        self.decided(&mut uncommitted, decision);
        let effects = match priority {
            Priority::Decision => {
                while let Err(error) = self.store(&uncommitted).await {
                    make_room(&self.shared.reserve, error)?;
                }
                self.apply_committed(uncommitted)
            }
            Priority::Ordinary => self.commit(uncommitted).await?,
        };
        let prompt = prompt.map(|id| self.prompted(id));
        if prompt.is_some() {
            self.shared.counted.prompts.fetch_add(1, Ordering::Relaxed);
        }
        self.carry_out(effects).await;
        Ok(CommandOutcome { view: self.view(), prompt })
    }

    /// Handles the first commands on a new machine; their commit completes the move.
    pub(super) async fn handle_arrival(&mut self, commands: Vec<Command>) -> Result<()> {
        let mut uncommitted = self.uncommitted();
        for command in commands {
            let decision =
                uncommitted.session.handle(command).map_err(|refusal| self.explain(refusal))?;
            self.decided(&mut uncommitted, decision);
        }
        uncommitted.move_end = MoveEnd::Complete;
        let effects = self.commit(uncommitted).await?;
        self.carry_out(effects).await;
        Ok(())
    }

    /// Handles reports of the agent. No caller could retry them, so a failed write is retried here.
    pub(super) async fn handle_reports(&mut self, reports: Vec<Report>) {
        let held = std::mem::take(&mut self.progress.held);
        let reports = [held, reports].concat();
        if reports.iter().any(|report| matches!(report, Report::Exited(_))) {
            // Replies to its last reports would have no receiver.
            self.process.forget();
        }
        let mut reports = reports.into_iter();
        // The effects of one report are carried out before the next report is handled: a turn that
        // begins, for example, is not the turn in which an earlier process exited.
        while reports.len() > 0 && self.broken.is_none() {
            self.handle_reports_until_effects(&mut reports).await;
        }
    }

    /// Handles reports up to the first that has effects.
    async fn handle_reports_until_effects(&mut self, reports: &mut std::vec::IntoIter<Report>) {
        let mut uncommitted = self.uncommitted();
        let mut refused = None;
        let mut used = Vec::new();
        let mut released = Vec::new();
        for mut report in reports {
            if self.quota.drops(&report) {
                continue;
            }
            let (asked, ruled) = if let Report::Asked(request) = &mut report {
                (Some(request.id()), self.rule_on(request).await)
            } else {
                (None, Ruled::default())
            };
            if matches!(report, Report::Stopped) {
                self.publish_agent_status(AgentStatus::Exited);
            }
            let commands = if let Report::Exited(exit) = report {
                self.exited(&uncommitted.session, exit)
            } else if let Report::TurnEnded { turn, .. } = &report {
                let abandoned = self.abandoned_by(&uncommitted.session, *turn);
                let withdraw = |id: &RequestId| Command::Agent(Report::Withdrew(*id));
                let withdrawn: Vec<Command> = abandoned.iter().map(withdraw).collect();
                released.extend(abandoned);
                withdrawn.into_iter().chain([Command::Agent(report)]).collect()
            } else {
                vec![Command::Agent(report)]
            };
            for command in commands {
                match uncommitted.session.handle(command) {
                    Ok(decision) => self.decided(&mut uncommitted, decision),
                    Err(refusal) => {
                        tracing::debug!(session.id = %self.id, "a report is refused: {refusal}");
                        // An asker that is refused must not wait for ever.
                        refused = asked;
                    }
                }
            }
            let ruled = if refused.is_none() { ruled } else { Ruled::default() };
            used.extend(ruled.used);
            for command in ruled.commands {
                match uncommitted.session.handle(command) {
                    Ok(decision) => self.decided(&mut uncommitted, decision),
                    Err(refusal) => {
                        tracing::warn!(session.id = %self.id, "a rule is not followed: {refusal}");
                    }
                }
            }
            if refused.is_some() || !uncommitted.effects.is_empty() {
                break;
            }
        }
        let effects = self.commit_at_last(uncommitted).await;
        for request in released {
            self.reply(request, Reply::Cancelled).await;
        }
        if let Some(request) = refused {
            self.reply(request, Reply::Cancelled).await;
        }
        self.carry_out(effects).await;
        self.count_uses(used).await;
        Box::pin(self.enforce_turn_quota()).await;
    }

    /// The questions that an agent no longer waits for, because it has ended the turn in which it
    /// asked them: some agents time out their tool calls without reporting it. An answer then
    /// becomes the next turn. A question that was asked without blocking stays.
    fn abandoned_by(&self, session: &Session, turn: Seq) -> Vec<RequestId> {
        if session.running() != Some(turn) {
            return Vec::new();
        }
        let is_waited_for = |request: &&HumanRequest| {
            matches!(request, HumanRequest::Questions(_))
                && self.askers.get(&request.id()).is_none_or(|asker| !asker.is_closed())
        };
        session.pending().filter(is_waited_for).map(HumanRequest::id).collect()
    }

    /// What follows from the exit of a process. A turn that was never sent to it does not end with
    /// it.
    fn exited(&mut self, session: &Session, exit: Exit) -> Vec<Command> {
        self.publish_agent_status(AgentStatus::Exited);
        let given = self.given.take();
        if session.running().is_none() || session.running() == given {
            return vec![Command::Agent(Report::Exited(exit))];
        }
        let withdrawn = session.pending().map(|request| Report::Withdrew(request.id()));
        let gone = Report::Noticed(Notice::new(ProcessEvent::Exited { exit }));
        withdrawn.chain([gone]).map(Command::Agent).collect()
    }

    pub(super) fn uncommitted(&self) -> Uncommitted {
        Uncommitted {
            session: self.session.clone(),
            open: self.open.clone(),
            changes: Vec::new(),
            updates: Updates::default(),
            sync: Sync::Soon,
            effects: Vec::new(),
            mark: None,
            move_end: MoveEnd::No,
        }
    }

    /// Applies the changes of a decision to the uncommitted state.
    fn decided(&self, uncommitted: &mut Uncommitted, decision: Decision) {
        for change in decision.changes {
            self.change(uncommitted, change, self.stamp());
        }
        uncommitted.effects.extend(decision.effects);
    }

    /// Applies one change, at this time or as soon after it as the order of timestamps allows.
    pub(super) fn change(&self, uncommitted: &mut Uncommitted, change: Change, at: Timestamp) {
        let at = at.max(uncommitted.session.summary().updated_at);
        if change.is_human() {
            uncommitted.sync = Sync::Now;
        }
        uncommitted.session.apply(&change, at);
        uncommitted.changes.push(change.clone());
        if let Change::Seen | Change::Described { .. } = change {
            return;
        }
        let summary = uncommitted.session.summary();
        let stamp = UpdateStamp {
            session_id: self.id,
            id: MessageId::from_random((self.shared.host.random)()),
            seq: summary.last_seq,
            rev: summary.rev,
            at,
        };
        match uncommitted.open.apply(change, stamp) {
            Some(update) => uncommitted.updates.push(update),
            None => {
                tracing::error!(session.id = %self.id, "a change of a message that is not open");
            }
        }
    }

    /// The id and time of a prompt that is sent now.
    pub(super) fn new_stamp(&self, id: Option<MessageId>) -> Stamp {
        let id = id.unwrap_or_else(|| MessageId::from_random((self.shared.host.random)()));
        Stamp { id, at: self.stamp() }
    }

    /// The time of what is decided now. If the clock was set back, it is later than everything that
    /// was stored before, so that a reader that asks for messages after the last one misses none.
    fn stamp(&self) -> Timestamp {
        let (now, last) = (self.shared.now(), self.session.summary().updated_at);
        if now < last { Timestamp::from_millis(last.as_millis() + 1) } else { now }
    }

    /// Commits what was decided, and publishes it. On failure nothing has changed.
    pub(super) async fn commit(&mut self, uncommitted: Uncommitted) -> Result<Vec<Effect>> {
        self.store(&uncommitted).await?;
        Ok(self.apply_committed(uncommitted))
    }

    /// Commits what was decided, with retries; the agent is blocked meanwhile.
    async fn commit_at_last(&mut self, uncommitted: Uncommitted) -> Vec<Effect> {
        let mut attempts = Attempts::begin();
        while let Err(error) = self.store(&uncommitted).await {
            tracing::error!(session.id = %self.id, "cannot store what an agent said: {error}");
            if !self.wait_to_retry(error, &mut attempts).await {
                return Vec::new();
            }
        }
        self.apply_committed(uncommitted)
    }

    /// Waits before a failed write is tried again. Returns `false` when it is not worth another try: the store and the
    /// session in memory differ then, and the supervisor starts another task from the store.
    pub(super) async fn wait_to_retry(&mut self, error: Error, attempts: &mut Attempts) -> bool {
        attempts.failed += 1;
        let is_final = !error.may_pass() || self.shared.store.refusal().is_some();
        let is_over = match error.is_server_away() {
            true => attempts.begun.elapsed() >= SERVER_AWAY_MAX,
            false => attempts.failed >= TRIES,
        };
        if is_final || is_over || self.shared.registry.is_stopping() {
            self.broken = Some(error);
            return false;
        }
        tokio::time::sleep(RETRY).await;
        true
    }

    async fn store(&self, uncommitted: &Uncommitted) -> Result<()> {
        let (updates, summary) =
            (uncommitted.updates.as_slice(), uncommitted.session.summary().clone());
        if let Some(mark) = uncommitted.mark.clone() {
            return Ok(self.shared.store.record_history(self.id, updates, summary, mark).await?);
        }
        if uncommitted.move_end == MoveEnd::Complete {
            return Ok(self.shared.store.record_arrival(self.id, updates, summary).await?);
        }
        if updates.is_empty() {
            return match uncommitted.changes.contains(&Change::Seen) {
                true => Ok(self.shared.store.mark_seen(self.id, summary.work.seen_rev).await?),
                false => Ok(()),
            };
        }
        Ok(self.shared.store.record(self.id, updates, summary, uncommitted.sync).await?)
    }

    fn apply_committed(&mut self, uncommitted: Uncommitted) -> Vec<Effect> {
        let Uncommitted { session, open, changes, updates, effects, .. } = uncommitted;
        if !changes.is_empty() {
            let before = std::mem::replace(&mut self.session, session);
            self.open = open;
            self.publish(before.summary(), &changes, updates);
            self.capture_ended_turn();
        }
        effects
    }

    fn publish(&mut self, before: &Summary, changes: &[Change], updates: Updates) {
        // Marking a session as seen does not reset its idle timeout.
        if !updates.is_empty() {
            self.touched = Instant::now();
        }
        self.stored.summary = self.session.summary().clone();
        let counted = &self.shared.counted;
        let begun = changes.iter().filter(|change| matches!(change, Change::Begin(_))).count();
        counted.messages.fetch_add(begun as u64, Ordering::Relaxed);
        let failed = changes.iter().filter(|change| is_failure(change)).count();
        counted.turns_failed.fetch_add(failed as u64, Ordering::Relaxed);
        changes.iter().for_each(|change| self.quota.count(change));
        let is_asking = changes.iter().any(is_about_request);
        let activity = self.live.borrow().activity;
        // Before watchers receive the updates, so that a watcher that then reads the session sees
        // at least these.
        self.show();
        let mut after = before.rev;
        for update in updates {
            let rev = update.rev();
            // Without watchers there is no receiver.
            self.published.send(WatchEvent::of(after, update)).ok();
            after = rev;
        }
        let now = &self.stored.summary;
        // Abandoned questions are in the inbox as long as their session is active and not archived.
        if is_asking || (before.status, before.archived) != (now.status, now.archived) {
            self.shared.inbox_changed.notify_one();
        }
        if shown(before) != shown(now) || activity != self.session.activity() {
            let stored = StoredSession { summary: before.clone(), ..self.stored.clone() };
            let (before, now) = (SessionView { stored, activity }, self.view());
            self.shared
                .publish(EngineChange::SessionChanged(Box::new(SessionChange { before, now })));
        }
    }

    /// Updates what `Engine::live` and lists show.
    pub(super) fn show(&self) {
        self.live.send_replace(Live {
            activity: self.session.activity(),
            running: self.running(),
            queue: self.session.queue().map(|prompt| prompt.id).collect(),
        });
        self.shared.registry.changed();
    }

    pub(super) fn view(&self) -> SessionView {
        SessionView { stored: self.stored.clone(), activity: self.session.activity() }
    }

    pub(super) fn publish_agent_status(&self, status: AgentStatus) {
        let (agent, session) = (self.stored.agent.clone(), self.id);
        let agent_session = self.stored.agent_session_id.clone();
        self.shared.publish(EngineChange::Agent { agent, session, agent_session, status });
    }

    fn running(&self) -> Option<RunningTurn> {
        let seq = self.session.running()?;
        Some(RunningTurn { id: self.open.get(seq)?.id, seq })
    }

    /// Where an accepted prompt is: running, or at which place of the queue.
    pub(super) fn prompted(&self, id: MessageId) -> Prompted {
        let seq = self.running().filter(|running| running.id == id).map(|running| running.seq);
        let queued = self.session.queue().position(|prompt| prompt.id == id);
        let (queued, rev) = (queued.map_or(0, |place| place + 1), self.session.summary().rev);
        Prompted { message_id: id, seq, queued, rev }
    }

    fn explain(&self, refusal: Refusal) -> Error {
        if let Refusal::Ended { status } = refusal {
            let reason = self.session.summary().reason.clone();
            return Error::Ended { session: self.id, status, reason };
        }
        refusal.into()
    }
}

const fn is_failure(change: &Change) -> bool {
    matches!(change, Change::Turn { turn: Turn::Ended(Stop::Failed(_)), .. })
}

const fn is_about_request(change: &Change) -> bool {
    matches!(
        change,
        Change::Begin(Draft { content: Content::Permission(_) | Content::Question(_), .. })
            | Change::Replace { content: Content::Permission(_) | Content::Question(_), .. }
    )
}

/// The part of a summary that lists show.
fn shown(summary: &Summary) -> impl PartialEq {
    let Summary { status, reason, archived, title, last_active_at, work, .. } = summary;
    (status, reason, archived, title, last_active_at, work)
}
