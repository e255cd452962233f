//! Begins a new generation of revisions after a restart of the operating system.

use rusqlite::Connection;

use super::{Change, Durability};
use crate::error::Fault;

/// The boot in which revisions are given from now on.
#[derive(Debug)]
pub(crate) struct Booted(pub(crate) String);

impl Change for Booted {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: &Connection) -> Result<(), Fault> {
        db.execute(
            "UPDATE generation
             SET value = CASE WHEN boot IS NULL THEN value ELSE abs(random() % 1000000000000) END,
                 boot = ?1
             WHERE boot IS NOT ?1",
            [&self.0],
        )?;
        Ok(())
    }
}
