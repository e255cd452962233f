//! What a confined process is allowed, as the daemon sends it to the supervisor.
//!
//! Plain values that are sent between processes as JSON; nothing here reads the system.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::net::SocketAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::domains::{Domain, Target};
use super::paths;
use super::scope::Systemd;

/// What a process and everything that it starts are allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The layers that enforce it. Without any, the supervisor only ensures that nothing is left
    /// running.
    pub layers: Layers,
    /// Files and folders that may be written besides the workspace.
    #[serde(with = "paths")]
    pub writable: Vec<PathBuf>,
    /// The same, opened without following links: another agent may have replaced them by links.
    #[serde(with = "paths")]
    pub writable_direct: Vec<PathBuf>,
    /// Folders that must not be readable, such as Convoke's home: the process is not started otherwise.
    #[serde(with = "paths")]
    pub hidden: Vec<PathBuf>,
    /// Files and folders with the user's secrets, hidden where they exist.
    #[serde(with = "paths")]
    pub secrets: Vec<PathBuf>,
    /// Files and folders inside of the hidden ones that stay readable.
    #[serde(with = "paths")]
    pub readable: Vec<PathBuf>,
    /// Files and folders inside of the writable ones that stay read-only: programs of the user
    /// execute or obey them.
    #[serde(with = "paths")]
    pub protected: Vec<PathBuf>,
    /// Whether names in the workspace that programs of the user execute later, such as editor tasks
    /// and shell start files, stay read-only, too.
    pub start_files: StartFiles,
    /// Files in the user's command line of the agent: its program, and files that its arguments
    /// name. They are shown even if their folder is replaced; paths that the agent itself names are
    /// not among them.
    #[serde(with = "paths")]
    pub shown: Vec<PathBuf>,
    /// Unix sockets that may be connected to.
    #[serde(with = "paths")]
    pub sockets: Vec<PathBuf>,
    /// The private folder for temporary files; also mounted at `/tmp` where bubblewrap runs.
    #[serde(with = "paths")]
    pub temp: Option<PathBuf>,
    /// The network policy.
    pub network: Network,
    /// Hosts that the proxy connects to without asking.
    pub domains: Vec<Domain>,
    /// Convoke's own tools on this machine, which stay reachable at this address without an open network.
    pub tools: Option<SocketAddr>,
    /// The resource limits.
    pub limits: Limits,
    /// Creates a cgroup that enforces the limits; without it, the supervisor samples.
    pub scope: Option<Systemd>,
}

impl Policy {
    /// No layer, no limit: the supervisor alone.
    pub fn unconfined() -> Self {
        Self {
            layers: Layers::NONE,
            writable: Vec::new(),
            writable_direct: Vec::new(),
            hidden: Vec::new(),
            secrets: Vec::new(),
            readable: Vec::new(),
            protected: Vec::new(),
            start_files: StartFiles::Protected,
            shown: Vec::new(),
            sockets: Vec::new(),
            temp: None,
            network: Network::Open,
            domains: Vec::new(),
            tools: None,
            limits: Limits::default(),
            scope: None,
        }
    }
}

/// Which layers enforce a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// bubblewrap, by its absolute path: namespaces, and a file system of the process's own.
    #[serde(with = "paths")]
    pub bubblewrap: Option<PathBuf>,
    /// Landlock: the kernel denies access that is not granted.
    pub landlock: Use,
    /// seccomp: the kernel denies system calls that lead out of the sandbox.
    pub seccomp: Seccomp,
}

impl Layers {
    /// None of them.
    pub const NONE: Self = Self { bubblewrap: None, landlock: Use::Off, seccomp: Seccomp::Off };

    /// Whether any layer is active.
    pub fn confine(&self) -> bool {
        self != &Self::NONE
    }
}

/// Whether a layer is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Use {
    /// It is used.
    On,
    /// It is not used.
    Off,
}

/// Whether the process may write files in the workspace that the user's programs execute later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StartFiles {
    /// It may not.
    Protected,
    /// It may: git does, which checks out what the user has committed.
    Writable,
}

/// Which system calls are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Seccomp {
    /// None.
    Off,
    /// All that lead out of the sandbox, new user namespaces and mounts among them.
    Strict,
    /// Those, except for what a sandbox inside of this one needs: user namespaces and mounts.
    Nested,
}

/// The network policy of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Network {
    /// Everything.
    Open,
    /// Listed domains, through a proxy that asks about others.
    Proxy,
    /// Nothing but Convoke's own tools.
    Off,
}

impl Network {
    /// Every policy with its name in the configuration.
    pub const WORDS: [(&str, Self); 3] =
        [("open", Self::Open), ("proxy", Self::Proxy), ("off", Self::Off)];
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, network)| network == self);
        f.write_str(word.map_or("", |(word, _)| word))
    }
}

/// The resource limits of a process with its descendants; `None` is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub tasks: Option<u64>,
    /// Bytes in the folder for temporary files.
    pub temp_bytes: Option<u64>,
}

impl Limits {
    /// Processes and threads of an agent and its builds; fork bombs have more.
    const TASKS: u64 = 4096;
    /// Bytes of temporary files: more than builds need, less than disks have.
    const TEMP_BYTES: u64 = 8 << 30;

    /// These limits, with the defaults where none is set.
    pub(crate) fn or_default(self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.or_else(three_quarters_of_memory),
            tasks: self.tasks.or(Some(Self::TASKS)),
            temp_bytes: self.temp_bytes.or(Some(Self::TEMP_BYTES)),
        }
    }
}

fn three_quarters_of_memory() -> Option<u64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some((kilobytes << 10) / 4 * 3)
}

/// The plan for the supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    #[serde(with = "paths")]
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<Text>,
    pub(crate) environment: Vec<(Text, Text)>,
    #[serde(with = "paths")]
    pub(crate) workspace: PathBuf,
    pub(crate) policy: Policy,
    pub(crate) ending: Ending,
}

/// When everything that the program started is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    /// As soon as the program ends.
    WithProgram,
    /// When the control socket is closed: a command may leave servers running.
    WithControl,
}

/// A message of the supervisor on the control socket, one JSON value per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SupervisorMessage {
    /// The program ended.
    Exited {
        /// With this code,
        code: Option<i32>,
        /// or by this signal.
        signal: Option<i32>,
    },
}

/// A request of the supervisor on the socket for connections, one JSON value per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConnectionRequest {
    /// Identifies the answer.
    pub(crate) id: u64,
    /// The target, which is not on the list.
    pub(crate) target: Target,
}

/// The daemon's answer there, one JSON value per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConnectionAnswer {
    pub(crate) id: u64,
    pub(crate) ruling: Ruling,
}

/// Whether a connection may be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Ruling {
    Allow,
    Deny {
        /// The message for the program that tried to connect.
        why: String,
    },
}

/// The only command of the supervisor besides the end of its control socket: SIGTERM to everything
/// inside.
pub(crate) const TERMINATE: u8 = b'T';

/// A string of the operating system, which need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Text {
    Utf8(String),
    Bytes(Vec<u8>),
}

impl From<&OsStr> for Text {
    fn from(text: &OsStr) -> Self {
        match text.to_str() {
            Some(text) => Self::Utf8(text.to_owned()),
            None => Self::Bytes(text.as_bytes().to_owned()),
        }
    }
}

impl From<Text> for OsString {
    fn from(text: Text) -> Self {
        match text {
            Text::Utf8(text) => text.into(),
            Text::Bytes(bytes) => Self::from_vec(bytes),
        }
    }
}
