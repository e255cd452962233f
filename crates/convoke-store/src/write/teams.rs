//! Publishes the teams of a node to the others, and records which agents wait for others.

use convoke_core::team::TeamName;

use super::{Change, Durability};
use crate::db::{Db, params};
use crate::error::Fault;

/// Replaces the teams of this node.
#[derive(Debug)]
pub(crate) struct SetTeams {
    pub(crate) teams: Vec<(TeamName, String)>,
}

impl Change for SetTeams {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let sql = "DELETE FROM node_teams WHERE node = current_setting('convoke.node', true)";
        db.prepare_cached(sql)?.execute(params![])?;
        for (name, body) in &self.teams {
            let sql = "INSERT INTO node_teams (name, body) VALUES (?1, ?2)";
            db.prepare_cached(sql)?.execute(params![name.as_str(), body])?;
        }
        Ok(())
    }
}

/// Records that an agent waits for another one. The outcome is the number of the wait; `None` if
/// the other agent waits for it already, directly or through others, on any node.
#[derive(Debug)]
pub(crate) struct BeginWait {
    pub(crate) of: String,
    pub(crate) for_pair: String,
}

impl Change for BeginWait {
    type Outcome = Option<u64>;

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<Option<u64>, Fault> {
        // One at a time: of two waits that would form a cycle together, the second finds the first.
        db.prepare_cached("SELECT CAST(pg_advisory_xact_lock(4845283128) AS TEXT)")?
            .query_row(params![], |row| row.get::<Option<String>>(0))?;
        let sql = "WITH RECURSIVE way (pair) AS (
                 SELECT CAST(?1 AS TEXT) COLLATE \"C\"
                 UNION SELECT w.for_pair FROM way JOIN team_waits AS w ON w.of_pair = way.pair
                     JOIN nodes AS n ON n.id = w.node AND n.lease_until > clock_timestamp())
             SELECT 1 FROM way WHERE pair = ?2";
        if db.prepare_cached(sql)?.exists([&self.for_pair, &self.of])? {
            return Ok(None);
        }
        let sql = "INSERT INTO team_waits (of_pair, for_pair) VALUES (?1, ?2) RETURNING id";
        let of = [&self.of, &self.for_pair];
        Ok(Some(db.prepare_cached(sql)?.query_row(of, |row| row.get(0))?))
    }
}

/// Ends a wait.
#[derive(Debug)]
pub(crate) struct EndWait(pub(crate) u64);

impl Change for EndWait {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        db.prepare_cached("DELETE FROM team_waits WHERE id = ?1")?.execute([self.0])?;
        Ok(())
    }
}
