//! Parses times as people write them: a date, a time in UTC, or how long ago.

use convoke_core::time::Timestamp;

use super::TeamError;

const MINUTE: i64 = 60 * 1000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Parses a time.
pub(super) fn read(text: &str, now: Timestamp) -> Result<Timestamp, TeamError> {
    let time = text.parse().ok().or_else(|| format!("{text}T00:00:00Z").parse().ok());
    let not_a_time = || TeamError::NotATime { text: text.to_owned() };
    time.or_else(|| ago(text, now)).ok_or_else(not_a_time)
}

/// `90m`, `12h`, `7d` or `2w` ago.
fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let unit = match text.chars().last()? {
        'm' => MINUTE,
        'h' => HOUR,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return None,
    };
    let digits = text.get(..text.len() - 1).filter(|it| it.bytes().all(|b| b.is_ascii_digit()))?;
    let count: i64 = digits.parse().ok()?;
    Some(Timestamp::from_millis(now.as_millis().saturating_sub(count.checked_mul(unit)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t5_a_moment_is_a_date_a_time_or_how_long_ago() {
        let now: Timestamp = "2026-11-15T10:00:00Z".parse().unwrap();
        let told = |text: &str| read(text, now).map_or_else(|e| e.to_string(), |it| it.to_string());
        assert_eq!(told("2026-11-01"), "2026-11-01T00:00:00.000Z");
        assert_eq!(told("2026-11-01T12:30:00+01:00"), "2026-11-01T11:30:00.000Z");
        assert_eq!(told("90m"), "2026-11-15T08:30:00.000Z");
        assert_eq!(told("12h"), "2026-11-14T22:00:00.000Z");
        assert_eq!(told("2w"), "2026-11-01T10:00:00.000Z");
        for bad in ["", "d", "yesterday", "-7d", "7 d", "9999999999999999999w", "ü"] {
            assert_eq!(told(bad), format!("not a date or time: {bad}"));
        }
    }
}
