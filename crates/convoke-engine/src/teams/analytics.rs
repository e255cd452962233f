//! Statistics of teams.

use convoke_core::time::Timestamp;
use convoke_store::{PairActivity, PairFilter, PairStats, PairUsage, StoredPair, Window};

use super::Teams;
use crate::error::Result;

/// The default number of intervals: thirty days, or thirty hours.
const INTERVALS: i64 = 30;

/// The interval by which activity is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityInterval {
    /// By the hour.
    Hour,
    /// By the day.
    Day,
}

impl ActivityInterval {
    const fn millis(self) -> i64 {
        const HOUR: i64 = 60 * 60 * 1000;
        match self {
            Self::Hour => HOUR,
            Self::Day => 24 * HOUR,
        }
    }
}

/// Statistics of teams.
#[derive(Debug, Clone, PartialEq)]
pub struct Analytics {
    /// The start of the reported activity.
    pub since: Timestamp,
    /// Totals over all pairs.
    pub stats: PairStats,
    /// All pairs, most recently used first.
    pub pairs: Vec<StoredPair>,
    /// Their activity, newest interval first.
    pub activity: Vec<PairActivity>,
    /// Their tokens and costs.
    pub usage: Vec<PairUsage>,
}

impl Teams {
    /// Statistics since a time; by default over the last thirty intervals.
    pub async fn analytics(
        &self,
        since: Option<Timestamp>,
        interval: ActivityInterval,
    ) -> Result<Analytics> {
        let store = &self.store;
        let usual = self.host.now().as_millis() - INTERVALS * interval.millis();
        let since = since.unwrap_or(Timestamp::from_millis(usual));
        let pairs = store.pairs(PairFilter::all(), Window::first(Window::LIMIT_MAX)).await?;
        Ok(Analytics {
            since,
            stats: store.pair_stats().await?,
            pairs: self.with_pool_status(pairs).await,
            activity: store.pair_activity(since, interval.millis()).await?,
            usage: store.pair_usage().await?,
        })
    }
}
