//! Decides when unsynced commits must be synced. Pure: times are parameters.

use std::time::{Duration, Instant};

use crate::write::Durability;

/// How long an agent's output may stay unsynced; a power cut would lose it.
const UNSYNCED_MAX: Duration = Duration::from_millis(200);

/// How long changes that can be repeated may stay unsynced. Imports write so much that a sync would
/// block all others.
const REPEATABLE_MAX: Duration = Duration::from_secs(5);

/// The delay after a failed sync; the disk may be full.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// When the unsynced commits must be synced.
#[derive(Debug, Default)]
pub(super) struct Pace {
    due: Option<Instant>,
    /// Whether all unsynced changes can be repeated.
    is_repeatable: bool,
}

impl Pace {
    /// How long the writer may wait for the next change; `None` is for ever.
    pub(super) fn wait_max(&self, now: Instant) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(now))
    }

    /// The durability of the next commit: that of its changes, or a sync if one is due.
    pub(super) fn durability(&self, asked: Durability, now: Instant) -> Durability {
        match self.due {
            Some(due) if due <= now => Durability::Acknowledged,
            Some(_) | None => asked,
        }
    }

    /// Records a commit. A synced one has synced all before it.
    pub(super) fn committed(&mut self, how: Durability, now: Instant) {
        match how {
            Durability::Repeatable if self.due.is_none() => {
                (self.due, self.is_repeatable) = (Some(now + REPEATABLE_MAX), true);
            }
            Durability::Soon if self.due.is_none() || self.is_repeatable => {
                (self.due, self.is_repeatable) = (Some(now + UNSYNCED_MAX), false);
            }
            Durability::Repeatable | Durability::Soon => {}
            Durability::Acknowledged => self.due = None,
        }
    }

    /// Records that everything is synced.
    pub(super) const fn synced(&mut self) {
        self.due = None;
    }

    /// Records a failed sync, which delays the next attempt.
    pub(super) fn tried(&mut self, now: Instant) {
        (self.due, self.is_repeatable) = (Some(now + RETRY_AFTER), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Durability::{Acknowledged, Repeatable, Soon};

    const TICK: Duration = Duration::from_millis(1);

    #[test]
    fn nothing_unsynced_means_sleeping_until_there_is_work() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert_eq!(pace.wait_max(now), None);
        pace.committed(Acknowledged, now);
        assert_eq!(pace.wait_max(now), None);
    }

    #[test]
    fn unsynced_words_are_due_from_the_first_of_them_however_many_follow() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        pace.committed(Soon, start);
        pace.committed(Soon, start + UNSYNCED_MAX - TICK);
        assert_eq!(pace.wait_max(start + UNSYNCED_MAX - TICK), Some(TICK));
        assert_eq!(pace.durability(Soon, start + UNSYNCED_MAX - TICK), Soon);
        assert_eq!(pace.wait_max(start + UNSYNCED_MAX * 2), Some(Duration::ZERO));
        assert_eq!(pace.durability(Soon, start + UNSYNCED_MAX), Acknowledged);
    }

    #[test]
    fn what_can_be_made_again_is_synced_later_or_with_other_words() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        pace.committed(Repeatable, start);
        pace.committed(Repeatable, start + UNSYNCED_MAX);
        assert_eq!(pace.wait_max(start), Some(REPEATABLE_MAX));
        pace.committed(Soon, start);
        assert_eq!(pace.wait_max(start), Some(UNSYNCED_MAX));
        pace.committed(Repeatable, start + TICK);
        assert_eq!(pace.wait_max(start), Some(UNSYNCED_MAX));
    }

    #[test]
    fn what_a_human_said_takes_all_before_it_along() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.committed(Soon, now);
        pace.committed(Acknowledged, now + TICK);
        assert_eq!(pace.wait_max(now + TICK), None);
    }

    #[test]
    fn a_failed_sync_is_tried_again_later_and_not_at_once() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.committed(Soon, now);
        pace.tried(now + UNSYNCED_MAX);
        assert_eq!(pace.wait_max(now + UNSYNCED_MAX), Some(RETRY_AFTER));
    }
}
