//! The dialog that finishes a work tree.

use convoke_api::bodies::{FinishWay, FinishWorktree, KeepEntry, WorktreeConflict};
use convoke_core::files::{OwnWorktree, RemovedWorktree};
use convoke_core::id::SessionId;
use convoke_core::title;

use super::refusal::CallRefusal;
use super::worktrees::WorktreeCall;
use crate::editor::Editor;

/// How a work tree can end, in the order in which it is offered.
const WAYS: [FinishWay; 6] = [
    FinishWay::Merge,
    FinishWay::Squash,
    FinishWay::Rebase,
    FinishWay::Pr,
    FinishWay::Keep,
    FinishWay::Discard,
];

/// A work tree that is being finished.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) of: Finishing,
    pub(crate) own: OwnWorktree,
    /// The way at the cursor.
    pub(crate) cursor: usize,
    /// The message of commits, or title and body of the pull request.
    pub(crate) message: Editor,
    pub(crate) step: Step,
}

/// The work tree that is finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finishing {
    /// A session's.
    Session(SessionId),
    /// That of the session that is kept from a comparison; the others are discarded.
    Candidate { comparison: String, id: SessionId, others: usize },
}

/// A step of the dialog.
#[derive(Debug)]
pub(crate) enum Step {
    /// How does it end?
    Choose,
    /// With which message?
    Message,
    /// Is it meant?
    Confirm,
    /// The daemon finishes or restores it.
    UnderWay,
    /// Base and branch contradict each other in these files.
    Conflicts(Vec<WorktreeConflict>),
    /// No snapshot holds these files. Are they deleted?
    NotCaptured(Vec<String>),
    /// The daemon refused.
    Refused(CallRefusal),
    /// A pull request was made at this address.
    PullRequest(String),
    /// The folder is not there. Is it made again?
    Gone(Gone),
}

/// Why the folder of a work tree is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gone {
    /// Convoke removed it, after a snapshot.
    Removed(RemovedWorktree),
    /// It was deleted by hand.
    Missing,
}

impl Finish {
    pub(crate) fn new(of: Finishing, own: OwnWorktree, title: &str) -> Self {
        let mut message = Editor::default();
        if title != title::UNTITLED {
            message.paste(title);
        }
        let step = match &own.removed {
            Some(removed) => Step::Gone(Gone::Removed(removed.clone())),
            None => Step::Choose,
        };
        Self { of, own, cursor: 0, message, step }
    }

    pub(crate) const fn id(&self) -> SessionId {
        match self.of {
            Finishing::Session(id) | Finishing::Candidate { id, .. } => id,
        }
    }

    /// The offered ways: a candidate that is kept cannot be discarded.
    pub(crate) fn ways(&self) -> impl Iterator<Item = FinishWay> {
        let is_session = matches!(self.of, Finishing::Session(_));
        WAYS.into_iter().filter(move |way| is_session || *way != FinishWay::Discard)
    }

    /// The way at the cursor.
    pub(crate) fn way(&self) -> FinishWay {
        self.ways().nth(self.cursor).unwrap_or(FinishWay::Keep)
    }

    /// The name of the branch that gets the commits.
    pub(crate) fn base(&self) -> &str {
        self.own.base.as_deref().unwrap_or("its base")
    }

    /// The call for the chosen way.
    pub(crate) fn call(&self, how: OnObstacle) -> WorktreeCall {
        let message = self.message.text().trim();
        let message = (!message.is_empty()).then(|| message.to_owned());
        let way = self.way();
        let (force, resolve) =
            (how == OnObstacle::DeleteUncaptured, how == OnObstacle::PromptAgent);
        match &self.of {
            Finishing::Candidate { comparison, id, .. } => {
                let comparison = comparison.clone();
                let (session_id, how) = (id.to_string(), Some(way));
                let keep = KeepEntry { session_id, how, message, force, resolve };
                WorktreeCall::Keep { comparison, keep }
            }
            Finishing::Session(id) => {
                let message = message.filter(|_| way != FinishWay::Discard);
                let finish = FinishWorktree { how: way, message, force, resolve };
                WorktreeCall::Finish { id: *id, finish }
            }
        }
    }
}

/// What to do about an obstacle to finishing a work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnObstacle {
    /// Report it.
    Stop,
    /// Delete files that no snapshot holds.
    DeleteUncaptured,
    /// Prompt the agent to resolve conflicts.
    PromptAgent,
}
