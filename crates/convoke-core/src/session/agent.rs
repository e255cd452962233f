//! What a session decides when its agent reports something.

use crate::bounds::{self, WORDS_BYTES_MAX};
use crate::content::Content;
use crate::message::{Draft, Seq};
use crate::notice::Event;
use crate::process::Exit;
use crate::request::{Request, Status as RequestStatus, Verdict};
use crate::turn::{FailureKind, Stop};

use super::command::{Decision, Effect, Refusal, Report};
use super::human::Pending;
use super::output::Stream;
use super::{PENDING_MAX, Session, Status};

impl Session {
    pub(super) fn report(
        &self,
        report: Report,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        // The log of an ended session is closed; what a dying process still says is not part of it.
        if self.summary.status != Status::Active {
            return Ok(decision);
        }
        match report {
            Report::Resumed(how) => decision.notice(Event::Resumed { how }),
            Report::Renewed { agent_session } => {
                decision.effects.push(Effect::RecordAgentSession { agent_session });
            }
            Report::Said(text) => self.stream(Stream::Text, &text, &mut decision),
            Report::Thought(text) => self.stream(Stream::Thinking, &text, &mut decision),
            Report::Planned(steps) => {
                self.say(Some(Draft::system(Content::Plan { steps })), &mut decision);
            }
            Report::ToolCalled(update) => self.say(self.output.tool(update), &mut decision),
            // Counting goes on while the agent speaks; it does not end a sentence.
            Report::Spent(usage) => {
                decision.record(Draft::system(Content::Usage(usage)));
            }
            Report::Noticed(notice) => {
                decision.record(Draft::system(notice));
            }
            Report::Asked(request) => self.asked(request, &mut decision)?,
            Report::Withdrew(id) => {
                let (request, _) = self.find_pending(id)?.handle(Verdict::Abandon)?;
                decision.record(Draft::system(request));
            }
            Report::TurnEnded { turn, stop } => self.turn_ended(turn, stop, &mut decision),
            Report::Exited(exit) => self.exited(exit, &mut decision),
            // The session does not notice: its next prompt starts another one.
            Report::Stopped => {}
            Report::Failed { error } => self.failed(error, &mut decision),
        }
        Ok(decision)
    }

    fn stream(&self, stream: Stream, text: &str, decision: &mut Decision) {
        let mut open = self.output.open_bytes(stream);
        for piece in bounds::pieces(text) {
            match open {
                None => decision.drafts_of(self.output.close_stream_before(Some(stream))),
                Some(bytes) if bytes + piece.len() > WORDS_BYTES_MAX => {
                    decision.record(stream.close());
                    open = None;
                }
                Some(_) => {}
            }
            decision.record(stream.piece(piece.to_owned()));
            open = Some(open.unwrap_or_default() + piece.len());
        }
    }

    /// Records what ends the open words.
    fn say(&self, draft: Option<Draft>, decision: &mut Decision) {
        if let Some(draft) = draft {
            decision.drafts_of(self.output.close_stream_before(None));
            decision.record(draft);
        }
    }

    fn asked(&self, request: Request, decision: &mut Decision) -> Result<(), Refusal> {
        let id = request.id();
        if request.status() != RequestStatus::Pending {
            return Err(Refusal::NotPending { id });
        }
        if self.pending.iter().any(|pending| pending.id() == id) {
            return Err(Refusal::RepeatedRequest { id });
        }
        if self.pending.len() >= PENDING_MAX {
            return Err(Refusal::TooManyRequests);
        }
        self.say(Some(Draft::system(request)), decision);
        Ok(())
    }

    fn turn_ended(&self, turn: Seq, stop: Stop, decision: &mut Decision) {
        // An answer that comes after its turn was ended by other means ends no other turn.
        if self.running() == Some(turn) {
            self.cut_off(Pending::Permissions, decision);
            self.end_running(stop, decision);
        }
    }

    fn exited(&self, exit: Exit, decision: &mut Decision) {
        self.cut_off(Pending::All, decision);
        // Their asker is gone; nobody is left to tell.
        decision.effects.clear();
        let detail = format!("the agent's process ended: {exit}");
        decision.notice(Event::ProcessExited { exit });
        self.end_running(Stop::failed(FailureKind::ProcessExited, detail), decision);
    }

    fn failed(&self, error: String, decision: &mut Decision) {
        self.cut_off(Pending::All, decision);
        self.end_turns(&Stop::failed(FailureKind::NotStarted, error.clone()), decision);
        decision.notice(Event::Failed { error });
        decision.effects.push(Effect::StopProcess);
    }
}
