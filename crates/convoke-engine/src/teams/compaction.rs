//! Compacts long conversations: by the agent's own command, else by a summary for a successor. Never during a turn.

mod attempts;
pub(super) mod successor;

use std::sync::Arc;
use std::time::Duration;

use convoke_agents::catalogue::Protocol;
use convoke_core::compaction::is_due;
use convoke_core::content::Usage;
use convoke_core::id::SessionId;
use convoke_core::state::SessionState;
use convoke_core::team::PairStatus;
use convoke_store::{PairChange, PairFilter, PairId, StoredPair, Window};
use tokio::sync::watch;

use super::Teams;
use super::follow::{AnswerSoFar, Ended, read_turn};
use crate::blocking::panicked;
use crate::error::{Error, Result};
use crate::session::start::explain;

pub(super) use attempts::Attempts;

/// The interval at which all pairs are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// The percentage of a context from which it counts as full.
const FULL_HUNDREDTHS: u64 = 80;
/// Messages since the last compaction before a full context is compacted again; one that stays full would be
/// compacted in a loop.
const FULL_MESSAGES_MIN: u64 = 5;

/// The agents' command.
pub(super) const COMPACT: &str = "/compact";

/// How a conversation was compacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compaction {
    /// By the agent's own command.
    Own,
    /// By a summary for a successor session.
    Successor {
        /// The successor session.
        session: SessionId,
    },
}

/// Whether an agent's context is nearly full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fullness {
    Full,
    /// Also if the agent does not report it.
    NotFull,
}

impl Fullness {
    /// From a usage report; `None` if the report does not say.
    pub(super) fn of(usage: &Usage) -> Option<Self> {
        let (used, size) = (usage.context_used?, usage.context_size.filter(|size| *size > 0)?);
        let is_full = used.saturating_mul(100) >= size.saturating_mul(FULL_HUNDREDTHS);
        Some(if is_full { Self::Full } else { Self::NotFull })
    }
}

impl Teams {
    /// Compacts the conversation of a pair when its turn is over.
    pub async fn compact_pair(self: &Arc<Self>, id: PairId) -> Result<Compaction> {
        let pair = self.pair(id).await?;
        if pair.status == PairStatus::Archived {
            return Err(Error::ArchivedPair { pair: pair.pair.to_string() });
        }
        // Without a team nothing is attempted, so nothing counts as failed.
        self.team(&pair.pair.to)?;
        if !self.attempts.begin(id) {
            return Err(Error::Compacting { pair: pair.pair.to_string() });
        }
        let teams = Arc::clone(self);
        // In a task of its own, so that a caller that disconnects does not leave the pair half compacted.
        let compacting = tokio::spawn(async move { teams.attempt_whole(pair).await });
        compacting.await.map_err(panicked)?
    }

    /// Compacts a pair in the background, if it is due.
    pub(super) fn compact_if_due(self: &Arc<Self>, pair: &StoredPair, fullness: Fullness) {
        let is_full = fullness == Fullness::Full && pair.message_count >= FULL_MESSAGES_MIN;
        let is_wanted = is_full || is_due(pair.message_count, pair.created_at, self.host.now());
        // A team that is not configured now may be configured again.
        let is_possible = pair.status != PairStatus::Archived && self.team(&pair.pair.to).is_ok();
        if !is_wanted || !is_possible || !self.attempts.begin_if_due(pair.id) {
            return;
        }
        let (teams, pair) = (Arc::clone(self), pair.clone());
        tokio::spawn(async move {
            let name = pair.pair.to_string();
            if let Err(error) = teams.attempt_whole(pair).await {
                tracing::warn!("{name} is not compacted: {}", explain(&error));
            }
        });
    }

    /// As `attempt`, which ends even if it panics.
    async fn attempt_whole(self: Arc<Self>, pair: StoredPair) -> Result<Compaction> {
        let (id, teams) = (pair.id, Arc::clone(&self));
        let attempted = tokio::spawn(async move { teams.attempt(&pair).await }).await;
        attempted.unwrap_or_else(|error| {
            let error = panicked(error);
            self.attempts.end(id, Some(&error));
            Err(error)
        })
    }

    /// Compacts a pair, and records the outcome of the attempt.
    async fn attempt(&self, pair: &StoredPair) -> Result<Compaction> {
        let compacted = self.compact(pair).await;
        self.attempts.end(pair.id, compacted.as_ref().err());
        let status = match &compacted {
            Ok(_) => PairChange::Status { status: PairStatus::Active, error: None },
            Err(error) => {
                PairChange::Status { status: PairStatus::Error, error: Some(explain(error)) }
            }
        };
        if compacted.is_ok() {
            self.cache.note_room(pair.id);
            self.change_pair(pair, PairChange::Compacted).await?;
        }
        self.change_pair(pair, status).await?;
        compacted
    }

    async fn compact(&self, pair: &StoredPair) -> Result<Compaction> {
        let pending = PairChange::Status { status: PairStatus::CompactPending, error: None };
        self.change_pair(pair, pending).await?;
        if self.compacts_itself(pair).await? {
            self.wake_session(pair.session_id).await?;
            let compacting = PairChange::Status { status: PairStatus::Compacting, error: None };
            self.change_pair(pair, compacting).await?;
            self.said(pair.session_id, COMPACT.to_owned()).await?;
            return Ok(Compaction::Own);
        }
        self.hand_over(pair).await
    }

    /// Sends a prompt to a session and returns the whole answer.
    async fn said(&self, session: SessionId, text: String) -> Result<String> {
        let after = self.sessions.get(session).await?.stored.summary.rev;
        let watcher = self.sessions.watch(session, after).await?;
        let prompt = self.sessions.prompt_in_chain(session, text.into()).await?.message_id;
        let (answer_so_far, _) = watch::channel(AnswerSoFar::default());
        match read_turn(prompt, watcher, &answer_so_far).await {
            Ended { text, error: None, .. } => Ok(text),
            Ended { error: Some(reason), .. } => Err(Error::CompactionFailed { reason }),
        }
    }

    /// Whether the pair's agent has a compaction command.
    async fn compacts_itself(&self, pair: &StoredPair) -> Result<bool> {
        let team = self.team(&pair.pair.to)?;
        if self.processes.agent(team.agent.as_str())?.protocol == Protocol::Claude {
            return Ok(true);
        }
        let state = self.store.session_state(pair.session_id).await?;
        Ok(state.iter().any(|(_, state)| offers_compaction(state)))
    }
}

/// Starts the periodic check for pairs that became old without being used.
pub(crate) fn start_periodic_check(teams: &Arc<Teams>) {
    let weak = Arc::downgrade(teams);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let Some(teams) = weak.upgrade() else { return };
            let window = Window::first(Window::LIMIT_MAX);
            match teams.store.pairs(PairFilter::own(), window).await {
                Ok(pairs) => {
                    pairs.iter().for_each(|pair| teams.compact_if_due(pair, Fullness::NotFull));
                }
                Err(error) => tracing::warn!("cannot look for long conversations: {error}"),
            }
        }
    });
}

/// Whether the offered commands include compaction.
fn offers_compaction(state: &SessionState) -> bool {
    let SessionState::Commands { commands } = state else { return false };
    commands.iter().any(|command| command.name.trim_start_matches('/') == "compact")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t16_a_context_is_full_when_little_of_it_is_left() {
        let of = |used, size| {
            Fullness::of(&Usage { context_used: used, context_size: size, ..Usage::default() })
        };
        assert_eq!(of(Some(800), Some(1000)), Some(Fullness::Full));
        assert_eq!(of(Some(799), Some(1000)), Some(Fullness::NotFull));
        assert_eq!(of(Some(u64::MAX), Some(1000)), Some(Fullness::Full));
        assert_eq!(of(Some(0), Some(0)), None);
        assert_eq!(of(Some(800), None), None);
    }
}
