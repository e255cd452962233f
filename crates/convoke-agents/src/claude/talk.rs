//! The pipes around a conversation. Nobody waits for somebody who waits for them: orders are taken all the time, the
//! agent is listened to while it does not listen, and only a slow session makes it wait.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use convoke_core::session::Report;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::timeout;

use super::conversation::{Conversation, Greeting, Step};
use crate::driver::{Wish, reserve};
use crate::lines::{Line, Pen, Reader, Writer, skipped};
use crate::process::Pipes;
use crate::{Error, Result};

/// How long the last lines of a process that ended are waited for; one that left its group may hold the pipe for ever.
const LAST_WORDS_GRACE: Duration = Duration::from_secs(1);

/// Frames that may wait; when there are as many, nothing more is read from the agent until it reads.
const UNSENT_MAX: usize = 64;

/// A conversation and its pipes.
pub(super) struct Talk {
    conversation: Conversation,
    lines: Reader,
    pen: Pen,
    /// What the agent is still to be told.
    unsent: VecDeque<Value>,
    /// What the session is still to be told.
    untold: VecDeque<Report>,
    reports: Sender<Report>,
}

/// Why a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The agent says nothing any more.
    Silent,
    /// The session does not listen any more.
    Deserted,
    /// Convoke wants it to end.
    Stopped,
}

impl Talk {
    pub(super) fn new(conversation: Conversation, pipes: Pipes, reports: Sender<Report>) -> Self {
        let (lines, pen) = (pipes.lines, Pen::Idle(pipes.input));
        let (unsent, untold) = (VecDeque::new(), VecDeque::new());
        Self { conversation, lines, pen, unsent, untold, reports }
    }

    /// Greets the agent and waits until it is ready; tells its version. [`Error::Gone`] means that it fell silent.
    ///
    /// What it says about itself is told later, when there is a session to listen.
    pub(super) async fn greet(&mut self) -> Result<Option<String>> {
        let steps = self.conversation.greet();
        self.take(steps);
        loop {
            match self.conversation.greeting() {
                Some(Greeting::Ready { version }) => return Ok(version.clone()),
                Some(Greeting::Refused { error }) => {
                    return Err(Error::Refused { detail: error.clone() });
                }
                None => {}
            }
            self.pen.write_next(&mut self.unsent);
            tokio::select! {
                // One that does not listen is about to end.
                _ = self.pen.written() => {}
                line = self.lines.next() => if self.hear(line).is_break() {
                    return Err(Error::Gone);
                },
            }
        }
    }

    /// Talks until there is an end. Cancel-safe.
    pub(super) async fn run(&mut self, wishes: &mut Receiver<Wish>) -> End {
        loop {
            if let ControlFlow::Break(end) = self.step(wishes).await {
                return end;
            }
        }
    }

    /// Reads what a process said before it ended. A slow session is waited for, a silent pipe is not.
    pub(super) async fn hear_out(&mut self, wishes: &mut Receiver<Wish>) -> End {
        loop {
            match timeout(LAST_WORDS_GRACE, self.step(wishes)).await {
                Ok(ControlFlow::Break(end)) => return end,
                Err(_) if self.untold.is_empty() => return End::Silent,
                Ok(ControlFlow::Continue(())) | Err(_) => {}
            }
        }
    }

    /// Tells the session one last thing, after everything else. Whoever wants to stop does not want to hear it.
    pub(super) async fn report_last(&mut self, last: Report, wishes: &mut Receiver<Wish>) {
        self.untold.push_back(last);
        while !self.untold.is_empty() {
            let told = tokio::select! {
                told = tell_next(&mut self.untold, &self.reports) => told,
                wish = wishes.recv() => match wish {
                    // Nobody is left to follow it, which is about to be told.
                    Some(Wish::Order(_) | Wish::List { .. }) => ControlFlow::Continue(()),
                    Some(Wish::Stop) | None => ControlFlow::Break(End::Stopped),
                },
            };
            if told.is_break() {
                return;
            }
        }
    }

    /// Tells the agent to leave its turn, and waits until it has taken that.
    pub(super) async fn leave(&mut self) {
        let steps = self.conversation.leave();
        self.take(steps);
        self.pen.write_all(&mut self.unsent).await;
    }

    /// The way to the agent, to be closed.
    pub(super) fn take_input(&mut self) -> Writer {
        self.pen.take_writer()
    }

    /// Reads what the agent still says, so that it does not hang on a full pipe, and listens to none of it.
    pub(super) async fn drain(&mut self) {
        while let Ok(Some(_)) = self.lines.next().await {}
    }

    /// Lets the next thing happen. Cancel-safe.
    pub(super) async fn step(&mut self, wishes: &mut Receiver<Wish>) -> ControlFlow<End> {
        let has_news = !self.untold.is_empty();
        let listens = !has_news && self.unsent.len() < UNSENT_MAX;
        self.pen.write_next(&mut self.unsent);
        // What leaves comes first, so that nothing piles up; what the agent says comes last.
        tokio::select! {
            biased;
            // The end of one that does not listen any more is about to be told.
            _ = self.pen.written() => ControlFlow::Continue(()),
            told = tell_next(&mut self.untold, &self.reports), if has_news => told,
            wish = wishes.recv() => self.follow(wish),
            line = self.lines.next(), if listens => self.hear(line),
        }
    }

    fn follow(&mut self, wish: Option<Wish>) -> ControlFlow<End> {
        match wish {
            Some(Wish::Order(order)) => {
                let steps = self.conversation.obey(order);
                self.take(steps);
            }
            Some(Wish::List { reply, .. }) => {
                let detail = "Claude does not list its sessions".to_owned();
                // Whoever asked may have given up.
                reply.send(Err(Error::Refused { detail })).ok();
            }
            Some(Wish::Stop) => return ControlFlow::Break(End::Stopped),
            None => return ControlFlow::Break(End::Deserted),
        }
        ControlFlow::Continue(())
    }

    fn hear(&mut self, line: io::Result<Option<Line>>) -> ControlFlow<End> {
        match line {
            Ok(Some(Line::Json(frame))) => {
                let steps = self.conversation.hear(&frame);
                self.take(steps);
            }
            Ok(Some(Line::Junk(line))) => {
                tracing::debug!(line, "claude printed a line that is not JSON");
            }
            Ok(Some(Line::TooLong { bytes })) => {
                tracing::warn!(bytes, "claude sent a line that is too long, which was skipped");
                self.untold.push_back(skipped(bytes));
            }
            Ok(None) => return ControlFlow::Break(End::Silent),
            Err(error) => {
                tracing::debug!(%error, "claude cannot be read from");
                return ControlFlow::Break(End::Silent);
            }
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Tell(report) => self.untold.push_back(report),
                Step::Send(frame) => self.unsent.push_back(frame),
            }
        }
    }
}

/// Tells the session the next report as soon as it has room for it. Cancel-safe.
async fn tell_next(untold: &mut VecDeque<Report>, reports: &Sender<Report>) -> ControlFlow<End> {
    let Some(report) = untold.front() else { return ControlFlow::Continue(()) };
    let Ok(permit) = reserve(reports, report).await else {
        return ControlFlow::Break(End::Deserted);
    };
    if let Some(report) = untold.pop_front() {
        permit.send(report);
    }
    ControlFlow::Continue(())
}
