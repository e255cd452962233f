//! The keys by which the search index orders messages: the time, made unique, and the size of the
//! message.

use std::ops::RangeInclusive;

use convoke_core::time::Timestamp;

/// Keys of one millisecond: 128 messages, of each the four sizes.
pub(crate) const KEYS: i64 = 512;
/// Ranges into which the keys of a millisecond are divided among connections.
const LANES: i64 = 8;
/// Bits of a key that say how long the message is.
pub(super) const SIZE_BITS: i64 = 0b11;
/// The first millisecond with keys of its own, in 2015, before any agent existed.
const MILLIS_MIN: i64 = 1_420_070_400_000;
/// The last one, in the year 2084. Keys have 50 bits, so that a cursor with a rank stays below
/// 2^53, which JavaScript can represent.
const MILLIS_MAX: i64 = MILLIS_MIN + (1 << 41) - 2;
/// The bits of a key.
pub(super) const KEY_BITS: u32 = 50;

/// The size of a message. It is part of the key, so that hits are ranked without a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Size {
    /// A sentence.
    Short,
    /// A paragraph.
    Medium,
    /// A page.
    Long,
    /// More than that.
    Longest,
}

impl Size {
    /// The size of a text with this many words.
    pub(crate) const fn of_words(words: usize) -> Self {
        match words {
            ..=16 => Self::Short,
            17..=64 => Self::Medium,
            65..=256 => Self::Long,
            _ => Self::Longest,
        }
    }

    pub(super) const fn of_key(key: i64) -> Self {
        match key & SIZE_BITS {
            0 => Self::Short,
            1 => Self::Medium,
            2 => Self::Long,
            _ => Self::Longest,
        }
    }

    /// The key of a message of this size. It stays unique, since the keys of two messages differ in
    /// other bits.
    pub(crate) const fn mark(self, key: i64) -> i64 {
        key & !SIZE_BITS | self as i64
    }
}

/// The keys that a message of this time may have.
pub(crate) fn keys_of(created_at: i64) -> RangeInclusive<i64> {
    let first = (created_at.clamp(MILLIS_MIN, MILLIS_MAX) - MILLIS_MIN) * KEYS;
    first..=first + KEYS - 1
}

/// The keys of this time that a connection takes first. Connections that write at the same time take
/// different ones, so that none has to wait for another one's commit.
pub(crate) fn keys_of_connection(created_at: i64, connection: i64) -> RangeInclusive<i64> {
    let first = keys_of(created_at).start() + connection.rem_euclid(LANES) * (KEYS / LANES);
    first..=first + KEYS / LANES - 1
}

/// The first key of the message after this one.
pub(crate) const fn following(key: i64) -> i64 {
    (key | SIZE_BITS) + 1
}

/// The first key of the message after this one, unless that is one of the next millisecond.
pub(crate) const fn key_after(key: i64) -> Option<i64> {
    let next = following(key);
    if next % KEYS == 0 { None } else { Some(next) }
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
    fn keys_are_in_the_order_of_time_and_leave_room_for_a_rank_in_a_double() {
        let times = [i64::MIN, MILLIS_MIN, MILLIS_MIN + 1, 1_794_736_800_000, MILLIS_MAX, i64::MAX];
        let keys = times.map(keys_of);
        assert!(keys.is_sorted_by_key(|keys| *keys.start()));
        assert!(keys.iter().all(|keys| *keys.start() >= 0 && *keys.end() < 1 << KEY_BITS));
        assert_eq!(keys_of(MILLIS_MIN + 1).start() - keys_of(MILLIS_MIN).end(), 1);
        assert_eq!(first_key(Timestamp::from_millis(MILLIS_MIN + 7)), 7 * KEYS);
    }

    #[test]
    fn a_key_says_how_long_its_message_is() {
        let sizes = [1, 16, 17, 64, 65, 256, 257].map(Size::of_words);
        assert!(sizes.is_sorted());
        for size in sizes {
            let key = size.mark(4 * KEYS + 7);
            assert_eq!((Size::of_key(key), following(key)), (size, 4 * KEYS + 8));
        }
        assert_eq!(key_after(*keys_of(MILLIS_MIN + 7).start()), Some(7 * KEYS + 4));
        assert_eq!(key_after(*keys_of(MILLIS_MIN + 7).end()), None);
    }
}
