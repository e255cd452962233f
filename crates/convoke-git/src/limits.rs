//! How long a call may take, and how another thread ends it early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The bounds of one call; the git processes that it started are killed at either of them.
#[derive(Debug, Clone)]
pub struct Limits {
    deadline: Instant,
    timeout: Duration,
    cancel: Cancel,
}

impl Limits {
    /// At most `timeout` from now on.
    pub fn new(timeout: Duration) -> Self {
        Self::cancelled_by(timeout, Cancel::default())
    }

    /// At most `timeout` from now on, and not after `cancel` was called.
    pub fn cancelled_by(timeout: Duration, cancel: Cancel) -> Self {
        Self { deadline: Instant::now() + timeout, timeout, cancel }
    }

    /// The whole time that the call was given, for error messages.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The time that is left; zero when it is over.
    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.0.load(Ordering::Relaxed)
    }
}

/// Ends calls from another thread.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Makes the calls with this handle fail with `Error::Cancelled`, within a tenth of a second.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
