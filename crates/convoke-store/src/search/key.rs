//! The keys by which the search index orders messages: their times, made unique.

use std::ops::RangeInclusive;

use convoke_core::time::Timestamp;

/// Keys of one millisecond.
const KEYS: i64 = 2048;
/// The last millisecond that has keys of its own, in the year 2109. Keys stay below 2^53, which JavaScript can represent.
const MILLIS_MAX: i64 = (1 << 42) - 2;

/// The keys that a message of this time may have.
pub(crate) fn keys_of(created_at: i64) -> RangeInclusive<i64> {
    let first = created_at.clamp(0, MILLIS_MAX) * KEYS;
    first..=first + KEYS - 1
}

/// The key after this one, unless that is one of the next millisecond.
pub(crate) const fn key_after(key: i64) -> Option<i64> {
    if (key + 1) % KEYS == 0 { None } else { Some(key + 1) }
}

/// The first key of this time or later.
pub(super) fn first_key(time: Timestamp) -> i64 {
    match time.as_millis() {
        millis if millis > MILLIS_MAX => i64::MAX,
        millis => *keys_of(millis).start(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_time_and_fit_into_a_double() {
        let times = [i64::MIN, -1, 0, 1, 1_794_736_800_000, MILLIS_MAX, i64::MAX];
        let keys = times.map(keys_of);
        assert!(keys.is_sorted_by_key(|keys| *keys.start()));
        assert!(keys.iter().all(|keys| *keys.start() >= 0 && *keys.end() < 1 << 53));
        assert_eq!(keys_of(1).start() - keys_of(0).end(), 1);
        assert_eq!(first_key(Timestamp::from_millis(7)), 7 * KEYS);
        assert_eq!(key_after(*keys_of(7).start()), Some(7 * KEYS + 1));
        assert_eq!(key_after(*keys_of(7).end()), None);
    }
}
