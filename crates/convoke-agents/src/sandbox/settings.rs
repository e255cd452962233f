//! The settings of the sandbox, and what this machine supports.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::domains::Domain;
use super::policy::Network;
use super::scope::Systemd;
use super::{bubblewrap, landlock_generation, seccomp};

/// A layer that confines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Namespaces and a file system of the agent's own.
    Bubblewrap,
    /// Grants for files, checked by the kernel.
    Landlock,
    /// System calls that are refused.
    Seccomp,
}

impl Layer {
    /// Every layer with the word that the configuration has for it.
    pub const WORDS: [(&str, Self); 3] =
        [("bwrap", Self::Bubblewrap), ("landlock", Self::Landlock), ("seccomp", Self::Seccomp)];

    /// What an agent can do without it, though the others hold; for people.
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

/// What this machine offers: each layer, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// Where bubblewrap is.
    pub bubblewrap: Result<PathBuf, String>,
    /// The generation of Landlock.
    pub landlock: Result<u8, String>,
    /// Whether filters can be installed.
    pub seccomp: Result<(), String>,
}

impl Available {
    /// Looks at the machine; runs bubblewrap once.
    pub fn detect(path: Option<&OsStr>) -> Self {
        if !cfg!(target_os = "linux") {
            return Self::nothing("only Linux has it");
        }
        let mut found = Self::assume(path);
        found.bubblewrap =
            found.bubblewrap.and_then(|bwrap| bubblewrap::try_out(&bwrap).map(|()| bwrap));
        found
    }

    /// The same without running bubblewrap, for a caller that has tried it before.
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

    /// Why a layer cannot be had.
    pub fn lacks(&self, layer: Layer) -> Option<&str> {
        let lacking = match layer {
            Layer::Bubblewrap => self.bubblewrap.as_ref().err(),
            Layer::Landlock => self.landlock.as_ref().err(),
            Layer::Seccomp => self.seccomp.as_ref().err(),
        };
        lacking.map(String::as_str)
    }
}

/// A layer that does not hold for an agent, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The layer.
    pub layer: Layer,
    /// Why it does not hold.
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
    /// What the machine offers.
    pub available: Available,
    /// The layers to use.
    pub layers: Vec<Layer>,
    /// The layers without which no agent is started.
    pub require: Vec<Layer>,
    /// Files and folders to hide besides the built-in list.
    pub hidden: Vec<PathBuf>,
    /// Sockets that agents may connect to.
    pub sockets: Vec<PathBuf>,
    /// What agents may reach over the network.
    pub network: Network,
    /// Hosts that a proxied agent may connect to without asking, in addition to the agent's own.
    pub domains: Vec<Domain>,
    /// What single projects open, by their folder.
    pub projects: BTreeMap<PathBuf, Exceptions>,
    /// What makes cgroups for agents.
    pub systemd: Option<Systemd>,
    /// Where package managers that agents run keep what they download.
    pub caches: Caches,
}

/// Where package managers that agents run keep what they download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caches {
    /// In a folder for each project, which its agents can write.
    Project,
    /// In the user's own folders, which a sandboxed agent can only read.
    Off,
}

/// What a project opens for its agents.
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
    /// Every layer that the machine offers, and the defaults otherwise.
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

    /// What a project opens.
    pub fn exceptions(&self, workspace: &Path) -> Exceptions {
        self.projects.get(workspace).cloned().unwrap_or_default()
    }
}
