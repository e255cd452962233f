//! Begins a new generation of revisions after a restart of the operating system, or of the database server.

use super::{Change, Durability};
use crate::db::{Db, params};
use crate::error::Fault;

/// Records the current boot of the operating system; on a server, its start time instead.
#[derive(Debug)]
pub(crate) struct RecordBoot(pub(crate) String);

impl Change for RecordBoot {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let random = db.random_number();
        // A server outlives the machines of its clients, so its own start time counts.
        if let Db::Postgres(_) = db {
            let sql = format!(
                "UPDATE generation
                 SET value = CASE WHEN boot IS NULL THEN value ELSE {random} END,
                     boot = CAST(pg_postmaster_start_time() AS TEXT)
                 WHERE boot IS DISTINCT FROM CAST(pg_postmaster_start_time() AS TEXT)"
            );
            db.prepare_cached(&sql)?.execute(params![])?;
            return Ok(());
        }
        let sql = format!(
            "UPDATE generation
             SET value = CASE WHEN boot IS NULL THEN value ELSE {random} END, boot = ?1
             WHERE boot IS DISTINCT FROM ?1"
        );
        db.prepare_cached(&sql)?.execute([&self.0])?;
        Ok(())
    }
}
