//! How a session handles the reports of its agent.

use crate::bounds::{self, WORDS_BYTES_MAX, json_bytes};
use crate::content::Content;
use crate::message::{Draft, Seq};
use crate::notice::{Event, LifecycleEvent, Notice, ProcessEvent, TurnEvent};
use crate::process::Exit;
use crate::request::{Request, Status as RequestStatus, Verdict};
use crate::state::SessionState;
use crate::turn::{FailureKind, Stop};

use super::command::{Decision, Effect, Refusal, Report, ToolUpdate};
use super::human::Pending;
use super::output::{OpenStream, Stream};
use super::{Change, PENDING_MAX, Session, Status};

impl Session {
    pub(super) fn report(
        &self,
        report: Report,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        let is_about_prompt = matches!(
            &report,
            Report::Noticed(Notice { event: Event::Turn(TurnEvent::Refused { .. }), .. })
        );
        // An ended session ignores the last reports of its stopping process. That it refused a prompt is not one of them.
        if self.summary.status != Status::Active && !is_about_prompt {
            return Ok(decision);
        }
        match report {
            Report::Resumed(how) => decision.notice(ProcessEvent::Resumed { how }),
            Report::Renewed { agent_session } => {
                decision.effects.push(Effect::RecordAgentSession { agent_session });
            }
            Report::Said(text) => self.stream(Stream::Text, &text, &mut decision),
            Report::Thought(text) => self.stream(Stream::Thinking, &text, &mut decision),
            Report::Planned(steps) => {
                decision.changes.extend(self.output.close_stream());
                decision.put(self.output.plan(), Content::Plan { steps });
            }
            Report::ToolCalled(update) => self.tool_called(update, &mut decision),
            // Offers and usage reports arrive between pieces of an answer, and do not end it.
            Report::State(state) => self.offered(state, &mut decision),
            Report::Noticed(notice) => self.noticed(notice, &mut decision),
            Report::Asked(request) => self.asked(request, &mut decision)?,
            Report::Withdrew(id) => {
                let asked = self.find_pending(id)?;
                let (request, _) = asked.request.handle(Verdict::Abandon)?;
                decision.replace(asked.seq, request.into());
            }
            Report::TurnEnded { turn, stop } => self.turn_ended(turn, stop, &mut decision),
            Report::Exited(exit) => self.exited(exit, &mut decision),
            // The next prompt starts another process.
            Report::Stopped => {}
            Report::Failed { error } => self.failed(error, &mut decision),
        }
        Ok(decision)
    }

    fn stream(&self, stream: Stream, text: &str, decision: &mut Decision) {
        let mut open = self.output.stream();
        for piece in bounds::pieces(text) {
            let bytes = piece.len();
            open = match open {
                Some(open) if open.stream == stream && open.bytes + bytes <= WORDS_BYTES_MAX => {
                    let (seq, text) = (open.seq, piece.to_owned());
                    decision.changes.push(Change::Append { seq, text });
                    Some(OpenStream { bytes: open.bytes + bytes, ..open })
                }
                before => {
                    let close = before.map(|open| Change::Close { seq: open.seq });
                    decision.changes.extend(close);
                    let seq = decision.begin(stream.draft(piece.to_owned()));
                    Some(OpenStream { stream, seq, bytes })
                }
            };
        }
    }

    fn tool_called(&self, update: ToolUpdate, decision: &mut Decision) {
        let Some((seq, tool)) = self.output.tool(update) else { return };
        decision.changes.extend(self.output.close_stream());
        if seq.is_none() {
            decision.changes.extend(self.output.make_room(json_bytes(&tool.args)));
        }
        decision.put(seq, Content::Tool(tool));
    }

    /// Agents repeat their offers at every start; only a difference is a change.
    fn offered(&self, state: SessionState, decision: &mut Decision) {
        let known = self.state.get(&state.kind());
        let state = match (state, known) {
            // Agents that only switch the mode do not repeat the available ones.
            (
                SessionState::Modes { current, available },
                Some(SessionState::Modes { available: known, .. }),
            ) if available.is_empty() => SessionState::Modes { current, available: known.clone() },
            (state, _) => state,
        };
        if known != Some(&state) {
            decision.changes.push(Change::State(bounds::fit(state)));
        }
    }

    fn noticed(&self, notice: Notice, decision: &mut Decision) {
        let seq = self.output.waiting().filter(|_| notice.event.is_replaceable());
        decision.put(seq, Content::Notice(notice));
    }

    fn asked(&self, request: Request, decision: &mut Decision) -> Result<(), Refusal> {
        let id = request.id();
        if request.status() != RequestStatus::Pending {
            return Err(Refusal::NotPending { id });
        }
        if self.pending().any(|pending| pending.id() == id) {
            return Err(Refusal::RepeatedRequest { id });
        }
        if self.pending.len() >= PENDING_MAX {
            return Err(Refusal::TooManyRequests);
        }
        decision.changes.extend(self.output.close_stream());
        decision.begin(Draft::system(request));
        Ok(())
    }

    fn turn_ended(&self, turn: Seq, stop: Stop, decision: &mut Decision) {
        // A late report about a turn that has already ended must not end the running one.
        if self.running() == Some(turn) {
            self.cut_off(Pending::Permissions, decision);
            self.end_running(stop, decision);
        }
    }

    fn exited(&self, exit: Exit, decision: &mut Decision) {
        self.cut_off(Pending::All, decision);
        // The askers exited with the process, so replies have no receiver.
        decision.effects.clear();
        let detail = format!("the agent's process ended: {exit}");
        decision.notice(ProcessEvent::Exited { exit });
        self.end_running(Stop::failed(FailureKind::ProcessExited, detail), decision);
    }

    fn failed(&self, error: String, decision: &mut Decision) {
        self.cut_off(Pending::All, decision);
        self.end_turns(&Stop::failed(FailureKind::NotStarted, error.clone()), decision);
        decision.notice(LifecycleEvent::Failed { error });
        decision.effects.push(Effect::StopProcess);
    }
}
