//! Projects: directories in which agents work.

use std::path::{Path, PathBuf};

use convoke_core::id::{NodeId, ProjectId};
use convoke_core::time::Timestamp;

use crate::db::{Db, Optional as _, Row, SqlResult};
use crate::error::{Error, Result};
use crate::row;
use crate::sessions::Archived;
use crate::store::{Store, Window};
use crate::write::projects::{AddProject, RemoveProject};

/// A directory that is to become a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProject {
    /// A new id.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// The directory, resolved.
    pub path: PathBuf,
    /// When it was added.
    pub added_at: Timestamp,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// The directory, resolved.
    pub path: PathBuf,
    /// When it was added.
    pub added_at: Timestamp,
    /// When it was removed; its sessions stay readable.
    pub removed_at: Option<Timestamp>,
    /// The node on which the directory is; none if the database is a file.
    pub node: Option<NodeId>,
}

impl Store {
    /// Adds a project; a removed one is restored with its id and its sessions. Fails with
    /// `ProjectExists` if its directory is a project already.
    pub async fn add_project(&self, new: NewProject) -> Result<Project> {
        let path = path_text(&new.path)?.to_owned();
        let NewProject { id, name, path: directory, added_at } = new;
        let node = self.node();
        let project = Project { id, name, path: directory, added_at, removed_at: None, node };
        let id = self.make(AddProject { project: project.clone(), path }).await?;
        Ok(Project { id, ..project })
    }

    /// Removes a project. Fails with `UnknownProject` if there is none or it was removed before.
    pub async fn remove_project(&self, id: ProjectId, at: Timestamp) -> Result<()> {
        self.make(RemoveProject { id, at }).await
    }

    /// Finds a project by its id, also a removed one.
    pub async fn project(&self, id: ProjectId) -> Result<Option<Project>> {
        self.read(move |db| {
            let mut statement =
                db.prepare_cached(&format!("SELECT {} FROM projects WHERE id = ?1", columns(db)))?;
            Ok(statement.query_row([id.to_string()], project).optional()?)
        })
        .await
    }

    /// Finds the project that a directory is.
    pub async fn project_at(&self, path: &Path) -> Result<Option<Project>> {
        let path = path_text(path)?.to_owned();
        self.read(move |db| Ok(find_by_path(db, &path)?)).await
    }

    /// Lists the projects of this daemon that have not been removed, the first added first.
    pub async fn own_projects(&self, window: Window) -> Result<Vec<Project>> {
        self.read_list(window, move |db| {
            let mut statement = db.prepare_cached(&format!(
                "SELECT {} FROM projects WHERE removed_at IS NULL{}
                 ORDER BY added_at, rowid LIMIT ?1 OFFSET ?2",
                columns(db),
                db.own("projects")
            ))?;
            let projects = statement.query_map([window.limit(), window.offset], project)?;
            Ok(projects.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Lists the projects that have not been removed, the first added first.
    pub async fn projects(&self, window: Window) -> Result<Vec<Project>> {
        self.read_list(window, move |db| {
            let mut statement = db.prepare_cached(&format!(
                "SELECT {} FROM projects WHERE removed_at IS NULL
                 ORDER BY added_at, rowid LIMIT ?1 OFFSET ?2",
                columns(db)
            ))?;
            let projects = statement.query_map([window.limit(), window.offset], project)?;
            Ok(projects.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Lists the projects that were removed and have such sessions, the last removed first.
    pub async fn removed_projects(&self, sessions: Archived, limit: u32) -> Result<Vec<Project>> {
        self.read(move |db| {
            let mut statement = db.prepare_cached(&format!(
                "SELECT {} FROM projects WHERE removed_at IS NOT NULL AND found = 0
                 AND EXISTS (SELECT 1 FROM session_counts AS c
                             WHERE c.project_id = projects.id {} AND c.count > 0)
                 ORDER BY removed_at DESC, rowid LIMIT ?1",
                columns(db),
                sessions.counted()
            ))?;
            let projects = statement.query_map([limit], project)?;
            Ok(projects.collect::<SqlResult<_>>()?)
        })
        .await
    }
}

const fn columns(db: Db<'_>) -> &'static str {
    match db {
        Db::Sqlite(_) => "id, name, path, added_at, removed_at, NULL",
        Db::Postgres(_) => "id, name, path, added_at, removed_at, node",
    }
}

/// The project that is at a path now.
pub(crate) fn find_by_path(db: Db<'_>, path: &str) -> SqlResult<Option<Project>> {
    let own = db.own("projects");
    db.prepare_cached(&format!(
        "SELECT {} FROM projects WHERE path = ?1 AND removed_at IS NULL{own}",
        columns(db)
    ))?
    .query_row([path], project)
    .optional()
}

fn project(row: &Row<'_>) -> SqlResult<Project> {
    Ok(Project {
        id: row::text(row, 0)?,
        name: row.get(1)?,
        path: PathBuf::from(row.get::<String>(2)?),
        added_at: row::timestamp(row, 3)?,
        removed_at: row.get::<Option<i64>>(4)?.map(Timestamp::from_millis),
        node: row::optional_text(row, 5)?,
    })
}

/// The path as text, which all interfaces need.
fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or(Error::Misuse { what: "the path of a project must be valid UTF-8" })
}
