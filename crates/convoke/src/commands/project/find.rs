//! Which project is meant: by its name, its path, or the start of its id.

use std::path::{Path, PathBuf};

use anyhow::Context;
use convoke_api::Client;
use convoke_api::bodies::Repo;
use convoke_core::id::NodeId;

/// The shortest prefix of an id.
const PREFIX_MIN: usize = 4;

/// The meaning of an argument.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProjectArgument {
    /// A project.
    Project(Box<Repo>),
    /// A folder that is no project.
    Folder(String),
}

/// Why an argument means no project.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectError {
    /// Nothing is called so.
    #[error("there is no project {text}")]
    Unknown {
        /// What was given.
        text: String,
    },
    /// Several are called so.
    #[error("{text} matches several projects: {}", candidates.join(", "))]
    Ambiguous {
        /// What was given.
        text: String,
        /// Their ids and paths.
        candidates: Vec<String>,
    },
    /// The current folder is in no project.
    #[error("{} is not in a project", folder.display())]
    Nowhere {
        /// The current folder.
        folder: PathBuf,
    },
    /// The current folder is in no project, and cannot be one.
    #[error("{} is not in a project, and contains Convoke's home", folder.display())]
    AroundHome {
        /// The current folder.
        folder: PathBuf,
    },
}

/// An absolute path, without access to the daemon's machine.
pub(crate) fn absolute(path: &str) -> anyhow::Result<String> {
    let here = std::env::current_dir().context("cannot determine the current folder")?;
    Ok(here.join(path).display().to_string())
}

/// The machine whose folders a path means: that of the daemon.
#[derive(Debug)]
pub(crate) struct DaemonNode(Option<NodeId>);

impl DaemonNode {
    /// Asks the daemon for its node if these projects are on nodes.
    pub(crate) async fn of(client: &Client, repos: &[Repo]) -> anyhow::Result<Self> {
        if repos.iter().all(|repo| repo.node.is_none()) {
            return Ok(Self(None));
        }
        let nodes = client.nodes().await?.nodes;
        Ok(Self(nodes.into_iter().find(|node| node.own).map(|node| node.id)))
    }

    fn has(&self, repo: &Repo) -> bool {
        repo.node == self.0
    }
}

/// The project that is meant: by its name, by an unambiguous start of its id, or by its path.
pub(crate) fn find(
    text: &str,
    repos: &[Repo],
    here: &DaemonNode,
) -> Result<ProjectArgument, ProjectError> {
    let resolved = std::fs::canonicalize(text).ok().filter(|path| path.is_dir());
    match choose(text, resolved.as_deref(), repos, here)? {
        Some(repo) => Ok(ProjectArgument::Project(Box::new(repo.clone()))),
        None => match resolved {
            Some(path) => Ok(ProjectArgument::Folder(path.display().to_string())),
            None => Err(ProjectError::Unknown { text: text.to_owned() }),
        },
    }
}

/// The project that the current folder lies in; the innermost, if there are several.
pub(crate) fn around(
    folder: &Path,
    repos: Vec<Repo>,
    here: &DaemonNode,
) -> Result<Repo, ProjectError> {
    let holds = |repo: &Repo| here.has(repo) && folder.starts_with(&repo.path);
    let innermost = repos.into_iter().filter(holds).max_by_key(|repo| repo.path.len());
    innermost.ok_or_else(|| ProjectError::Nowhere { folder: folder.to_owned() })
}

fn choose<'a>(
    text: &str,
    path: Option<&Path>,
    repos: &'a [Repo],
    here: &DaemonNode,
) -> Result<Option<&'a Repo>, ProjectError> {
    // A text that looks like a path is one, even if a project has that name.
    let is_path = text.contains('/') || text == "." || text == "..";
    let prefix = text.to_ascii_lowercase();
    let named = |repo: &&Repo| !is_path && repo.name == text;
    let begins =
        |repo: &&Repo| text.len() >= PREFIX_MIN && repo.id.to_string().starts_with(&prefix);
    let lies = |repo: &&Repo| here.has(repo) && path == Some(Path::new(&repo.path));
    let kinds: [&dyn Fn(&&Repo) -> bool; 3] = [&named, &begins, &lies];
    for fits in kinds {
        let found: Vec<&Repo> = repos.iter().filter(fits).collect();
        match found.as_slice() {
            [] => {}
            [repo] => return Ok(Some(repo)),
            [..] => {
                let candidate = |repo: &&Repo| format!("{} ({})", repo.id, repo.path);
                let candidates = found.iter().map(candidate).collect();
                return Err(ProjectError::Ambiguous { text: text.to_owned(), candidates });
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use convoke_core::id::short;
    use serde_json::json;

    use super::*;

    fn repos() -> Vec<Repo> {
        let repo = |first: &str, name: &str, path: &str| {
            json!({
                "id": format!("{first}-0000-4000-8000-000000000001"),
                "name": name,
                "path": path,
                "addedAt": "2026-11-15T10:00:00.000Z",
            })
        };
        let repos = json!([
            repo("aaaa1111", "web", "/home/me/web"),
            repo("aaaa2222", "api", "/home/me/api"),
            repo("bbbb3333", "api", "/home/me/old/api"),
            repo("cccc4444", "aaaa1", "/home/me/web/inner"),
        ]);
        serde_json::from_value(repos).unwrap()
    }

    fn chosen(text: &str, path: Option<&str>) -> String {
        let repos = repos();
        match choose(text, path.map(Path::new), &repos, &DaemonNode(None)) {
            Ok(Some(repo)) => short(repo.id),
            Ok(None) => "none".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_project_is_found_by_name_id_or_path() {
        assert_eq!(chosen("web", None), "aaaa1111");
        assert_eq!(chosen("AAAA2", None), "aaaa2222");
        // A name wins over the start of an id.
        assert_eq!(chosen("aaaa1", None), "cccc4444");
        assert_eq!(chosen("./web", Some("/home/me/web")), "aaaa1111");
        assert_eq!(chosen("src", Some("/home/me/old/api")), "bbbb3333");
        for nothing in ["aaa", "dddd", "./web"] {
            assert_eq!(chosen(nothing, None), "none", "{nothing}");
        }
    }

    #[test]
    fn what_could_be_several_lists_them() {
        insta::assert_snapshot!([chosen("aaaa", None), chosen("api", None)].join("\n"), @r"
        aaaa matches several projects: aaaa1111-0000-4000-8000-000000000001 (/home/me/web), aaaa2222-0000-4000-8000-000000000001 (/home/me/api)
        api matches several projects: aaaa2222-0000-4000-8000-000000000001 (/home/me/api), bbbb3333-0000-4000-8000-000000000001 (/home/me/old/api)
        ");
    }

    #[test]
    fn the_innermost_project_around_a_folder_is_meant() {
        let around = |folder: &str| {
            around(Path::new(folder), repos(), &DaemonNode(None)).map(|repo| repo.path)
        };
        assert_eq!(around("/home/me/web/src").unwrap(), "/home/me/web");
        assert_eq!(around("/home/me/web/inner").unwrap(), "/home/me/web/inner");
        assert_eq!(
            around("/home/me/website").unwrap_err().to_string(),
            "/home/me/website is not in a project"
        );
    }

    #[test]
    fn a_path_is_one_of_this_machine() {
        let (own, other) = (NodeId::from_random([1; 16]), NodeId::from_random([2; 16]));
        let mut repos = repos();
        for (repo, node) in repos.iter_mut().zip([other, own, other, own]) {
            repo.node = Some(node);
        }
        repos[1].path = repos[0].path.clone();
        let here = DaemonNode(Some(own));
        let found = choose("./web", Some(Path::new("/home/me/web")), &repos, &here).unwrap();
        assert_eq!(found.map(|repo| repo.id), Some(repos[1].id));
        assert_eq!(choose("web", None, &repos, &here).unwrap().unwrap().id, repos[0].id);
        let (id, folder) = (repos[1].id, Path::new("/home/me/web/src"));
        assert_eq!(around(folder, repos, &here).unwrap().id, id);
    }
}
