//! Why a session cannot move.

use std::path::PathBuf;

use crate::error::Kind;

/// Why a session cannot move to another machine.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The database is a file.
    #[error("this daemon has its database for itself, so that there is no other machine")]
    Alone,
    /// There is no such machine.
    #[error("there is no node {text}; there are {}", known.join(", "))]
    UnknownNode {
        /// What was given.
        text: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// It is there.
    #[error("the session is on {node} already")]
    SameNode {
        /// The machine.
        node: String,
    },
    /// The project has no remote that could be looked for.
    #[error("the project of the session has no git remote by which it could be found elsewhere")]
    NoRemote,
    /// No project there has the same remote.
    #[error("{node} has no project with the remote {remote}")]
    NoProject {
        /// The remote, without scheme, user and `.git`.
        remote: String,
        /// The machine.
        node: String,
    },
    /// More than one project there has the same remote.
    #[error("{node} has several projects with the same remote: {}", paths.join(", "))]
    SeveralProjects {
        /// The machine.
        node: String,
        /// Their folders.
        paths: Vec<String>,
    },
    /// There is no such project there, or more than one.
    #[error("{node} has no project {text}")]
    UnknownProject {
        /// What was given.
        text: String,
        /// The machine.
        node: String,
    },
    /// The session has a work tree of its own, whose files cannot be packed.
    #[error("the work tree of the session cannot move: {why}")]
    Worktree {
        /// Why not.
        why: String,
    },
    /// The files of a work tree cannot stay, since it is removed.
    #[error("the work tree of the session moves with all of its files, or not at all")]
    FilesStay,
    /// The work tree has files that checkpoints do not hold, and that would be lost.
    #[error("files of the work tree are in no checkpoint, and cannot be moved: {}", files.join(", "))]
    NotCaptured {
        /// The first of them.
        files: Vec<String>,
    },
    /// A merge, rebase or the like is in progress in the work tree.
    #[error("{} is in the middle of a {operation}", path.display())]
    Operation {
        /// The work tree.
        path: PathBuf,
        /// What is in progress.
        operation: convoke_git::Operation,
    },
    /// Another branch is checked out in the work tree, or none.
    #[error("{} is not on its branch {branch}", path.display())]
    OtherBranch {
        /// The work tree.
        path: PathBuf,
        /// Its branch.
        branch: String,
    },
    /// The commits of the branch are too large.
    #[error("the commits of the branch {branch} are more than {} MiB when they are packed", max >> 20)]
    CommitsTooLarge {
        /// The branch.
        branch: String,
        /// The limit in bytes.
        max: u64,
    },
    /// The work tree is on a machine that is away.
    #[error("the work tree of the session is on {node}, which is away")]
    WorktreeAway {
        /// The machine.
        node: String,
    },
    /// The session is compared with others.
    #[error("the session is part of a comparison that is not decided")]
    Compared,
    /// The other machine handed the session back.
    #[error("{node} could not create the work tree, and the session is where it was: {why}")]
    Returned {
        /// The other machine.
        node: String,
        /// Why it could not.
        why: String,
    },
    /// A turn runs, or a request is open.
    #[error("a turn is running or a request is open")]
    Working,
    /// The machine that it should be taken from runs.
    #[error("{node} is running")]
    SourceRuns {
        /// The machine.
        node: String,
    },
    /// The machine that it is on is away.
    #[error("the session is on {node}, which is away, and so are its files")]
    SourceAway {
        /// The machine.
        node: String,
    },
    /// The checkpoint is too large.
    #[error("the files are more than {} MiB when they are packed", max >> 20)]
    TooLarge {
        /// The limit in bytes.
        max: u64,
    },
}

impl MoveError {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::UnknownNode { .. } | Self::UnknownProject { .. } => Kind::NotFound,
            Self::Alone
            | Self::SameNode { .. }
            | Self::NoRemote
            | Self::NoProject { .. }
            | Self::SeveralProjects { .. }
            | Self::Worktree { .. }
            | Self::FilesStay
            | Self::NotCaptured { .. }
            | Self::Operation { .. }
            | Self::OtherBranch { .. }
            | Self::CommitsTooLarge { .. }
            | Self::WorktreeAway { .. }
            | Self::Compared
            | Self::Returned { .. }
            | Self::Working
            | Self::SourceRuns { .. }
            | Self::SourceAway { .. }
            | Self::TooLarge { .. } => Kind::Conflict,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Alone => "point the daemons of several machines at one PostgreSQL: store.url in config.toml".to_owned(),
            Self::UnknownNode { .. } => "`convoke node list` shows them".to_owned(),
            Self::NoRemote => "name the project there: `project` (`--project PATH`)".to_owned(),
            Self::NoProject { node, .. } => format!(
                "clone the repository on {node} and run `convoke project add PATH` there, or name another project with \
                 `project` (`--project PATH`); a remote that was just added is known after ten seconds"
            ),
            Self::SeveralProjects { .. } => {
                "name one of them with `project` (`--project PATH`)".to_owned()
            }
            Self::UnknownProject { .. } => "`convoke project list` shows the projects of all machines".to_owned(),
            Self::FilesStay => {
                "leave `files` out (`--files`), or use `restore`".to_owned()
            }
            Self::NotCaptured { .. } => "commit them, or move them out of the work tree first".to_owned(),
            Self::Operation { path, .. } => {
                format!("complete or abort it in {} first", path.display())
            }
            Self::OtherBranch { path, branch } => {
                format!("run `git switch {branch}` in {} first", path.display())
            }
            Self::CommitsTooLarge { .. } => {
                "push what the branch is based on: commits that a remote branch has are not moved".to_owned()
            }
            Self::WorktreeAway { node } => format!("move the session when {node} is back"),
            Self::Compared => "decide it with `convoke compare --keep`, or fork the session and move the fork".to_owned(),
            Self::Returned { node, .. } => format!("correct that on {node}, and move the session again"),
            Self::Worktree { .. } => "finish it with `convoke session finish`, or fork the session into the project's folder \
                 with `convoke session fork`, and move the fork"
                .to_owned(),
            Self::Working => "wait for it, or stop it with `stop` (`--stop`)".to_owned(),
            Self::SourceRuns { .. } => "move it without `fromAway` (`--from-away`), so that its files are moved too".to_owned(),
            Self::SourceAway { .. } => {
                "move the conversation without the files with `fromAway` (`--from-away`)".to_owned()
            }
            Self::TooLarge { .. } => {
                "commit and push them, and move without the files: `files` `leave` (`--files leave`)".to_owned()
            }
            Self::SameNode { .. } => return None,
        })
    }
}
