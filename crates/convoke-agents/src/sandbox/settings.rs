//! The settings of the sandbox, and what this machine supports.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::domains::Domain;
use super::policy::Network;
use super::scope::Systemd;
use super::{bubblewrap, landlock_generation, seccomp};

/// A layer of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Namespaces and a file system of the agent's own.
    Bubblewrap,
    /// File access rights, enforced by the kernel.
    Landlock,
    /// Denied system calls.
    Seccomp,
}

impl Layer {
    /// Every layer with its name in the configuration.
    pub const WORDS: [(&str, Self); 3] =
        [("bwrap", Self::Bubblewrap), ("landlock", Self::Landlock), ("seccomp", Self::Seccomp)];

    /// What an agent can do without this layer if the others are active; for people.
    pub const fn loss(self) -> &'static str {
        match self {
            Self::Bubblewrap => {
                "the agent shares your /tmp, sees your processes and sockets, and can change git hooks and editor tasks \
                 in its workspace"
            }
            Self::Landlock => "only bubblewrap and seccomp hold the agent",
            Self::Seccomp => {
                "the agent can use system calls such as mount and keyctl as far as your user may"
            }
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, layer)| layer == self);
        f.write_str(word.map_or("", |(word, _)| word))
    }
}

/// The layers that this machine supports, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// The path of bubblewrap.
    pub bubblewrap: Result<PathBuf, String>,
    /// The version of Landlock.
    pub landlock: Result<u8, String>,
    /// Whether filters can be installed.
    pub seccomp: Result<(), String>,
}

impl Available {
    /// Detects the layers; runs bubblewrap once.
    pub fn detect(path: Option<&OsStr>) -> Self {
        if !cfg!(target_os = "linux") {
            return Self::nothing("only Linux has it");
        }
        let mut found = Self::assume(path);
        found.bubblewrap =
            found.bubblewrap.and_then(|bwrap| bubblewrap::try_out(&bwrap).map(|()| bwrap));
        found
    }

    /// As `detect`, without running bubblewrap, for a caller that has tested it before.
    pub fn assume(path: Option<&OsStr>) -> Self {
        if !cfg!(target_os = "linux") {
            return Self::nothing("only Linux has it");
        }
        let bubblewrap = bubblewrap::find(path);
        let landlock = landlock_generation()
            .ok_or_else(|| "this kernel has no Landlock, or has it off".to_owned());
        let seccomp = match seccomp::is_available() {
            true => Ok(()),
            false => {
                Err("this kernel or architecture has no filters that are known here".to_owned())
            }
        };
        Self { bubblewrap, landlock, seccomp }
    }

    /// No layer at all, for one reason.
    pub fn nothing(why: &str) -> Self {
        let missing = || why.to_owned();
        Self { bubblewrap: Err(missing()), landlock: Err(missing()), seccomp: Err(missing()) }
    }

    /// Why a layer is unavailable.
    pub fn lacks(&self, layer: Layer) -> Option<&str> {
        let lacking = match layer {
            Layer::Bubblewrap => self.bubblewrap.as_ref().err(),
            Layer::Landlock => self.landlock.as_ref().err(),
            Layer::Seccomp => self.seccomp.as_ref().err(),
        };
        lacking.map(String::as_str)
    }
}

/// A layer that is not active for an agent, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The layer.
    pub layer: Layer,
    /// Why it is not active.
    pub why: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is off: {}", self.layer, self.why)
    }
}

/// The settings of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The layers that the machine supports.
    pub available: Available,
    /// The layers to use.
    pub layers: Vec<Layer>,
    /// The layers that are mandatory for every agent.
    pub require: Vec<Layer>,
    /// Files and folders to hide besides the built-in list.
    pub hidden: Vec<PathBuf>,
    /// Sockets that agents may connect to.
    pub sockets: Vec<PathBuf>,
    /// The network policy of agents.
    pub network: Network,
    /// Hosts that a proxied agent may connect to without asking, in addition to the agent's own.
    pub domains: Vec<Domain>,
    /// Exceptions of single projects, by their folder.
    pub projects: BTreeMap<PathBuf, Exceptions>,
    /// The systemd that creates cgroups for agents.
    pub systemd: Option<Systemd>,
    /// Where package managers that agents run store downloads.
    pub caches: Caches,
}

/// Where package managers that agents run store downloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caches {
    /// In a folder for each project, which its agents can write.
    Project,
    /// In the user's own folders, which a sandboxed agent can only read.
    Off,
}

/// The exceptions of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exceptions {
    /// Hidden files and folders that can be read.
    pub readable: Vec<PathBuf>,
    /// Files and folders that can be written.
    pub writable: Vec<PathBuf>,
    /// Hosts that a proxied agent may connect to without asking.
    pub domains: Vec<Domain>,
}

impl Settings {
    /// With every supported layer, and defaults otherwise.
    pub fn with(available: Available) -> Self {
        Self {
            available,
            layers: Layer::WORDS.iter().map(|(_, layer)| *layer).collect(),
            require: Vec::new(),
            hidden: Vec::new(),
            sockets: Vec::new(),
            network: Network::Open,
            domains: Vec::new(),
            projects: BTreeMap::new(),
            systemd: None,
            caches: Caches::Off,
        }
    }

    /// The exceptions of a project.
    pub fn exceptions(&self, workspace: &Path) -> Exceptions {
        self.projects.get(workspace).cloned().unwrap_or_default()
    }
}
