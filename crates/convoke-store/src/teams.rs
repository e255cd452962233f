//! The teams of other nodes, and the agents that wait for them.

use convoke_core::id::{ChainId, NodeId};
use convoke_core::team::TeamName;

use crate::db::SqlResult;
use crate::error::Result;
use crate::row;
use crate::store::Store;
use crate::write::teams::{BeginWait, CountAsk, EndWait, SetTeams};

/// A team of another node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTeam {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: TeamName,
    /// Its settings, in the format that the nodes share.
    pub body: String,
}

/// What became of an agent that is to wait for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BegunWait {
    /// It waits, and this is the number of its wait.
    Waits(u64),
    /// The other one waits for it already: these pairs wait for each other, the other one first and its own last.
    Circle(Vec<String>),
}

impl Store {
    /// Publishes the teams of this node to the others; replaces those before.
    pub async fn set_teams(&self, teams: Vec<(TeamName, String)>) -> Result<()> {
        if self.node().is_none() {
            return Ok(());
        }
        self.make(SetTeams { teams }).await
    }

    /// Records that an agent waits for another one, in pairs that are named with their daemons, unless the other one waits for
    /// it already, directly or through others.
    pub async fn begin_wait(&self, of: String, for_pair: String) -> Result<BegunWait> {
        self.make(BeginWait { of, for_pair }).await
    }

    /// Counts one more ask of a chain on all daemons; returns how many there are with it. `None` if this daemon has the
    /// database for itself.
    pub async fn count_ask(&self, chain: ChainId) -> Result<Option<u64>> {
        if self.node().is_none() {
            return Ok(None);
        }
        self.make(CountAsk(chain)).await.map(Some)
    }

    /// Records that an agent waits no more.
    pub async fn end_wait(&self, id: u64) -> Result<()> {
        self.make(EndWait(id)).await
    }

    /// The teams of other nodes, by name.
    pub async fn teams_elsewhere(&self) -> Result<Vec<StoredTeam>> {
        let Some(own) = self.node() else { return Ok(Vec::new()) };
        self.read(move |db| {
            let sql =
                "SELECT node, name, body FROM node_teams WHERE node <> ?1 ORDER BY name, node";
            let mut statement = db.prepare_cached(sql)?;
            let teams = statement.query_map([own.to_string()], |row| {
                Ok(StoredTeam {
                    node: row::text(row, 0)?,
                    name: row::text(row, 1)?,
                    body: row.get(2)?,
                })
            })?;
            Ok(teams.collect::<SqlResult<_>>()?)
        })
        .await
    }
}
