//! Publishes the teams of a node to the others, and records which agents wait for others.

use std::collections::HashMap;

use convoke_core::id::ChainId;
use convoke_core::team::TeamName;

use super::{Change, Durability};
use crate::db::{Db, SqlResult, params};
use crate::error::Fault;
use crate::teams::BegunWait;

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

/// An agent that waits for another one, unless the other one waits for it already, directly or through others, on whichever
/// daemons.
#[derive(Debug)]
pub(crate) struct BeginWait {
    pub(crate) of: String,
    pub(crate) for_pair: String,
}

impl Change for BeginWait {
    type Outcome = BegunWait;

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<BegunWait, Fault> {
        // One after the other: of two that would make a circle together, the second finds the first.
        db.prepare_cached("SELECT CAST(pg_advisory_xact_lock(4845283128) AS TEXT)")?
            .query_row(params![], |row| row.get::<Option<String>>(0))?;
        // Also those of a daemon that is away: its agents go on waiting when it is back.
        let sql = "WITH RECURSIVE way (pair, via) AS (
                 SELECT CAST(?1 AS TEXT) COLLATE \"C\", CAST(NULL AS TEXT) COLLATE \"C\"
                 UNION SELECT w.for_pair, way.pair
                     FROM way JOIN team_waits AS w ON w.of_pair = way.pair)
             SELECT pair, via FROM way";
        let mut statement = db.prepare_cached(sql)?;
        let ways = statement.query_map([&self.for_pair], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some(pairs) = path(ways.collect::<SqlResult<_>>()?, &self.of) {
            return Ok(BegunWait::Circle(pairs));
        }
        let sql = "INSERT INTO team_waits (of_pair, for_pair) VALUES (?1, ?2) RETURNING id";
        let of = [&self.of, &self.for_pair];
        Ok(BegunWait::Waits(db.prepare_cached(sql)?.query_row(of, |row| row.get(0))?))
    }
}

/// The pairs on the way to one, which is the last of them; each comes with the one before it, the first without.
fn path(ways: Vec<(String, Option<String>)>, to: &str) -> Option<Vec<String>> {
    let mut before = HashMap::new();
    for (pair, via) in ways {
        before.entry(pair).or_insert(via);
    }
    let mut pairs = vec![to.to_owned()];
    let mut last = before.get(to)?;
    while let Some(pair) = last.as_ref().filter(|_| pairs.len() < before.len()) {
        pairs.push(pair.clone());
        last = before.get(pair)?;
    }
    pairs.reverse();
    Some(pairs)
}

/// One more ask of a chain; its outcome is how many there are with it.
#[derive(Debug)]
pub(crate) struct CountAsk(pub(crate) ChainId);

impl Change for CountAsk {
    type Outcome = u64;

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<u64, Fault> {
        let sql = "INSERT INTO ask_chains (id, asks) VALUES (?1, 1)
             ON CONFLICT (id) DO UPDATE
                 SET asks = ask_chains.asks + 1, used_at = clock_timestamp()
             RETURNING asks";
        let asks = db.prepare_cached(sql)?.query_row([self.0.to_string()], |row| row.get(0))?;
        if asks == 1 {
            let old =
                "DELETE FROM ask_chains WHERE used_at < clock_timestamp() - interval '7 days'";
            db.prepare_cached(old)?.execute(params![])?;
        }
        Ok(asks)
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
