//! How teams stand, putting them to sleep and waking them, and stopping everything at once.

use std::collections::HashSet;
use std::time::Duration;

use convoke_core::session::Command;
use convoke_core::team::{Pair, PairStatus, TeamName};
use convoke_store::{PairChange, PairFilter, StoredPair, Window};
use tokio::task::JoinSet;

use super::Team;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::session::{self, Request};
use crate::view::{Activity, Live};

/// How often is looked for agents that began something in the very moment they were stopped.
const ROUNDS_MAX: usize = 10;
/// How long a session may take to store that its turns are cancelled before its process is stopped all the same.
const CANCEL_PATIENCE: Duration = Duration::from_millis(500);

/// How a team stands.
#[derive(Debug, Clone, PartialEq)]
pub struct TeamStatus {
    /// The team.
    pub team: Team,
    /// The pairs in which it is asked, with what goes on in each.
    pub pairs: Vec<(StoredPair, Live)>,
}

/// What was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stopped {
    /// Sessions in which something went on.
    pub sessions: usize,
    /// Processes.
    pub processes: usize,
}

impl Engine {
    /// How the teams stand, or one of them.
    pub async fn team_statuses(&self, only: Option<&TeamName>) -> Result<Vec<TeamStatus>> {
        let teams = match only {
            Some(name) => vec![self.shared.team(name)?],
            None => self.teams(),
        };
        let mut statuses = Vec::new();
        for team in teams {
            let filter = PairFilter { to: Some(team.name.clone()), ..PairFilter::all() };
            let pairs = self.shared.store.pairs(filter, Window::first(Window::LIMIT_MAX)).await?;
            let pairs = self.shared.with_standing(pairs).await?;
            let live = |pair: StoredPair| {
                let live = self.live(pair.session_id);
                (pair, live)
            };
            statuses.push(TeamStatus { team, pairs: pairs.into_iter().map(live).collect() });
        }
        Ok(statuses)
    }

    /// Stops what a pair works on, and what waits behind it.
    pub async fn cancel_pair(&self, pair: &Pair) -> Result<StoredPair> {
        self.shared.team(&pair.to)?;
        let stored = self.pair_between(pair).await?;
        let stored = stored.ok_or_else(|| Error::UnknownPair { text: pair.to_string() })?;
        self.carry(stored.session_id, Command::CancelTurns).await?;
        Ok(stored)
    }

    /// Stops the processes of a team that work on nothing. Whoever asks it next wakes it.
    pub async fn sleep_team(&self, name: &TeamName) -> Result<usize> {
        let mut stopping = JoinSet::new();
        let running = self.shared.pool.keys().await;
        for status in self.team_statuses(Some(name)).await? {
            for (pair, live) in status.pairs {
                let key = pair.pair.to_string();
                if live.activity == Activity::Idle && running.contains(&key) {
                    let pool = self.shared.pool.clone();
                    stopping.spawn(async move { pool.release(&key).await });
                }
            }
        }
        Ok(stopping.join_all().await.len())
    }

    /// Starts the process of a team for callers from outside, so that the next answer need not wait for it.
    pub async fn wake_team(&self, name: &TeamName) -> Result<StoredPair> {
        let team = self.shared.team(name)?;
        let pair = Pair { from: None, to: team.name.clone(), thread: None };
        let _passage = self.shared.pair_cache.pass(&pair).await?;
        let (stored, _) = self.wake_pair(&pair).await?;
        session::ask(&self.shared, stored.session_id, |reply| Request::Order {
            order: None,
            reply,
        })
        .await?;
        if stored.status == PairStatus::Idle {
            let active = PairChange::Standing { status: PairStatus::Active, error: None };
            return self.shared.change_pair(&stored, active).await;
        }
        Ok(stored)
    }

    /// Stops everything that any agent does, at once: turns that run, turns that wait, and the processes.
    pub async fn stop_agents(&self) -> Result<Stopped> {
        let (mut sessions, mut processes) = (HashSet::new(), HashSet::new());
        for _ in 0..ROUNDS_MAX {
            let busy = self.shared.registry.busy();
            let keys = self.shared.pool.keys().await;
            if busy.is_empty() && keys.is_empty() {
                break;
            }
            // One that is still about to stop is met again in the next round.
            sessions.extend(busy.iter().copied());
            processes.extend(keys.iter().cloned());
            let mut stopping = JoinSet::new();
            for session in busy {
                let engine = self.clone();
                stopping.spawn(async move {
                    if let Err(error) = engine.carry(session, Command::CancelTurns).await {
                        // It may have ended in this very moment.
                        tracing::debug!(session.id = %session, "nothing to stop: {error}");
                    }
                });
            }
            // A session that cannot be stored at the moment must not keep its process alive.
            tokio::time::timeout(CANCEL_PATIENCE, stopping.join_all()).await.ok();
            let mut stopping = JoinSet::new();
            for key in keys {
                let pool = self.shared.pool.clone();
                stopping.spawn(async move { pool.release(&key).await });
            }
            stopping.join_all().await;
        }
        Ok(Stopped { sessions: sessions.len(), processes: processes.len() })
    }
}
