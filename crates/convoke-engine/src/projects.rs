//! Projects: folders in which agents may work, all inside the workspace root.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_core::id::ProjectId;
use convoke_store::{NewProject, Project, Store, Window};
use tokio::sync::broadcast;

use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::moving::remotes;
use crate::prefix::only;
use crate::project_files::ProjectFiles;
use crate::settings::{HostContext, Settings};
use crate::view::Change;

/// The most folders that a completion returns.
const COMPLETIONS_MAX: usize = 50;

/// All projects.
#[derive(Debug, Clone)]
pub struct Projects {
    pub(crate) store: Store,
    pub(crate) settings: Arc<Settings>,
    pub(crate) host: Arc<HostContext>,
    pub(crate) changes: broadcast::Sender<Change>,
    pub(crate) files: ProjectFiles,
}

impl Projects {
    /// Makes a folder a project. A leading `~` is the home directory of the user, and symbolic links are resolved before
    /// paths are compared.
    pub async fn add(&self, path: &Path, name: Option<String>) -> Result<Project> {
        let path = self.expand(path);
        if !path.is_absolute() {
            return Err(Error::RelativePath { path });
        }
        let path = inside_root(path, &self.settings.workspace_root).await?;
        self.check_home(&path)?;
        let own = path
            .file_name()
            .map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
        let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        Ok(self.insert(path, name.unwrap_or(own)).await?)
    }

    /// The project of a checked folder; added if there is none.
    pub(crate) async fn get_or_add(&self, path: &Path, name: &str) -> Result<Project> {
        if let Some(project) = self.store.project_at(path).await? {
            return Ok(project);
        }
        match self.insert(path.to_owned(), name.to_owned()).await {
            // A concurrent caller added it.
            Err(convoke_store::Error::ProjectExists { id, .. }) => self.get(id).await,
            added => Ok(added?),
        }
    }

    /// Refuses a resolved folder that contains Convoke's home or lies in it, since the sandbox hides the home from agents.
    fn check_home(&self, folder: &Path) -> Result<()> {
        let home = &self.host.home;
        let resolved = home.canonicalize().unwrap_or_else(|_| home.clone());
        if resolved.starts_with(folder) || folder.starts_with(&resolved) {
            return Err(Error::ContainsHome { home: home.clone() });
        }
        Ok(())
    }

    async fn insert(&self, path: PathBuf, name: String) -> convoke_store::Result<Project> {
        let id = ProjectId::from_random((self.host.random)());
        let new = NewProject { id, name, path, added_at: self.host.now() };
        let project = self.store.add_project(new).await?;
        if let Err(error) = remotes::record(&self.store, &project).await {
            // The remote is recorded again periodically.
            tracing::warn!("the remote of {} cannot be recorded: {error}", project.name);
        }
        self.announce(Change::ProjectAdded(project.clone()));
        Ok(project)
    }

    /// Lists the projects, in the order in which they were added.
    pub async fn list(&self) -> Result<Vec<Project>> {
        Ok(self.store.projects(Window::first(Window::LIMIT_MAX)).await?)
    }

    /// Finds a project, even one that was removed.
    pub async fn get(&self, id: ProjectId) -> Result<Project> {
        let found = self.store.project(id).await?;
        found.ok_or_else(|| Error::UnknownProject { text: id.to_string() })
    }

    /// The project with this id or unique prefix.
    pub async fn find(&self, text: &str) -> Result<ProjectId> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let prefix = text.to_ascii_lowercase();
        let ids = self.list().await?.into_iter().map(|project| project.id);
        let found = ids.filter(|id| id.to_string().starts_with(&prefix)).collect();
        only(&prefix, found, ToString::to_string, Error::UnknownProject { text: text.to_owned() })
    }

    /// Removes a project from the list. Its sessions stay readable.
    pub async fn remove(&self, id: ProjectId) -> Result<()> {
        self.store.remove_project(id, self.host.now()).await?;
        self.announce(Change::ProjectRemoved(id));
        Ok(())
    }

    /// The folders inside the workspace root whose paths begin with this text, which may begin with `~`.
    pub async fn complete_folder(&self, beginning: &str) -> Vec<String> {
        let mut expanded = self.expand(Path::new(beginning)).display().to_string();
        // A path loses its last slash when it is joined, and `~` means the folders below it.
        if (beginning.ends_with('/') || beginning == "~") && !expanded.ends_with('/') {
            expanded.push('/');
        }
        let beginning = expanded;
        let root = self.settings.workspace_root.clone();
        let found = blocking(move || complete(&beginning, &root)).await;
        // An empty list does no harm: the next key press requests completions again.
        found.unwrap_or_default()
    }

    /// The files and folders of a project that match some letters, best first; without letters those at the top.
    pub async fn files(&self, id: ProjectId, query: &str, limit: usize) -> Result<Vec<String>> {
        let project = self.get(id).await?;
        let root = inside_root(project.path, &self.settings.workspace_root).await?;
        self.files.search(&root, query, limit).await
    }

    /// The path of a file with its symbolic links resolved. It must be inside the workspace root.
    pub async fn file(&self, path: PathBuf) -> Result<PathBuf> {
        if !path.is_absolute() {
            return Err(Error::RelativePath { path });
        }
        let root = self.settings.workspace_root.clone();
        blocking(move || resolve_file(path, root)).await?
    }

    /// The path with the home directory of the user in place of a leading `~`.
    fn expand(&self, path: &Path) -> PathBuf {
        let home = self.host.environment.get(std::ffi::OsStr::new("HOME"));
        match (path.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => Path::new(home).join(rest),
            (Ok(_) | Err(_), _) => path.to_owned(),
        }
    }

    fn announce(&self, change: Change) {
        // Fails when there are no followers.
        self.changes.send(change).ok();
    }
}

/// Resolves a folder's symbolic links, and checks that it is inside the workspace root.
pub(crate) async fn inside_root(path: PathBuf, root: &Path) -> Result<PathBuf> {
    let root = root.to_owned();
    blocking(move || resolve(path, root)).await?
}

/// Resolves a folder's symbolic links, and checks that it is inside `root`.
pub(crate) fn resolve(path: PathBuf, root: PathBuf) -> Result<PathBuf> {
    match resolve_any(path.clone(), root)? {
        Some(resolved) if resolved.is_dir() => Ok(resolved),
        Some(_) | None => Err(Error::NoFolder { path }),
    }
}

/// Resolves a file's symbolic links, and checks that it is inside `root`.
fn resolve_file(path: PathBuf, root: PathBuf) -> Result<PathBuf> {
    match resolve_any(path.clone(), root)? {
        Some(resolved) if resolved.is_file() => Ok(resolved),
        Some(_) | None => Err(Error::NoFile { path }),
    }
}

/// Resolves symbolic links, and checks that the path is inside `root`; `None` if there is nothing at it.
fn resolve_any(path: PathBuf, root: PathBuf) -> Result<Option<PathBuf>> {
    // If the root does not exist, everything is outside of it.
    let Ok(root) = std::fs::canonicalize(&root) else { return Err(refused(path, root)) };
    let resolved = match std::fs::canonicalize(&path) {
        Ok(resolved) => resolved,
        // The error must not reveal what exists outside of the root.
        Err(_) if !normalized(&path).starts_with(&root) => return Err(refused(path, root)),
        Err(_) => return Ok(None),
    };
    if !resolved.starts_with(&root) {
        return Err(refused(path, root));
    }
    Ok(Some(resolved))
}

fn refused(path: PathBuf, root: PathBuf) -> Error {
    tracing::warn!(
        target: "security",
        path = %path.display(),
        root = %root.display(),
        "refused a path outside of the workspace root"
    );
    Error::Outside { path, root }
}

/// The path without `.` and `..`, without file system access.
fn normalized(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                whole.pop();
            }
            std::path::Component::CurDir => {}
            std::path::Component::Prefix(_)
            | std::path::Component::RootDir
            | std::path::Component::Normal(_) => whole.push(part),
        }
    }
    whole
}

fn complete(beginning: &str, root: &Path) -> Vec<String> {
    let Ok(root) = std::fs::canonicalize(root) else { return Vec::new() };
    let (folder, start) = match beginning.rsplit_once('/') {
        Some((folder, start)) => (PathBuf::from(format!("{folder}/")), start.to_owned()),
        None => (root.clone(), beginning.to_owned()),
    };
    let Ok(folder) = std::fs::canonicalize(folder) else { return Vec::new() };
    if !folder.starts_with(&root) {
        // Above the root there is one completion: the path to the root.
        return if root.starts_with(&folder) {
            vec![root.display().to_string()]
        } else {
            Vec::new()
        };
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_wanted = |entry: &std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Hidden folders are offered only if the text begins with a dot.
        name.starts_with(&start) && (start.starts_with('.') || !name.starts_with('.'))
    };
    let mut found: Vec<String> = entries
        .flatten()
        .filter(is_wanted)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.path().display().to_string())
        .collect();
    found.sort_unstable();
    found.truncate(COMPLETIONS_MAX);
    found
}
