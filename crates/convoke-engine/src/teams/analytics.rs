//! Figures for those who look after the teams.

use convoke_core::time::Timestamp;
use convoke_store::{PairActivity, PairFilter, PairStats, PairUsage, StoredPair, Window};

use crate::engine::Engine;
use crate::error::Result;

/// Stretches that are told if nobody says since when: thirty days, or as many hours.
const USUAL_STRETCHES: i64 = 30;

/// How finely activity is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// By the hour.
    Hour,
    /// By the day.
    Day,
}

impl Stretch {
    const fn millis(self) -> i64 {
        const HOUR: i64 = 60 * 60 * 1000;
        match self {
            Self::Hour => HOUR,
            Self::Day => 24 * HOUR,
        }
    }
}

/// Everything that is known of how teams talk.
#[derive(Debug, Clone, PartialEq)]
pub struct Analytics {
    /// Since when activity is told.
    pub since: Timestamp,
    /// Counted over all pairs.
    pub stats: PairStats,
    /// All pairs, the last used first.
    pub pairs: Vec<StoredPair>,
    /// What they said, the newest stretch first.
    pub activity: Vec<PairActivity>,
    /// What they cost.
    pub usage: Vec<PairUsage>,
}

impl Engine {
    /// How teams have talked since a moment; if none is given, since long enough ago for a picture.
    pub async fn team_analytics(
        &self,
        since: Option<Timestamp>,
        stretch: Stretch,
    ) -> Result<Analytics> {
        let store = &self.shared.store;
        let usual = self.shared.now().as_millis() - USUAL_STRETCHES * stretch.millis();
        let since = since.unwrap_or(Timestamp::from_millis(usual));
        let pairs = store.pairs(PairFilter::all(), Window::first(Window::LIMIT_MAX)).await?;
        Ok(Analytics {
            since,
            stats: store.pair_stats().await?,
            pairs: self.shared.with_standing(pairs).await?,
            activity: store.pair_activity(since, stretch.millis()).await?,
            usage: store.pair_usage().await?,
        })
    }
}
