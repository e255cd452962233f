//! One turn: the prompt is saved before the agent gets it, and the user may stop the turn and answer requests.

use std::ops::ControlFlow;
use std::time::Duration;

use convoke_agents::driver::Order;
use convoke_core::request::{Request, Verdict};
use convoke_core::session::{Command, QueueChoice, Report};
use convoke_core::turn::{Failure, FailureKind, Stop};
use convoke_files::transcripts::Role;

use super::Ending;
use super::agent::Agent;
use super::asking::{Asking, Next, subject};
use super::conversation::Conversation;
use super::input::InputEvent;
use super::signal::Signals;
use crate::clock;

/// How long a part of a word waits for its end before it is shown: longer than between two pieces
/// of one word, shorter than a reader notices.
const WORD_PAUSE: Duration = Duration::from_millis(100);

/// Whether the agent's preamble is sent before the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum PreamblePolicy {
    /// It is sent.
    #[default]
    Include,
    /// It is not: the prompt is one of the agent's own commands.
    Omit,
}

/// The user's actions in the running turn.
#[derive(Debug, Default)]
pub(super) struct Progress {
    preamble_policy: PreamblePolicy,
    is_interrupted: bool,
}

impl Progress {
    /// The text that the agent gets for a prompt.
    pub(super) fn prompt(&self, agent: &Agent, text: &str) -> String {
        match (self.preamble_policy, &agent.preamble) {
            (PreamblePolicy::Include, Some(preamble)) => format!("{preamble}{text}"),
            (PreamblePolicy::Include | PreamblePolicy::Omit, _) => text.to_owned(),
        }
    }
}

impl Conversation {
    /// Runs a turn.
    pub(super) async fn take_turn(
        &mut self,
        text: String,
        preamble_policy: PreamblePolicy,
    ) -> anyhow::Result<ControlFlow<Ending>> {
        if let Err(error) = self.ready().await {
            self.failed += 1;
            let (text, hint) = crate::exit::explain(&error);
            self.console.screen.print_error(&text);
            if let Some(hint) = hint {
                self.console.screen.print_notice(&format!("hint: {hint}"));
            }
            self.console.screen.end_turn();
            return Ok(ControlFlow::Continue(()));
        }
        self.progress = Progress { preamble_policy, is_interrupted: false };
        if let Err(error) = self.prompt(text).await {
            self.failed += 1;
            self.console.screen.print_error(&format!("the agent was not asked: {error}"));
            return Ok(ControlFlow::Continue(()));
        }
        if self.run().await?.is_break() {
            return Ok(ControlFlow::Break(Ending::CutOff));
        }
        let screen = &mut self.console.screen;
        screen.used(&self.live.usage);
        screen.end_turn();
        // In a pipe, Ctrl-C stops the prompts that follow as well.
        let is_pipe = !self.console.input.is_keyboard() && !screen.is_gone();
        let is_interrupted = std::mem::take(&mut self.progress.is_interrupted);
        Ok(if is_interrupted && is_pipe {
            ControlFlow::Break(Ending::CutOff)
        } else {
            ControlFlow::Continue(())
        })
    }

    /// Saves a prompt and sends it. If it cannot be saved, nothing has happened.
    async fn prompt(&mut self, text: String) -> anyhow::Result<()> {
        let (next, step) = self.live.prompt(text, clock::now())?;
        self.journal.save(&step.turns)?;
        self.live = next;
        // Text that arrived while the user typed.
        for answer in step.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            self.console.screen.unprompted(&answer.content);
            self.console.screen.saved(answer);
        }
        self.perform(step).await;
        Ok(())
    }

    /// Follows the turn to its end, or to the end of the program.
    async fn run(&mut self) -> anyhow::Result<ControlFlow<()>> {
        let mut interrupt = Signals::interrupts()?;
        while self.live.is_busy() {
            let console = &mut self.console;
            // The keyboard may still be at a request that the agent has withdrawn.
            let is_listening = console.asking.is_some() || console.input.is_waiting();
            tokio::select! {
                report = self.agent.report() => self.handle(report).await,
                event = console.input.line(), if is_listening => self.answer(event).await,
                _ = interrupt.recv() => self.interrupt().await,
                () = tokio::time::sleep(WORD_PAUSE), if console.screen.is_holding() => {
                    console.screen.pause();
                }
                () = console.signals.ended() => {
                    self.agent.send(Order::Cancel).await;
                    return Ok(ControlFlow::Break(()));
                }
            }
            // Without a reader of the answers, the rest of the turn is not needed.
            if self.console.screen.is_gone() && !self.progress.is_interrupted {
                self.interrupt().await;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Cancels the turn; the second time, kills the agent.
    async fn interrupt(&mut self) {
        let Some(turn) = self.live.session.running() else { return };
        if std::mem::replace(&mut self.progress.is_interrupted, true) {
            self.agent.process = None;
            self.handle(Some(Report::TurnEnded { turn, stop: Stop::Cancelled })).await;
            let said = "The agent was ended; it is started again with the next prompt.";
            return self.console.screen.print_notice(said);
        }
        if let Err(refusal) = self.follow(Command::CancelTurn { queue: QueueChoice::Send }).await {
            tracing::warn!("the turn is not cancelled: {refusal}");
        }
        self.attend_requests().await;
        // A reader that went away pressed nothing.
        if !self.console.screen.is_gone() {
            self.console.screen.print_notice("Stopping; Ctrl-C again ends the agent.");
        }
    }

    /// Asks the user about the oldest pending request. Without a user, every request is refused.
    pub(super) async fn attend_requests(&mut self) {
        let pending: Vec<Request> = self.live.session.pending().cloned().collect();
        let console = &mut self.console;
        let is_pending = |id| pending.iter().any(|request| request.id() == id);
        let withdrawn = console.asking.take_if(|asking| !is_pending(asking.request().id()));
        if withdrawn.is_some() && !self.progress.is_interrupted {
            // The cursor is after the question.
            console.screen.print_result("\n");
            console.screen.print_notice("The agent withdrew its question; press Enter.");
        }
        let can_ask = console.input.is_keyboard() && !self.progress.is_interrupted;
        if !can_ask || !self.live.is_busy() {
            for request in pending {
                self.refuse(&request).await;
            }
            return;
        }
        if console.asking.is_none()
            && let Some(request) = pending.into_iter().next()
        {
            let asking = Asking::new(request);
            console.screen.print_question(&asking.text(console.screen.colour()));
            console.input.want_answer(&asking.prompt());
            console.asking = Some(asking);
        }
    }

    /// Handles a typed line: an answer to the request, or Ctrl-C.
    async fn answer(&mut self, event: InputEvent) {
        if event == InputEvent::Interrupted {
            return self.interrupt().await;
        }
        let console = &mut self.console;
        let Some(mut asking) = console.asking.take() else { return };
        let next = match event {
            InputEvent::Line(line) => asking.take_line(&line, clock::now()),
            InputEvent::Interrupted | InputEvent::End | InputEvent::Failed(_) => {
                Next::Done(Verdict::Reject { reason: None })
            }
        };
        match next {
            Next::Done(verdict) => {
                self.settle(asking.request(), verdict).await;
                return self.attend_requests().await;
            }
            Next::Again(why) => console.screen.print_question(&format!("{why}\n")),
            Next::More => console.screen.print_result(&asking.text(console.screen.colour())),
        }
        console.input.want_answer(&asking.prompt());
        console.asking = Some(asking);
    }

    async fn refuse(&mut self, request: &Request) {
        if !self.progress.is_interrupted {
            let what = match request {
                Request::Permission(_) => "permission",
                Request::Questions(_) => "an answer",
            };
            let subject = subject(request);
            let line = format!("refused {what}, because there is no user to ask: {subject}");
            self.console.screen.print_notice(&line);
        }
        let reason = Some("There is no user to ask: this is not a terminal.".to_owned());
        self.settle(request, Verdict::Reject { reason }).await;
    }

    async fn settle(&mut self, request: &Request, verdict: Verdict) {
        let settle = Command::Settle { request: request.id(), verdict };
        if let Err(refusal) = self.follow(settle).await {
            self.console.screen.print_error(&refusal.to_string());
        }
    }

    /// Prints how a turn ended, if not normally, and records that its agent knows the conversation
    /// now.
    pub(super) fn turn_ended(&mut self, stop: &Stop) {
        match stop {
            Stop::EndTurn => {}
            // The agent may not have processed the preamble.
            Stop::Failed(failure) => return self.turn_failed(failure),
            Stop::Cancelled | Stop::Refusal | Stop::MaxTokens | Stop::MaxTurnRequests => {
                self.console.screen.print_notice(&stop.sentence());
            }
        }
        if self.progress.preamble_policy == PreamblePolicy::Include {
            self.agent.preamble = None;
        }
        self.record_agent_session();
    }

    fn turn_failed(&mut self, Failure { why, detail }: &Failure) {
        let screen = &mut self.console.screen;
        match why {
            // The program is about to end.
            FailureKind::Interrupted => return,
            FailureKind::ProcessExited | FailureKind::NotStarted => {
                screen.print_error(detail);
                screen.print_notice("It is started again with the next prompt.");
            }
            FailureKind::AgentError | FailureKind::Internal => {
                screen.print_error(&format!("the turn failed: {detail}"));
            }
        }
        self.failed += 1;
    }
}
