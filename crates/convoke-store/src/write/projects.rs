//! Adds and removes projects.

use convoke_core::id::ProjectId;
use convoke_core::time::Timestamp;

use super::{Change, Durability};
use crate::db::{Db, Optional as _, params};
use crate::error::{Error, Fault};
use crate::projects::{self, Project};
use crate::row;

/// Adds a directory as a project.
#[derive(Debug)]
pub(crate) struct AddProject {
    pub(crate) project: Project,
    /// The directory as text; the caller has checked that it is UTF-8.
    pub(crate) path: String,
}

impl Change for AddProject {
    type Outcome = ProjectId;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<ProjectId, Fault> {
        let Project { id, name, path, added_at, .. } = &self.project;
        if let Some(other) = projects::find_by_path(db, &self.path)? {
            return Err(Error::ProjectExists { project_path: path.clone(), id: other.id }.into());
        }
        let added_at = added_at.as_millis();
        let own = db.own("p");
        let former = db
            .prepare_cached(&format!(
                "UPDATE projects SET name = ?2, added_at = ?3, removed_at = NULL, found = 0
                 WHERE rowid = (SELECT p.rowid FROM projects AS p WHERE p.path = ?1{own}
                     ORDER BY p.removed_at DESC NULLS LAST LIMIT 1)
                 RETURNING id"
            ))?
            .query_row(params![self.path, name, added_at], |row| row::text(row, 0))
            .optional()?;
        if let Some(former) = former {
            return Ok(former);
        }
        db.prepare_cached(
            "INSERT INTO projects (id, name, path, added_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![id.to_string(), name, self.path, added_at])?;
        Ok(*id)
    }
}

/// Removes a project. Its sessions stay.
#[derive(Debug)]
pub(crate) struct RemoveProject {
    pub(crate) id: ProjectId,
    pub(crate) at: Timestamp,
}

impl Change for RemoveProject {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let removed = db
            .prepare_cached(
                "UPDATE projects SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL",
            )?
            .execute(params![self.id.to_string(), self.at.as_millis()])?;
        if removed == 0 {
            return Err(Error::UnknownProject { id: self.id }.into());
        }
        Ok(())
    }
}
