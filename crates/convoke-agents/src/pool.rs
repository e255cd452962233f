//! The pool: one process per session, started on demand, kept warm, reused, and stopped when idle.
//!
//! It knows keys and processes, but not sessions. A process whose seat is taken is never evicted:
//! if the pool is full, callers wait in a queue and see their position.

mod grants;
mod slot;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use convoke_core::session::Report;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior};

use crate::driver::{Launch, Order, Random, Started};
use crate::error::{Error, Result};
use crate::temp::TempFolder;
use slot::{Command, Slot, SlotEvent};

/// Requests that may be queued for the pool's task, which never blocks; further senders wait.
const REQUESTS_MAX: usize = 64;

/// The limits of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Concurrent processes, including those that start and stop.
    pub processes_max: usize,
    /// How long a process is kept warm without a turn.
    pub idle_timeout: Duration,
    /// How often the operating system is asked whether the processes are alive. An exit is usually
    /// noticed at once; this finds processes whose driver has failed.
    pub health_interval: Duration,
}

/// A handle to the pool; cheap to clone. When the last one is dropped, every process is stopped.
#[derive(Debug, Clone)]
pub struct Pool {
    mailbox: mpsc::Sender<Request>,
}

/// The right to use a process: while it is held, the process does not count as idle.
#[derive(Debug)]
pub struct Seat {
    orders: mpsc::Sender<Command>,
    /// The result of the agent's start, for the caller that takes the first seat.
    pub started: Option<Started>,
    /// The folder of the process's temporary files, which the agent can read.
    pub temp: Option<Arc<TempFolder>>,
    _taken: oneshot::Sender<()>,
}

impl Seat {
    /// Sends an order to the agent.
    pub async fn send(&self, order: Order) -> Result<()> {
        self.orders.send(Command::Order(order)).await.map_err(|_| Error::Gone)
    }

    /// Completes when the process or its driver ends.
    pub async fn closed(&self) {
        self.orders.closed().await;
    }
}

/// How many processes the pool has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolCounts {
    /// All of them.
    pub processes: usize,
    /// Those whose seat is taken.
    pub busy: usize,
    /// Callers that wait for room.
    pub waiting: usize,
}

enum Request {
    Acquire(Wait),
    TakeWarm { key: String, reports: mpsc::Sender<Report>, reply: oneshot::Sender<Option<Seat>> },
    Prepare { key: String, launch: Launch },
    Release { key: String, done: oneshot::Sender<()> },
    Stop { done: oneshot::Sender<()> },
    Count(oneshot::Sender<PoolCounts>),
    Keys(oneshot::Sender<BTreeSet<String>>),
}

/// A caller that waits for a process.
struct Wait {
    key: String,
    launch: Launch,
    reports: mpsc::Sender<Report>,
    place: watch::Sender<usize>,
    reply: oneshot::Sender<Result<Seat>>,
}

impl Pool {
    /// Starts the pool's task.
    pub fn start(settings: Settings, random: Random) -> Self {
        let (mailbox, requests) = mpsc::channel(REQUESTS_MAX);
        let (events_to, events) = mpsc::channel(REQUESTS_MAX);
        let (slots, queue, state) = (BTreeMap::new(), VecDeque::new(), PoolState::Serves);
        let task = PoolTask { settings, random, slots, queue, events_to, state };
        tokio::spawn(task.run(requests, events));
        Self { mailbox }
    }

    /// Takes the seat of a key's process: the warm one, or a new one by `launch`, as soon as there
    /// is room.
    ///
    /// The process's reports are sent to `reports`, even after the seat is returned. While the
    /// caller waits for room, `place` is its position in the queue, from 1; 0 means that it does
    /// not wait.
    pub async fn acquire(
        &self,
        key: &str,
        launch: Launch,
        reports: mpsc::Sender<Report>,
        place: watch::Sender<usize>,
    ) -> Result<Seat> {
        let (reply, seat) = oneshot::channel();
        let wait = Wait { key: key.to_owned(), launch, reports, place, reply };
        self.mailbox.send(Request::Acquire(wait)).await.map_err(|_| Error::Gone)?;
        seat.await.map_err(|_| Error::Gone)?
    }

    /// Takes the seat of a key's warm process if that is free; never waits.
    pub async fn take_warm(&self, key: &str, reports: mpsc::Sender<Report>) -> Option<Seat> {
        let (reply, seat) = oneshot::channel();
        let request = Request::TakeWarm { key: key.to_owned(), reports, reply };
        self.mailbox.send(request).await.ok()?;
        seat.await.ok()?
    }

    /// Starts a process that will probably be needed, if there is room.
    pub async fn prepare(&self, key: &str, launch: Launch) {
        // A stopped pool prepares nothing.
        self.mailbox.send(Request::Prepare { key: key.to_owned(), launch }).await.ok();
    }

    /// Stops a key's process, even a busy one, and waits until it has exited.
    pub async fn release(&self, key: &str) {
        let (done, gone) = oneshot::channel();
        let request = Request::Release { key: key.to_owned(), done };
        if self.mailbox.send(request).await.is_ok() {
            // The channel is dropped when the process has exited, or does not exist.
            gone.await.ok();
        }
    }

    /// Stops every process and starts no others; returns when all have exited. Waiting callers are
    /// refused.
    pub async fn stop(&self) {
        let (done, gone) = oneshot::channel();
        if self.mailbox.send(Request::Stop { done }).await.is_ok() {
            // The channel is dropped with the last process.
            gone.await.ok();
        }
    }

    /// The keys that have a process.
    pub async fn keys(&self) -> BTreeSet<String> {
        let (reply, keys) = oneshot::channel();
        if self.mailbox.send(Request::Keys(reply)).await.is_err() {
            return BTreeSet::new();
        }
        keys.await.unwrap_or_default()
    }

    /// Counts the processes.
    pub async fn counts(&self) -> PoolCounts {
        let (reply, counts) = oneshot::channel();
        if self.mailbox.send(Request::Count(reply)).await.is_err() {
            return PoolCounts::default();
        }
        counts.await.unwrap_or_default()
    }
}

struct PoolTask {
    settings: Settings,
    random: Random,
    slots: BTreeMap<String, Slot>,
    queue: VecDeque<Wait>,
    events_to: mpsc::Sender<SlotEvent>,
    state: PoolState,
}

/// Whether the pool still starts processes.
enum PoolState {
    Serves,
    /// The caller of `stop` gets its reply when this state is dropped.
    Stops {
        _done: oneshot::Sender<()>,
    },
    Over,
}

impl PoolTask {
    async fn run(
        mut self,
        mut requests: mpsc::Receiver<Request>,
        mut events: mpsc::Receiver<SlotEvent>,
    ) {
        let mut health = tokio::time::interval(self.settings.health_interval);
        health.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = self.slots.values().filter_map(|slot| slot.idle_since()).min();
            let due = due.map(|since| since + self.settings.idle_timeout);
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => self.carry_out(request),
                    None => break,
                },
                Some(event) = events.recv() => self.handle(event),
                () = at(due) => self.stop_idle(),
                _ = health.tick() => self.check_health(),
            }
        }
        // All handles are dropped; dropping the slots kills the processes.
        self.slots.clear();
    }

    fn carry_out(&mut self, request: Request) {
        match request {
            // In a stopping pool, dropping the reply channel refuses the caller.
            Request::Acquire(_) | Request::Prepare { .. }
                if !matches!(self.state, PoolState::Serves) => {}
            Request::Acquire(wait) => {
                self.queue.push_back(wait);
                self.serve();
            }
            Request::TakeWarm { key, reports, reply } => {
                // A waiting caller gets its own process as soon as that is free, so this jumps no
                // queue.
                let slot = self.slots.get_mut(&key);
                let seat = slot.and_then(|slot| slot.take_warm(reports, &self.events_to));
                // A caller that has stopped waiting drops the seat, which returns it.
                reply.send(seat).ok();
            }
            Request::Prepare { key, launch } => {
                if self.slots.len() < self.settings.processes_max && !self.slots.contains_key(&key)
                {
                    self.start(key, launch);
                }
            }
            Request::Release { key, done } => {
                if let Some(slot) = self.slots.get_mut(&key) {
                    slot.stop_for(done);
                }
            }
            Request::Stop { done } => {
                self.queue.clear();
                self.slots.values_mut().for_each(Slot::stop);
                self.state = PoolState::Stops { _done: done };
                self.end_if_empty();
            }
            Request::Keys(reply) => {
                // The caller may have stopped waiting.
                reply.send(self.slots.keys().cloned().collect()).ok();
            }
            Request::Count(reply) => {
                let busy = self.slots.values().filter(|slot| slot.is_taken()).count();
                let counts =
                    PoolCounts { processes: self.slots.len(), busy, waiting: self.queue.len() };
                // The caller may have stopped waiting.
                reply.send(counts).ok();
            }
        }
    }

    /// Removes processes that have exited according to the operating system, without a report since
    /// the last check.
    fn check_health(&mut self) {
        let dead =
            self.slots.iter_mut().filter_map(|(key, slot)| slot.is_missing().then(|| key.clone()));
        for key in dead.collect::<Vec<_>>() {
            tracing::warn!("the process of {key} is gone, and its driver did not notice");
            self.slots.remove(&key);
        }
        self.serve();
    }

    fn handle(&mut self, event: SlotEvent) {
        match event {
            SlotEvent::Ready { key, pid, orders, started } => {
                if let Some(slot) = self.slots.get_mut(&key) {
                    slot.ready(pid, orders, started);
                }
            }
            SlotEvent::Failed { key, error } => {
                self.slots.remove(&key);
                self.refuse(&key, error);
            }
            SlotEvent::Freed { key } => {
                if let Some(slot) = self.slots.get_mut(&key) {
                    slot.freed(Instant::now());
                }
            }
            SlotEvent::Gone { key } => {
                self.slots.remove(&key);
            }
        }
        self.end_if_empty();
        self.serve();
    }

    fn end_if_empty(&mut self) {
        if self.slots.is_empty() && !matches!(self.state, PoolState::Serves) {
            self.state = PoolState::Over;
        }
    }

    /// Serves waiting callers in order; a caller whose process is warm does not wait for the
    /// others.
    fn serve(&mut self) {
        let waiting = std::mem::take(&mut self.queue);
        for wait in waiting {
            if wait.reply.is_closed() {
                continue;
            }
            match self.slots.get_mut(&wait.key) {
                Some(slot) => self.queue.extend(slot.seat(wait, &self.events_to)),
                None => {
                    self.make_room_for(&wait);
                    self.queue.push_back(wait);
                }
            }
        }
        let waiting = self.queue.iter().filter(|wait| !self.slots.contains_key(&wait.key));
        for (before, wait) in waiting.enumerate() {
            wait.place.send_replace(before + 1);
        }
    }

    /// Starts a process for a caller if there is room; else evicts the one that has been idle
    /// longest.
    fn make_room_for(&mut self, wait: &Wait) {
        if self.slots.len() < self.settings.processes_max {
            self.start(wait.key.clone(), wait.launch.clone());
            wait.place.send_replace(0);
            return;
        }
        // A process that is already stopping makes room for the first in the queue, so no other is
        // evicted for the same caller.
        let leaving = self.slots.values().filter(|slot| slot.is_leaving()).count();
        let needs_room =
            |wait: &&Wait| self.slots.get(&wait.key).is_none_or(|slot| slot.is_leaving());
        if leaving > self.queue.iter().filter(needs_room).count() {
            return;
        }
        let idle = self.slots.values_mut().filter(|slot| slot.idle_since().is_some());
        if let Some(slot) = idle.min_by_key(|slot| slot.idle_since()) {
            slot.stop();
        }
    }

    fn start(&mut self, key: String, launch: Launch) {
        let slot = Slot::start(key.clone(), launch, self.random, self.events_to.clone());
        self.slots.insert(key, slot);
    }

    fn stop_idle(&mut self) {
        let now = Instant::now();
        let timeout = self.settings.idle_timeout;
        let is_due = |slot: &Slot| slot.idle_since().is_some_and(|since| since + timeout <= now);
        self.slots.values_mut().filter(|slot| is_due(slot)).for_each(Slot::stop);
    }

    /// Sends the first caller of a key the error; the next one tries again.
    fn refuse(&mut self, key: &str, error: Error) {
        if let Some(index) = self.queue.iter().position(|wait| wait.key == key)
            && let Some(wait) = self.queue.remove(index)
        {
            // The caller may have stopped waiting.
            wait.reply.send(Err(error)).ok();
        }
    }
}

/// Waits until a time, or for ever.
async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
