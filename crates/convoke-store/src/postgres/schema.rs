//! The migrations of a database on a server.

use convoke_core::time::Timestamp;

use super::Server;
use crate::db::{Db, SqlResult, params};
use crate::error::{Error, Fault, Result};
use crate::schema::steps::Step;
use crate::schema::{Migration, listed_in, migrate_down, migrate_up, search_by_time};

/// Every migration; a new one is added at the end, and those before it stay as they are.
const STEPS: &[Step] = &[
    Step {
        version: 1,
        name: "foundation",
        up: include_str!("../../migrations/postgres/0001_foundation.up.sql"),
        down: include_str!("../../migrations/postgres/0001_foundation.down.sql"),
        code: None,
    },
    Step {
        version: 2,
        name: "nodes",
        up: include_str!("../../migrations/postgres/0002_nodes.up.sql"),
        down: include_str!("../../migrations/postgres/0002_nodes.down.sql"),
        code: None,
    },
    Step {
        version: 3,
        name: "search_by_time",
        up: include_str!("../../migrations/postgres/0003_search_by_time.up.sql"),
        down: include_str!("../../migrations/postgres/0003_search_by_time.down.sql"),
        code: Some(search_by_time::CODE),
    },
    Step {
        version: 4,
        name: "users",
        up: include_str!("../../migrations/postgres/0004_users.up.sql"),
        down: include_str!("../../migrations/postgres/0004_users.down.sql"),
        code: None,
    },
    Step {
        version: 5,
        name: "moves",
        up: include_str!("../../migrations/postgres/0005_moves.up.sql"),
        down: include_str!("../../migrations/postgres/0005_moves.down.sql"),
        code: None,
    },
    Step {
        version: 6,
        name: "across_nodes",
        up: include_str!("../../migrations/postgres/0006_across_nodes.up.sql"),
        down: include_str!("../../migrations/postgres/0006_across_nodes.down.sql"),
        code: None,
    },
    Step {
        version: 7,
        name: "ask_chains",
        up: include_str!("../../migrations/postgres/0007_ask_chains.up.sql"),
        down: include_str!("../../migrations/postgres/0007_ask_chains.down.sql"),
        code: None,
    },
    Step {
        version: 8,
        name: "move_commits",
        up: include_str!("../../migrations/postgres/0008_move_commits.up.sql"),
        down: include_str!("../../migrations/postgres/0008_move_commits.down.sql"),
        code: None,
    },
];

/// An advisory lock around migrations, so that two daemons that start at once do not both apply them.
const LOCK: &str = "SELECT pg_advisory_lock(4845283127)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(4845283127)";

/// Lists every migration that this program knows, first to last. Changes nothing.
pub(crate) fn status(server: &Server) -> Result<Vec<Migration>> {
    with(server, |db| listed_in(db, server.as_path(), STEPS))
}

/// Applies the missing migrations and returns them, first to last.
pub(crate) fn migrate(server: &Server, now: Timestamp) -> Result<Vec<Migration>> {
    with(server, |db| {
        if is_complete(&listed_in(db, server.as_path(), STEPS)?) {
            return Ok(Vec::new());
        }
        db.execute_batch(LOCK)?;
        let applied = refuse_running(db, server, STEPS).and_then(|()| migrate_up(db, STEPS, now));
        db.execute_batch(UNLOCK)?;
        applied
    })
}

/// Rolls the newest migrations back, with all data in what they created; returns them, newest
/// first.
pub(crate) fn rollback(server: &Server, steps: usize) -> Result<Vec<Migration>> {
    with(server, |db| {
        if listed_in(db, server.as_path(), STEPS)?.iter().all(|it| it.applied_at.is_none()) {
            return Ok(Vec::new());
        }
        db.execute_batch(LOCK)?;
        let taken_back =
            refuse_running(db, server, &[]).and_then(|()| migrate_down(db, STEPS, steps));
        db.execute_batch(UNLOCK)?;
        taken_back
    })
}

fn is_complete(migrations: &[Migration]) -> bool {
    migrations.iter().all(|migration| migration.applied_at.is_some())
}

/// Refuses to change the schema while other nodes hold their leases, unless these steps are applied
/// already.
fn refuse_running(db: Db<'_>, server: &Server, steps: &[Step]) -> Result<(), Fault> {
    // Another daemon may have migrated it while this one waited for the lock.
    if !steps.is_empty() && is_complete(&listed_in(db, server.as_path(), steps)?) {
        return Ok(());
    }
    let sql = "SELECT 1 FROM pg_tables WHERE schemaname = 'convoke' AND tablename = 'nodes'";
    if !db.prepare_cached(sql)?.exists(params![])? {
        return Ok(());
    }
    let own = server.node().map(|node| node.to_string()).unwrap_or_default();
    let mut statement = db.prepare_cached(
        "SELECT name FROM nodes WHERE lease_until > clock_timestamp() AND id <> ?1 ORDER BY name",
    )?;
    let names = statement.query_map([own], |row| row.get(0))?;
    let names: Vec<String> = names.collect::<SqlResult<_>>()?;
    if names.is_empty() {
        return Ok(());
    }
    Err(Error::NodesRun { path: server.as_path().to_owned(), names }.into())
}

fn with<T>(server: &Server, run: impl FnOnce(Db<'_>) -> Result<T, Fault>) -> Result<T> {
    let connected = server.connect().map_err(Fault::from);
    let outcome = connected.and_then(|session| run(Db::Postgres(&session)));
    outcome.map_err(|fault| fault.at(server.as_path()))
}
