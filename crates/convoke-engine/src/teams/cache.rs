//! Pairs that were used lately, and the gate before each of them.
//!
//! A caller passes the gate to look a pair up and prompt its session. The gate is closed while the pair moves to another
//! session or is deleted, so that no prompt goes into the session that is being left.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use convoke_core::content::Usage;
use convoke_core::team::Pair;
use convoke_store::{PairId, StoredPair};
use moka::future::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::compaction::Fullness;
use crate::error::{Error, Result};

/// How long a pair is remembered without asking the store.
const CACHE_TIME: Duration = Duration::from_secs(60);
/// Pairs that are remembered; beyond that those least used are looked up again.
const CACHE_PAIRS_MAX: u64 = 10_000;
/// How many pass a gate at once; one more waits until another is through, which takes as long as storing a question.
const PASSING_MAX: u32 = 1024;
/// Gates that may be in the map before unused ones are removed.
const GATES_IDLE_MAX: usize = 1024;

/// Pairs that were used lately. Callers that ask while one is being created get that one.
#[derive(Debug)]
pub(crate) struct PairCache {
    pairs: Cache<Pair, Remembered>,
    gates: Mutex<HashMap<Pair, Weak<Semaphore>>>,
    /// Pairs whose agents have little room left, by what they counted last.
    full: Mutex<HashSet<PairId>>,
}

/// A pair as the store had it at some time.
#[derive(Debug, Clone)]
struct Remembered {
    pair: StoredPair,
    at: Instant,
}

impl Remembered {
    fn now(pair: StoredPair) -> Self {
        Self { pair, at: Instant::now() }
    }

    /// Judged by the runtime's clock; the cache's own only bounds how long it holds what is not asked for.
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < CACHE_TIME
    }
}

/// Lets go of a gate when it is dropped.
pub(super) type Passage = OwnedSemaphorePermit;

/// An empty cache.
pub(crate) fn cache() -> PairCache {
    let pairs = Cache::builder().time_to_live(CACHE_TIME).max_capacity(CACHE_PAIRS_MAX).build();
    PairCache { pairs, gates: Mutex::default(), full: Mutex::default() }
}

impl PairCache {
    /// A pair that was looked up less than 60 s ago and has not changed since.
    pub(super) async fn get(&self, pair: &Pair) -> Option<StoredPair> {
        let found = self.pairs.get(pair).await.filter(Remembered::is_fresh);
        found.map(|found| found.pair)
    }

    /// Remembers a pair that was looked up just now.
    pub(super) async fn remember(&self, pair: StoredPair) {
        self.pairs.insert(pair.pair.clone(), Remembered::now(pair)).await;
    }

    /// The remembered pair, or what `look_up` finds; of many callers one looks it up and all get the same.
    pub(super) async fn get_or(
        &self,
        pair: &Pair,
        look_up: impl Future<Output = Result<StoredPair>>,
    ) -> std::result::Result<StoredPair, Arc<Error>> {
        if self.pairs.get(pair).await.is_some_and(|found| !found.is_fresh()) {
            self.pairs.invalidate(pair).await;
        }
        let looked_up = async { look_up.await.map(Remembered::now) };
        Ok(self.pairs.try_get_with_by_ref(pair, looked_up).await?.pair)
    }

    /// Forgets a pair that has changed.
    pub(super) async fn forget(&self, pair: &Pair) {
        self.pairs.invalidate(pair).await;
    }

    /// Forgets all pairs.
    pub(super) fn forget_all(&self) {
        self.pairs.invalidate_all();
    }

    /// Passes the gate of a pair, beside others who pass it.
    pub(super) async fn pass(&self, pair: &Pair) -> Result<Passage> {
        // The semaphore is never closed.
        self.gate(pair).acquire_owned().await.map_err(|_| Error::Stopping)
    }

    /// Closes the gate of a pair, once all who pass are through.
    pub(super) async fn close(&self, pair: &Pair) -> Result<Passage> {
        let closed = self.gate(pair).acquire_many_owned(PASSING_MAX).await;
        closed.map_err(|_| Error::Stopping)
    }

    /// Notes what an agent counted, and tells how full its context is. Agents do not count anew in every turn.
    pub(super) fn note(&self, id: PairId, usage: Option<&Usage>) -> Fullness {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        match usage.and_then(Fullness::of) {
            Some(Fullness::Full) => {
                full.insert(id);
            }
            Some(Fullness::NotFull) => {
                full.remove(&id);
            }
            None => {}
        }
        if full.contains(&id) { Fullness::Full } else { Fullness::NotFull }
    }

    /// Notes that an agent has made room.
    pub(super) fn note_room(&self, id: PairId) {
        self.full.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    fn gate(&self, pair: &Pair) -> Arc<Semaphore> {
        // Every change under this lock is one call, so a panic leaves nothing half done.
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(pair).and_then(Weak::upgrade) {
            return gate;
        }
        if gates.len() >= GATES_IDLE_MAX {
            gates.retain(|_, gate| gate.strong_count() > 0);
        }
        let gate = Arc::new(Semaphore::new(PASSING_MAX as usize));
        gates.insert(pair.clone(), Arc::downgrade(&gate));
        gate
    }
}

#[cfg(test)]
mod tests {
    use convoke_core::id::SessionId;
    use convoke_core::team::PairStatus;
    use convoke_core::time::Timestamp;

    use super::*;

    fn pair(to: &str) -> Pair {
        Pair { from: None, to: to.parse().unwrap(), thread: None }
    }

    /// A pair that was used so often.
    fn used(count: u64) -> StoredPair {
        let at = Timestamp::from_millis(0);
        StoredPair {
            id: PairId::new(1),
            pair: pair("a"),
            session_id: SessionId::from_random([1; 16]),
            agent_session_id: None,
            created_at: at,
            last_used_at: at,
            message_count: count,
            status: PairStatus::Active,
            error: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn t5_a_pair_is_remembered_for_60_seconds_and_then_looked_up_again() {
        let (cache, a) = (cache(), pair("a"));
        let get_or = async |count| cache.get_or(&a, async { Ok(used(count)) }).await.unwrap();
        assert_eq!(cache.get(&a).await, None);
        assert_eq!(get_or(1).await, used(1));
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!((cache.get(&a).await, get_or(2).await), (Some(used(1)), used(1)));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((cache.get(&a).await, get_or(2).await), (None, used(2)));
        // The minute begins anew with each look at the store, and ends with a change.
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(cache.get(&a).await, Some(used(2)));
        cache.forget(&a).await;
        assert_eq!((cache.get(&a).await, get_or(3).await), (None, used(3)));
        cache.remember(used(4)).await;
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(cache.get(&a).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_gate_is_passed_when_it_opens_and_other_pairs_are_free() {
        let cache = Arc::new(cache());
        let first = cache.pass(&pair("a")).await.unwrap();
        let beside = cache.pass(&pair("a")).await.unwrap();
        let closing = {
            let cache = Arc::clone(&cache);
            tokio::spawn(async move { cache.close(&pair("a")).await.unwrap() })
        };
        drop((first, beside));
        let closed = closing.await.unwrap();
        let a = pair("a");
        let late = cache.pass(&a);
        tokio::pin!(late);
        let waited = tokio::time::timeout(Duration::from_secs(1), &mut late).await;
        assert!(waited.is_err(), "the gate is closed");
        drop(cache.pass(&pair("b")).await.unwrap());
        drop(closed);
        drop(late.await.unwrap());
    }

    #[tokio::test]
    async fn gates_without_anybody_do_not_pile_up() {
        let cache = cache();
        let held = cache.pass(&pair("held")).await.unwrap();
        for number in 0..2 * GATES_IDLE_MAX {
            drop(cache.pass(&pair(&format!("t{number}"))).await.unwrap());
        }
        assert!(cache.gates.lock().unwrap().len() <= GATES_IDLE_MAX);
        assert!(cache.gates.lock().unwrap().contains_key(&pair("held")));
        drop(held);
    }
}
