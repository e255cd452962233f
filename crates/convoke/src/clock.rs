//! The one place that makes timestamps of the current time.

use std::time::{SystemTime, UNIX_EPOCH};

use convoke_core::time::Timestamp;

/// The current time; 1970 on a machine whose clock is set before that.
pub(crate) fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}
