//! The status of teams, and stopping and starting their processes.

use convoke_core::id::NodeId;
use convoke_core::session::{Activity, Command, QueueChoice};
use convoke_core::team::{Pair, PairStatus, TeamName};
use convoke_store::{PairChange, PairFilter, StoredPair, Window};
use tokio::task::JoinSet;

use super::{Team, Teams};
use crate::error::{Error, Result};
use crate::view::Live;

/// The status of a team.
#[derive(Debug, Clone, PartialEq)]
pub struct TeamStatus {
    /// The team.
    pub team: Team,
    /// The pairs in which it is asked, with their live state.
    pub pairs: Vec<(StoredPair, Live)>,
    /// The node that has its folder; none if the database is a file.
    pub node: Option<NodeId>,
}

impl Teams {
    /// The status of all teams of all nodes, by name, or of one.
    pub async fn statuses(&self, only: Option<&TeamName>) -> Result<Vec<TeamStatus>> {
        let elsewhere = match only {
            Some(name) => match self.node_of(name).await {
                Ok(None) => Vec::new(),
                Ok(Some(_)) | Err(Error::SeveralTeams { .. }) => {
                    return self.statuses_elsewhere(Some(name)).await;
                }
                Err(error) => return Err(error),
            },
            None => self.statuses_elsewhere(None).await?,
        };
        let mut statuses = self.own_statuses(only).await?;
        statuses.extend(elsewhere);
        statuses.sort_by(|one, other| one.team.name.cmp(&other.team.name));
        Ok(statuses)
    }

    async fn own_statuses(&self, only: Option<&TeamName>) -> Result<Vec<TeamStatus>> {
        let teams = match only {
            Some(name) => vec![self.team(name)?],
            None => self.list(),
        };
        let mut statuses = Vec::new();
        for team in teams {
            let filter = PairFilter { to: Some(team.name.clone()), ..PairFilter::own() };
            let pairs = self.store.pairs(filter, Window::first(Window::LIMIT_MAX)).await?;
            let pairs = self.with_pool_status(pairs).await;
            let live = |pair: StoredPair| {
                let live = self.sessions.live(pair.session_id);
                (pair, live)
            };
            let (pairs, node) = (pairs.into_iter().map(live).collect(), self.store.node());
            statuses.push(TeamStatus { team, pairs, node });
        }
        Ok(statuses)
    }

    /// Cancels the running and the queued questions of a pair.
    pub async fn cancel_pair(&self, pair: &Pair) -> Result<StoredPair> {
        self.team(&pair.to)?;
        let stored = self.pair_between(pair).await?;
        let stored = stored.ok_or_else(|| Error::UnknownPair { text: pair.to_string() })?;
        self.sessions
            .send_command(stored.session_id, Command::CancelTurn { queue: QueueChoice::Discard })
            .await?;
        Ok(stored)
    }

    /// Stops the idle processes of a team. The next ask starts one again.
    pub async fn sleep(&self, name: &TeamName) -> Result<usize> {
        let mut stopping = JoinSet::new();
        let running = self.processes.pool.keys().await;
        for status in self.own_statuses(Some(name)).await? {
            for (pair, live) in status.pairs {
                let key = pair.pair.to_string();
                if live.activity == Activity::Idle && running.contains(&key) {
                    let pool = self.processes.pool.clone();
                    stopping.spawn(async move { pool.release(&key).await });
                }
            }
        }
        Ok(stopping.join_all().await.len())
    }

    /// Starts the process of a team's external pair, so that the next ask does not wait for it.
    pub async fn wake(&self, name: &TeamName) -> Result<StoredPair> {
        let team = self.team(name)?;
        let pair = Pair { from: None, to: team.name.clone(), thread: None };
        let _lock = self.cache.lock_shared(&pair).await?;
        let (stored, _) = self.wake_pair(&pair).await?;
        self.sessions.order(stored.session_id, None).await?;
        if stored.status == PairStatus::Idle {
            let active = PairChange::Status { status: PairStatus::Active, error: None };
            return self.change_pair(&stored, active).await;
        }
        Ok(stored)
    }
}
