//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use convoke_core::time::Timestamp;

/// This moment; 1970 on a machine whose clock stands before it.
pub(crate) fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}
