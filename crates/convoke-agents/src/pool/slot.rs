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

/// Commands that may wait for a slot's task; one more waits with its sender.
const COMMANDS_MAX: usize = 32;

/// A message to the slot's task.
#[derive(Debug)]
pub(super) enum Command {
    Order(Order),
    /// Send reports there from now on.
    Report(mpsc::Sender<Report>),
    Stop,
}

/// What a slot reports to the pool.
#[derive(Debug)]
pub(super) enum News {
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

/// A process as the pool sees it.
pub(super) struct Slot {
    key: String,
    state: State,
    /// Known once it is ready.
    pid: Option<u32>,
    health: Health,
    /// Dropped as soon as the pool stops the process, and not only when it is gone.
    lease: Option<Lease>,
    /// The folder of its temporary files.
    temp: Option<Arc<TempFolder>>,
    grants: Grants,
    /// Ends the task, and with it the process, when the pool ends.
    task: AbortHandle,
    /// Answered by being dropped with the slot.
    stopped_for: Vec<oneshot::Sender<()>>,
}

/// What the operating system said last.
enum Health {
    Lives,
    /// Its driver is probably about to say so.
    Missing,
}

enum State {
    /// The start is given up, and the process killed, when this is dropped.
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
        news: mpsc::Sender<News>,
    ) -> Self {
        let (lease, temp) = (launch.lease.take(), launch.temp.clone());
        let grants = Grants::of(&launch);
        let (_wanted, unwanted) = oneshot::channel();
        let task = tokio::spawn(attend(key.clone(), launch, random, unwanted, news)).abort_handle();
        let (state, health) = (State::Starting { _wanted }, Health::Lives);
        Self { key, state, pid: None, health, lease, temp, grants, task, stopped_for: Vec::new() }
    }

    /// Since when the process has been idle.
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

    /// Whether the operating system has not had the process for two looks in a row.
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

    /// Gives the seat to a caller, or the caller back when it is not free.
    pub(super) fn seat(&mut self, wait: Wait, news: &mpsc::Sender<News>) -> Option<Wait> {
        let Some(seat) = self.take_seat(wait.reports.clone(), news) else { return Some(wait) };
        wait.place.send_replace(0);
        // A caller that no longer waits drops the seat, which gives it back.
        wait.reply.send(Ok(seat)).ok();
        None
    }

    /// The seat, if it is free and not the first one.
    pub(super) fn take_warm(
        &mut self,
        reports: mpsc::Sender<Report>,
        news: &mpsc::Sender<News>,
    ) -> Option<Seat> {
        let State::Idle { started: None, .. } = self.state else { return None };
        self.take_seat(reports, news)
    }

    /// The seat, if it is free; what the process does comes out of `reports` from now on. A process whose files were
    /// replaced is stopped instead, and the caller gets another one.
    fn take_seat(
        &mut self,
        reports: mpsc::Sender<Report>,
        news: &mpsc::Sender<News>,
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
        let (news, key) = (news.clone(), self.key.clone());
        tokio::spawn(async move {
            // Nothing is ever sent: the seat is given back by being dropped.
            freed.await.ok();
            news.send(News::Freed { key }).await.ok();
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

/// The life of one process.
async fn attend(
    key: String,
    launch: Launch,
    random: Random,
    unwanted: oneshot::Receiver<()>,
    news: mpsc::Sender<News>,
) {
    let (reports, mut from_agent) = mpsc::channel(REPORTS_MAX);
    let started = tokio::select! {
        started = driver::start(launch, random, reports) => Some(started),
        // What is being started is killed by letting go of it.
        _ = unwanted => None,
    };
    let (driver, started) = match started {
        Some(Ok(started)) => started,
        // A pool that is gone needs no news, here and below.
        Some(Err(error)) => {
            return news.send(News::Failed { key, error }).await.unwrap_or_default();
        }
        None => return news.send(News::Gone { key }).await.unwrap_or_default(),
    };
    let (orders, mut commands) = mpsc::channel(COMMANDS_MAX);
    let pid = driver.pid();
    news.send(News::Ready { key: key.clone(), pid, orders, started }).await.ok();
    serve(driver, &mut commands, &mut from_agent).await;
    news.send(News::Gone { key }).await.ok();
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
                    // The end of an agent is its last report.
                    driver.send(order).await.ok();
                }
                Some(Command::Report(reports)) => to_session = Some(reports),
                Some(Command::Stop) | None => {
                    // What it says to its end is of no interest, and a driver must not wait for that.
                    from_agent.close();
                    driver.stop().await;
                    if let Some(reports) = &to_session {
                        // A session that has not read all that came before learns it when it needs a process.
                        reports.try_send(Report::Stopped).ok();
                    }
                    return;
                }
            },
            () = driver.closed(), if to_session.is_none() => return,
            // Before there is a session, what a new agent says waits in its queue.
            report = from_agent.recv(), if to_session.is_some() => match report {
                Some(report) => {
                    let is_last = matches!(report, Report::Exited(_));
                    if let Some(reports) = &to_session {
                        // The receiver is dropped when the session has ended, and the engine then stops its process.
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
