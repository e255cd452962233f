//! One process of the pool, from its start to its end.

use std::sync::Arc;

use convoke_core::session::Report;
use rustix::process::Pid;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::grants::Grants;
use super::{Seat, Wait};
use crate::driver::{self, Driver, Launch, Lease, Order, REPORTS_MAX, Random, Started};
use crate::error::Error;
use crate::temp::TempFolder;

/// Commands that may be queued for a slot's task; further senders wait.
const COMMANDS_MAX: usize = 32;

/// A message to the slot's task.
#[derive(Debug)]
pub(super) enum Command {
    Order(Order),
    /// Send reports there from now on.
    Report(mpsc::Sender<Report>),
    Stop,
}

/// An event of a slot.
#[derive(Debug)]
pub(super) enum SlotEvent {
    Ready {
        key: String,
        pid: u32,
        orders: mpsc::Sender<Command>,
        started: Started,
    },
    Failed {
        key: String,
        error: Error,
    },
    /// The seat was given back.
    Freed {
        key: String,
    },
    /// The process has exited.
    Gone {
        key: String,
    },
}

/// A process of the pool.
pub(super) struct Slot {
    key: String,
    state: State,
    /// Known once it is ready.
    pid: Option<u32>,
    health: Health,
    /// Dropped as soon as the pool stops the process, not only when it has exited.
    lease: Option<Lease>,
    /// The folder of its temporary files.
    temp: Option<Arc<TempFolder>>,
    grants: Grants,
    /// Ends the task, and with it the process, when the pool ends.
    task: AbortHandle,
    /// Dropped with the slot, which answers the callers.
    stopped_for: Vec<oneshot::Sender<()>>,
}

/// The result of the last check by the operating system.
enum Health {
    Lives,
    /// Its driver is probably about to report the exit.
    Missing,
}

enum State {
    /// Dropping this aborts the start and kills the process.
    Starting {
        _wanted: oneshot::Sender<()>,
    },
    Idle {
        orders: mpsc::Sender<Command>,
        since: Instant,
        started: Option<Started>,
    },
    Taken {
        orders: mpsc::Sender<Command>,
    },
    Leaving,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Slot {
    /// Starts a process.
    pub(super) fn start(
        key: String,
        mut launch: Launch,
        random: Random,
        events: mpsc::Sender<SlotEvent>,
    ) -> Self {
        let (lease, temp) = (launch.lease.take(), launch.temp.clone());
        let grants = Grants::of(&launch);
        let (_wanted, unwanted) = oneshot::channel();
        let task =
            tokio::spawn(run_process(key.clone(), launch, random, unwanted, events)).abort_handle();
        let (state, health) = (State::Starting { _wanted }, Health::Lives);
        Self { key, state, pid: None, health, lease, temp, grants, task, stopped_for: Vec::new() }
    }

    /// When the process became idle.
    pub(super) const fn idle_since(&self) -> Option<Instant> {
        match &self.state {
            State::Idle { since, .. } => Some(*since),
            State::Starting { .. } | State::Taken { .. } | State::Leaving => None,
        }
    }

    pub(super) const fn is_taken(&self) -> bool {
        matches!(self.state, State::Taken { .. })
    }

    pub(super) const fn is_leaving(&self) -> bool {
        matches!(self.state, State::Leaving)
    }

    /// Whether the operating system did not list the process in two consecutive checks.
    pub(super) fn is_missing(&mut self) -> bool {
        let Some(pid) = self.pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) else {
            return false;
        };
        let lives = rustix::process::test_kill_process(pid).is_ok();
        let was_missing = matches!(self.health, Health::Missing);
        self.health = if lives { Health::Lives } else { Health::Missing };
        was_missing && !lives
    }

    pub(super) fn ready(&mut self, pid: u32, orders: mpsc::Sender<Command>, started: Started) {
        self.pid = Some(pid);
        if let State::Starting { .. } = self.state {
            self.state = State::Idle { orders, since: Instant::now(), started: Some(started) };
        } else {
            // It was stopped before it was ready.
            post(&orders, Command::Stop);
        }
    }

    pub(super) fn freed(&mut self, now: Instant) {
        if let State::Taken { orders } = &self.state {
            self.state = State::Idle { orders: orders.clone(), since: now, started: None };
        }
    }

    /// Gives the seat to a caller, or returns the caller if it is taken.
    pub(super) fn seat(&mut self, wait: Wait, events: &mpsc::Sender<SlotEvent>) -> Option<Wait> {
        let Some(seat) = self.take_seat(wait.reports.clone(), events) else { return Some(wait) };
        wait.place.send_replace(0);
        // A caller that has stopped waiting drops the seat, which returns it.
        wait.reply.send(Ok(seat)).ok();
        None
    }

    /// The seat, if it is free and was taken before.
    pub(super) fn take_warm(
        &mut self,
        reports: mpsc::Sender<Report>,
        events: &mpsc::Sender<SlotEvent>,
    ) -> Option<Seat> {
        let State::Idle { started: None, .. } = self.state else { return None };
        self.take_seat(reports, events)
    }

    /// The seat, if it is free; reports are sent to `reports` from now on. A process whose granted
    /// files were replaced is stopped instead, and the caller gets another one.
    fn take_seat(
        &mut self,
        reports: mpsc::Sender<Report>,
        events: &mpsc::Sender<SlotEvent>,
    ) -> Option<Seat> {
        if self.idle_since().is_some() && self.grants.are_outdated() {
            tracing::info!(
                "a file of the process of {} was replaced: it is started anew",
                self.key
            );
            self.stop();
            return None;
        }
        let State::Idle { orders, started, .. } = &mut self.state else { return None };
        let (taken, freed) = oneshot::channel();
        let temp = self.temp.clone();
        let seat = Seat { orders: orders.clone(), started: started.take(), temp, _taken: taken };
        post(orders, Command::Report(reports));
        self.state = State::Taken { orders: orders.clone() };
        let (events, key) = (events.clone(), self.key.clone());
        tokio::spawn(async move {
            // Nothing is ever sent: dropping the seat returns it.
            freed.await.ok();
            events.send(SlotEvent::Freed { key }).await.ok();
        });
        Some(seat)
    }

    pub(super) fn stop(&mut self) {
        self.lease = None;
        if let State::Idle { orders, .. } | State::Taken { orders } = &self.state {
            post(orders, Command::Stop);
        }
        self.state = State::Leaving;
    }

    /// Stops the process, and replies when it has ended.
    pub(super) fn stop_for(&mut self, done: oneshot::Sender<()>) {
        self.stop();
        self.stopped_for.push(done);
    }
}

/// Sends a slot's task a message without waiting; a task that has ended needs none.
fn post(orders: &mpsc::Sender<Command>, command: Command) {
    let orders = orders.clone();
    if let Err(mpsc::error::TrySendError::Full(command)) = orders.try_send(command) {
        tokio::spawn(async move { orders.send(command).await });
    }
}

/// Runs one process from its start to its end.
async fn run_process(
    key: String,
    launch: Launch,
    random: Random,
    unwanted: oneshot::Receiver<()>,
    events: mpsc::Sender<SlotEvent>,
) {
    let (reports, mut from_agent) = mpsc::channel(REPORTS_MAX);
    let started = tokio::select! {
        started = driver::start(launch, random, reports) => Some(started),
        // Dropping the future of the start kills the process.
        _ = unwanted => None,
    };
    let (driver, started) = match started {
        Some(Ok(started)) => started,
        // Errors of a stopped pool are ignored, here and below.
        Some(Err(error)) => {
            return events.send(SlotEvent::Failed { key, error }).await.unwrap_or_default();
        }
        None => return events.send(SlotEvent::Gone { key }).await.unwrap_or_default(),
    };
    let (orders, mut commands) = mpsc::channel(COMMANDS_MAX);
    let pid = driver.pid();
    events.send(SlotEvent::Ready { key: key.clone(), pid, orders, started }).await.ok();
    serve(driver, &mut commands, &mut from_agent).await;
    events.send(SlotEvent::Gone { key }).await.ok();
}

async fn serve(
    driver: Driver,
    commands: &mut mpsc::Receiver<Command>,
    from_agent: &mut mpsc::Receiver<Report>,
) {
    let mut to_session: Option<mpsc::Sender<Report>> = None;
    loop {
        tokio::select! {
            command = commands.recv() => match command {
                Some(Command::Order(order)) => {
                    // Fails if the agent has exited, which is reported separately.
                    driver.send(order).await.ok();
                }
                Some(Command::Report(reports)) => to_session = Some(reports),
                Some(Command::Stop) | None => {
                    // The remaining reports are dropped, and must not block the driver.
                    from_agent.close();
                    driver.stop().await;
                    if let Some(reports) = &to_session {
                        // If the queue is full, the session notices it when it needs a process.
                        reports.try_send(Report::Stopped).ok();
                    }
                    return;
                }
            },
            () = driver.closed(), if to_session.is_none() => return,
            // Until there is a session, the reports of a new agent stay in its queue.
            report = from_agent.recv(), if to_session.is_some() => match report {
                Some(report) => {
                    let is_last = matches!(report, Report::Exited(_));
                    if let Some(reports) = &to_session {
                        // The receiver is dropped when the session has ended; the engine then stops
                        // the process.
                        if let Ok(permit) = driver::reserve(reports, &report).await {
                            permit.send(report);
                        }
                    }
                    if is_last {
                        return;
                    }
                }
                None => return,
            },
        }
    }
}
