//! Waits for facts that no event announces: a file of another program, an answer of a daemon, the end of a process.
//! Async tests whose clock is paused have loops of their own, since parking stops their only thread.

use std::thread;
use std::time::{Duration, Instant};

/// How long a fact may take that has no limit of its own; beyond it, the test fails.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The pause after the first try: short, since some tests kill a program at the moment of a fact.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The pause in long waits, in which looking may cost more than the program that is waited for.
const LAST_PAUSE: Duration = Duration::from_millis(20);

/// Waits until something is so.
#[track_caller]
pub fn until(what: &str, is_so: impl FnMut() -> bool) {
    within(LIMIT, what, is_so);
}

/// Waits until something is so, which must be soon.
#[track_caller]
pub fn within(limit: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    poll(limit, what, || is_so().then_some(()));
}

/// Waits until there is something, and returns it.
#[track_caller]
pub fn until_some<T>(what: &str, find: impl FnMut() -> Option<T>) -> T {
    poll(LIMIT, what, find)
}

#[track_caller]
fn poll<T>(limit: Duration, what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        let waited = start.elapsed();
        assert!(waited < limit, "not within {limit:?}: {what}");
        thread::park_timeout((waited / 32).clamp(FIRST_PAUSE, LAST_PAUSE));
    }
}
