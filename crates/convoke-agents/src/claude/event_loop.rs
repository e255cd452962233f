//! The I/O of a conversation. It cannot deadlock: orders are always accepted, the agent's output is
//! read while it does not read its input, and only a full queue of reports blocks it.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use convoke_core::session::Report;
use convoke_core::state::SessionState;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::timeout;

use super::conversation::{Conversation, InitializeOutcome, Step};
use crate::driver::{DriverRequest, reserve};
use crate::lines::{BackgroundWriter, Line, Reader, Writer, skipped};
use crate::process::Pipes;
use crate::{Error, Result};

/// How long the last output of an exited process is waited for; a process that left its group may
/// hold the pipe open for ever.
const LAST_OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// Frames that may be queued for the agent; with more, its output is not read.
const UNSENT_MAX: usize = 64;

/// A conversation with its pipes.
pub(super) struct EventLoop {
    conversation: Conversation,
    lines: Reader,
    writer: BackgroundWriter,
    /// Lines queued for the agent.
    unsent: VecDeque<Value>,
    /// Reports queued for the session.
    unreported: VecDeque<Report>,
    reports: Sender<Report>,
}

/// Why a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The agent has closed its output.
    Silent,
    /// The session no longer reads reports.
    Deserted,
    /// A stop was requested.
    Stopped,
}

impl EventLoop {
    /// The modes and settings that the agent offers now.
    pub(super) fn offers(&self) -> Vec<SessionState> {
        self.conversation.offers()
    }

    pub(super) fn new(conversation: Conversation, pipes: Pipes, reports: Sender<Report>) -> Self {
        let (lines, writer) = (pipes.lines, BackgroundWriter::Idle(pipes.input));
        let (unsent, unreported) = (VecDeque::new(), VecDeque::new());
        Self { conversation, lines, writer, unsent, unreported, reports }
    }

    /// Sends the handshake and waits until the agent is ready; returns its version. [`Error::Gone`]
    /// means that its output ended.
    ///
    /// Its offers are reported later, when there is a session.
    pub(super) async fn initialize(&mut self) -> Result<Option<String>> {
        let steps = self.conversation.initialize();
        self.take(steps);
        loop {
            match self.conversation.initialize_outcome() {
                Some(InitializeOutcome::Ready { version }) => return Ok(version.clone()),
                Some(InitializeOutcome::Refused { error }) => {
                    return Err(Error::Refused { detail: error.clone() });
                }
                None => {}
            }
            self.writer.write_next(&mut self.unsent);
            tokio::select! {
                // An agent that has closed its input is about to exit.
                _ = self.writer.written() => {}
                line = self.lines.next() => if self.handle(line).is_break() {
                    return Err(Error::Gone);
                },
            }
        }
    }

    /// Runs until the conversation ends. Cancel-safe.
    pub(super) async fn run(&mut self, requests: &mut Receiver<DriverRequest>) -> End {
        loop {
            if let ControlFlow::Break(end) = self.step(requests).await {
                return end;
            }
        }
    }

    /// Reads the last output of an exited process. A slow session is waited for, a silent pipe is
    /// not.
    pub(super) async fn read_remaining(&mut self, requests: &mut Receiver<DriverRequest>) -> End {
        loop {
            match timeout(LAST_OUTPUT_GRACE, self.step(requests)).await {
                Ok(ControlFlow::Break(end)) => return end,
                Err(_) if self.unreported.is_empty() => return End::Silent,
                Ok(ControlFlow::Continue(())) | Err(_) => {}
            }
        }
    }

    /// Sends the session one last report, after everything else. Not needed when the stop was requested.
    pub(super) async fn report_last(
        &mut self,
        last: Report,
        requests: &mut Receiver<DriverRequest>,
    ) {
        self.unreported.push_back(last);
        while !self.unreported.is_empty() {
            let sent = tokio::select! {
                sent = send_next(&mut self.unreported, &self.reports) => sent,
                request = requests.recv() => match request {
                    // The agent has exited, and its exit is about to be reported.
                    Some(DriverRequest::Order(_) | DriverRequest::List { .. }) => ControlFlow::Continue(()),
                    Some(DriverRequest::Stop) | None => ControlFlow::Break(End::Stopped),
                },
            };
            if sent.is_break() {
                return;
            }
        }
    }

    /// Interrupts the agent's turn, and waits until the interrupt is written.
    pub(super) async fn leave(&mut self) {
        let steps = self.conversation.leave();
        self.take(steps);
        self.writer.write_all(&mut self.unsent).await;
    }

    /// The agent's input, to be closed.
    pub(super) fn take_input(&mut self) -> Writer {
        self.writer.take_writer()
    }

    /// Reads and discards the agent's remaining output, so that it does not block on a full pipe.
    pub(super) async fn drain(&mut self) {
        while let Ok(Some(_)) = self.lines.next().await {}
    }

    /// Handles the next event. Cancel-safe.
    pub(super) async fn step(
        &mut self,
        requests: &mut Receiver<DriverRequest>,
    ) -> ControlFlow<End> {
        let has_news = !self.unreported.is_empty();
        let listens = !has_news && self.unsent.len() < UNSENT_MAX;
        self.writer.write_next(&mut self.unsent);
        // Output first, so that nothing accumulates; the agent's messages last.
        tokio::select! {
            biased;
            // The exit of an agent that has closed its input is about to be reported.
            _ = self.writer.written() => ControlFlow::Continue(()),
            sent = send_next(&mut self.unreported, &self.reports), if has_news => sent,
            request = requests.recv() => self.follow(request),
            line = self.lines.next(), if listens => self.handle(line),
        }
    }

    fn follow(&mut self, request: Option<DriverRequest>) -> ControlFlow<End> {
        match request {
            Some(DriverRequest::Order(order)) => {
                let steps = self.conversation.handle_order(order);
                self.take(steps);
            }
            Some(DriverRequest::List { reply, .. }) => {
                let detail = "Claude does not list its sessions".to_owned();
                // The caller may have stopped waiting.
                reply.send(Err(Error::Refused { detail })).ok();
            }
            Some(DriverRequest::Stop) => return ControlFlow::Break(End::Stopped),
            None => return ControlFlow::Break(End::Deserted),
        }
        ControlFlow::Continue(())
    }

    fn handle(&mut self, line: io::Result<Option<Line>>) -> ControlFlow<End> {
        match line {
            Ok(Some(Line::Json(frame))) => {
                let steps = self.conversation.handle(&frame);
                self.take(steps);
            }
            Ok(Some(Line::Junk(line))) => {
                tracing::debug!(line, "claude printed a line that is not JSON");
            }
            Ok(Some(Line::TooLong { bytes })) => {
                tracing::warn!(bytes, "claude sent a line that is too long, which was skipped");
                self.unreported.push_back(skipped(bytes));
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
                Step::Report(report) => self.unreported.push_back(report),
                Step::Send(frame) => self.unsent.push_back(frame),
            }
        }
    }
}

/// Sends the session the next report as soon as its queue has room. Cancel-safe.
async fn send_next(
    unreported: &mut VecDeque<Report>,
    reports: &Sender<Report>,
) -> ControlFlow<End> {
    let Some(report) = unreported.front() else { return ControlFlow::Continue(()) };
    let Ok(permit) = reserve(reports, report).await else {
        return ControlFlow::Break(End::Deserted);
    };
    if let Some(report) = unreported.pop_front() {
        permit.send(report);
    }
    ControlFlow::Continue(())
}
