//! Comparisons on the disk: one JSON file each, in `comparisons/` of the home.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_core::id::{AgentName, ProjectId, SessionId};
use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Comparisons that are listed; older ones stay on the disk.
const LISTED_MAX: usize = 100;

/// A comparison as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredComparison {
    pub(super) id: String,
    pub(super) project: ProjectId,
    pub(super) prompt: String,
    pub(super) test: Option<String>,
    pub(super) created_at: Timestamp,
    pub(super) kept: Option<SessionId>,
    pub(super) entries: Vec<StoredEntry>,
}

/// An entry as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredEntry {
    pub(super) agent: Option<AgentName>,
    pub(super) model: Option<String>,
    pub(super) session: Option<SessionId>,
    pub(super) error: Option<String>,
    pub(super) test: Option<TestRun>,
}

/// The result of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestRun {
    /// Its exit code; `None` when it did not end by itself, or could not be started.
    pub code: Option<i32>,
    /// The end of what it printed.
    pub output: String,
    /// How long it took.
    pub took: Duration,
}

fn folder(home: &Path) -> PathBuf {
    home.join("comparisons")
}

/// Whether a session is in a comparison that is not decided.
pub(crate) fn is_undecided(home: &Path, session: SessionId) -> bool {
    let is_it = |entry: &StoredEntry| entry.session == Some(session);
    let all = StoredComparison::all(home).into_iter();
    all.filter(|it| it.kept.is_none()).any(|it| it.entries.iter().any(is_it))
}

impl StoredComparison {
    /// Writes it to the disk.
    pub(super) fn write(&self, home: &Path) -> Result<()> {
        let path = folder(home).join(format!("{}.json", self.id));
        let fail = |source| Error::Io { path: path.clone(), source };
        // Like the home, for the owner alone.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder(home))
            .map_err(fail)?;
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| fail(error.into()))?;
        Ok(convoke_files::atomic::write(&path, &bytes)?)
    }

    /// Reads one by its id, or a unique prefix of it.
    pub(super) fn read(home: &Path, id: &str) -> Result<Self> {
        let found = Self::all(home).into_iter().filter(|it| it.id.starts_with(id));
        let unknown = Error::UnknownComparison { text: id.to_owned() };
        crate::prefix::only(id, found.collect(), |it| it.id.clone(), unknown)
    }

    /// All of them, the newest first.
    pub(super) fn all(home: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(folder(home)).into_iter().flatten().flatten();
        let read = |path: PathBuf| -> Option<Self> {
            let bytes = std::fs::read(&path);
            let read = bytes.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
            let warn =
                |error: &io::Error| tracing::warn!("cannot read {}: {error}", path.display());
            read.inspect_err(warn).ok()
        };
        let is_ours = |path: &PathBuf| path.extension().is_some_and(|it| it == "json");
        let paths = entries.map(|entry| entry.path()).filter(is_ours);
        let mut found: Vec<Self> = paths.filter_map(read).collect();
        found.sort_by_key(|comparison| std::cmp::Reverse(comparison.created_at));
        found.truncate(LISTED_MAX);
        found
    }
}
