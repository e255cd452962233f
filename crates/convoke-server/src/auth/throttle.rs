//! Delays responses to wrong tokens, with exponential backoff per peer. A right token is never delayed.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Counters for all peers; peers whose addresses hash to the same one share its delay.
const BUCKETS: usize = 256;
/// Wrong tokens without a delay: an old link, a reinstalled daemon.
const FREE_ATTEMPTS: u32 = 10;
/// The first delay; each further wrong token doubles it.
const DELAY_MIN: Duration = Duration::from_millis(50);
/// The longest delay; a longer one would only hold connections.
const DELAY_MAX: Duration = Duration::from_secs(2);
/// The count is halved for each such interval without a wrong token.
const HALF_LIFE: Duration = Duration::from_secs(30);

/// Counts wrong tokens by peer address.
pub(super) struct Throttle {
    buckets: Mutex<Vec<Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    count: u32,
    last: Instant,
}

impl Throttle {
    pub(super) fn new() -> Self {
        let bucket = Bucket { count: 0, last: Instant::now() };
        Self { buckets: Mutex::new(vec![bucket; BUCKETS]) }
    }

    /// Counts a wrong token and returns how long to delay the response.
    pub(super) fn record_failure(&self, peer: IpAddr) -> Duration {
        let now = Instant::now();
        // The counters are plain numbers, so they are consistent after a panic.
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(bucket) = buckets.get_mut(index(peer)) else { return Duration::ZERO };
        let halvings = now.duration_since(bucket.last).as_secs() / HALF_LIFE.as_secs();
        let remembered = u32::try_from(halvings).ok().and_then(|by| bucket.count.checked_shr(by));
        *bucket = Bucket { count: remembered.unwrap_or(0).saturating_add(1), last: now };
        match bucket.count.checked_sub(FREE_ATTEMPTS + 1) {
            None => Duration::ZERO,
            Some(beyond) => DELAY_MIN.saturating_mul(1 << beyond.min(16)).min(DELAY_MAX),
        }
    }
}

fn index(peer: IpAddr) -> usize {
    let fold = |bytes: &[u8]| {
        bytes.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()))
    };
    let sum = match peer {
        IpAddr::V4(address) => fold(&address.octets()),
        IpAddr::V6(address) => fold(&address.octets()),
    };
    sum % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_wait_longer_and_longer_and_are_forgotten() {
        let throttle = Throttle::new();
        let peer = IpAddr::from([127, 0, 0, 1]);
        let waits = || throttle.record_failure(peer).as_millis();
        let first: Vec<u128> = (0..18).map(|_| waits()).collect();
        assert_eq!(first, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(throttle.record_failure(IpAddr::from([127, 0, 0, 2])), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!(throttle.record_failure(peer), Duration::ZERO, "half of 18 is forgotten");
        tokio::time::advance(Duration::from_secs(100_000)).await;
        assert_eq!(throttle.record_failure(peer), Duration::ZERO);
    }
}
