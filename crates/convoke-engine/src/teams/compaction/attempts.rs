//! Compactions in progress and failed ones, which are retried with exponential backoff.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_store::PairId;
use tokio::time::Instant;

use crate::error::Error;

/// The delay after the first failure; each further failure doubles it.
const RETRY_FIRST: Duration = Duration::from_secs(60);
/// The longest delay between two attempts.
const RETRY_MAX: Duration = Duration::from_secs(6 * 60 * 60);

/// The compaction attempts of all pairs with one in progress or failed.
#[derive(Debug, Default)]
pub(in super::super) struct Attempts {
    pairs: Mutex<Pairs>,
}

type Pairs = HashMap<PairId, Attempt>;

/// The compaction attempts of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Attempt {
    /// Consecutive failures.
    failures: u32,
    /// When the next attempt is allowed; `None` while one is in progress.
    again: Option<Instant>,
}

impl Attempts {
    fn pairs(&self) -> MutexGuard<'_, Pairs> {
        // Each change is one call, so the map is consistent after a panic.
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the pair is being compacted.
    pub(in super::super) fn is_running(&self, id: PairId) -> bool {
        self.pairs().get(&id).is_some_and(|attempt| attempt.again.is_none())
    }

    /// Begins an attempt, unless one is in progress.
    pub(super) fn begin(&self, id: PairId) -> bool {
        begin(&mut self.pairs(), id, |_| true)
    }

    /// Begins an attempt, unless one is in progress or the delay after the last failure is not over.
    pub(super) fn begin_if_due(&self, id: PairId) -> bool {
        let now = Instant::now();
        begin(&mut self.pairs(), id, |again| again <= now)
    }

    /// Ends an attempt; a failure delays the next one.
    pub(super) fn end(&self, id: PairId, error: Option<&Error>) {
        match error {
            None => {
                self.pairs().remove(&id);
            }
            Some(_) => fail(&mut self.pairs(), id, Instant::now()),
        }
    }
}

fn begin(attempts: &mut Pairs, id: PairId, may: impl FnOnce(Instant) -> bool) -> bool {
    let Some(attempt) = attempts.get_mut(&id) else {
        return attempts.insert(id, Attempt { failures: 0, again: None }).is_none();
    };
    let is_free = attempt.again.is_some_and(may);
    if is_free {
        attempt.again = None;
    }
    is_free
}

fn fail(attempts: &mut Pairs, id: PairId, now: Instant) {
    let Some(attempt) = attempts.get_mut(&id) else { return };
    let pause = RETRY_FIRST.saturating_mul(1 << attempt.failures.min(16)).min(RETRY_MAX);
    attempt.failures += 1;
    attempt.again = Some(now + pause);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t8_a_failed_compaction_is_tried_again_ever_more_patiently() {
        let (mut attempts, id) = (Pairs::new(), PairId::new(1));
        let mut now = Instant::now();
        let mut pauses = Vec::new();
        for _ in 0..11 {
            assert!(begin(&mut attempts, id, |again| again <= now), "it is time");
            assert!(!begin(&mut attempts, id, |_| true), "one is under way");
            fail(&mut attempts, id, now);
            let again = attempts[&id].again.unwrap();
            assert!(!begin(&mut attempts, id, |again| again <= now), "not yet");
            pauses.push((again - now).as_secs());
            now = again;
        }
        assert_eq!(pauses[..3], [60, 120, 240]);
        assert_eq!(pauses[9..], [6 * 60 * 60; 2]);
    }
}
