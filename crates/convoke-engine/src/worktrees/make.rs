//! Makes the work tree of a new session, and removes it again if the session cannot be created.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_core::files::OwnWorktree;
use convoke_core::id::{SessionId, short};
use convoke_core::message::Seq;
use convoke_core::notice::FilesEvent;
use convoke_git::{
    Branch, BranchFolder, CheckpointKind, Copied, Discard, Error as GitError, Git, Guard, Limits,
    Name, NewWorktree, Scope, WorktreeState, check_branch_folder,
};
use convoke_store::{Project, StoredSession};

use super::WorktreeError;
use super::note::Note;
use super::repository::{Repository, slug, work_trees_of};
use crate::changes::ChangesError;
use crate::error::{Error, Result};
use crate::sessions::Sessions;
use crate::settings::Checkpointing;

/// A work tree that a new session is to have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WantedWorktree {
    /// A branch that exists, or the name of a new one; by default Convoke names a new one.
    pub branch: Option<String>,
}

/// A session whose files a new work tree gets.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) session: StoredSession,
    /// The last turn whose changes it has; all of them without one.
    pub(crate) turn: Option<Seq>,
}

/// A work tree that was made.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) own: OwnWorktree,
    copied: Copied,
}

impl Made {
    /// The notice for the conversation.
    pub(crate) fn event(&self) -> FilesEvent {
        let left_out = self.copied.left_out.iter().map(|path| path.display().to_string());
        FilesEvent::WorktreeMade {
            path: self.own.path.clone(),
            branch: self.own.branch.clone(),
            copied: self.copied.files.len() as u64,
            left_out: left_out.collect(),
        }
    }
}

/// The result of a git call: an error of git, or a refusal by Convoke.
type Refusable<T> = std::result::Result<std::result::Result<T, WorktreeError>, ChangesError>;

/// Makes the work tree of a session that is not stored yet. Until `kept` is called, the next start
/// removes it.
pub(crate) async fn make(
    shared: &Arc<Sessions>,
    project: &Project,
    session: SessionId,
    wanted: WantedWorktree,
    origin: Option<Origin>,
) -> Result<Made> {
    let folder = work_trees(shared, project)?;
    let maker = Maker {
        shared: Arc::clone(shared),
        repository: Repository::of(shared, &project.path, &folder).map_err(ChangesError::from)?,
        project: project.clone(),
        session,
        folder,
        origin,
    };
    let made =
        shared.snapshots.run(project.id, move |git, limits| maker.make(git, &wanted, limits));
    match made.await {
        Ok(Ok(made)) => Ok(made),
        Ok(Err(refusal)) => Err(refusal.into()),
        Err(error) => {
            take_back(shared, session).await;
            Err(error.into())
        }
    }
}

/// Removes the journal entry, since the session is stored with its work tree.
pub(crate) fn kept(shared: &Sessions, session: SessionId) {
    Note::remove(&shared.host.home, session);
}

/// Removes the work tree of a session that was not stored.
pub(crate) async fn take_back(shared: &Arc<Sessions>, session: SessionId) {
    let found = Note::all(&shared.host.home).into_iter().find(|(id, _)| *id == session);
    let Some((_, Note::Make { project, worktree, start })) = found else { return };
    let undone = match shared.store.project(project).await {
        Ok(Some(project)) => undo(shared, &project, session, worktree, start).await,
        Ok(None) => Ok(()),
        Err(error) => Err(error.into()),
    };
    if let Err(error) = undone {
        tracing::warn!("a work tree that is not needed cannot be removed: {error}");
    }
}

/// Removes a work tree that no session has, and its branch if that is new and has no commits.
pub(super) async fn undo(
    shared: &Arc<Sessions>,
    project: &Project,
    session: SessionId,
    own: OwnWorktree,
    start: Option<String>,
) -> Result<()> {
    let folder = work_trees(shared, project)?;
    let repository = Repository::of(shared, &project.path, &folder).map_err(ChangesError::from)?;
    let (snapshots, project) = (Arc::clone(&shared.snapshots), project.clone());
    let undone = shared.snapshots.run(project.id, move |git, limits| {
        let main = repository.open(git, &project.path, limits)?;
        let path = PathBuf::from(&own.path);
        main.wait_for_worktree(&path, limits)?;
        main.recover_worktrees(&folder, limits)?;
        let found = main.worktrees(limits)?.into_iter().find(|it| it.path == path);
        match found.map(|found| found.state) {
            Some(WorktreeState::Ready) => {
                let checkpoints = snapshots.checkpoints(git, project.id, &path, limits)?;
                let name = Name::new(&session.to_string(), CheckpointKind::Removal(0))?;
                main.remove_worktree(&checkpoints, &name, Discard::Everything, limits)?;
                checkpoints.forget_work_tree(limits)?;
            }
            Some(WorktreeState::Gone) => main.prune_worktrees(limits)?,
            Some(WorktreeState::HalfMade | WorktreeState::Locked | WorktreeState::Bare) | None => {}
        }
        let tip = main.resolve(&format!("refs/heads/{}", own.branch), limits)?;
        match tip.filter(|tip| Some(tip.as_str()) == start.as_deref()) {
            Some(tip) => Ok(main.delete_branch(&own.branch, &tip, limits)?),
            None => Ok(()),
        }
    });
    undone.await?;
    Note::remove(&shared.host.home, session);
    Ok(())
}

/// The folder with the work trees of a project.
pub(crate) fn work_trees(shared: &Sessions, project: &Project) -> Result<PathBuf> {
    let root = &shared.settings.worktrees.root;
    let made = work_trees_of(root, &project.name, &project.id.to_string());
    made.map_err(|source| Error::Io { path: root.clone(), source })
}

/// The branch that Convoke names for a session.
pub(crate) fn own_branch(session: SessionId) -> String {
    format!("{}work", own_folder(session))
}

/// The folder of branches that Convoke makes for a session, whose agent may write it.
fn own_folder(session: SessionId) -> String {
    format!("convoke/{}/", short(session))
}

/// Whose folder a session's branch is in.
pub(crate) fn branch_folder(session: SessionId, branch: &str) -> BranchFolder {
    if branch.starts_with(&own_folder(session)) { BranchFolder::Own } else { BranchFolder::Chosen }
}

/// A folder that does not exist, named like the branch.
pub(crate) fn free_path(folder: &Path, session: SessionId, branch: &str) -> PathBuf {
    let short = short(session);
    let name = match branch.strip_prefix(&own_folder(session)) {
        Some("work") => short.clone(),
        Some(name) => slug(name),
        None => slug(branch),
    };
    let path = folder.join(&name);
    if path.symlink_metadata().is_ok() { folder.join(format!("{name}-{short}")) } else { path }
}

/// What is needed to make one.
struct Maker {
    shared: Arc<Sessions>,
    repository: Repository,
    project: Project,
    session: SessionId,
    folder: PathBuf,
    origin: Option<Origin>,
}

impl Maker {
    fn make(&self, git: &Git, wanted: &WantedWorktree, limits: &Limits) -> Refusable<Made> {
        let main = self.repository.open(git, &self.project.path, limits)?;
        let from = self.origin.as_ref().and_then(|it| it.session.worktree.as_ref());
        let start = match from {
            Some(from) => main.resolve(&format!("refs/heads/{}", from.branch), limits)?,
            None => None,
        };
        let start = match start {
            Some(start) => Some(start),
            None => main.resolve("HEAD", limits)?,
        };
        let Some(start) = start else {
            return Ok(Err(WorktreeError::NoCommits { path: self.project.path.clone() }));
        };
        let base = match from {
            Some(from) => from.base.clone(),
            None => main.branch(limits)?,
        };
        let is_branch = |name: &str| -> std::result::Result<bool, GitError> {
            Ok(main.resolve(&format!("refs/heads/{name}"), limits)?.is_some())
        };
        let name = match &wanted.branch {
            None => own_branch(self.session),
            // Beside `main` and others, the agent could write those, too.
            Some(new) if !new.contains('/') && !is_branch(new)? => {
                format!("{}{new}", own_folder(self.session))
            }
            Some(chosen) => chosen.clone(),
        };
        if branch_folder(self.session, &name) == BranchFolder::Chosen {
            check_branch_folder(&self.project.path, &name)?;
        }
        let exists = is_branch(&name)?;
        let path = free_path(&self.folder, self.session, &name);
        let worktree = OwnWorktree {
            path: path.display().to_string(),
            branch: name.clone(),
            base,
            removed: None,
        };
        let note = Note::Make {
            project: self.project.id,
            worktree: worktree.clone(),
            start: (!exists).then(|| start.to_string()),
        };
        if let Err(error) = note.write(&self.shared.host.home, self.session) {
            return Ok(Err(error));
        }
        let branch = match exists {
            true => Branch::Existing { name },
            false => Branch::New { name, from: start.to_string() },
        };
        main.add_worktree(&NewWorktree { path: path.clone(), branch }, limits)?;
        let copied = main.copy_included(&path, &self.shared.snapshots.hidden_paths(), limits)?;
        self.bring_files(git, &path, limits)?;
        Ok(Ok(Made { own: worktree, copied }))
    }

    /// Restores the files to their state after a turn of the forked session.
    fn bring_files(
        &self,
        git: &Git,
        path: &Path,
        limits: &Limits,
    ) -> std::result::Result<(), ChangesError> {
        let Some(origin) = &self.origin else { return Ok(()) };
        if self.shared.settings.checkpoints == Checkpointing::Off {
            return Ok(());
        }
        let checkpoints = self.shared.snapshots.checkpoints(git, self.project.id, path, limits)?;
        let names = checkpoints.list(&origin.session.id.to_string())?;
        let is_in = |name: &&Name| match name.kind() {
            CheckpointKind::After(turn) => origin.turn.is_none_or(|last| turn <= last.get()),
            CheckpointKind::Before(_)
            | CheckpointKind::Late(_)
            | CheckpointKind::Restore(_)
            | CheckpointKind::Removal(_) => false,
        };
        let Some(last) = names.iter().filter(is_in).max() else { return Ok(()) };
        let Some(to) = checkpoints.find(last, limits)? else { return Ok(()) };
        let undo = Name::new(&self.session.to_string(), CheckpointKind::Removal(0))?;
        checkpoints.restore(&to, Scope::All, Guard::Force, &undo, limits)?;
        Ok(())
    }
}
