//! Why an agent could not be started, resumed or talked to.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use convoke_core::id::AgentName;
use convoke_core::process::Exit;

use crate::sandbox::{Layer, Network};

/// What can go wrong between Convoke and an agent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The agent's program is nowhere to be found.
    #[error("the agent {agent} is not installed: there is no {command} on the search path")]
    NotInstalled {
        /// The agent.
        agent: AgentName,
        /// Its program.
        command: String,
        /// The command that installs it, where that is known.
        install: Option<String>,
    },
    /// The program is not where it should be.
    #[error("there is no program {}", program.display())]
    NotFound {
        /// Its path.
        program: PathBuf,
    },
    /// The program is there, and the operating system does not start it.
    #[error("cannot start {}", program.display())]
    Spawn {
        /// Its path.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The folder cannot be an agent's workspace.
    #[error("{} cannot be the workspace of an agent", path.display())]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The kernel has nothing to confine an agent with.
    #[error("this system has no Landlock to confine a program with")]
    NoLandlock,
    /// A layer of the sandbox that the configuration demands does not hold for the agent.
    #[error(
        "the agent {agent} is not started: sandbox.require lists {layer}, which does not work here: {why}"
    )]
    LayerMissing {
        /// The agent.
        agent: AgentName,
        /// The layer.
        layer: Layer,
        /// Why it does not hold.
        why: String,
    },
    /// The network policy needs a network namespace, and there is none.
    #[error(
        "the agent {agent} is not started: sandbox.network = {network} needs bubblewrap, which does not work here: {why}"
    )]
    NetworkNotHeld {
        /// The agent.
        agent: AgentName,
        /// The policy.
        network: Network,
        /// Why bubblewrap does not hold.
        why: String,
    },
    /// No folder for the agent's temporary files.
    #[error("cannot make a folder for temporary files in {}", path.display())]
    Temporary {
        /// Where it was to be.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A path cannot be part of the rules for a confined agent.
    #[error("cannot add a Landlock rule for {}", path.display())]
    Confine {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What may be written contains what may not be read.
    #[error("{} is to be hidden, and lies in {}, which is to be written", hidden.display(), writable.display())]
    Exposed {
        /// The folder to hide.
        hidden: PathBuf,
        /// The folder to write.
        writable: PathBuf,
    },
    /// A file in a repository that leads git to another configuration cannot be removed.
    #[error("cannot remove {}, with which git would take its configuration from elsewhere", path.display())]
    Redirected {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The kernel does not take the rules.
    #[error("the kernel refuses to confine this process")]
    Landlock(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The agent was killed, because it was not ready in time.
    #[error("{} was not ready within {} seconds and was killed", program.display(), after.as_secs_f64())]
    Timeout {
        /// Its path.
        program: PathBuf,
        /// How long it was given.
        after: Duration,
    },
    /// All processes were busy, and stayed so.
    #[error("no agent process became available within {} seconds", after.as_secs_f64())]
    NoRoom {
        /// How long it was waited for.
        after: Duration,
    },
    /// The agent ended before it was ready.
    #[error("the agent ended before it was ready: {0}")]
    Exited(Exit),
    /// The user must log in to the agent first.
    #[error("the agent asks for a login: {detail}")]
    AuthRequired {
        /// The ways that it offers.
        methods: Vec<String>,
        /// What it said.
        detail: String,
    },
    /// The agent does not know the session, or cannot take it up.
    #[error("the agent cannot resume the session: {detail}")]
    CannotResume {
        /// What it said.
        detail: String,
    },
    /// The id is already in use by the agent, which never accepts it for a new session again.
    #[error("the session id {id} is already in use")]
    IdTaken {
        /// The id.
        id: String,
    },
    /// The agent was killed, because it did not make a session in time.
    #[error("Session initialization timed out after {}ms", after.as_millis())]
    SessionTimeout {
        /// How long it was given.
        after: Duration,
    },
    /// The agent said what its protocol does not allow.
    #[error("the agent violates its protocol: {detail}")]
    Protocol {
        /// What was wrong.
        detail: String,
    },
    /// The agent answered with an error.
    #[error("the agent returned an error: {detail}")]
    Refused {
        /// What it said.
        detail: String,
    },
    /// The agent's process has exited.
    #[error("the agent is gone")]
    Gone,
    /// What the session was set to cannot be read, so the agent is not started with other settings.
    #[error("cannot read the settings of the session")]
    Settings(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Talking to the agent failed.
    #[error("cannot talk to the agent")]
    Io(#[from] io::Error),
}

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Error>;
