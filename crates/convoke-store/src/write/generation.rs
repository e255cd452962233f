//! Begins a new generation of revisions after a restart of the operating system.

use super::{Change, Durability};
use crate::db::Db;
use crate::error::Fault;

/// The boot in which revisions are given from now on.
#[derive(Debug)]
pub(crate) struct Booted(pub(crate) String);

impl Change for Booted {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let random = db.random_number();
        let sql = format!(
            "UPDATE generation
             SET value = CASE WHEN boot IS NULL THEN value ELSE {random} END, boot = ?1
             WHERE boot IS DISTINCT FROM ?1"
        );
        db.prepare_cached(&sql)?.execute([&self.0])?;
        Ok(())
    }
}
