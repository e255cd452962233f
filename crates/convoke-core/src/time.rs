//! Timestamps, and how long ago they were. There is no clock here: the caller passes the current time.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A time in UTC with millisecond precision, written as RFC 3339 (`2026-11-15T10:45:00.000Z`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String", inline, extend("format" = "date-time"))]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time this many milliseconds after 1970, clamped to the years that RFC 3339 can write.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(MILLIS_MIN, MILLIS_MAX))
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this time; 0 when the clock went backwards.
    pub fn millis_since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0)
    }
}

/// 0000-01-01T00:00:00.000Z.
const MILLIS_MIN: i64 = -62_167_219_200_000;
/// 9999-12-30T21:59:59.999Z, the last millisecond that jiff can read.
const MILLIS_MAX: i64 = 253_402_207_199_999;

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{time:.3}")
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let time: jiff::Timestamp =
            text.parse().map_err(|source| TimestampError { text: text.to_owned(), source })?;
        Ok(Self::from_millis(time.as_millisecond()))
    }
}

/// A text that is not a timestamp.
#[derive(Debug, thiserror::Error)]
#[error("not an RFC 3339 timestamp: {text}")]
pub struct TimestampError {
    text: String,
    source: jiff::Error,
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// How long ago `then` was, as the sidebar says it: `now`, `2m`, `1h`, `2d`, `1w`.
pub fn relative(then: Timestamp, now: Timestamp) -> String {
    let minutes = now.millis_since(then) / 60_000;
    let (hours, days, weeks) = (minutes / 60, minutes / (60 * 24), minutes / (60 * 24 * 7));
    match () {
        () if minutes < 1 => "now".to_owned(),
        () if hours < 1 => format!("{minutes}m"),
        () if days < 1 => format!("{hours}h"),
        () if weeks < 1 => format!("{days}d"),
        () => format!("{weeks}w"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w6_relative_time_reads_as_in_the_sidebar() {
        let ago = |millis: i64| {
            let now = Timestamp::from_millis(1_800_000_000_000);
            relative(Timestamp::from_millis(now.as_millis() - millis), now)
        };
        let (minute, hour, day) = (60_000, 3_600_000, 86_400_000);
        let said: Vec<String> = [
            -5 * minute,
            0,
            minute - 1,
            minute,
            2 * minute,
            hour - 1,
            hour,
            day - 1,
            2 * day,
            7 * day - 1,
            7 * day,
            400 * day,
        ]
        .map(ago)
        .into();
        assert_eq!(
            said,
            ["now", "now", "now", "1m", "2m", "59m", "1h", "23h", "2d", "6d", "1w", "57w"]
        );
    }

    #[test]
    fn a_timestamp_is_written_with_milliseconds_and_read_back() {
        let time = Timestamp::from_millis(1_794_739_200_007);
        assert_eq!(time.to_string(), "2026-11-15T10:40:00.007Z");
        assert_eq!("2026-11-15T11:40:00.0079+01:00".parse::<Timestamp>().unwrap(), time);
        assert_eq!(
            "yesterday".parse::<Timestamp>().unwrap_err().to_string(),
            "not an RFC 3339 timestamp: yesterday"
        );
    }

    #[test]
    fn every_moment_can_be_written() {
        for millis in [i64::MIN, MILLIS_MIN, -1, 0, MILLIS_MAX, i64::MAX] {
            let time = Timestamp::from_millis(millis);
            assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
    }
}
