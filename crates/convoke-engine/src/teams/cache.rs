//! The cache of pairs, and a read-write lock for each pair.
//!
//! A caller holds the lock shared while it looks up a pair and prompts its session. It is held exclusively while the
//! pair moves to another session or is deleted, so that no prompt goes into a session that is being left.

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

/// How long a cached pair is valid.
const CACHE_TIME: Duration = Duration::from_secs(60);
/// The capacity; beyond that the least used pairs are evicted.
const CACHE_PAIRS_MAX: u64 = 10_000;
/// Shared holders of one lock; further callers wait, about as long as storing a question takes.
const SHARED_MAX: u32 = 1024;
/// Locks that may be in the map before unused ones are removed.
const LOCKS_IDLE_MAX: usize = 1024;

/// Recently used pairs. Concurrent callers share one lookup or creation.
#[derive(Debug)]
pub(crate) struct PairCache {
    pairs: Cache<Pair, CachedPair>,
    locks: Mutex<HashMap<Pair, Weak<Semaphore>>>,
    /// Pairs whose agents' contexts are nearly full, by their last usage report.
    full: Mutex<HashSet<PairId>>,
}

/// A pair as it was stored at some time.
#[derive(Debug, Clone)]
struct CachedPair {
    pair: StoredPair,
    at: Instant,
}

impl CachedPair {
    fn now(pair: StoredPair) -> Self {
        Self { pair, at: Instant::now() }
    }

    /// By the runtime's clock, which tests control; the cache's own clock only bounds its memory.
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < CACHE_TIME
    }
}

/// A held lock, released on drop.
pub(super) type PairLock = OwnedSemaphorePermit;

/// An empty cache.
pub(crate) fn cache() -> PairCache {
    let pairs = Cache::builder().time_to_live(CACHE_TIME).max_capacity(CACHE_PAIRS_MAX).build();
    PairCache { pairs, locks: Mutex::default(), full: Mutex::default() }
}

impl PairCache {
    /// A pair that was cached less than 60 s ago and has not changed since.
    pub(super) async fn get(&self, pair: &Pair) -> Option<StoredPair> {
        let found = self.pairs.get(pair).await.filter(CachedPair::is_fresh);
        found.map(|found| found.pair)
    }

    /// Caches a pair that was just read.
    pub(super) async fn insert(&self, pair: StoredPair) {
        self.pairs.insert(pair.pair.clone(), CachedPair::now(pair)).await;
    }

    /// The cached pair, or the result of `look_up`, which concurrent callers share.
    pub(super) async fn get_or(
        &self,
        pair: &Pair,
        look_up: impl Future<Output = Result<StoredPair>>,
    ) -> std::result::Result<StoredPair, Arc<Error>> {
        if self.pairs.get(pair).await.is_some_and(|found| !found.is_fresh()) {
            self.pairs.invalidate(pair).await;
        }
        let looked_up = async { look_up.await.map(CachedPair::now) };
        Ok(self.pairs.try_get_with_by_ref(pair, looked_up).await?.pair)
    }

    /// Evicts a pair that has changed.
    pub(super) async fn invalidate(&self, pair: &Pair) {
        self.pairs.invalidate(pair).await;
    }

    /// Evicts all pairs.
    pub(super) fn clear(&self) {
        self.pairs.invalidate_all();
    }

    /// Locks a pair, shared with other callers.
    pub(super) async fn lock_shared(&self, pair: &Pair) -> Result<PairLock> {
        // The semaphore is never closed.
        self.lock(pair).acquire_owned().await.map_err(|_| Error::Stopping)
    }

    /// Locks a pair exclusively; waits for all shared holders.
    pub(super) async fn lock_exclusive(&self, pair: &Pair) -> Result<PairLock> {
        let closed = self.lock(pair).acquire_many_owned(SHARED_MAX).await;
        closed.map_err(|_| Error::Stopping)
    }

    /// Records a usage report, and returns how full the context is. Agents do not report it in every turn.
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

    /// Records that a context was compacted.
    pub(super) fn note_room(&self, id: PairId) {
        self.full.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    fn lock(&self, pair: &Pair) -> Arc<Semaphore> {
        // Each change is one call, so the map is consistent after a panic.
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(pair).and_then(Weak::upgrade) {
            return lock;
        }
        if locks.len() >= LOCKS_IDLE_MAX {
            locks.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::new(Semaphore::new(SHARED_MAX as usize));
        locks.insert(pair.clone(), Arc::downgrade(&lock));
        lock
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

    /// A pair with this message count.
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
            node: None,
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
        // The minute begins again with each lookup, and ends with a change.
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(cache.get(&a).await, Some(used(2)));
        cache.invalidate(&a).await;
        assert_eq!((cache.get(&a).await, get_or(3).await), (None, used(3)));
        cache.insert(used(4)).await;
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(cache.get(&a).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_gate_is_passed_when_it_opens_and_other_pairs_are_free() {
        let cache = Arc::new(cache());
        let first = cache.lock_shared(&pair("a")).await.unwrap();
        let beside = cache.lock_shared(&pair("a")).await.unwrap();
        let closing = {
            let cache = Arc::clone(&cache);
            tokio::spawn(async move { cache.lock_exclusive(&pair("a")).await.unwrap() })
        };
        drop((first, beside));
        let closed = closing.await.unwrap();
        let a = pair("a");
        let late = cache.lock_shared(&a);
        tokio::pin!(late);
        let waited = tokio::time::timeout(Duration::from_secs(1), &mut late).await;
        assert!(waited.is_err(), "the lock is closed");
        drop(cache.lock_shared(&pair("b")).await.unwrap());
        drop(closed);
        drop(late.await.unwrap());
    }

    #[tokio::test]
    async fn unused_locks_are_removed() {
        let cache = cache();
        let held = cache.lock_shared(&pair("held")).await.unwrap();
        for number in 0..2 * LOCKS_IDLE_MAX {
            drop(cache.lock_shared(&pair(&format!("t{number}"))).await.unwrap());
        }
        assert!(cache.locks.lock().unwrap().len() <= LOCKS_IDLE_MAX);
        assert!(cache.locks.lock().unwrap().contains_key(&pair("held")));
        drop(held);
    }
}
