//! Projects: folders in which agents may work, all inside the workspace root.

use std::path::{Path, PathBuf};

use convoke_core::id::ProjectId;
use convoke_store::{NewProject, Project, Rule, Window};

use crate::engine::{Engine, Shared};
use crate::error::{Error, Result};
use crate::view::Change;

/// Folders that a completion offers.
const COMPLETIONS_MAX: usize = 50;
/// Characters below which a prefix of an id says too little.
const PREFIX_MIN: usize = 4;

impl Engine {
    /// Makes a folder a project. Links are followed before anything is compared.
    pub async fn add_project(&self, path: &Path, name: Option<String>) -> Result<Project> {
        if !path.is_absolute() {
            return Err(Error::RelativePath { path: path.to_owned() });
        }
        let path = self.shared.inside_root(path.to_owned()).await?;
        let own = path
            .file_name()
            .map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
        let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let new = NewProject {
            id: ProjectId::from_random((self.shared.around.random)()),
            name: name.unwrap_or(own),
            path,
            added_at: self.shared.now(),
        };
        let project = self.shared.store.add_project(new).await?;
        self.shared.tell(Change::ProjectAdded(project.clone()));
        Ok(project)
    }

    /// Lists the projects, the first added first.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        Ok(self.shared.store.projects(Window::first(Window::LIMIT_MAX)).await?)
    }

    /// Finds a project, also one that was removed.
    pub async fn project(&self, id: ProjectId) -> Result<Project> {
        let found = self.shared.store.project(id).await?;
        found.ok_or_else(|| Error::UnknownProject { text: id.to_string() })
    }

    /// The project that an id, or the beginning of one, stands for.
    pub async fn find_project(&self, text: &str) -> Result<ProjectId> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let unknown = || Error::UnknownProject { text: text.to_owned() };
        if text.len() < PREFIX_MIN {
            return Err(unknown());
        }
        let prefix = text.to_ascii_lowercase();
        let ids = self.projects().await?.into_iter().map(|project| project.id);
        let found: Vec<_> = ids.filter(|id| id.to_string().starts_with(&prefix)).collect();
        match found.as_slice() {
            [] => Err(unknown()),
            [id] => Ok(*id),
            [..] => {
                let candidates = found.iter().map(ToString::to_string).collect();
                Err(Error::Ambiguous { prefix, candidates })
            }
        }
    }

    /// Removes a project from the list. Its sessions stay readable.
    pub async fn remove_project(&self, id: ProjectId) -> Result<()> {
        self.shared.store.remove_project(id, self.shared.now()).await?;
        self.shared.tell(Change::ProjectRemoved(id));
        Ok(())
    }

    /// What agents may do in a project without asking.
    pub async fn rules(&self, project: ProjectId) -> Result<Vec<Rule>> {
        Ok(self.shared.store.rules(project).await?)
    }

    /// Lets an agent ask again.
    pub async fn forget_rule(&self, rule: Rule) -> Result<()> {
        Ok(self.shared.store.remove_rule(rule).await?)
    }

    /// The folders inside the workspace root whose paths begin so.
    pub async fn complete_folder(&self, beginning: &str) -> Vec<String> {
        let beginning = beginning.to_owned();
        let root = self.shared.settings.workspace_root.clone();
        let found = tokio::task::spawn_blocking(move || complete(&beginning, &root)).await;
        // Whoever types on gets other completions; none is the worst that can happen.
        found.unwrap_or_default()
    }
}

impl Shared {
    /// A folder with its links resolved, if it lies inside the workspace root.
    pub(crate) async fn inside_root(&self, path: PathBuf) -> Result<PathBuf> {
        let root = self.settings.workspace_root.clone();
        let looked = tokio::task::spawn_blocking(move || resolve(path, root)).await;
        match looked {
            Ok(resolved) => resolved,
            Err(error) => Err(Error::Io {
                path: self.settings.workspace_root.clone(),
                source: std::io::Error::other(error),
            }),
        }
    }
}

/// A folder with its links resolved, if it lies inside a root.
pub(crate) fn resolve(path: PathBuf, root: PathBuf) -> Result<PathBuf> {
    // Without a root, everything is outside of it.
    let Ok(root) = std::fs::canonicalize(&root) else { return Err(refused(path, root)) };
    let resolved = match std::fs::canonicalize(&path) {
        Ok(resolved) => resolved,
        // What is not there must not tell by its error what is outside.
        Err(_) if !normalized(&path).starts_with(&root) => return Err(refused(path, root)),
        Err(_) => return Err(Error::NoFolder { path }),
    };
    if !resolved.starts_with(&root) {
        return Err(refused(path, root));
    }
    if !resolved.is_dir() {
        return Err(Error::NoFolder { path });
    }
    Ok(resolved)
}

fn refused(path: PathBuf, root: PathBuf) -> Error {
    tracing::warn!(
        target: "security",
        path = %path.display(),
        root = %root.display(),
        "refused a folder outside of the workspace root"
    );
    Error::Outside { path, root }
}

/// The path without `.` and `..`, as far as that can be told without looking.
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
        // On the way to the root there is just one way.
        return if root.starts_with(&folder) {
            vec![root.display().to_string()]
        } else {
            Vec::new()
        };
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_wanted = |entry: &std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Hidden folders are for those who ask for them.
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
