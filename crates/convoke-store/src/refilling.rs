//! The task that fills the search index in the background: after a migration has emptied it, and after an import of many
//! conversations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::error::{Error, Result};
use crate::store::Store;
use crate::write::refill::{Refill, RefillSearch};

/// The least, and first, number of messages in one transaction, and the most. Larger transactions
/// fill the index faster, but block other changes for longer.
const MESSAGES_MIN: u32 = 200;
const MESSAGES_MAX: u32 = 6400;
/// The target duration of a transaction, including the wait for other changes. While others write,
/// transactions stay small.
const TIMEOUT: Duration = Duration::from_millis(50);

/// Whether the refill task is running.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refilling(Arc<AtomicBool>);

impl Store {
    /// Adds the messages that were stored with `Indexing::Later` to the search index, in the
    /// background. If this is interrupted, the next start continues.
    pub fn index_imported(&self) {
        self.refill_search(&Handle::current());
    }

    /// Continues a refill that was interrupted when the store was closed, or begins one after a
    /// migration.
    pub(crate) fn refill_at_start(&self, refill: Refill, runtime: &Handle) {
        if let Refill::Unfinished { rows } = refill {
            tracing::info!(
                rows,
                "the search index is being filled; until then, searches find less"
            );
            self.refill_search(runtime);
        }
    }

    /// Starts the task unless it is running; it ends when the index is complete or the store is
    /// closed.
    fn refill_search(&self, runtime: &Handle) {
        if self.refilling.0.swap(true, Ordering::AcqRel) {
            return;
        }
        let store = self.clone();
        drop(runtime.spawn(async move {
            loop {
                let filled = refill_all(&store).await;
                store.refilling.0.store(false, Ordering::Release);
                match filled {
                    Ok(()) => tracing::info!("the search index is filled"),
                    // The next start continues.
                    Err(Error::Closed) => return,
                    Err(error) => {
                        return tracing::warn!(%error, "the search index could not be filled");
                    }
                }
                // A range that was added after the last check may not have started another task.
                let is_left = store.read(Refill::read).await.is_ok_and(|it| it != Refill::Finished);
                if !is_left || store.refilling.0.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        }));
    }
}

async fn refill_all(store: &Store) -> Result<()> {
    let mut messages = MESSAGES_MIN;
    loop {
        let begun = Instant::now();
        if store.make(RefillSearch { messages }).await? == Refill::Finished {
            return Ok(());
        }
        messages = next_size(messages, begun.elapsed());
    }
}

/// The number of messages in the next transaction, given the duration of one with `messages`.
fn next_size(messages: u32, took: Duration) -> u32 {
    let next = if took < TIMEOUT / 2 {
        messages * 2
    } else if took > TIMEOUT {
        messages / 2
    } else {
        messages
    };
    next.clamp(MESSAGES_MIN, MESSAGES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h7_transactions_grow_while_they_are_quick_and_shrink_while_others_wait() {
        let mut messages = MESSAGES_MIN;
        for _ in 0..10 {
            messages = next_size(messages, Duration::from_millis(5));
        }
        assert_eq!(messages, MESSAGES_MAX);
        assert_eq!(next_size(messages, Duration::from_millis(40)), MESSAGES_MAX);
        for _ in 0..10 {
            messages = next_size(messages, Duration::from_millis(80));
        }
        assert_eq!(messages, MESSAGES_MIN);
    }
}
