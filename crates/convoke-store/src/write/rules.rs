//! Makes and forgets rules.

use rusqlite::{Connection, params};

use super::{Change, Durability};
use crate::error::Fault;
use crate::rules::Rule;

/// A rule that is made; one that is there already stays.
#[derive(Debug)]
pub(crate) struct AddRule(pub(crate) Rule);

impl Change for AddRule {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: &Connection) -> Result<(), Fault> {
        let Rule { project_id, agent, tool, made_at } = &self.0;
        db.prepare_cached("INSERT OR IGNORE INTO permission_rules VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![project_id.to_string(), agent.as_str(), tool, made_at.as_millis()])?;
        Ok(())
    }
}

/// A rule that is forgotten.
#[derive(Debug)]
pub(crate) struct RemoveRule(pub(crate) Rule);

impl Change for RemoveRule {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: &Connection) -> Result<(), Fault> {
        let Rule { project_id, agent, tool, .. } = &self.0;
        db.prepare_cached(
            "DELETE FROM permission_rules WHERE project_id = ?1 AND agent = ?2 AND tool = ?3",
        )?
        .execute(params![project_id.to_string(), agent.as_str(), tool])?;
        Ok(())
    }
}
