//! Permissions for connections to hosts that are not on the sandbox's list: requests of an agent's
//! supervisors become requests to the human, and the answers are sent back.
//!
//! This is independent of the agent's protocol, because the agent is not involved: its proxy waits.

mod decisions;

use std::os::fd::OwnedFd;
use std::os::unix::net;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use convoke_core::id::RequestId;
use convoke_core::session::{Reply, Report};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::driver::{Order, Random};
use crate::sandbox::{ConnectionAnswer, ConnectionRequest, Ruling, Target};
use decisions::Decisions;

/// Requests of supervisors that may be queued for the relay; further ones block their supervisor.
const REQUESTS_MAX: usize = 64;
/// Bytes of one request; a host's name has up to 253.
const REQUEST_BYTES_MAX: u64 = 4 << 10;

/// The channel on which the supervisors of one agent ask about connections.
#[derive(Clone)]
pub struct Gate {
    requests: mpsc::Sender<PendingConnection>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

/// A connection that a program waits for.
#[derive(Debug)]
struct PendingConnection {
    target: Target,
    reply: oneshot::Sender<Ruling>,
}

impl Gate {
    /// Serves one more supervisor; returns its end of the socket. Ends when the socket is closed.
    pub(crate) fn serve(&self) -> io::Result<OwnedFd> {
        let (ours, theirs) = net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        tokio::spawn(forward(UnixStream::from_std(ours)?, self.clone()));
        Ok(theirs.into())
    }

    async fn ask(&self, target: Target) -> Ruling {
        let (reply, decided) = oneshot::channel();
        // Fails if the relay has ended, which also drops the reply.
        self.requests.send(PendingConnection { target, reply }).await.ok();
        let gone = || Ruling::Deny { why: "the session ended before it was answered".to_owned() };
        decided.await.unwrap_or_else(|_| gone())
    }
}

/// Forwards the requests of one supervisor, and returns the answers in the order of the decisions.
async fn forward(socket: UnixStream, gate: Gate) {
    let (reading, writing) = socket.into_split();
    let (answers, answered) = mpsc::channel(REQUESTS_MAX);
    tokio::select! {
        () = read(reading, &gate, answers) => {}
        () = write(writing, answered) => {}
    }
}

/// Reads requests until the supervisor exits; those that are pending then are dropped.
async fn read(socket: OwnedReadHalf, gate: &Gate, answers: mpsc::Sender<ConnectionAnswer>) {
    let mut socket = BufReader::new(socket);
    let mut waiting = JoinSet::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut socket).take(REQUEST_BYTES_MAX).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        let ConnectionRequest { id, target } = match serde_json::from_slice(&line) {
            Ok(request) => request,
            Err(error) => {
                tracing::error!(%error, "a supervisor sent a request that cannot be read");
                return;
            }
        };
        while waiting.try_join_next().is_some() {}
        let (gate, answers) = (gate.clone(), answers.clone());
        waiting.spawn(async move {
            let ruling = gate.ask(target).await;
            // Fails if the supervisor has exited, with its connections.
            answers.send(ConnectionAnswer { id, ruling }).await.ok();
        });
    }
}

async fn write(mut socket: OwnedWriteHalf, mut answers: mpsc::Receiver<ConnectionAnswer>) {
    while let Some(answer) = answers.recv().await {
        let written = match serde_json::to_vec(&answer) {
            Ok(mut line) => {
                line.push(b'\n');
                socket.write_all(&line).await
            }
            Err(error) => Err(error.into()),
        };
        if let Err(error) = written {
            tracing::debug!(%error, "a supervisor ended before its connection was decided on");
            return;
        }
    }
}

/// The daemon's end of a gate: turns requests about connections into requests of the session, and
/// orders into answers.
#[derive(Debug, Clone)]
pub(crate) struct Broker {
    decisions: Arc<Mutex<Decisions>>,
}

impl Broker {
    /// A gate for the supervisors of one agent, and the queue for the agent's reports; both feed
    /// `reports`.
    pub(crate) fn open(
        random: Random,
        reports: mpsc::Sender<Report>,
    ) -> (Self, Gate, mpsc::Sender<Report>) {
        let (requests, wanted) = mpsc::channel(REQUESTS_MAX);
        let (inner, from_agent) = mpsc::channel(crate::driver::REPORTS_MAX);
        let broker = Self { decisions: Arc::new(Mutex::new(Decisions::new(random))) };
        tokio::spawn(broker.clone().relay(from_agent, wanted, reports));
        (broker, Gate { requests }, inner)
    }

    /// Intercepts orders to the agent: returns the order unless it answers a request about a connection.
    pub(crate) fn intercept(&self, order: Order) -> Option<Order> {
        match &order {
            Order::Prompt { .. } => self.decisions().turn_began(),
            Order::Reply { request, reply } => {
                return if self.settle(*request, reply) { None } else { Some(order) };
            }
            Order::Cancel | Order::End | Order::SetMode { .. } | Order::SetSetting { .. } => {}
        }
        Some(order)
    }

    fn settle(&self, request: RequestId, reply: &Reply) -> bool {
        self.decisions().settle(request, reply)
    }

    /// Forwards reports with the requests between them, so that no request follows the end of its
    /// turn.
    async fn relay(
        self,
        mut from_agent: mpsc::Receiver<Report>,
        mut wanted: mpsc::Receiver<PendingConnection>,
        session: mpsc::Sender<Report>,
    ) {
        loop {
            let report = tokio::select! {
                report = from_agent.recv() => {
                    let Some(report) = report else { break };
                    if matches!(report, Report::TurnEnded { .. }) {
                        self.decisions().turn_ended();
                    }
                    report
                }
                Some(PendingConnection { target, reply }) = wanted.recv() => {
                    let Some(request) = self.decisions().decide_or_ask(target, reply) else { continue };
                    Report::Asked(request)
                }
            };
            if session.send(report).await.is_err() {
                break;
            }
        }
        // Pending requests are denied.
        self.decisions().turn_ended();
    }

    fn decisions(&self) -> MutexGuard<'_, Decisions> {
        self.decisions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
