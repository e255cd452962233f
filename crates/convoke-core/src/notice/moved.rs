//! A session that moved to another machine: what went along. A contract, see `message`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::user::UserName;

/// From which machine to which a session moved, and what went along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionMove {
    /// The name of the machine that it was on.
    pub from: String,
    /// The name of the machine that it is on.
    pub to: String,
    /// The user who moved it; absent for the owner of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
    /// What became of the files.
    pub files: MovedFiles,
    /// Files that checkpoints do not hold, such as large ones, and that stayed behind; the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "leftBehind")]
    pub left_behind: Vec<String>,
    /// What the agent will remember of the conversation.
    pub memory: MovedMemory,
}

/// What became of the files of a session that moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum MovedFiles {
    /// They were written into the project's folder, after a checkpoint of what was there.
    Written {
        /// Files that were written.
        written: u64,
        /// Files that were removed.
        removed: u64,
    },
    /// The project's folder had the same files.
    Same,
    /// They are in a checkpoint, and the project's folder is as it was.
    Kept {
        /// Why they were not written.
        why: String,
    },
    /// The session has its work tree on the new machine, with its branch and its files.
    Worktree {
        /// The folder.
        path: String,
        /// The branch.
        branch: String,
    },
    /// The session is where it was, with its work tree as it was: it did not arrive elsewhere.
    Stayed {
        /// The folder of the work tree.
        path: String,
        /// Why the other machine, which is `from`, could not create the work tree; absent if the session was taken back
        /// before that machine had tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// They did not go along.
    Left {
        /// Why.
        why: String,
    },
}

/// What the agent of a session that moved will remember.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum MovedMemory {
    /// The agent's own record of the conversation went along.
    Record,
    /// It is given the transcript with the next prompt.
    Transcript {
        /// Why its own record did not go along.
        why: String,
    },
}

impl SessionMove {
    pub(super) fn sentence(&self) -> String {
        let Self { from, to, by, .. } = self;
        let by = by.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
        match &self.files {
            MovedFiles::Stayed { path, why: Some(why) } => {
                return format!(
                    "Still on {to}, in {path}: {from} could not create the work tree, because {why}."
                );
            }
            MovedFiles::Stayed { path, why: None } => {
                return format!(
                    "Moved back to {to}{by} before it had arrived elsewhere. The work tree {path} is as it was."
                );
            }
            MovedFiles::Written { .. }
            | MovedFiles::Same
            | MovedFiles::Kept { .. }
            | MovedFiles::Worktree { .. }
            | MovedFiles::Left { .. } => {}
        }
        let left = match self.left_behind.as_slice() {
            [] => String::new(),
            left => format!(" Not brought along: {}.", left.join(", ")),
        };
        let (files, memory) = (self.files.sentence(), self.memory.sentence());
        format!("Moved from {from} to {to}{by}. {files}{left} {memory}")
    }
}

impl MovedFiles {
    fn sentence(&self) -> String {
        match self {
            Self::Written { written, removed } => format!(
                "The files were brought along: {written} written, {removed} removed; `convoke session undo` takes that back."
            ),
            Self::Same => "The project has the same files here.".to_owned(),
            Self::Kept { why } => format!(
                "The files were brought along as a checkpoint and not written, because {why}; \
                 `convoke session undo --force` writes them."
            ),
            Self::Worktree { path, branch } => {
                format!("The work tree was brought along: {path}, on the branch {branch}.")
            }
            Self::Stayed { path, .. } => format!("The work tree {path} is as it was."),
            Self::Left { why } => format!("No files were brought along: {why}."),
        }
    }
}

impl MovedMemory {
    fn sentence(&self) -> String {
        match self {
            Self::Record => "The agent resumes its own session.".to_owned(),
            Self::Transcript { why } => {
                format!("The agent is given the transcript with the next prompt, because {why}.")
            }
        }
    }
}
