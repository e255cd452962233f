//! A short message about what has just happened.

use convoke_core::time::Timestamp;

/// A short message about what has just happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) kind: NoticeKind,
    pub(crate) at: Timestamp,
}

/// Why a notice is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    /// Something happened; it stays long enough to be read.
    News,
    /// What the human wants cannot be, or not yet; the next key takes it away.
    Refusal,
}

/// Milliseconds for which news withstand the human's keys.
const NEWS_MILLIS_MIN: i64 = 4000;

impl Notice {
    /// Whether it has been there long enough for the next key to take it away.
    pub(crate) fn is_read(&self, now: Timestamp) -> bool {
        match self.kind {
            NoticeKind::News => now.millis_since(self.at) >= NEWS_MILLIS_MIN,
            NoticeKind::Refusal => true,
        }
    }
}
