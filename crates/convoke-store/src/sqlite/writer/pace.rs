//! Decides when unsynced commits must be synced. Pure: times are parameters.

use std::time::{Duration, Instant};

use crate::write::Durability;

/// How long an agent's output may stay unsynced, where a power cut would lose it.
const UNSYNCED_MAX: Duration = Duration::from_millis(200);

/// How long what can be made again may stay unsynced. Imports write so much that a sync makes all others wait.
const REPEATABLE_MAX: Duration = Duration::from_secs(5);

/// How long a sync that failed is left alone; the disk may be full, and trying harder makes no room.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Whether something is not yet on disk, and until when it may stay so.
#[derive(Debug, Default)]
pub(super) struct Pace {
    due: Option<Instant>,
    /// Whether all that is unsynced can be made again.
    is_repeatable: bool,
}

impl Pace {
    /// How long the writer may wait for more to do; `None` is for ever.
    pub(super) fn patience(&self, now: Instant) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(now))
    }

    /// What the next commit must do, given what its changes ask for: one that is due anyway takes the others along.
    pub(super) fn durability(&self, asked: Durability, now: Instant) -> Durability {
        match self.due {
            Some(due) if due <= now => Durability::Acknowledged,
            Some(_) | None => asked,
        }
    }

    /// A commit was made. One that was synced has synced all before it.
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

    /// Everything is on disk.
    pub(super) const fn synced(&mut self) {
        self.due = None;
    }

    /// A sync failed; the next try is not at once.
    pub(super) fn tried(&mut self, now: Instant) {
        (self.due, self.is_repeatable) = (Some(now + RETRY_AFTER), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Durability::{Acknowledged, Repeatable, Soon};

    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn nothing_unsynced_means_sleeping_until_there_is_work() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert_eq!(pace.patience(now), None);
        pace.committed(Acknowledged, now);
        assert_eq!(pace.patience(now), None);
    }

    #[test]
    fn unsynced_words_are_due_from_the_first_of_them_however_many_follow() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        pace.committed(Soon, start);
        pace.committed(Soon, start + UNSYNCED_MAX - MOMENT);
        assert_eq!(pace.patience(start + UNSYNCED_MAX - MOMENT), Some(MOMENT));
        assert_eq!(pace.durability(Soon, start + UNSYNCED_MAX - MOMENT), Soon);
        assert_eq!(pace.patience(start + UNSYNCED_MAX * 2), Some(Duration::ZERO));
        assert_eq!(pace.durability(Soon, start + UNSYNCED_MAX), Acknowledged);
    }

    #[test]
    fn what_can_be_made_again_is_synced_later_or_with_other_words() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        pace.committed(Repeatable, start);
        pace.committed(Repeatable, start + UNSYNCED_MAX);
        assert_eq!(pace.patience(start), Some(REPEATABLE_MAX));
        pace.committed(Soon, start);
        assert_eq!(pace.patience(start), Some(UNSYNCED_MAX));
        pace.committed(Repeatable, start + MOMENT);
        assert_eq!(pace.patience(start), Some(UNSYNCED_MAX));
    }

    #[test]
    fn what_a_human_said_takes_all_before_it_along() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.committed(Soon, now);
        pace.committed(Acknowledged, now + MOMENT);
        assert_eq!(pace.patience(now + MOMENT), None);
    }

    #[test]
    fn a_failed_sync_is_tried_again_later_and_not_at_once() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.committed(Soon, now);
        pace.tried(now + UNSYNCED_MAX);
        assert_eq!(pace.patience(now + UNSYNCED_MAX), Some(RETRY_AFTER));
    }
}
