//! What is transferred with a session, in the format that both daemons share.

use convoke_core::files::OwnWorktree;
use convoke_core::id::ProjectId;
use convoke_core::user::UserName;
use convoke_histories::Agent;
use serde::{Deserialize, Serialize};

use super::MoveFiles;

/// What is transferred with a session. Fields may be added with defaults: the daemons may be of
/// different versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cargo {
    /// The name of the machine that it leaves.
    pub(crate) from: String,
    /// The user who moves it.
    #[serde(default)]
    pub(crate) by: Option<UserName>,
    pub(crate) files: CargoFiles,
    pub(crate) agent: CargoAgent,
    /// The session's work tree; its files are the newest checkpoint.
    #[serde(default)]
    pub(crate) worktree: Option<CargoWorktree>,
    /// Set when a machine that cannot create the work tree hands the session back.
    #[serde(default)]
    pub(crate) returned: Option<Returned>,
    /// Whether the queued prompts were held for the move only, and are sent on arrival.
    #[serde(default)]
    pub(crate) release_queue: bool,
}

/// The files that are transferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum CargoFiles {
    None {
        why: String,
    },
    Checkpoint {
        /// All checkpoints in the pack, each in its text form.
        carried: Vec<String>,
        /// The one with the files as they were when the session left.
        newest: String,
        /// The commit that was checked out.
        head: Option<String>,
        /// When they are written.
        write: MoveFiles,
        /// The length of the pack.
        bytes: u64,
        /// Files that the newest checkpoint does not hold; the first of them.
        #[serde(default)]
        left_out: Vec<String>,
    },
}

/// The agent's own record of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum CargoAgent {
    None {
        why: String,
    },
    Record {
        agent: Agent,
        /// The agent's own id of the conversation.
        id: String,
        /// Where it was, below the agent's folder.
        path: String,
        bytes: u64,
    },
}

/// A work tree, with the commits of its branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CargoWorktree {
    /// The project that it belongs to on the machine that the session leaves.
    pub(crate) project: ProjectId,
    /// The work tree on that machine.
    pub(crate) own: OwnWorktree,
    /// The last commit of its branch.
    pub(crate) tip: String,
    /// Commits that the other repository must have.
    pub(crate) needs: Vec<String>,
    /// The length of the pack with the commits after those.
    pub(crate) bytes: u64,
}

/// Why a session was handed back to the machine that it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Returned {
    /// The name of the machine that handed it back.
    pub(crate) by: String,
    pub(crate) why: String,
}

impl Cargo {
    /// The cargo of a session that is taken from a machine that is away.
    pub(crate) fn of_away(from: String, by: Option<UserName>) -> Self {
        let why = format!("{from} was away");
        let files = CargoFiles::None { why: why.clone() };
        let agent = CargoAgent::None { why };
        Self { from, by, files, agent, worktree: None, returned: None, release_queue: false }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
