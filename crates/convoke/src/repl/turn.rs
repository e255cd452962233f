//! One turn: a prompt is saved, the agent works on it, and what it said is saved however the turn ends.

use std::collections::VecDeque;

use convoke_agents::driver::Order;
use convoke_core::message::Seq;
use convoke_core::request::Request;
use convoke_core::session::{Reply, Report, ToolUpdate};
use convoke_core::state::SessionState;
use convoke_core::turn::Stop;
use convoke_files::transcripts::Role;

use super::asking::{Asking, Next, subject};
use super::conversation::Conversation;
use super::input::Heard;
use super::replay::Context;
use super::signal::Signals;
use crate::{clock, random};

/// As much of an answer as is kept: more than anybody reads, and less than would hurt.
const SAID_BYTES_MAX: usize = 16 << 20;
/// The tool by which an agent asks through Convoke's own server, which asks in a folder.
const ASK_TOOL: &str = "ask_user_questions";

/// What comes after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The next prompt.
    GoOn,
    /// The program is told to end.
    Leave,
}

/// How a turn came to its end.
enum Outcome {
    /// The agent ended it.
    Ended(Stop),
    /// The agent ended.
    Gone(String),
    /// The person lost patience with an agent that does not stop.
    Killed,
    /// The program is told to end.
    Cut,
}

/// What happened in a turn so far.
#[derive(Default)]
struct Progress {
    place: u64,
    said: String,
    /// Whether something came between the last words and the next ones.
    is_paragraph: bool,
    /// What the agent says that its answer has cost.
    tokens: Option<u64>,
    /// Requests that wait for the one that is asked.
    waiting: VecDeque<Request>,
    asking: Option<Asking>,
    is_cancelled: bool,
    has_told_where_to_answer: bool,
}

/// Something that happens in a turn.
enum Event {
    Report(Option<Report>),
    Interrupt,
    Heard(Heard),
    End,
}

/// What a prompt brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// All that the agent has to know.
    InContext,
    /// Nothing: it is one of the agent's own commands, which must stand alone.
    Alone,
}

impl Conversation {
    /// Takes a turn.
    pub(super) async fn take_turn(&mut self, text: &str, manner: Manner) -> anyhow::Result<After> {
        if let Err(error) = self.ready().await {
            self.failed += 1;
            let (text, hint) = crate::exit::explain(&error);
            self.screen.complain(&text);
            if let Some(hint) = hint {
                self.screen.say(&format!("hint: {hint}"));
            }
            self.screen.end_turn();
            return Ok(After::GoOn);
        }
        if let Err(error) = self.save(Role::User, text, None) {
            self.failed += 1;
            self.screen.complain(&format!("the agent was not asked: {error}"));
            return Ok(After::GoOn);
        }
        let prompt = match manner {
            Manner::InContext => self.context.with(text, &random::uuid()),
            Manner::Alone => text.to_owned(),
        };
        let mut progress = Progress { place: self.turn_count, ..Progress::default() };
        self.send(Order::Prompt { turn: Seq::new(progress.place), text: prompt }).await;
        let outcome = self.follow(&mut progress).await?;
        Ok(self.end_turn(progress, &outcome, manner).await)
    }

    async fn follow(&mut self, progress: &mut Progress) -> anyhow::Result<Outcome> {
        let mut interrupt = Signals::interrupts()?;
        loop {
            let Some(running) = &mut self.running else {
                return Ok(Outcome::Gone("the agent is gone".to_owned()));
            };
            // The keyboard may still be at a question that the agent has taken back.
            let is_listening = progress.asking.is_some() || self.input.is_waiting();
            let event = tokio::select! {
                report = running.reports.recv() => Event::Report(report),
                _ = interrupt.recv() => Event::Interrupt,
                () = self.signals.ended() => Event::End,
                heard = self.input.line(), if is_listening => Event::Heard(heard),
            };
            let outcome = match event {
                Event::Report(report) => self.hear(report, progress).await,
                Event::Interrupt | Event::Heard(Heard::Interrupted) => {
                    self.interrupt(progress).await
                }
                Event::Heard(heard) => {
                    self.answer(heard, progress).await;
                    None
                }
                Event::End => Some(Outcome::Cut),
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
            // Nobody reads on, so that nobody needs more.
            if self.screen.is_gone() && !progress.is_cancelled {
                self.interrupt(progress).await;
            }
        }
    }

    /// Takes note of what the agent does; tells how the turn ended, when it did.
    async fn hear(&mut self, report: Option<Report>, progress: &mut Progress) -> Option<Outcome> {
        let Some(report) = report else {
            return Some(Outcome::Gone("the agent is gone".to_owned()));
        };
        match report {
            Report::Said(text) => self.said(&text, progress),
            Report::Thought(text) => {
                progress.is_paragraph = true;
                self.screen.thought(&text);
            }
            Report::Planned(steps) => {
                progress.is_paragraph = true;
                self.screen.planned(&steps);
            }
            Report::ToolCalled(update) => self.called(&update, progress),
            Report::State(state) => {
                if let SessionState::Usage(usage) = &state {
                    progress.tokens = usage.output_tokens.or(progress.tokens);
                }
                self.learn(state);
            }
            Report::Noticed(notice) => self.notice(&notice),
            Report::Asked(request) => self.asked(request, progress).await,
            Report::Withdrew(id) => {
                progress.waiting.retain(|request| request.id() != id);
                if progress.asking.take_if(|asking| asking.request().id() == id).is_some() {
                    // The cursor stands behind the question.
                    self.screen.tell("\n");
                    self.screen.say("The agent took its question back; press Enter.");
                    self.ask_next(progress);
                }
            }
            Report::Renewed { agent_session } => self.renew(agent_session),
            Report::TurnEnded { turn, stop } if turn.get() == progress.place => {
                return Some(Outcome::Ended(stop));
            }
            Report::Exited(exit) => {
                return Some(Outcome::Gone(format!("the agent's process ended: {exit}")));
            }
            Report::Failed { error } => return Some(Outcome::Gone(error)),
            // The end of an earlier turn that was given up, or what was said at the start.
            Report::TurnEnded { .. } | Report::Resumed(_) | Report::Stopped => {}
        }
        None
    }

    fn said(&mut self, text: &str, progress: &mut Progress) {
        // Words before and after a tool call belong to different messages.
        if std::mem::take(&mut progress.is_paragraph)
            && !progress.said.is_empty()
            && !progress.said.ends_with('\n')
        {
            progress.said.push_str("\n\n");
            self.screen.paragraph();
        }
        if progress.said.len() < SAID_BYTES_MAX {
            progress.said.push_str(text);
            if progress.said.len() >= SAID_BYTES_MAX {
                progress.said.push_str("\n[… the rest was too long to be kept …]\n");
            }
        }
        self.screen.said(text);
    }

    fn called(&mut self, update: &ToolUpdate, progress: &mut Progress) {
        progress.is_paragraph = true;
        self.screen.called(update);
        let asks = update.tool.as_ref().is_some_and(|tool| tool.ends_with(ASK_TOOL));
        if asks && !std::mem::replace(&mut progress.has_told_where_to_answer, true) {
            self.screen.say(
                "The agent asks you something; answer in another terminal with: convoke answer",
            );
        }
    }

    async fn asked(&mut self, request: Request, progress: &mut Progress) {
        if progress.is_cancelled || !self.input.is_keyboard() {
            return self.refuse(&request).await;
        }
        progress.is_paragraph = true;
        progress.waiting.push_back(request);
        self.ask_next(progress);
    }

    /// Asks the person what waits longest, unless something is asked already.
    fn ask_next(&mut self, progress: &mut Progress) {
        if progress.asking.is_some() {
            return;
        }
        let Some(request) = progress.waiting.pop_front() else { return };
        let asking = Asking::new(request);
        self.screen.ask(&asking.text());
        self.input.want_answer(&asking.prompt());
        progress.asking = Some(asking);
    }

    async fn answer(&mut self, heard: Heard, progress: &mut Progress) {
        let Some(mut asking) = progress.asking.take() else { return };
        let next = match heard {
            Heard::Line(line) => asking.hear(&line, clock::now()),
            Heard::Interrupted | Heard::End | Heard::Failed(_) => {
                Next::Done(Reply::Rejected { reason: None })
            }
        };
        match next {
            Next::Done(reply) => {
                self.send(Order::Reply { request: asking.request().id(), reply }).await;
                self.ask_next(progress);
                return;
            }
            Next::Again(why) => self.screen.ask(&format!("{why}\n")),
            Next::More => self.screen.tell(&asking.text()),
        }
        self.input.want_answer(&asking.prompt());
        progress.asking = Some(asking);
    }

    /// Turns down what nobody can be asked.
    pub(super) async fn refuse(&mut self, request: &Request) {
        let what = match request {
            Request::Permission(_) => "permission",
            Request::Questions(_) => "an answer",
        };
        let subject = subject(request);
        self.screen.say(&format!("refused {what}, because nobody can be asked: {subject}"));
        let reason = Some("There is nobody who could be asked: this is not a terminal.".to_owned());
        self.send(Order::Reply { request: request.id(), reply: Reply::Rejected { reason } }).await;
    }

    /// Stops the turn; whoever insists ends the agent.
    async fn interrupt(&mut self, progress: &mut Progress) -> Option<Outcome> {
        if std::mem::replace(&mut progress.is_cancelled, true) {
            return Some(Outcome::Killed);
        }
        self.send(Order::Cancel).await;
        let asked = progress.asking.take().map(|asking| asking.request().id());
        let waiting = progress.waiting.drain(..).map(|request| request.id());
        let open: Vec<_> = asked.into_iter().chain(waiting).collect();
        for request in open {
            self.send(Order::Reply { request, reply: Reply::Cancelled }).await;
        }
        self.screen.say("Stopping; Ctrl-C again ends the agent.");
        None
    }

    async fn send(&mut self, order: Order) {
        if let Some(running) = &self.running {
            // An agent that is gone says so by itself.
            running.driver.send(order).await.ok();
        }
    }

    /// Saves what was said, and says how the turn ended.
    async fn end_turn(&mut self, progress: Progress, outcome: &Outcome, manner: Manner) -> After {
        let is_whole = matches!(outcome, Outcome::Ended(Stop::EndTurn));
        if is_whole || !progress.said.is_empty() {
            let tokens = progress.tokens.filter(|_| is_whole);
            if let Err(error) = self.save(Role::Assistant, &progress.said, tokens) {
                self.screen.complain(&format!("the answer is not saved: {error}"));
            }
        }
        match outcome {
            Outcome::Ended(stop) => self.ended(stop, &progress, manner),
            Outcome::Gone(why) => {
                self.running = None;
                self.failed += 1;
                self.screen.complain(why);
                self.screen.say("It is started again with the next prompt.");
            }
            Outcome::Killed => {
                self.running = None;
                self.screen.say("The agent was ended; it is started again with the next prompt.");
            }
            Outcome::Cut => {
                self.send(Order::Cancel).await;
                return After::Leave;
            }
        }
        self.screen.end_turn();
        // In a pipe, whoever presses Ctrl-C has had enough of all of it.
        let is_pipe = !self.input.is_keyboard() && !self.screen.is_gone();
        let had_enough = progress.is_cancelled && is_pipe;
        if had_enough { After::Leave } else { After::GoOn }
    }

    /// The agent ended its turn.
    fn ended(&mut self, stop: &Stop, progress: &Progress, manner: Manner) {
        match stop {
            // Some agents call it a failure that they were stopped.
            Stop::Failed(_) if progress.is_cancelled => {
                self.screen.say(&Stop::Cancelled.sentence());
            }
            Stop::Failed(failure) => {
                self.failed += 1;
                self.screen.complain(&format!("the turn failed: {}", failure.detail));
                // It may not have kept what it was told.
                return;
            }
            Stop::EndTurn => {}
            Stop::Cancelled | Stop::Refusal | Stop::MaxTokens | Stop::MaxTurnRequests => {
                self.screen.say(&stop.sentence());
            }
        }
        if manner == Manner::InContext {
            self.context = Context::default();
        }
        if self.context.is_empty() {
            self.note_session();
        }
    }
}
