//! Completes the paths of project files that people mention in a prompt. The indexes of the
//! projects used last are cached; an outdated one is rebuilt in the background and used meanwhile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_core::explain;
use convoke_files::index::{self, FileIndex};
use tokio::time::Instant;

use crate::blocking::blocking;
use crate::error::Result;

/// Projects whose index is cached; one takes up to some ten megabytes.
const PROJECTS_MAX: usize = 8;
/// The age from which an index is rebuilt.
const FRESH: Duration = Duration::from_secs(3);

/// The indexes of projects. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProjectFiles {
    known: Arc<Mutex<HashMap<PathBuf, CachedIndex>>>,
}

#[derive(Debug, Clone)]
struct CachedIndex {
    index: Arc<FileIndex>,
    made_at: Instant,
    used_at: Instant,
    /// Whether it is being rebuilt.
    is_renewed: bool,
}

impl ProjectFiles {
    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, CachedIndex>> {
        // Every entry is replaced in one step, so the map is consistent after a panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files and folders of a project that match, best first.
    pub(crate) async fn search(
        &self,
        root: &Path,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>> {
        let index = match self.find(root) {
            Some(index) => index,
            None => self.make(root.to_owned()).await?,
        };
        let (root, query) = (root.to_owned(), query.to_owned());
        let search = move || {
            let found = index.search(&query, limit);
            // The index may be some seconds old, so files that are gone are left out.
            found.into_iter().filter(|path| index::inside(&root, path).is_some()).collect()
        };
        blocking(search).await
    }

    /// The cached index of a project; an outdated one is rebuilt in the background.
    fn find(&self, root: &Path) -> Option<Arc<FileIndex>> {
        let mut known = self.known();
        let found = known.get_mut(root)?;
        found.used_at = Instant::now();
        let index = Arc::clone(&found.index);
        if !found.is_renewed && found.made_at.elapsed() > FRESH {
            found.is_renewed = true;
            let (files, root) = (self.clone(), root.to_owned());
            tokio::spawn(async move { files.renew(root).await });
        }
        Some(index)
    }

    /// Rebuilds the cached index of a project. If that fails, the next completion tries it again.
    async fn renew(&self, root: PathBuf) {
        let Err(error) = self.make(root.clone()).await else { return };
        tracing::error!("cannot index the files of {}: {}", root.display(), explain(&error));
        if let Some(outdated) = self.known().get_mut(&root) {
            outdated.is_renewed = false;
        }
    }

    async fn make(&self, root: PathBuf) -> Result<Arc<FileIndex>> {
        let place = root.clone();
        let index = Arc::new(blocking(move || FileIndex::build(&place)).await?);
        let now = Instant::now();
        let mut known = self.known();
        let entry = CachedIndex {
            index: Arc::clone(&index),
            made_at: now,
            used_at: now,
            is_renewed: false,
        };
        known.insert(root, entry);
        while known.len() > PROJECTS_MAX {
            let oldest = known.iter().min_by_key(|(_, known)| known.used_at);
            let Some(oldest) = oldest.map(|(root, _)| root.clone()) else { break };
            known.remove(&oldest);
        }
        Ok(index)
    }
}
