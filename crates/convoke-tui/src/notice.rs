//! A short message about a recent event, and whether it is still shown.

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
    fn is_read(&self, now: Timestamp) -> bool {
        match self.kind {
            NoticeKind::News => now.millis_since(self.at) >= NEWS_MILLIS_MIN,
            NoticeKind::Refusal => true,
        }
    }
}

/// The notice that is shown, if any; a new one replaces it.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    shown: Option<Notice>,
}

impl Notices {
    pub(crate) const fn shown(&self) -> Option<&Notice> {
        self.shown.as_ref()
    }

    pub(crate) fn show(&mut self, text: impl Into<String>, kind: NoticeKind, now: Timestamp) {
        self.shown = Some(Notice { text: text.into(), kind, at: now });
    }

    /// Removes a notice that has been shown long enough.
    pub(crate) fn drop_read(&mut self, now: Timestamp) {
        self.shown.take_if(|notice| notice.is_read(now));
    }

    /// Removes the notice.
    pub(crate) fn clear(&mut self) {
        self.shown = None;
    }
}
