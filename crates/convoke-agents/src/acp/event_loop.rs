//! The I/O of a conversation: moves lines, reports and work between the agent, the session and the
//! runtime.
//!
//! It cannot deadlock: while the session's queue is full the agent's output is not read, while the
//! agent does not read its input its output is still read, and orders are always accepted.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::{future, io, mem};

use convoke_core::session::Report;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::dialogue::Dialogue;
use super::host::WorkResult;
use super::wire::Outcome;
use crate::driver::{DriverRequest, reserve};
use crate::lines::{BackgroundWriter, Line, Reader, Writer, skipped};
use crate::process::Pipes;

/// Lines that may be queued for the agent; with more, its output is not read.
const LINES_MAX: usize = 64;
/// Concurrent work on files; with more, the agent's output is not read.
const SOON_MAX: usize = 16;
/// Requests that may wait for the end of a command; further ones are refused, since these may wait
/// for ever.
const LATER_MAX: usize = 64;

/// A conversation with its pipes.
pub(super) struct EventLoop {
    pub(super) dialogue: Dialogue,
    lines: Reader,
    writer: BackgroundWriter,
    /// The channel to the session, while it is open.
    reports: Option<mpsc::Sender<Report>>,
    /// Work for requests of the agent.
    soon: JoinSet<Served>,
    later: JoinSet<Served>,
}

/// The result of work for a request of the agent.
type Served = (Value, WorkResult);

/// Why a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The agent has closed its input or output.
    Closed,
    /// The session no longer reads reports.
    Deserted,
    /// A stop was requested.
    Stopped,
}

impl EventLoop {
    pub(super) fn new(dialogue: Dialogue, pipes: Pipes, reports: mpsc::Sender<Report>) -> Self {
        let writer = BackgroundWriter::Idle(pipes.input);
        let (soon, later) = (JoinSet::new(), JoinSet::new());
        Self { dialogue, lines: pipes.lines, writer, reports: Some(reports), soon, later }
    }

    /// Carries out orders until the conversation ends. Cancel-safe.
    pub(super) async fn run(&mut self, requests: &mut mpsc::Receiver<DriverRequest>) -> End {
        loop {
            if let ControlFlow::Break(end) = self.step(Some(requests)).await {
                return end;
            }
        }
    }

    /// Sends a request and waits for its response; other events are handled meanwhile.
    pub(super) async fn call(&mut self, method: &str, params: Value) -> Result<Outcome, End> {
        self.dialogue.call(method, params);
        loop {
            if let Some(outcome) = self.dialogue.take_answer() {
                return Ok(outcome);
            }
            if let ControlFlow::Break(end) = self.step(None).await {
                return Err(end);
            }
        }
    }

    /// Handles the next event. Cancel-safe.
    pub(super) async fn step(
        &mut self,
        requests: Option<&mut mpsc::Receiver<DriverRequest>>,
    ) -> ControlFlow<End> {
        self.begin();
        let deadline = self.dialogue.deadline();
        let has_reports = !self.dialogue.outbox.reports.is_empty();
        let listens = !has_reports
            && self.dialogue.outbox.lines.len() < LINES_MAX
            && self.soon.len() < SOON_MAX;
        // Output first, so that nothing accumulates; the agent's messages last.
        tokio::select! {
            biased;
            written = self.writer.written() => if written.is_err() {
                return ControlFlow::Break(End::Closed);
            },
            delivered = deliver(self.reports.as_ref(), &mut self.dialogue.outbox.reports),
                if has_reports => return delivered,
            request = next(requests) => return self.follow(request),
            Some(served) = self.soon.join_next() => self.served(served),
            Some(served) = self.later.join_next() => self.served(served),
            () = reached(deadline) => self.dialogue.give_up(Instant::now()),
            line = self.lines.next(), if listens => return self.handle(line),
        }
        ControlFlow::Continue(())
    }

    /// Whether reports for the session are still queued.
    pub(super) fn has_reports(&self) -> bool {
        !self.dialogue.outbox.reports.is_empty()
    }

    /// Sends the session one last report, after everything else.
    pub(super) async fn report_last(&mut self, last: Report) {
        let reports = mem::take(&mut self.dialogue.outbox.reports);
        let Some(session) = &self.reports else { return };
        for report in reports.into_iter().chain([last]) {
            if session.send(report).await.is_err() {
                return;
            }
        }
    }

    /// Drops the queued reports, and all later ones.
    pub(super) fn mute(&mut self) {
        self.reports = None;
    }

    /// The agent's input. A write in progress is abandoned.
    pub(super) fn take_input(&mut self) -> Writer {
        self.writer.take_writer()
    }

    /// Reads and discards the agent's remaining output, so that it does not block on a full pipe.
    pub(super) async fn drain(&mut self) {
        while let Ok(Some(_)) = self.lines.next().await {}
    }

    /// Starts queued work as far as there is room.
    fn begin(&mut self) {
        if self.reports.is_none() {
            self.dialogue.outbox.reports.clear();
        }
        let outbox = &mut self.dialogue.outbox;
        for (id, work) in outbox.soon.drain(..) {
            self.soon.spawn(async move { (id, work.await) });
        }
        for (id, work) in mem::take(&mut outbox.later) {
            if self.later.len() < LATER_MAX {
                self.later.spawn(async move { (id, work.await) });
            } else {
                self.dialogue.refuse(id);
            }
        }
        self.writer.write_next(&mut self.dialogue.outbox.lines);
    }

    fn follow(&mut self, request: Option<DriverRequest>) -> ControlFlow<End> {
        match request {
            Some(DriverRequest::Order(order)) => self.dialogue.order(order, Instant::now()),
            Some(DriverRequest::List { cursor, reply }) => self.dialogue.list(cursor, reply),
            Some(DriverRequest::Stop) => return ControlFlow::Break(End::Stopped),
            None => return ControlFlow::Break(End::Deserted),
        }
        ControlFlow::Continue(())
    }

    fn served(&mut self, served: Result<Served, tokio::task::JoinError>) {
        match served {
            Ok((id, result)) => self.dialogue.finish_work(id, result),
            Err(error) => tracing::error!(%error, "work for an agent was broken off"),
        }
    }

    fn handle(&mut self, line: io::Result<Option<Line>>) -> ControlFlow<End> {
        match line {
            Ok(Some(Line::Json(line))) => self.dialogue.handle(line),
            Ok(Some(Line::Junk(line))) => {
                tracing::debug!(line, "the agent printed a line that is not JSON");
            }
            Ok(Some(Line::TooLong { bytes })) => {
                tracing::warn!(bytes, "the agent sent a line that is too long, which was skipped");
                self.dialogue.outbox.reports.push_back(skipped(bytes));
            }
            Ok(None) => return ControlFlow::Break(End::Closed),
            Err(error) => {
                tracing::debug!(%error, "the agent cannot be read from");
                return ControlFlow::Break(End::Closed);
            }
        }
        ControlFlow::Continue(())
    }
}

async fn next(requests: Option<&mut mpsc::Receiver<DriverRequest>>) -> Option<DriverRequest> {
    match requests {
        Some(requests) => requests.recv().await,
        None => future::pending().await,
    }
}

/// Sends the first report as soon as there is room. Cancel-safe.
async fn deliver(
    session: Option<&mpsc::Sender<Report>>,
    reports: &mut VecDeque<Report>,
) -> ControlFlow<End> {
    let (Some(session), Some(report)) = (session, reports.front()) else {
        return ControlFlow::Continue(());
    };
    let Ok(permit) = reserve(session, report).await else {
        return ControlFlow::Break(End::Deserted);
    };
    if let Some(report) = reports.pop_front() {
        permit.send(report);
    }
    ControlFlow::Continue(())
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => future::pending().await,
    }
}
