//! A short message about a recent event.

use convoke_core::time::Timestamp;

/// A short message about a recent event.
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
    /// Something is not possible, or not yet; the next key removes it.
    Refusal,
}

/// Milliseconds during which keys do not remove a notice.
const NEWS_MILLIS_MIN: i64 = 4000;

impl Notice {
    /// Whether it has been shown long enough for the next key to remove it.
    pub(crate) fn is_read(&self, now: Timestamp) -> bool {
        match self.kind {
            NoticeKind::News => now.millis_since(self.at) >= NEWS_MILLIS_MIN,
            NoticeKind::Refusal => true,
        }
    }
}
