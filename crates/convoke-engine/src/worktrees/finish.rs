//! Finishes a work tree: its commits get into the base branch, its branch is kept, or both are discarded.

use std::sync::Arc;

use convoke_core::files::{OwnWorktree, Removal, RemovedWorktree};
use convoke_core::id::SessionId;
use convoke_core::notice::FilesEvent;
use convoke_core::prompt::Prompt;
use convoke_core::session::Status;
use convoke_core::user::UserName;
use convoke_git::{CheckpointKind, ObjectId};
use convoke_git::{
    Checkpoints, Conflict, Discard, Finish, FinishRequest, Git, Limits, Name, Outcome,
};
use serde::{Deserialize, Serialize};

use super::make::work_trees;
use super::note::Note;
use super::repository::Repository;
use super::{SessionWorktree, WorktreeError, Worktrees};
use crate::changes::ChangesError;
use crate::error::{Error, Result};
use crate::session::{self, HeldProcess};
use crate::sessions::{Prompted, Sessions};
use crate::view::SessionView;

/// What is to become of a work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishOrder {
    /// How.
    pub way: FinishWay,
    /// The message of commits; by default the title of the session.
    pub message: Option<String>,
    /// Files that no snapshot holds.
    pub lost: LostFiles,
    /// What happens when base and branch contradict each other.
    pub conflicts: OnConflict,
    /// The user who finishes it, and in whose name the agent is prompted; `None` for the owner of the daemon.
    #[serde(default)]
    pub by: Option<UserName>,
}

/// How a work tree ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinishWay {
    /// Its branch is merged into the base.
    Merge,
    /// Its changes become one commit of the base.
    Squash,
    /// Its commits are put on top of the base.
    Rebase,
    /// A pull request is made; the work tree stays.
    PullRequest,
    /// Its branch is kept.
    Keep,
    /// Its branch is removed.
    Discard,
    /// Its folder is removed as it is.
    Remove,
}

/// What happens to files that no snapshot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LostFiles {
    /// The work tree stays, and the error names them.
    Refuse,
    /// They are deleted.
    Delete,
}

/// What happens when base and branch contradict each other; nothing is changed in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnConflict {
    /// The response lists the conflicts.
    Tell,
    /// The agent is prompted to resolve it, too.
    Prompt,
}

/// The result of finishing.
#[derive(Debug)]
pub struct Finished {
    /// The session after it.
    pub session: SessionView,
    /// What became of the work tree.
    pub outcome: FinishOutcome,
}

/// What became of a work tree.
#[derive(Debug)]
pub enum FinishOutcome {
    /// It is finished and removed.
    Finished {
        /// The last commit of its branch, or of the base that has it now.
        commit: Option<String>,
    },
    /// A pull request was made.
    PullRequest {
        /// Its address.
        address: String,
    },
    /// Base and branch contradict each other, and nothing was changed.
    Conflicts {
        /// The files.
        conflicts: Vec<Conflict>,
        /// What became of the prompt, if the agent is to resolve them.
        prompted: Option<Prompted>,
    },
}

impl FinishWay {
    const fn combined(self) -> Option<Finish> {
        match self {
            Self::Merge => Some(Finish::Merge),
            Self::Squash => Some(Finish::Squash),
            Self::Rebase => Some(Finish::Rebase),
            Self::PullRequest | Self::Keep | Self::Discard | Self::Remove => None,
        }
    }

    const fn deletes_branch(self) -> bool {
        !matches!(self, Self::Keep | Self::Remove)
    }

    pub(super) const fn removal(self) -> Removal {
        match self {
            Self::Merge => Removal::Merge,
            Self::Squash => Removal::Squash,
            Self::Rebase => Removal::Rebase,
            Self::Discard => Removal::Discard,
            // A pull request removes nothing.
            Self::PullRequest | Self::Keep => Removal::Keep,
            Self::Remove => Removal::Remove,
        }
    }
}

/// The result of the git commands.
#[derive(Debug)]
pub(super) enum Done {
    Removed { commit: Option<ObjectId> },
    Conflicts(Vec<Conflict>),
}

impl Worktrees {
    /// Finishes the work tree of a session. The session must not be working; it is completed with its work tree.
    pub async fn finish(&self, id: SessionId, order: FinishOrder) -> Result<Finished> {
        let this = self.clone();
        // In a task of its own, so that a caller that disconnects leaves nothing half done.
        let finished = tokio::spawn(async move { this.finish_now(id, order).await });
        finished.await.map_err(|error| Error::Io {
            path: self.sessions.host.home.clone(),
            source: std::io::Error::other(error),
        })?
    }

    async fn finish_now(&self, id: SessionId, order: FinishOrder) -> Result<Finished> {
        let place = self.place(id).await?;
        if place.own.removed.is_some() {
            return Err(WorktreeError::Removed.into());
        }
        let held = session::hold(&self.sessions, id, HeldProcess::Stop).await?;
        if order.way == FinishWay::PullRequest {
            let address = self.pull_request(&place, &order).await?;
            drop(held);
            let session = self.sessions.get(id).await?;
            return Ok(Finished { session, outcome: FinishOutcome::PullRequest { address } });
        }
        let home = self.sessions.host.home.clone();
        Note::Finish(order.clone()).write(&home, id)?;
        let done = self.carry_out(&place, &order).await;
        if !matches!(&done, Err(error) if is_cut_off(error)) {
            Note::remove(&home, id);
        }
        match done? {
            Done::Removed { commit } => {
                let commit = commit.map(|commit| commit.to_string());
                let session = self.settle(&place, &order, commit.clone()).await?;
                drop(held);
                Ok(Finished { session, outcome: FinishOutcome::Finished { commit } })
            }
            Done::Conflicts(conflicts) => {
                drop(held);
                let prompted = match order.conflicts {
                    OnConflict::Tell => None,
                    OnConflict::Prompt => {
                        let text = prompt(&place.own, order.way, &conflicts);
                        let prompt = Prompt { by: order.by, ..text.into() };
                        Some(self.sessions.prompt(id, prompt).await?)
                    }
                };
                let outcome = FinishOutcome::Conflicts { conflicts, prompted };
                Ok(Finished { session: self.sessions.get(id).await?, outcome })
            }
        }
    }

    /// Runs the git commands.
    pub(super) async fn carry_out(
        &self,
        place: &SessionWorktree,
        order: &FinishOrder,
    ) -> Result<Done> {
        let path = place.path();
        if !path.exists() {
            return match order.way {
                // There are no files to save, and the branch is unchanged.
                FinishWay::Keep | FinishWay::Remove => Ok(Done::Removed { commit: None }),
                FinishWay::Merge
                | FinishWay::Squash
                | FinishWay::Rebase
                | FinishWay::PullRequest
                | FinishWay::Discard => Err(WorktreeError::Missing { path }.into()),
            };
        }
        if order.way.combined().is_some() && place.own.base.is_none() {
            return Err(WorktreeError::NoBase.into());
        }
        let finisher = Finisher::new(&self.sessions, place, order)?;
        let run = move |git: &_, limits: &_| finisher.run(git, limits);
        Ok(self.sessions.snapshots.run(place.project.id, run).await?)
    }

    /// Records that a work tree is removed, adds the notice, and completes its session.
    pub(super) async fn settle(
        &self,
        place: &SessionWorktree,
        order: &FinishOrder,
        commit: Option<String>,
    ) -> Result<SessionView> {
        let (id, how) = (place.id(), order.way.removal());
        let base = place.own.base.clone().filter(|_| order.way.combined().is_some());
        let branch = place.own.branch.clone();
        self.notice(id, FilesEvent::WorktreeRemoved { how, branch, base }).await;
        let removed = RemovedWorktree { how, at: self.sessions.now(), commit };
        let own = OwnWorktree { removed: Some(removed), ..place.own.clone() };
        self.record(id, own).await?;
        let session = self.sessions.get(id).await?;
        match session.stored.summary.status {
            Status::Active => self.sessions.complete(id).await,
            Status::Completed | Status::Cancelled | Status::Error => Ok(session),
        }
    }
}

/// Whether the call did not fail, but was ended by the daemon's stop.
const fn is_cut_off(error: &Error) -> bool {
    matches!(
        error,
        Error::Changes(ChangesError::Gone | ChangesError::Git(convoke_git::Error::Cancelled))
    )
}

/// What the agent is asked to do about conflicts.
fn prompt(own: &OwnWorktree, way: FinishWay, conflicts: &[Conflict]) -> String {
    let base = own.base.as_deref().unwrap_or("the base branch");
    let command = if way == FinishWay::Rebase { "rebase" } else { "merge" };
    let files = conflicts.iter().map(|it| format!("- {}\n", it.path.display()));
    format!(
        "The branch {} cannot be combined with {base}: both changed the same lines of these files.\n\n{}\n\
         Run `git {command} {base}` here, resolve the conflicts so that both intentions are kept, run the tests, and \
         commit the result on this branch.",
        own.branch,
        files.collect::<String>()
    )
}

/// What the blocking part needs.
struct Finisher {
    sessions: Arc<Sessions>,
    repository: Repository,
    place: SessionWorktree,
    order: FinishOrder,
    message: String,
}

impl Finisher {
    fn new(sessions: &Arc<Sessions>, place: &SessionWorktree, order: &FinishOrder) -> Result<Self> {
        let folder = work_trees(sessions, &place.project)?;
        let repository = Repository::of(sessions, &place.project.path, &folder);
        Ok(Self {
            sessions: Arc::clone(sessions),
            repository: repository.map_err(ChangesError::from)?,
            message: message(place, order),
            place: place.clone(),
            order: order.clone(),
        })
    }

    /// The message of the commit that combines the branch with its base.
    fn combined_message(&self) -> String {
        let (branch, given) = (&self.place.own.branch, self.order.message.as_deref());
        match (self.order.way, given.map(str::trim).filter(|given| !given.is_empty())) {
            // The message itself is that of the commit before, which holds the changes.
            (FinishWay::Merge, None) => format!("Merge branch '{branch}'"),
            (FinishWay::Merge, Some(given)) => format!("Merge branch '{branch}'\n\n{given}"),
            (_, _) => self.message.clone(),
        }
    }

    fn run(&self, git: &Git, limits: &Limits) -> std::result::Result<Done, ChangesError> {
        let (project, path) = (&self.place.project, self.place.path());
        let main = self.repository.open(git, &project.path, limits)?;
        let checkpoints = self.sessions.snapshots.checkpoints(git, project.id, &path, limits)?;
        let (way, branch) = (self.order.way, self.place.own.branch.as_str());
        // All others act on the session's branch, and never on one that its agent has led here.
        if way != FinishWay::Remove {
            main.check_branch_of(&path, branch, limits)?;
        }
        if !matches!(way, FinishWay::Discard | FinishWay::Remove) {
            let own = self.repository.open(git, &path, limits)?;
            own.commit_all(branch, &self.message, limits)?;
            let base = self.place.own.base.as_deref();
            if let (Some(how), Some(base)) = (self.order.way.combined(), base) {
                let saved = self.next_name(&checkpoints)?;
                let message = &self.combined_message();
                let (checkpoints, saved) = (&checkpoints, &saved);
                let request = FinishRequest { how, branch, base, message, checkpoints, saved };
                if let Outcome::Conflicts(conflicts) = own.finish(&main, request, limits)? {
                    return Ok(Done::Conflicts(conflicts));
                }
            }
        }
        let discard = match self.order.lost {
            LostFiles::Refuse => Discard::CapturedOnly,
            LostFiles::Delete => Discard::Everything,
        };
        let name = self.next_name(&checkpoints)?;
        let commit = main.resolve(&format!("refs/heads/{branch}"), limits)?;
        main.remove_worktree(&checkpoints, &name, discard, limits)?;
        if let Some(commit) = commit.as_ref().filter(|_| way.deletes_branch()) {
            main.delete_branch(branch, commit, limits)?;
        }
        checkpoints.forget_work_tree(limits)?;
        Ok(Done::Removed { commit })
    }

    fn next_name(&self, checkpoints: &Checkpoints) -> convoke_git::Result<Name> {
        next_removal(checkpoints, self.place.id())
    }
}

/// The message of commits that Convoke makes.
pub(super) fn message(place: &SessionWorktree, order: &FinishOrder) -> String {
    let title = place.stored.summary.title.clone();
    let message = order.message.clone().or(title).unwrap_or_default();
    let message = message.trim();
    if message.is_empty() { "Changes of a session".to_owned() } else { message.to_owned() }
}

/// The name of the next snapshot before a removal.
pub(crate) fn next_removal(
    checkpoints: &Checkpoints,
    session: SessionId,
) -> convoke_git::Result<Name> {
    let last = last_removal(checkpoints, session)?;
    Name::new(&session.to_string(), CheckpointKind::Removal(last + 1))
}

/// The number of the last snapshot before a removal; 0 if there is none.
pub(super) fn last_removal(
    checkpoints: &Checkpoints,
    session: SessionId,
) -> convoke_git::Result<u64> {
    let names = checkpoints.list(&session.to_string())?.into_iter();
    let numbers = names.filter_map(|name| match name.kind() {
        CheckpointKind::Removal(number) => Some(number),
        CheckpointKind::Before(_)
        | CheckpointKind::Late(_)
        | CheckpointKind::After(_)
        | CheckpointKind::Restore(_) => None,
    });
    Ok(numbers.max().unwrap_or_default())
}
