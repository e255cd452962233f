//! Stores what is transferred with a session that leaves: its checkpoints, the commits of its work
//! tree, and the agent's own record of the conversation.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_core::files::OwnWorktree;
use convoke_core::id::{ProjectId, SessionId};
use convoke_git::{Carried, CarriedBranch, Checkpoints, Head, Limits, Name};
use convoke_histories::{Agent, find_record};
use convoke_store::{MovePart, StoredSession};

use super::cargo::{Cargo, CargoAgent, CargoFiles, CargoWorktree};
use super::{MoveError, MoveFiles, OutgoingMove};
use crate::blocking::blocking;
use crate::changes::{ChangesError, numbers};
use crate::error::{Error, Result};
use crate::histories::{environment_of, name_of};
use crate::session::start::explain;
use crate::sessions::Sessions;
use crate::settings::Checkpointing;
use crate::worktrees::moved::pack_branch;
use crate::worktrees::repository::Repository;
use crate::worktrees::{WorktreeError, next_removal};

/// The most that the checkpoints of a session may take when they are packed. The database holds it until the session has
/// arrived, and both machines hold it in a file; more is refused.
const PACK_BYTES_MAX: u64 = 256 << 20;
/// The longest record of an agent that is transferred; instead of a longer one, the agent is given
/// the transcript.
const RECORD_BYTES_MAX: u64 = 64 << 20;
/// Files missing in the checkpoint that the notice names.
const LEFT_OUT_MAX: usize = 10;
/// How much of a file is in memory at once.
pub(super) const PIECE: usize = 1 << 20;

/// Stores what is transferred; the session's agent is stopped.
pub(crate) async fn pack(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    workspace: &Path,
    outgoing: &OutgoingMove,
) -> Result<Cargo> {
    let order = &outgoing.order;
    if let Some(own) = &session.worktree {
        check_worktree(shared, session.project_id, own, order.files).await?;
    }
    shared.store.begin_move(session.id, order.to).await?;
    let files = pack_files(shared, session, workspace, order.files).await?;
    let worktree = match &session.worktree {
        Some(own) => Some(pack_worktree(shared, session, own, &files).await?),
        None => None,
    };
    let agent = pack_record(shared, session).await?;
    let (from, by) = (outgoing.from.clone(), order.by.clone());
    Ok(Cargo { from, by, files, agent, worktree, returned: None, release_queue: false })
}

async fn pack_files(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    workspace: &Path,
    write: MoveFiles,
) -> Result<CargoFiles> {
    let left = |why: &str| Ok(CargoFiles::None { why: why.to_owned() });
    if write == MoveFiles::Leave {
        return left("they were to stay");
    }
    if shared.settings.checkpoints == Checkpointing::Off {
        return left("checkpoints are switched off there");
    }
    let file = scratch(shared, session.id, "pack").await?;
    let to = file.try_clone();
    let to = to.map_err(|source| Error::Io { path: workspace.to_owned(), source })?;
    let leaving = session.clone();
    let packed = shared.snapshots.with(
        session.project_id,
        workspace.to_owned(),
        move |checkpoints, limits| pack_checkpoints(checkpoints, &leaving, &to, limits),
    );
    let Packed { carried, newest, left_out } = match packed.await {
        Ok(Some(packed)) => packed,
        Ok(None) => return Err(MoveError::TooLarge { max: PACK_BYTES_MAX }.into()),
        Err(error) if error.is_git_missing() => return left("git is not installed there"),
        Err(error @ ChangesError::ContainsHome { .. }) => return left(&explain(&error)),
        Err(error) => return Err(error.into()),
    };
    let bytes = upload(shared, session.id, MovePart::Checkpoint, file).await?;
    let head = head_of(shared, session.project_id, workspace).await;
    let words = carried.iter().map(Carried::to_word).collect::<convoke_git::Result<_>>();
    let (carried, newest) = (words.map_err(ChangesError::from)?, newest.to_word());
    let newest = newest.map_err(ChangesError::from)?;
    Ok(CargoFiles::Checkpoint { carried, newest, head, write, bytes, left_out })
}

/// Checkpoints that are in a file.
struct Packed {
    carried: Vec<Carried>,
    /// The one with the files as they are.
    newest: Carried,
    left_out: Vec<String>,
}

/// Makes a checkpoint of the files as they are, and packs it with all others of the session, or
/// alone if all are too large. `None` if it is too large alone.
fn pack_checkpoints(
    checkpoints: &Checkpoints,
    leaving: &StoredSession,
    mut to: &File,
    limits: &Limits,
) -> convoke_git::Result<Option<Packed>> {
    let session = &leaving.id.to_string();
    let numbers = numbers::next(&checkpoints.list(session)?);
    let name = match &leaving.worktree {
        // As when a work tree is removed: it is created again from this checkpoint.
        Some(_) => next_removal(checkpoints, leaving.id)?,
        None => Name::new(session, numbers.before)?,
    };
    let made = checkpoints.checkpoint(&name, limits)?;
    if leaving.worktree.is_none() {
        // As a restore that changes nothing: if the files there stay as they are, the session did not change them, and
        // an undo there brings these.
        checkpoints.copy(&name, &Name::new(session, numbers.after)?, limits)?;
    }
    let newest = Carried { kind: name.kind(), commit: made.commit };
    let left_out = made.left_out.iter().take(LEFT_OUT_MAX);
    let left_out = left_out.map(|it| it.path.to_string_lossy().into_owned()).collect();
    let carried = checkpoints.carried(session, limits)?;
    if checkpoints.pack(&carried, to, PACK_BYTES_MAX, limits)? {
        return Ok(Some(Packed { carried, newest, left_out }));
    }
    let emptied = to.set_len(0).and_then(|()| to.rewind());
    emptied.map_err(|source| convoke_git::Error::Io {
        doing: "empty",
        path: PathBuf::from("a pack"),
        source,
    })?;
    let carried = vec![newest.clone()];
    let is_packed = checkpoints.pack(&carried, to, PACK_BYTES_MAX, limits)?;
    Ok(is_packed.then_some(Packed { carried, newest, left_out }))
}

/// Refuses a work tree that could not be created elsewhere as it is here.
async fn check_worktree(
    shared: &Arc<Sessions>,
    project: ProjectId,
    own: &OwnWorktree,
    files: MoveFiles,
) -> Result<()> {
    match files {
        MoveFiles::Auto | MoveFiles::Restore => {}
        MoveFiles::Checkpoint | MoveFiles::Leave => return Err(MoveError::FilesStay.into()),
    }
    if shared.settings.checkpoints == Checkpointing::Off {
        let why = "checkpoints are switched off".to_owned();
        return Err(MoveError::Worktree { why }.into());
    }
    let path = PathBuf::from(&own.path);
    if !path.exists() {
        return Err(WorktreeError::Missing { path }.into());
    }
    let facts = facts_of(shared, project, &path).await?;
    if let Some(operation) = facts.operation {
        return Err(MoveError::Operation { path, operation }.into());
    }
    match facts.head {
        Head::Branch { name, .. } if name == own.branch => Ok(()),
        Head::Branch { .. } | Head::Detached { .. } | Head::Unborn { .. } => {
            Err(MoveError::OtherBranch { path, branch: own.branch.clone() }.into())
        }
    }
}

/// Stores the commits of a work tree's branch. All of its files must be in the checkpoint, since its folder is removed.
async fn pack_worktree(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    own: &OwnWorktree,
    files: &CargoFiles,
) -> Result<CargoWorktree> {
    match files {
        CargoFiles::None { why } => return Err(MoveError::Worktree { why: why.clone() }.into()),
        CargoFiles::Checkpoint { left_out, .. } if !left_out.is_empty() => {
            return Err(MoveError::NotCaptured { files: left_out.clone() }.into());
        }
        CargoFiles::Checkpoint { .. } => {}
    }
    let unknown = || Error::UnknownProject { text: session.project_id.to_string() };
    let project = shared.store.project(session.project_id).await?.ok_or_else(unknown)?;
    let workspace = Path::new(&own.path);
    let file = scratch(shared, session.id, "commits").await?;
    let to = file.try_clone();
    let to = to.map_err(|source| Error::Io { path: workspace.to_owned(), source })?;
    let packed = pack_branch(shared, &project, workspace, to, PACK_BYTES_MAX).await?;
    let too_large = || {
        let (branch, max) = (own.branch.clone(), PACK_BYTES_MAX);
        MoveError::CommitsTooLarge { branch, max }
    };
    let CarriedBranch { tip, needs } = packed.ok_or_else(too_large)?;
    let bytes = upload(shared, session.id, MovePart::Commits, file).await?;
    let needs = needs.iter().map(ToString::to_string).collect();
    let (project, tip) = (session.project_id, tip.to_string());
    Ok(CargoWorktree { project, own: own.clone(), tip, needs, bytes })
}

/// The commit that is checked out in a folder; none if it is not the root of a repository.
pub(super) async fn head_of(
    shared: &Arc<Sessions>,
    project: ProjectId,
    workspace: &Path,
) -> Option<String> {
    facts_of(shared, project, workspace).await.ok().and_then(|facts| match facts.head {
        Head::Branch { commit, .. } | Head::Detached { commit } => Some(commit.to_string()),
        Head::Unborn { .. } => None,
    })
}

/// What git says about a folder.
pub(super) async fn facts_of(
    shared: &Arc<Sessions>,
    project: ProjectId,
    workspace: &Path,
) -> std::result::Result<convoke_git::Facts, ChangesError> {
    let (sessions, folder) = (Arc::clone(shared), workspace.to_owned());
    let facts = shared.snapshots.run(project, move |git, limits| {
        let repository = Repository::of(&sessions, &folder, &folder)?;
        Ok(repository.open(git, &folder, limits)?.facts(limits)?)
    });
    facts.await
}

/// Stores the agent's own record of the conversation, if it has one that can be transferred.
async fn pack_record(shared: &Arc<Sessions>, session: &StoredSession) -> Result<CargoAgent> {
    let none = |why: &str| Ok(CargoAgent::None { why: why.to_owned() });
    let Some(id) = session.agent_session_id.clone() else {
        return none("it had no session of its own");
    };
    let agent = Agent::ALL.into_iter().find(|agent| name_of(*agent) == session.agent);
    let Some(agent) = agent else {
        return none("its own record cannot be moved");
    };
    let (environment, of) = (environment_of(&shared.host), id.clone());
    let record = match blocking(move || find_record(agent, &environment, &of)).await? {
        Ok(Some(record)) => record,
        Ok(None) => return none("its own record cannot be moved"),
        Err(error) => return none(&explain(&error)),
    };
    if record.bytes > RECORD_BYTES_MAX {
        return none("its own record is too long");
    }
    let path = record.path.clone();
    let bytes = upload(shared, session.id, MovePart::Agent, record.file).await?;
    Ok(CargoAgent::Record { agent, id, path, bytes })
}

/// Stores a file in pieces; returns its length.
async fn upload(
    shared: &Arc<Sessions>,
    session: SessionId,
    part: MovePart,
    file: File,
) -> Result<u64> {
    let unreadable = |source| Error::Io { path: shared.host.home.clone(), source };
    let max = PACK_BYTES_MAX.max(RECORD_BYTES_MAX);
    let mut file = file;
    file.rewind().map_err(unreadable)?;
    let (mut number, mut total) = (0, 0);
    loop {
        if shared.registry.is_stopping() {
            return Err(Error::Stopping);
        }
        let read = blocking(move || {
            let mut piece = Vec::with_capacity(PIECE);
            let read = (&mut file).take(PIECE as u64).read_to_end(&mut piece);
            (file, read.map(|_| piece))
        });
        let (back, piece) = read.await?;
        file = back;
        let piece = piece.map_err(unreadable)?;
        if piece.is_empty() {
            return Ok(total);
        }
        total += piece.len() as u64;
        // A record may grow while it is read, if the agent's program runs elsewhere.
        if total > max {
            return Err(MoveError::TooLarge { max }.into());
        }
        shared.store.add_move_part(session, part, number, piece).await?;
        number += 1;
    }
}

/// The folder for temporary files of moves. Its contents belong to the running daemon.
pub(super) fn folder_of(shared: &Sessions) -> PathBuf {
    shared.host.home.join("run").join("moves")
}

/// An anonymous temporary file: its name is removed as soon as it is open.
pub(super) async fn scratch(shared: &Sessions, session: SessionId, what: &str) -> Result<File> {
    let folder = folder_of(shared);
    let path = folder.join(format!("{session}.{what}"));
    let failed = path.clone();
    let made = blocking(move || -> std::io::Result<File> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    });
    made.await?.map_err(|source| Error::Io { path: failed, source })
}
