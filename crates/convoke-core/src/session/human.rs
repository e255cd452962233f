//! How a session handles commands of people and of timeouts.

use crate::bounds::PROMPT_BYTES_MAX;
use crate::content::Content;
use crate::id::{MessageId, RequestId};
use crate::message::{Draft, Seq};
use crate::notice::{Event, LifecycleEvent, Notice, TurnEvent};
use crate::prompt::{ATTACHMENTS_MAX, FILES_MAX, Prompt};
use crate::request::{Delivery, Request, State, Status as RequestStatus, Verdict};
use crate::review::COMMENTS_MAX;
use crate::turn::{self, Stop, Turn};
use crate::user::UserName;

use super::command::{Command, Decision, Effect, Interruption, Refusal, Reply, Stamp};
use super::{Asked, Change, Running, Session, Status};

/// The longest title.
const TITLE_MAX: usize = 200;

/// A verdict on a request, with the user who gave it; `None` for the owner of the daemon or a
/// timeout.
struct Settlement {
    verdict: Verdict,
    by: Option<UserName>,
}

impl Session {
    /// Decides what follows from a command. Changes nothing: the caller applies the decision.
    pub fn handle(&self, command: Command) -> Result<Decision, Refusal> {
        let decision = Decision::after(self.summary.last_seq);
        match command {
            Command::Prompt { prompt, stamp } => self.prompt(prompt, stamp, decision),
            Command::EditQueued { id, text, by } => self.edit_queued(id, text, by, decision),
            Command::RemoveQueued { id } => self.remove_queued(id, decision),
            Command::SendQueued { id } => self.send_queued(id, decision),
            Command::MoveQueued { id, to } => self.move_queued(id, to, decision),
            Command::CancelTurn { queue } => self.stop(queue, decision),
            Command::See => Ok(self.see(decision)),
            Command::CloseStream => Ok(self.close_stream(decision)),
            Command::Complete { reason } => {
                self.end(LifecycleEvent::Completed { reason }, decision)
            }
            Command::Cancel { reason } => self.end(LifecycleEvent::Cancelled { reason }, decision),
            Command::Resume => self.resume(decision),
            Command::Rename { title } => rename(title.trim(), decision),
            Command::Archive => Ok(self.archive(LifecycleEvent::Archived, decision)),
            Command::Unarchive => Ok(self.archive(LifecycleEvent::Unarchived, decision)),
            Command::Settle { request, verdict } => {
                self.settle(request, Settlement { verdict, by: None }, decision)
            }
            Command::SettleLate { request, seq, verdict, by, stamp } => {
                let asked = Asked { seq, request };
                self.settle_late(&asked, Settlement { verdict, by }, stamp, decision)
            }
            Command::Recover(interruption) => Ok(self.recover(&interruption, decision)),
            Command::Arrive(moved) => {
                let mut decision = decision;
                decision.notice(LifecycleEvent::Moved(*moved));
                Ok(decision)
            }
            Command::Agent(report) => self.report(report, decision),
        }
    }

    fn prompt(
        &self,
        prompt: Prompt,
        stamp: Stamp,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        check_prompt(&prompt)?;
        self.check_active()?;
        self.queue_prompt(prompt, stamp, &mut decision)?;
        Ok(decision)
    }

    /// An agent that speaks between turns never reports that it has finished.
    fn close_stream(&self, mut decision: Decision) -> Decision {
        if self.is_speaking_between_turns() {
            decision.changes.extend(self.output.close_stream());
        }
        decision
    }

    fn see(&self, mut decision: Decision) -> Decision {
        decision.changes.extend(self.summary.is_unseen().then_some(Change::Seen));
        decision
    }

    pub(super) fn cancel_turn(&self, mut decision: Decision) -> Result<Decision, Refusal> {
        let running = self.running.as_ref().ok_or(Refusal::NoTurn)?;
        let (_, effect) = running.turn.handle(turn::Command::Cancel)?;
        if effect == Some(turn::Effect::Cancel) {
            decision.changes.push(Change::Turn { seq: running.prompt, turn: Turn::Cancelling });
            decision.effects.push(Effect::CancelTurn { turn: running.prompt });
            self.drop_pending(Pending::Permissions, &mut decision);
        }
        Ok(decision)
    }

    fn end(&self, event: LifecycleEvent, mut decision: Decision) -> Result<Decision, Refusal> {
        self.check_active()?;
        decision.effects.extend(self.running().map(|turn| Effect::CancelTurn { turn }));
        self.cut_off(Pending::All, &mut decision);
        self.end_turns(&Stop::Cancelled, &mut decision);
        decision.notice(event);
        decision.effects.push(Effect::StopProcess);
        Ok(decision)
    }

    fn resume(&self, mut decision: Decision) -> Result<Decision, Refusal> {
        match self.summary.status {
            Status::Active => Err(Refusal::Active),
            Status::Cancelled => Err(Refusal::Cancelled),
            Status::Completed | Status::Error => {
                decision.notice(LifecycleEvent::Reopened);
                Ok(decision)
            }
        }
    }

    fn archive(&self, event: LifecycleEvent, mut decision: Decision) -> Decision {
        if self.summary.archived != (event == LifecycleEvent::Archived) {
            decision.notice(event);
        }
        decision
    }

    fn settle(
        &self,
        id: RequestId,
        given: Settlement,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        let asked = self.find_pending(id)?;
        let (request, delivery) = asked.request.handle(given.verdict)?;
        let request = request.decided_by(given.by);
        let reply = Reply::of(&request).filter(|_| delivery == Delivery::Asker);
        decision.replace(asked.seq, request.into());
        decision.effects.extend(reply.map(|reply| Effect::Reply { request: id, reply }));
        Ok(decision)
    }

    fn settle_late(
        &self,
        asked: &Asked,
        given: Settlement,
        stamp: Stamp,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        // The session knows its pending requests; the caller's copy may be older.
        if asked.request.status() == RequestStatus::Pending {
            return self.settle(asked.request.id(), given, decision);
        }
        let (request, delivery) = asked.request.handle(given.verdict)?;
        let request = request.decided_by(given.by.clone());
        let late = request.late_answer().filter(|_| delivery == Delivery::NextTurn);
        decision.replace(asked.seq, request.into());
        match late {
            // In an ended session the answer is stored, but becomes no prompt.
            Some(text) if self.summary.status == Status::Active => {
                let prompt = Prompt { by: given.by, ..text.into() };
                self.queue_prompt(prompt, stamp, &mut decision)?;
            }
            Some(_) | None => {}
        }
        Ok(decision)
    }

    fn recover(&self, interruption: &Interruption, mut decision: Decision) -> Decision {
        self.cut_off(Pending::All, &mut decision);
        // The askers exited with the daemon, so replies have no receiver.
        decision.effects.clear();
        self.end_running(interruption.stop(), &mut decision);
        decision
    }

    pub(super) fn check_active(&self) -> Result<(), Refusal> {
        match self.summary.status {
            Status::Active => Ok(()),
            status @ (Status::Completed | Status::Cancelled | Status::Error) => {
                Err(Refusal::Ended { status })
            }
        }
    }

    pub(super) fn find_pending(&self, id: RequestId) -> Result<&Asked, Refusal> {
        let mut pending = self.pending.iter();
        pending.find(|asked| asked.request.id() == id).ok_or(Refusal::NotPending { id })
    }

    /// Closes the agent's open messages, and abandons pending requests.
    pub(super) fn cut_off(&self, which: Pending, decision: &mut Decision) {
        decision.changes.extend(self.output.close_all());
        self.drop_pending(which, decision);
    }

    fn drop_pending(&self, which: Pending, decision: &mut Decision) {
        for asked in self.pending.iter().filter(|asked| which.includes(&asked.request)) {
            if let Ok((request, _)) = asked.request.handle(Verdict::Abandon) {
                let id = request.id();
                decision.replace(asked.seq, request.into());
                decision.effects.push(Effect::Reply { request: id, reply: Reply::Cancelled });
            }
        }
    }

    /// Ends the running turn and starts the next queued prompt.
    pub(super) fn end_running(&self, stop: Stop, decision: &mut Decision) {
        if self.end_turn(stop, decision) == Ended::No {
            return;
        }
        self.start_next(decision);
    }

    /// Ends the running turn and all queued prompts.
    pub(super) fn end_turns(&self, stop: &Stop, decision: &mut Decision) {
        self.end_turn(stop.clone(), decision);
        self.end_queue(stop, decision);
    }

    fn end_turn(&self, stop: Stop, decision: &mut Decision) -> Ended {
        let Some(Running { prompt, turn }) = &self.running else { return Ended::No };
        let Ok((turn, _)) = turn.handle(turn::Command::End(stop)) else { return Ended::No };
        // A normal end shows in the answer; any other one gets a notice.
        let unusual = turn.stop().filter(|stop| **stop != Stop::EndTurn).cloned();
        decision.changes.push(Change::Turn { seq: *prompt, turn });
        if let Some(stop) = unusual {
            decision.notice(TurnEvent::Ended { turn: *prompt, stop });
        }
        Ended::Yes
    }
}

/// Whether a turn was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Yes,
    No,
}

/// Refuses a prompt that no session accepts.
pub fn check_prompt(prompt: &Prompt) -> Result<(), Refusal> {
    if prompt.is_blank() {
        return Err(Refusal::EmptyPrompt);
    }
    if prompt.bytes() > PROMPT_BYTES_MAX {
        return Err(Refusal::LongPrompt { bytes: prompt.bytes() });
    }
    if prompt.attachments.len() > ATTACHMENTS_MAX {
        return Err(Refusal::TooManyAttachments { count: prompt.attachments.len() });
    }
    if prompt.files.len() > FILES_MAX {
        return Err(Refusal::TooManyFiles { count: prompt.files.len() });
    }
    if prompt.review.len() > COMMENTS_MAX {
        return Err(Refusal::TooManyComments { count: prompt.review.len() });
    }
    for (number, comment) in (1..).zip(&prompt.review) {
        comment.check().map_err(|why| Refusal::Comment { number, why })?;
    }
    Ok(())
}

/// Selects pending requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    All,
    /// Those that must be settled when their turn ends.
    Permissions,
}

impl Pending {
    const fn includes(self, request: &Request) -> bool {
        match (self, request) {
            (Self::All, _) | (Self::Permissions, Request::Permission(_)) => true,
            (Self::Permissions, Request::Questions(_)) => false,
        }
    }
}

fn rename(title: &str, mut decision: Decision) -> Result<Decision, Refusal> {
    if title.is_empty() {
        return Err(Refusal::EmptyTitle);
    }
    if title.chars().count() > TITLE_MAX {
        return Err(Refusal::LongTitle { max: TITLE_MAX });
    }
    decision.notice(LifecycleEvent::Renamed { title: title.to_owned() });
    Ok(decision)
}

impl Decision {
    pub(super) fn notice(&mut self, event: impl Into<Event>) {
        self.begin(Draft::system(Notice::new(event)));
    }

    /// Replaces the message with this seq, or begins one.
    pub(super) fn put(&mut self, seq: Option<Seq>, content: Content) {
        match seq {
            Some(seq) => self.replace(seq, content),
            None => {
                self.begin(Draft::system(content));
            }
        }
    }

    pub(super) fn start_turn(&mut self, id: MessageId, prompt: Prompt) {
        let turn = self.begin(Draft::prompt(id, prompt, Turn::Running));
        self.effects.push(Effect::StartTurn { turn });
    }
}

impl Reply {
    fn of(request: &Request) -> Option<Self> {
        match request {
            Request::Permission(record) => Self::of_state(&record.state, |choice| Self::Chosen {
                option_id: choice.option_id.clone(),
            }),
            Request::Questions(record) => {
                Self::of_state(&record.state, |answers| Self::Answered(answers.answers.clone()))
            }
        }
    }

    fn of_state<A>(state: &State<A>, answered: impl Fn(&A) -> Self) -> Option<Self> {
        match state {
            State::Pending | State::Abandoned => None,
            State::Answered(answer) => Some(answered(answer)),
            State::Rejected { reason } => Some(Self::Rejected { reason: reason.clone() }),
            State::TimedOut => Some(Self::TimedOut),
        }
    }
}

impl From<Request> for Content {
    fn from(request: Request) -> Self {
        match request {
            Request::Permission(record) => Self::Permission(record),
            Request::Questions(record) => Self::Question(record),
        }
    }
}

impl Request {
    /// The request in a message, if it has one.
    pub fn of(content: &Content) -> Option<Self> {
        match content {
            Content::Permission(record) => Some(Self::Permission(record.clone())),
            Content::Question(record) => Some(Self::Questions(record.clone())),
            Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Notice(_) => None,
        }
    }
}
