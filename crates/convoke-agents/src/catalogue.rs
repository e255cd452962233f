//! The agents that Convoke knows out of the box, and where a program is installed.
//!
//! The configuration adds to this list and changes it. Nothing here starts an agent; only `version`
//! runs its program, to ask for its version.

mod entries;
mod login;
mod protected;
pub mod registry;
pub mod version;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use convoke_core::id::AgentName;

use crate::sandbox::{Domain, Limits};

pub use login::{Login, LoginState};

/// An agent program: how it is shown, started and confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The name in commands and requests.
    pub name: AgentName,
    /// The built-in agent whose folders, log-in and confinement it shares, for one that the configuration adds.
    pub like: Option<AgentName>,
    /// The name people read.
    pub title: String,
    /// Two letters for narrow places.
    pub badge: String,
    /// The protocol on its standard input and output.
    pub protocol: Protocol,
    /// The program: a name to look up on the search path, or an absolute path.
    pub command: String,
    /// Its arguments; `{workspace}` is replaced by the project's absolute path.
    pub args: Vec<String>,
    /// Variables it gets besides the inherited ones. May hold keys, so it does not belong in a log.
    pub env: BTreeMap<String, String>,
    /// What it may write.
    pub sandbox: Sandbox,
    /// The agent's own files and folders that it must write even when sandboxed, absolute or below `~`.
    pub writable: Vec<PathBuf>,
    /// Files and folders with secrets that it may read, absolute or below `~`.
    pub readable: Vec<PathBuf>,
    /// Parts of its own folders that stay read-only: the user's other programs execute them, above all the agent itself
    /// when the user starts it without Convoke.
    pub protected: Vec<PathBuf>,
    /// Whether the agent uses its own sandbox, which does not work inside of every layer.
    pub nested_sandbox: NestedSandbox,
    /// Hosts of its model that it may connect to where the network is a proxy.
    pub domains: Vec<Domain>,
    /// Variables it gets where its own sandbox cannot work, so that it runs commands without it.
    pub unnested_env: BTreeMap<String, String>,
    /// Its resource limits.
    pub limits: Limits,
    /// Whether its own memory of a session survives its process.
    pub resume: Resume,
    /// How it is given Convoke's tools.
    pub tools: Tools,
    /// How it is given files that a prompt mentions.
    pub mentions: Mentions,
    /// Whether a spare idle process is kept for the next session.
    pub weight: Weight,
    /// How people log in, and how a login is detected; unknown for agents that only the
    /// configuration names.
    pub login: Option<Login>,
    /// The command that installs it; unknown for agents that only the configuration names.
    pub install: Option<String>,
}

/// Whether an agent's own memory of a session is reliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// A new process resumes the session by its id, if the agent supports that.
    Native,
    /// It loses resumed sessions: a new process is given the transcript.
    Transcript,
}

impl Resume {
    /// Every variant with its name in the configuration.
    pub const WORDS: [(&str, Self); 2] =
        [("native", Self::Native), ("transcript", Self::Transcript)];
}

/// How an agent is given Convoke's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tools {
    /// As a program that it starts over stdio, which every ACP agent accepts.
    Stdio,
    /// As a URL, because it ignores programs.
    Http,
    /// In Cline's settings file: it ignores both.
    Cline,
    /// Not at all.
    None,
}

impl Tools {
    /// Every variant with its name in the configuration.
    pub const WORDS: [(&str, Self); 4] = [
        ("stdio", Self::Stdio),
        ("http", Self::Http),
        ("cline", Self::Cline),
        ("none", Self::None),
    ];
}

/// How an agent is given files that a prompt mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mentions {
    /// As links: it reads them when it needs them.
    Link,
    /// With their content, if that is short text and the agent accepts it.
    Embed,
}

impl Mentions {
    /// Every variant with its name in the configuration.
    pub const WORDS: [(&str, Self); 2] = [("link", Self::Link), ("embed", Self::Embed)];
}

/// How much memory an idle process of an agent takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Less than half a gigabyte.
    Light,
    /// More: no spare process is kept.
    Heavy,
}

/// What an agent speaks on its standard input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The Agent Client Protocol.
    Acp,
    /// Claude Code's stream of JSON lines.
    Claude,
}

impl Protocol {
    /// Every protocol with its name in the configuration.
    pub const WORDS: [(&str, Self); 2] = [("acp", Self::Acp), ("claude", Self::Claude)];
}

/// How an agent's file operations are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// It writes only in its workspace and in its own folders, enforced by the kernel.
    Workspace,
    /// It writes wherever the user may.
    Off,
}

impl Sandbox {
    /// Every variant with its name in the configuration.
    pub const WORDS: [(&str, Self); 2] = [("workspace", Self::Workspace), ("off", Self::Off)];
}

/// Whether an agent confines its commands itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedSandbox {
    /// It does not, so every layer can be used.
    None,
    /// It does, by namespaces and mounts: Landlock would forbid the mounts and is off, seccomp is `Seccomp::Nested`, and
    /// bubblewrap confines it from outside.
    Bubblewrap,
}

impl NestedSandbox {
    /// Every variant with its name in the configuration.
    pub const WORDS: [(&str, Self); 2] = [("none", Self::None), ("bwrap", Self::Bubblewrap)];
}

impl Agent {
    /// An agent with only a name; `command` is still empty.
    pub fn named(name: AgentName) -> Self {
        Self {
            title: name.to_string(),
            badge: badge_of(name.as_str()),
            name,
            like: None,
            protocol: Protocol::Acp,
            command: String::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            sandbox: Sandbox::Workspace,
            writable: Vec::new(),
            readable: Vec::new(),
            protected: Vec::new(),
            nested_sandbox: NestedSandbox::None,
            domains: Vec::new(),
            unnested_env: BTreeMap::new(),
            limits: Limits::default(),
            resume: Resume::Native,
            tools: Tools::Stdio,
            mentions: Mentions::Link,
            weight: Weight::Light,
            login: None,
            install: None,
        }
    }
}

/// Initials of the first two words, or the first two letters of the only one.
fn badge_of(name: &str) -> String {
    let words: Vec<&str> = name.split(['-', '_', '.']).filter(|word| !word.is_empty()).collect();
    let letters: String = match words.as_slice() {
        [first, second, ..] => first.chars().take(1).chain(second.chars().take(1)).collect(),
        _ => words.concat().chars().take(2).collect(),
    };
    letters.to_uppercase()
}

/// The built-in agents; `program` is Convoke itself, which contains the demo agent.
pub fn built_in(program: &Path) -> Vec<Agent> {
    entries::BUILT_IN.iter().map(|entry| entry.agent(program)).collect()
}

/// Where `command` is installed: itself if absolute, else the first match on the search path.
///
/// Empty and relative entries of the search path are skipped, because they name another program in
/// every folder.
pub fn find(command: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let command = Path::new(command);
    if command.is_absolute() {
        return is_executable(command).then(|| command.to_owned());
    }
    if command.components().count() != 1 {
        return None;
    }
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(command))
        .find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests;
