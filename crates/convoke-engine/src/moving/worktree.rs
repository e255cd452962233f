//! Creates the work tree of a session that arrives, or hands the session back to the machine that still has it.

use std::path::PathBuf;
use std::sync::Arc;

use convoke_core::files::{OwnWorktree, Removal, RemovedWorktree};
use convoke_core::id::{NodeId, ProjectId, SessionId};
use convoke_core::notice::{MovedFiles, MovedMemory, SessionMove};
use convoke_git::{CarriedBranch, Error as GitError, ObjectId};
use convoke_store::{HandOver, MovePart, Owner, Project, StoredSession};

use super::MoveError;
use super::cargo::{Cargo, CargoFiles, CargoWorktree, Returned};
use super::unpack::{Unpacked, download, is_passing, unpack_checkpoints};
use crate::changes::ChangesError;
use crate::error::{Error, Result};
use crate::session::start::explain;
use crate::sessions::Sessions;
use crate::settings::Checkpointing;
use crate::worktrees::make::{free_path, work_trees};
use crate::worktrees::moved::{make_moved, remove_earlier, write_note};

/// Creates the work tree in a new folder; returns why it cannot. Errors that may pass are returned as such.
pub(super) async fn unpack_worktree(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    project: &Project,
    cargo: (&CargoFiles, &CargoWorktree),
) -> Result<std::result::Result<OwnWorktree, String>> {
    match create(shared, session, project, cargo).await {
        Ok(own) => Ok(Ok(own)),
        Err(error) if is_passing(&error) => Err(error),
        Err(error) => Ok(Err(reason(&error, project))),
    }
}

async fn create(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    project: &Project,
    (files, worktree): (&CargoFiles, &CargoWorktree),
) -> Result<OwnWorktree> {
    if shared.settings.checkpoints == Checkpointing::Off {
        let why = "checkpoints are switched off there".to_owned();
        return Err(MoveError::Worktree { why }.into());
    }
    let folder = work_trees(shared, project)?;
    let stored = session.worktree.as_ref().map(|own| PathBuf::from(&own.path));
    let path = match stored.filter(|path| path.parent() == Some(folder.as_path())) {
        // An earlier attempt was interrupted.
        Some(path) => path,
        None => {
            // One from an earlier stay here may still have the branch checked out.
            remove_earlier(shared, session.id).await?;
            free_path(&folder, session.id, &worktree.own.branch)
        }
    };
    let own = OwnWorktree { path: path.display().to_string(), ..worktree.own.clone() };
    // Before it is created, so that it is removed if the session ends up elsewhere.
    write_note(shared, session.id, project.id, own.clone(), worktree.tip.clone())?;
    shared.store.set_worktree(session.id, Some(&own)).await?;
    if let Err(why) = unpack_checkpoints(shared, session, &project.path, files).await? {
        return Err(MoveError::Worktree { why }.into());
    }
    let id = |text: &String| ObjectId::parse(text).map_err(ChangesError::from);
    let needs = worktree.needs.iter().map(id).collect::<std::result::Result<_, _>>()?;
    let carried = CarriedBranch { tip: id(&worktree.tip)?, needs };
    let from = download(shared, session.id, MovePart::Commits, worktree.bytes).await?;
    let commit = Some(worktree.tip.clone());
    let removed = RemovedWorktree { how: Removal::Remove, at: shared.now(), commit };
    let absent = OwnWorktree { removed: Some(removed), ..own.clone() };
    make_moved(shared, session, absent, project, (carried, from)).await?;
    Ok(own)
}

/// Why a work tree cannot be created here, for a reader on the other machine.
fn reason(error: &Error, project: &Project) -> String {
    let path = project.path.display();
    if let Error::Move(MoveError::Worktree { why }) = error {
        return why.clone();
    }
    if let Error::Changes(ChangesError::Git(error)) = error {
        if let GitError::NotFound { what } = error {
            return format!("{path} does not have {what}: run `git fetch` there");
        }
        if let GitError::BranchExists { branch } = error {
            return format!(
                "{path} has a branch {branch} with other commits, or has it checked out: rename or delete it there"
            );
        }
    }
    explain(error)
}

/// Hands a session back to the machine that packed it, which still has its work tree.
pub(super) async fn hand_back(
    shared: &Arc<Sessions>,
    session: SessionId,
    (target, project): (NodeId, ProjectId),
    cargo: Cargo,
    why: String,
) -> Result<()> {
    tracing::warn!(session.id = %session, "the work tree cannot be created, and the session goes back: {why}");
    let by = shared.settings.node.0.clone();
    let cargo = Cargo { returned: Some(Returned { by, why }), ..cargo }.to_json();
    let order = HandOver { session, from: Owner::Own, target, project, cargo };
    Ok(shared.store.hand_over(order).await?)
}

/// A session that comes back before it arrived elsewhere has its work tree as it was.
pub(super) async fn take_back(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    own_node: NodeId,
    cargo: Cargo,
    worktree: &CargoWorktree,
) -> Result<Unpacked> {
    let (id, own) = (session.id, &worktree.own);
    if session.project_id != worktree.project {
        // It was taken into another project than that of its work tree.
        let (project, cargo) = (worktree.project, cargo.to_json());
        let order = HandOver { session: id, from: Owner::Own, target: own_node, project, cargo };
        shared.store.hand_over(order).await?;
    }
    shared.store.set_worktree(id, Some(own)).await?;
    let Cargo { from, by, returned, release_queue, .. } = cargo;
    let (from, why) = match returned {
        Some(Returned { by: node, why }) => (node, Some(why)),
        None => (from, None),
    };
    let moved = SessionMove {
        from,
        to: shared.settings.node.0.clone(),
        by,
        files: MovedFiles::Stayed { path: own.path.clone(), why },
        left_behind: Vec::new(),
        memory: MovedMemory::Record,
    };
    Ok(Unpacked { moved, release_queue })
}
