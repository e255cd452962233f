//! Work trees: between the engine's types and those of the API.

use convoke_api::bodies::{
    ConflictSide, FinishOutcome, FinishWay, FinishWorktree, FinishedWorktree, ListedWorktree,
    NewWorktree, WorktreeConflict, WorktreeState,
};
use convoke_core::files::Removal;
use convoke_core::title::UNTITLED;
use convoke_core::user::UserName;
use convoke_engine as engine;

/// A work tree that a new session is to have.
pub(crate) fn wanted(new: Option<NewWorktree>) -> Option<engine::WantedWorktree> {
    new.map(|NewWorktree { branch }| engine::WantedWorktree { branch })
}

/// What is to become of a work tree.
pub(crate) fn order(finish: FinishWorktree, by: Option<UserName>) -> engine::FinishOrder {
    let FinishWorktree { how, message, force, resolve } = finish;
    engine::FinishOrder {
        way: match how {
            FinishWay::Merge => engine::FinishWay::Merge,
            FinishWay::Squash => engine::FinishWay::Squash,
            FinishWay::Rebase => engine::FinishWay::Rebase,
            FinishWay::Pr => engine::FinishWay::PullRequest,
            FinishWay::Keep => engine::FinishWay::Keep,
            FinishWay::Discard => engine::FinishWay::Discard,
        },
        message,
        lost: if force { engine::LostFiles::Delete } else { engine::LostFiles::Refuse },
        conflicts: if resolve { engine::OnConflict::Prompt } else { engine::OnConflict::Tell },
        by,
    }
}

/// What became of a work tree.
pub(crate) fn finished(done: engine::Finished) -> FinishedWorktree {
    let base = done.session.stored.worktree.as_ref().and_then(|own| match &own.removed {
        Some(removed) if !has_commits(removed.how) => None,
        Some(_) | None => own.base.clone(),
    });
    let mut finished = FinishedWorktree {
        outcome: FinishOutcome::Finished,
        session: super::session(done.session),
        base,
        commit: None,
        conflicts: Vec::new(),
        pull_request: None,
        prompt: None,
    };
    match done.outcome {
        engine::FinishOutcome::Finished { commit } => finished.commit = commit,
        engine::FinishOutcome::PullRequest { address } => {
            finished.outcome = FinishOutcome::PullRequest;
            finished.pull_request = Some(address);
        }
        engine::FinishOutcome::Conflicts { conflicts, prompted } => {
            finished.outcome = FinishOutcome::Conflicts;
            finished.conflicts = conflicts.iter().map(conflict).collect();
            finished.prompt = prompted.as_ref().map(super::prompted);
        }
    }
    finished
}

/// Whether the base branch has the commits of a work tree that was removed this way.
const fn has_commits(how: Removal) -> bool {
    match how {
        Removal::Merge | Removal::Squash | Removal::Rebase => true,
        Removal::Keep | Removal::Discard | Removal::Remove => false,
    }
}

fn conflict(conflict: &engine::Conflict) -> WorktreeConflict {
    let side = |is_missing| if is_missing { ConflictSide::Deleted } else { ConflictSide::Changed };
    WorktreeConflict {
        path: conflict.path.to_string_lossy().into_owned(),
        base: side(conflict.is_missing_in_base),
        branch: side(conflict.is_missing_in_branch),
    }
}

/// A work tree in a list.
pub(crate) fn listed(found: engine::ListedWorktree) -> ListedWorktree {
    let engine::ListedWorktree { session, project, own, status } = found;
    ListedWorktree {
        session_id: session.id,
        title: session.summary.title.clone().unwrap_or_else(|| UNTITLED.to_owned()),
        status: session.summary.status,
        repo_id: session.project_id,
        repo: project.map(|project| project.name).unwrap_or_default(),
        path: own.path,
        branch: own.branch,
        base: own.base,
        state: match status {
            engine::WorktreeStatus::Ready => WorktreeState::Ready,
            engine::WorktreeStatus::Missing => WorktreeState::Missing,
            engine::WorktreeStatus::Removed => WorktreeState::Removed,
        },
        removed: own.removed,
    }
}
