//! The pools of TCP connections. A connection belongs to the stranger pool until a request on it shows a credential,
//! then to the owner's or to its session's. Each pool has its own capacity, so that no pool can exhaust another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{Extensions, StatusCode};
use axum::response::{IntoResponse, Response};
use convoke_api::bodies::code;
use convoke_core::id::SessionId;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::gate::Caller;

/// How many connections each pool holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections without a credential; one more closes the one that was idle for longest.
    pub(crate) strangers: usize,
    /// Connections of the owner's programs and browsers. One more closes an idle one, or is answered with 503.
    pub(crate) owner: usize,
    /// Connections of one session's agent; the same happens to one more.
    pub(crate) session: usize,
    /// Connections of all agents together.
    pub(crate) agents: usize,
}

impl Limits {
    /// The most that is of use on one machine.
    pub(crate) const FULL: Self = Self { strangers: 128, owner: 512, session: 32, agents: 512 };

    /// Limits that leave at least three eighths of the process's descriptors to the database and the agents' pipes.
    pub(crate) fn within(descriptors: usize) -> Self {
        let Self { strangers, owner, session, agents } = Self::FULL;
        Self {
            strangers: strangers.min(descriptors / 8).max(4),
            owner: owner.min(descriptors / 4).max(4),
            session: session.min(descriptors / 16).max(2),
            agents: agents.min(descriptors / 4).max(4),
        }
    }
}

/// Who uses a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Stranger,
    Owner,
    Session(SessionId),
}

/// Whether a connection serves a request, or has become a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Http { requests: u32 },
    Upgraded,
}

#[derive(Debug)]
struct Entry {
    class: Class,
    usage: Use,
    /// Grows with each request of any connection, so that the smallest was used longest ago.
    used: u64,
    close: CancellationToken,
}

impl Entry {
    fn is_idle(&self) -> bool {
        self.usage == Use::Http { requests: 0 }
    }

    fn is_closing(&self) -> bool {
        self.close.is_cancelled()
    }
}

#[derive(Debug, Default)]
struct Table {
    entries: HashMap<u64, Entry>,
    /// The next connection's number, and the next value of `used`.
    next: u64,
}

impl Table {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn count(&self, is_counted: impl Fn(Class) -> bool) -> usize {
        let open = self.entries.values().filter(|entry| !entry.is_closing());
        open.filter(|entry| is_counted(entry.class)).count()
    }

    /// Closes the connection that was used longest ago among those that are chosen.
    fn close_oldest(&self, is_chosen: impl Fn(&Entry) -> bool) -> Closed {
        let open = self.entries.values().filter(|entry| !entry.is_closing() && is_chosen(entry));
        match open.min_by_key(|entry| entry.used) {
            Some(entry) => {
                entry.close.cancel();
                Closed::One
            }
            None => Closed::None,
        }
    }
}

/// Whether a connection was found that could be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    One,
    None,
}

/// All TCP connections of a daemon.
#[derive(Debug)]
pub(crate) struct Seats {
    limits: Limits,
    table: Mutex<Table>,
}

impl Seats {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change of the table is one step, so a panic leaves it whole.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a new connection as a stranger's. `None` when so many closed ones are not gone yet that this one must
    /// be dropped.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<Seat> {
        let mut table = self.table();
        if table.count(|class| class == Class::Stranger) >= self.limits.strangers {
            let closing = table.entries.values().filter(|entry| entry.is_closing()).count();
            if closing >= self.limits.strangers {
                return None;
            }
            let is_stranger = |entry: &Entry| entry.class == Class::Stranger;
            if table.close_oldest(|entry| is_stranger(entry) && entry.is_idle()) == Closed::None {
                table.close_oldest(is_stranger);
            }
        }
        let (id, close) = (table.tick(), CancellationToken::new());
        let usage = Use::Http { requests: 0 };
        let entry = Entry { class: Class::Stranger, usage, used: id, close: close.clone() };
        table.entries.insert(id, entry);
        drop(table);
        Some(Seat { connection: Connection { seats: Arc::clone(self), id }, close })
    }

    /// Closes a stranger's connection to get its descriptor back.
    pub(crate) fn close_stranger(&self) -> Closed {
        self.table().close_oldest(|entry| entry.class == Class::Stranger)
    }

    fn recognise(&self, id: u64, class: Class) -> Result<(), Full> {
        let mut table = self.table();
        let used = table.tick();
        if table.entries.get(&id).is_none_or(|entry| entry.class == class) {
            return Ok(());
        }
        let is_agent = |class: Class| matches!(class, Class::Session(_));
        let (capacity, total) = match class {
            Class::Stranger => (self.limits.strangers, usize::MAX),
            Class::Owner => (self.limits.owner, usize::MAX),
            Class::Session(_) => (self.limits.session, self.limits.agents),
        };
        if table.count(|it| it == class) >= capacity {
            let is_one = |entry: &Entry| entry.class == class && entry.is_idle();
            if table.close_oldest(is_one) == Closed::None {
                return Err(Full);
            }
        }
        if is_agent(class) && table.count(is_agent) >= total {
            let is_one = |entry: &Entry| is_agent(entry.class) && entry.is_idle();
            if table.close_oldest(is_one) == Closed::None {
                return Err(Full);
            }
        }
        if let Some(entry) = table.entries.get_mut(&id) {
            (entry.class, entry.used) = (class, used);
        }
        Ok(())
    }
}

/// A connection's place in its pool, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    connection: Connection,
    close: CancellationToken,
}

impl Seat {
    /// What requests on this connection carry.
    pub(crate) fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// Cancelled when the connection has to make room for another.
    pub(crate) const fn close(&self) -> &CancellationToken {
        &self.close
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connection.seats.table().entries.remove(&self.connection.id);
    }
}

/// Names the connection that a request came on; an extension of the request.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    seats: Arc<Seats>,
    id: u64,
}

impl Connection {
    /// Moves the connection into the owner's pool, once a socket has proven that it is a browser of theirs.
    pub(crate) fn recognise_owner(&self) -> Result<(), Full> {
        self.seats.recognise(self.id, Class::Owner)
    }

    /// Marks the connection as busy until the response has been sent.
    pub(crate) fn begin(self) -> Underway {
        let mut table = self.seats.table();
        let used = table.tick();
        if let Some(entry) = table.entries.get_mut(&self.id) {
            entry.used = used;
            if let Use::Http { requests } = &mut entry.usage {
                *requests = requests.saturating_add(1);
            }
        }
        drop(table);
        Underway { connection: self }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Underway {
    connection: Connection,
}

impl Underway {
    /// The connection becomes a WebSocket, and is busy until it is closed.
    pub(crate) fn upgraded(&self) {
        if let Some(entry) = self.connection.seats.table().entries.get_mut(&self.connection.id) {
            entry.usage = Use::Upgraded;
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let mut table = self.connection.seats.table();
        let used = table.tick();
        if let Some(entry) = table.entries.get_mut(&self.connection.id) {
            entry.used = used;
            if let Use::Http { requests } = &mut entry.usage {
                *requests = requests.saturating_sub(1);
            }
        }
    }
}

/// Every connection of a pool serves a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl IntoResponse for Full {
    fn into_response(self) -> Response {
        let detail = "all connections that this credential may use are busy";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, code::TOO_MANY_CONNECTIONS, detail)
            .hint("close connections, or wait for running requests to end")
            .into_response()
    }
}

/// Moves the connection of a request into the pool of the caller whose credential it showed.
///
/// Requests through the control socket have a pool of their own, and those of tests have no connection.
pub(crate) fn recognise(extensions: &Extensions, caller: &Caller) -> Result<(), Full> {
    let Some(connection) = extensions.get::<Connection>() else { return Ok(()) };
    let class = match caller {
        Caller::Owner | Caller::Browser(_) => Class::Owner,
        Caller::Session(id) => Class::Session(*id),
        // A socket that still has to send its secret is recognised when it has.
        Caller::Anyone | Caller::Unproven => return Ok(()),
    };
    connection.seats.recognise(connection.id, class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats() -> Arc<Seats> {
        Seats::new(Limits { strangers: 2, owner: 2, session: 1, agents: 2 })
    }

    fn is_closed(seats: &[Seat]) -> Vec<bool> {
        seats.iter().map(|seat| seat.close().is_cancelled()).collect()
    }

    #[test]
    fn k5_a_new_stranger_displaces_the_one_that_was_idle_for_longest() {
        let seats = seats();
        let mut taken: Vec<Seat> = (0..2).map(|_| seats.admit().unwrap()).collect();
        let busy = taken[0].connection().begin();
        taken.push(seats.admit().unwrap());
        assert_eq!(is_closed(&taken), [false, true, false]);
        let also_busy = taken[2].connection().begin();
        taken.push(seats.admit().unwrap());
        assert_eq!(is_closed(&taken), [true, true, false, false], "the oldest, when all are busy");
        drop((busy, also_busy));
    }

    #[test]
    fn k5_connections_that_are_being_closed_are_bounded_too() {
        let seats = seats();
        let taken: Vec<Option<Seat>> = (0..10).map(|_| seats.admit()).collect();
        assert_eq!(taken.iter().flatten().count(), 4);
        drop(taken);
        assert!(seats.admit().is_some());
    }

    #[test]
    fn k5_owner_and_agents_keep_their_places_when_strangers_come() {
        let seats = seats();
        let session = SessionId::from_random([7; 16]);
        let known: Vec<Seat> = [Class::Owner, Class::Owner, Class::Session(session)]
            .map(|class| {
                let seat = seats.admit().unwrap();
                seats.recognise(seat.connection.id, class).unwrap();
                seat
            })
            .into();
        let strangers: Vec<Option<Seat>> = (0..10).map(|_| seats.admit()).collect();
        assert_eq!(is_closed(&known), [false; 3]);
        drop(strangers);
    }

    #[test]
    fn k5_a_pool_whose_connections_are_all_busy_refuses_one_more_and_leaves_others_alone() {
        let seats = seats();
        let agent = |number: u8| Class::Session(SessionId::from_random([number; 16]));
        let first = seats.admit().unwrap();
        seats.recognise(first.connection.id, agent(1)).unwrap();
        let second = seats.admit().unwrap();
        seats.recognise(second.connection.id, agent(2)).unwrap();
        let busy = first.connection().begin();
        let (refused, owner) = (seats.admit().unwrap(), seats.admit().unwrap());
        assert_eq!(seats.recognise(refused.connection.id, agent(1)), Err(Full));
        busy.upgraded();
        drop(busy);
        assert_eq!(
            seats.recognise(refused.connection.id, agent(1)),
            Err(Full),
            "a WebSocket is busy"
        );
        seats.recognise(refused.connection.id, agent(3)).unwrap();
        assert!(second.close().is_cancelled(), "all agents together have a limit");
        seats.recognise(owner.connection.id, Class::Owner).unwrap();
    }
}
