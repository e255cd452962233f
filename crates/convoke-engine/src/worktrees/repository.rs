//! The repository of a project, with the sandbox in which git reads it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use convoke_agents::sandbox::{Layer, Network};
use convoke_core::id::short;
use convoke_git::{Filters, Git, Launcher, Limits, Project, repository_of};

use crate::sessions::Sessions;

/// How the work trees of a repository are opened.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    launcher: Launcher,
    filters: Filters,
}

/// Variables that git needs for the user's own configuration.
const VARIABLES: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME"];

impl Repository {
    /// The repository of a project; `work_trees` is the folder in which its work trees are.
    ///
    /// Its configuration may name programs. They run inside of a sandbox that lets them write the repository and its
    /// work trees, or not at all.
    pub(crate) fn of(
        sessions: &Sessions,
        project: &Path,
        work_trees: &Path,
    ) -> convoke_git::Result<Self> {
        let folder = repository_of(project)?;
        let settings = &sessions.settings.sandbox;
        let is_held = |layer: Layer| {
            settings.layers.contains(&layer) && settings.available.lacks(layer).is_none()
        };
        let layers = Layer::WORDS.iter().filter(|(_, layer)| is_held(*layer));
        let layers: Vec<&str> = layers.map(|(word, _)| *word).collect();
        let confines = is_held(Layer::Bubblewrap) || is_held(Layer::Landlock);
        let prefix = if cfg!(target_os = "linux") && confines {
            let network = match settings.network {
                Network::Open => "open",
                Network::Proxy | Network::Off => "off",
            };
            let mut words: Vec<OsString> = vec![sessions.host.program.clone().into()];
            words.extend(["sandbox-exec", "--git"].map(OsString::from));
            words.push(folder.into());
            for path in [project, work_trees] {
                words.extend(["--write".into(), OsString::from(path)]);
            }
            words.extend(["--hide".into(), OsString::from(&sessions.host.home)]);
            for path in &settings.hidden {
                words.extend(["--secret".into(), OsString::from(path)]);
            }
            words.extend(["--layers".into(), OsString::from(layers.join(","))]);
            words.extend(["--network", network, "--"].map(OsString::from));
            words
        } else {
            Vec::new()
        };
        let filters = if prefix.is_empty() { Filters::Off } else { Filters::Run };
        let env = VARIABLES.iter().filter_map(|name| {
            let value = sessions.host.environment.get(OsStr::new(name))?;
            Some((OsString::from(name), value.clone()))
        });
        Ok(Self { launcher: Launcher { prefix, env: env.collect() }, filters })
    }

    /// Opens one of its work trees.
    pub(crate) fn open(
        &self,
        git: &Git,
        work_tree: &Path,
        limits: &Limits,
    ) -> convoke_git::Result<Project> {
        Project::open(git, work_tree, self.launcher.clone(), self.filters, limits)
    }
}

/// The folder with the work trees of a project; it is made where it is missing.
pub(super) fn work_trees_of(
    root: &Path,
    name: &str,
    id: &str,
) -> std::result::Result<PathBuf, std::io::Error> {
    let folder = root.join(format!("{}-{}", slug(name), short(id)));
    std::fs::create_dir_all(&folder)?;
    std::fs::canonicalize(folder)
}

/// Letters and digits of a text, with dashes for everything else.
pub(super) fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = text.chars().map(plain).take(60).collect();
    let parts: Vec<&str> = text.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "project".to_owned() } else { parts.join("-") }
}
