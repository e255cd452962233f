//! Whoever shows many wrong tokens waits longer and longer for the answer. A right one never waits.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Peers are counted in so many places, whoever they are; two that share one are slowed down together.
const PLACES: usize = 256;
/// Wrong tokens that cost nothing: an old link, a daemon that was set up anew.
const FREE: u32 = 10;
/// The first wait, doubled by every further wrong token.
const FIRST: Duration = Duration::from_millis(50);
/// The longest wait; more would only hold connections.
const LONGEST: Duration = Duration::from_secs(2);
/// After so long without a wrong token half of them are forgotten.
const FORGET: Duration = Duration::from_secs(30);

/// Counts wrong tokens by the address that they come from.
pub(super) struct Slowness {
    places: Mutex<Vec<Place>>,
}

#[derive(Clone, Copy)]
struct Place {
    count: u32,
    last: Instant,
}

impl Slowness {
    pub(super) fn new() -> Self {
        let place = Place { count: 0, last: Instant::now() };
        Self { places: Mutex::new(vec![place; PLACES]) }
    }

    /// Counts a wrong token; says how long its bearer is to wait.
    pub(super) fn refused(&self, peer: IpAddr) -> Duration {
        let now = Instant::now();
        // Numbers are never half written, so whoever panicked with them left them whole.
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = places.get_mut(index(peer)) else { return Duration::ZERO };
        let halvings = now.duration_since(place.last).as_secs() / FORGET.as_secs();
        let remembered = u32::try_from(halvings).ok().and_then(|by| place.count.checked_shr(by));
        *place = Place { count: remembered.unwrap_or(0).saturating_add(1), last: now };
        match place.count.checked_sub(FREE + 1) {
            None => Duration::ZERO,
            Some(beyond) => FIRST.saturating_mul(1 << beyond.min(16)).min(LONGEST),
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
    sum % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_wait_longer_and_longer_and_are_forgotten() {
        let slowness = Slowness::new();
        let peer = IpAddr::from([127, 0, 0, 1]);
        let waits = || slowness.refused(peer).as_millis();
        let first: Vec<u128> = (0..18).map(|_| waits()).collect();
        assert_eq!(first, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(slowness.refused(IpAddr::from([127, 0, 0, 2])), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!(slowness.refused(peer), Duration::ZERO, "half of 18 is forgotten");
        tokio::time::advance(Duration::from_secs(100_000)).await;
        assert_eq!(slowness.refused(peer), Duration::ZERO);
    }
}
