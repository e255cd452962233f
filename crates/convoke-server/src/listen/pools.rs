//! The pools of TCP connections. A connection belongs to the stranger pool until a request on it is authenticated,
//! then to the pool of the owner, of the users, or of its session. Each pool has its own capacity, so that no pool can exhaust
//! another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{Extensions, StatusCode};
use axum::response::{IntoResponse, Response};
use convoke_api::bodies::code;
use convoke_core::id::SessionId;
use tokio_util::sync::CancellationToken;

use crate::actor::Login;
use crate::failure::Failure;
use crate::middleware::Caller;

/// The capacity of each pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections without a credential; one more closes the one that was idle longest.
    pub(crate) strangers: usize,
    /// Connections of the owner's programs and browsers; one more closes an idle one, else it is answered with 503.
    pub(crate) owner: usize,
    /// Connections of all users together.
    pub(crate) users: usize,
    /// Connections of one session's agent; one more is treated in the same way.
    pub(crate) session: usize,
    /// Connections of all agents together.
    pub(crate) agents: usize,
}

impl Limits {
    /// The limits of a process with enough descriptors.
    pub(crate) const FULL: Self =
        Self { strangers: 128, owner: 512, users: 512, session: 32, agents: 512 };

    /// Limits that leave at least three eighths of the process's descriptors to the database and the agents' pipes.
    pub(crate) fn within(descriptors: usize) -> Self {
        let Self { strangers, owner, users, session, agents } = Self::FULL;
        Self {
            strangers: strangers.min(descriptors / 8).max(4),
            owner: owner.min(descriptors / 8).max(4),
            users: users.min(descriptors / 8).max(4),
            session: session.min(descriptors / 16).max(2),
            agents: agents.min(descriptors / 4).max(4),
        }
    }
}

/// The pool of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Stranger,
    Owner,
    Users,
    Session(SessionId),
}

impl Class {
    /// The pool of a human.
    const fn of(login: &Login) -> Self {
        match login {
            Login::Owner => Self::Owner,
            Login::Browser(visit) if visit.user.is_none() => Self::Owner,
            Login::Browser(_) | Login::Token(_) => Self::Users,
        }
    }
}

/// Whether a connection is serving a request, or has become a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Http { requests: u32 },
    Upgraded,
}

#[derive(Debug)]
struct Entry {
    class: Class,
    usage: Use,
    /// A logical clock: the connection with the smallest value is the least recently used.
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
    /// The next connection's id, and the next value of `used`.
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

    /// Closes the least recently used of the connections that `is_chosen` accepts.
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

/// Whether there was a connection to close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    One,
    None,
}

/// The pools of one daemon.
#[derive(Debug)]
pub(crate) struct Pools {
    limits: Limits,
    table: Mutex<Table>,
}

impl Pools {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Each change of the table is one step, so it is consistent after a panic.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a new connection to the stranger pool. `None` if too many connections are still closing; the caller then
    /// drops this one.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<Slot> {
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
        Some(Slot { connection: Connection { pools: Arc::clone(self), id }, close })
    }

    /// Closes a stranger's connection to free its descriptor.
    pub(crate) fn close_stranger(&self) -> Closed {
        self.table().close_oldest(|entry| entry.class == Class::Stranger)
    }

    fn assign(&self, id: u64, class: Class) -> Result<(), Full> {
        let mut table = self.table();
        let used = table.tick();
        if table.entries.get(&id).is_none_or(|entry| entry.class == class) {
            return Ok(());
        }
        let is_agent = |class: Class| matches!(class, Class::Session(_));
        let (capacity, total) = match class {
            Class::Stranger => (self.limits.strangers, usize::MAX),
            Class::Owner => (self.limits.owner, usize::MAX),
            Class::Users => (self.limits.users, usize::MAX),
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

/// A connection's slot in its pool, freed on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    connection: Connection,
    close: CancellationToken,
}

impl Slot {
    /// The handle that requests on this connection carry.
    pub(crate) fn connection(&self) -> Connection {
        self.connection.clone()
    }

    /// Cancelled when the connection must make room for another.
    pub(crate) const fn close(&self) -> &CancellationToken {
        &self.close
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connection.pools.table().entries.remove(&self.connection.id);
    }
}

/// The connection of a request; an extension of the request.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    pools: Arc<Pools>,
    id: u64,
}

impl Connection {
    /// Moves the connection into the pool of a human, once a WebSocket has sent the secret of its browser session.
    pub(crate) fn assign_human(&self, login: &Login) -> Result<(), Full> {
        self.pools.assign(self.id, Class::of(login))
    }

    /// Marks the connection as busy until the response has been sent.
    pub(crate) fn begin(self) -> InFlight {
        let mut table = self.pools.table();
        let used = table.tick();
        if let Some(entry) = table.entries.get_mut(&self.id) {
            entry.used = used;
            if let Use::Http { requests } = &mut entry.usage {
                *requests = requests.saturating_add(1);
            }
        }
        drop(table);
        InFlight { connection: self }
    }
}

/// A request in progress. Dropping it marks the connection as idle.
#[derive(Debug)]
pub(crate) struct InFlight {
    connection: Connection,
}

impl InFlight {
    /// The connection becomes a WebSocket, and is busy until it is closed.
    pub(crate) fn upgraded(&self) {
        if let Some(entry) = self.connection.pools.table().entries.get_mut(&self.connection.id) {
            entry.usage = Use::Upgraded;
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut table = self.connection.pools.table();
        let used = table.tick();
        if let Some(entry) = table.entries.get_mut(&self.connection.id) {
            entry.used = used;
            if let Use::Http { requests } = &mut entry.usage {
                *requests = requests.saturating_sub(1);
            }
        }
    }
}

/// Every connection of the pool is busy.
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

/// Moves the connection of a request into the pool of its authenticated caller.
///
/// The control socket has a limit of its own, and requests of tests have no connection.
pub(crate) fn assign(extensions: &Extensions, caller: &Caller) -> Result<(), Full> {
    let Some(connection) = extensions.get::<Connection>() else { return Ok(()) };
    let class = match caller {
        Caller::Human(login) => Class::of(login),
        Caller::Session(id) => Class::Session(*id),
        // A WebSocket is assigned once it has sent its secret.
        Caller::Anonymous | Caller::UnverifiedBrowser => return Ok(()),
    };
    connection.pools.assign(connection.id, class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pools() -> Arc<Pools> {
        Pools::new(Limits { strangers: 2, owner: 2, users: 1, session: 1, agents: 2 })
    }

    fn is_closed(slots: &[Slot]) -> Vec<bool> {
        slots.iter().map(|slot| slot.close().is_cancelled()).collect()
    }

    #[test]
    fn k5_a_new_stranger_displaces_the_one_that_was_idle_for_longest() {
        let pools = pools();
        let mut taken: Vec<Slot> = (0..2).map(|_| pools.admit().unwrap()).collect();
        let busy = taken[0].connection().begin();
        taken.push(pools.admit().unwrap());
        assert_eq!(is_closed(&taken), [false, true, false]);
        let also_busy = taken[2].connection().begin();
        taken.push(pools.admit().unwrap());
        assert_eq!(is_closed(&taken), [true, true, false, false], "the oldest, when all are busy");
        drop((busy, also_busy));
    }

    #[test]
    fn k5_connections_that_are_being_closed_are_bounded_too() {
        let pools = pools();
        let taken: Vec<Option<Slot>> = (0..10).map(|_| pools.admit()).collect();
        assert_eq!(taken.iter().flatten().count(), 4);
        drop(taken);
        assert!(pools.admit().is_some());
    }

    #[test]
    fn k5_owner_and_agents_keep_their_places_when_strangers_come() {
        let pools = pools();
        let session = SessionId::from_random([7; 16]);
        let known: Vec<Slot> = [Class::Owner, Class::Owner, Class::Session(session)]
            .map(|class| {
                let slot = pools.admit().unwrap();
                pools.assign(slot.connection.id, class).unwrap();
                slot
            })
            .into();
        let strangers: Vec<Option<Slot>> = (0..10).map(|_| pools.admit()).collect();
        assert_eq!(is_closed(&known), [false; 3]);
        drop(strangers);
    }

    #[test]
    fn k5_a_pool_whose_connections_are_all_busy_refuses_one_more_and_leaves_others_alone() {
        let pools = pools();
        let agent = |number: u8| Class::Session(SessionId::from_random([number; 16]));
        let first = pools.admit().unwrap();
        pools.assign(first.connection.id, agent(1)).unwrap();
        let second = pools.admit().unwrap();
        pools.assign(second.connection.id, agent(2)).unwrap();
        let busy = first.connection().begin();
        let (refused, owner) = (pools.admit().unwrap(), pools.admit().unwrap());
        assert_eq!(pools.assign(refused.connection.id, agent(1)), Err(Full));
        busy.upgraded();
        drop(busy);
        assert_eq!(pools.assign(refused.connection.id, agent(1)), Err(Full), "a WebSocket is busy");
        pools.assign(refused.connection.id, agent(3)).unwrap();
        assert!(second.close().is_cancelled(), "all agents together have a limit");
        pools.assign(owner.connection.id, Class::Owner).unwrap();
    }
    #[test]
    fn n7_k5_users_cannot_take_the_connections_of_the_owner() {
        let pools = pools();
        let login = Login::Token("0a".to_owned());
        let user = pools.admit().unwrap();
        user.connection.assign_human(&login).unwrap();
        let busy = user.connection().begin();
        let (other, owner) = (pools.admit().unwrap(), pools.admit().unwrap());
        assert_eq!(other.connection.assign_human(&login), Err(Full));
        owner.connection.assign_human(&Login::Owner).unwrap();
        drop(busy);
    }
}
