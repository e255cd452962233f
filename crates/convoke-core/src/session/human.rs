//! What a session decides when people, or the clock in their place, want something of it.

use crate::bounds::PROMPT_BYTES_MAX;
use crate::content::Content;
use crate::id::RequestId;
use crate::message::Draft;
use crate::notice::{Event, Notice};
use crate::request::{Delivery, Request, State, Status as RequestStatus, Verdict};
use crate::turn::{self, Stop, Turn};

use super::command::{Command, Cut, Decision, Effect, Refusal, Reply};
use super::{QUEUE_MAX, Session, Status};

/// Characters of a title that lists can still show.
const TITLE_MAX: usize = 200;

impl Session {
    /// Decides what follows from a command. Nothing changes before the messages are applied.
    pub fn handle(&self, command: Command) -> Result<Decision, Refusal> {
        let decision = Decision::after(self.summary.last_seq);
        match command {
            Command::Prompt { text } => self.prompt(text, decision),
            Command::CancelTurn => self.cancel_turn(decision),
            Command::CancelTurns => self.cancel_turns(decision),
            Command::Complete { reason } => self.end(Event::Completed { reason }, decision),
            Command::Cancel { reason } => self.end(Event::Cancelled { reason }, decision),
            Command::Resume => self.resume(decision),
            Command::Rename { title } => rename(title.trim(), decision),
            Command::Archive => Ok(self.archive(Event::Archived, decision)),
            Command::Unarchive => Ok(self.archive(Event::Unarchived, decision)),
            Command::Settle { request, verdict } => self.settle(request, verdict, decision),
            Command::SettleLate { request, verdict } => {
                self.settle_late(&request, verdict, decision)
            }
            Command::Recover(cut) => Ok(self.recover(&cut, decision)),
            Command::Agent(report) => self.report(report, decision),
        }
    }

    fn prompt(&self, text: String, mut decision: Decision) -> Result<Decision, Refusal> {
        if text.trim().is_empty() {
            return Err(Refusal::EmptyPrompt);
        }
        if text.len() > PROMPT_BYTES_MAX {
            return Err(Refusal::LongPrompt { bytes: text.len() });
        }
        self.check_active()?;
        self.queue_prompt(text, &mut decision)?;
        Ok(decision)
    }

    fn queue_prompt(&self, text: String, decision: &mut Decision) -> Result<(), Refusal> {
        if self.running.is_some() {
            if self.queue.len() >= QUEUE_MAX {
                return Err(Refusal::QueueFull);
            }
            decision.record(Draft::user(text));
            return Ok(());
        }
        // Words that came between turns are over when the next turn begins.
        decision.drafts_of(self.output.close_stream_before(None));
        let turn = decision.record(Draft::user(text));
        decision.effects.push(Effect::StartTurn { turn });
        Ok(())
    }

    fn cancel_turn(&self, mut decision: Decision) -> Result<Decision, Refusal> {
        let running = self.running.as_ref().ok_or(Refusal::NoTurn)?;
        let (_, effect) = running.turn.handle(turn::Command::Cancel)?;
        if effect == Some(turn::Effect::Cancel) {
            decision.notice(Event::CancelAsked { turn: running.prompt });
            decision.effects.push(Effect::CancelTurn { turn: running.prompt });
            self.drop_pending(Pending::Permissions, &mut decision);
        }
        Ok(decision)
    }

    fn cancel_turns(&self, mut decision: Decision) -> Result<Decision, Refusal> {
        for turn in self.queue() {
            decision.notice(Event::TurnEnded { turn, stop: Stop::Cancelled });
        }
        self.cancel_turn(decision)
    }

    fn end(&self, event: Event, mut decision: Decision) -> Result<Decision, Refusal> {
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
                decision.notice(Event::Reopened);
                Ok(decision)
            }
        }
    }

    fn archive(&self, event: Event, mut decision: Decision) -> Decision {
        if self.summary.archived != (event == Event::Archived) {
            decision.notice(event);
        }
        decision
    }

    fn settle(
        &self,
        id: RequestId,
        verdict: Verdict,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        let (request, delivery) = self.find_pending(id)?.handle(verdict)?;
        let reply = Reply::of(&request).filter(|_| delivery == Delivery::Asker);
        decision.record(Draft::system(request));
        decision.effects.extend(reply.map(|reply| Effect::Reply { request: id, reply }));
        Ok(decision)
    }

    fn settle_late(
        &self,
        request: &Request,
        verdict: Verdict,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        // Only the log knows for sure what is pending; the store's copy may be a moment old.
        if request.status() == RequestStatus::Pending {
            return self.settle(request.id(), verdict, decision);
        }
        let (request, delivery) = request.handle(verdict)?;
        let late = request.late_answer().filter(|_| delivery == Delivery::NextTurn);
        decision.record(Draft::system(request));
        match late {
            // An ended session keeps the answer; there is no next turn to bring it.
            Some(text) if self.summary.status == Status::Active => {
                self.queue_prompt(text, &mut decision)?;
            }
            Some(_) | None => {}
        }
        Ok(decision)
    }

    fn recover(&self, cut: &Cut, mut decision: Decision) -> Decision {
        self.cut_off(Pending::All, &mut decision);
        // Their askers are gone; nobody is left to tell.
        decision.effects.clear();
        self.end_running(cut.stop(), &mut decision);
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

    pub(super) fn find_pending(&self, id: RequestId) -> Result<&Request, Refusal> {
        let mut pending = self.pending.iter();
        pending.find(|request| request.id() == id).ok_or(Refusal::NotPending { id })
    }

    /// Closes what the agent was in the middle of, and lets those who wait for the human go.
    pub(super) fn cut_off(&self, which: Pending, decision: &mut Decision) {
        decision.drafts_of(self.output.close_all());
        self.drop_pending(which, decision);
    }

    fn drop_pending(&self, which: Pending, decision: &mut Decision) {
        for request in self.pending.iter().filter(|request| which.includes(request)) {
            if let Ok((request, _)) = request.handle(Verdict::Abandon) {
                let id = request.id();
                decision.record(Draft::system(request));
                decision.effects.push(Effect::Reply { request: id, reply: Reply::Cancelled });
            }
        }
    }

    /// Ends the running turn and begins the next one in the queue.
    pub(super) fn end_running(&self, stop: Stop, decision: &mut Decision) {
        let Some(running) = &self.running else { return };
        let Ok((Turn::Done(stop), _)) = running.turn.handle(turn::Command::End(stop)) else {
            return;
        };
        decision.notice(Event::TurnEnded { turn: running.prompt, stop });
        decision.effects.extend(self.queue().next().map(|turn| Effect::StartTurn { turn }));
    }

    /// Ends the running turn and all that wait.
    pub(super) fn end_turns(&self, stop: &Stop, decision: &mut Decision) {
        for turn in self.running().into_iter().chain(self.queue()) {
            decision.notice(Event::TurnEnded { turn, stop: stop.clone() });
        }
    }
}

/// Which pending requests are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    All,
    /// Those that a turn cannot end without.
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
    decision.notice(Event::Renamed { title: title.to_owned() });
    Ok(decision)
}

impl Decision {
    pub(super) fn notice(&mut self, event: Event) {
        self.record(Draft::system(Notice::new(event)));
    }

    pub(super) fn drafts_of(&mut self, drafts: impl IntoIterator<Item = Draft>) {
        for draft in drafts {
            self.record(draft);
        }
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
