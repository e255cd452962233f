//! Writes what was transferred with a session, before its task starts here.
//!
//! The whole step is repeated if the daemon is killed before the session's first update, so each
//! part must be idempotent. A part that fails is reported in the session's log; only errors that
//! may pass, such as an unreachable database, abort the arrival, which is retried.

use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_core::id::{ProjectId, SessionId};
use convoke_core::notice::{MovedFiles, MovedMemory, SessionMove};
use convoke_git::{Carried, Head, Name, Scope};
use convoke_histories::place_record;
use convoke_store::{MovePart, StoredSession};

use super::cargo::{Cargo, CargoAgent, CargoFiles};
use super::pack::{facts_of, scratch};
use super::worktree::{hand_back, take_back, unpack_worktree};
use super::{MoveError, MoveFiles};
use crate::blocking::blocking;
use crate::changes::{ChangesError, Folder, RestoreGuard, to_checkpoint};
use crate::error::{Error, Result};
use crate::histories::environment_of;
use crate::session::start::explain;
use crate::sessions::Sessions;
use crate::settings::Checkpointing;
use crate::snapshots::totals;

/// A session that has moved here, with its files in place.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// The content of the notice about the move.
    pub(crate) moved: SessionMove,
    /// Whether its queued prompts are sent now.
    pub(crate) release_queue: bool,
}

/// Writes what was transferred with a session, if it has moved here and its move is not complete.
pub(crate) async fn arrival(
    shared: &Arc<Sessions>,
    session: &StoredSession,
) -> Result<Option<Unpacked>> {
    let Some(moving) = shared.store.arrival(session.id).await? else { return Ok(None) };
    let cargo: Cargo = serde_json::from_str(&moving.cargo).unwrap_or_else(|error| {
        tracing::error!(session.id = %session.id, "what came along cannot be read: {error}");
        Cargo::of_away("another node".to_owned(), None)
    });
    let project = shared.store.project(session.project_id).await?;
    let project = project.ok_or(MoveError::NoRemote)?;
    if shared.store.node() == Some(moving.source)
        && let Some(worktree) = cargo.worktree.clone()
    {
        return take_back(shared, session, moving.source, cargo, &worktree).await.map(Some);
    }
    let left_behind = match &cargo.files {
        CargoFiles::None { .. } => Vec::new(),
        CargoFiles::Checkpoint { left_out, .. } => left_out.clone(),
    };
    let (files, workspace) = match (&cargo.files, &cargo.worktree) {
        (CargoFiles::None { why }, _) => {
            (MovedFiles::Left { why: why.clone() }, project.path.clone())
        }
        (CargoFiles::Checkpoint { .. }, Some(worktree)) => {
            match unpack_worktree(shared, session, &project, (&cargo.files, worktree)).await? {
                Ok(own) => {
                    let workspace = PathBuf::from(&own.path);
                    (MovedFiles::Worktree { path: own.path, branch: own.branch }, workspace)
                }
                Err(why) => {
                    let project = worktree.project;
                    hand_back(shared, session.id, (moving.source, project), cargo, why).await?;
                    return Err(Error::OtherNode { session: session.id });
                }
            }
        }
        (CargoFiles::Checkpoint { .. }, None) => {
            let files = match unpack_files(shared, session, &project.path, &cargo.files).await {
                Ok(files) => files,
                Err(error) if is_passing(&error) => return Err(error),
                Err(error) => MovedFiles::Left { why: explain(&error) },
            };
            (files, project.path.clone())
        }
    };
    let memory = match unpack_record(shared, session.id, &workspace, &cargo.agent).await {
        Ok(memory) => memory,
        Err(error) if is_passing(&error) => return Err(error),
        Err(error) => MovedMemory::Transcript { why: explain(&error) },
    };
    let Cargo { from, by, release_queue, .. } = cargo;
    let to = shared.settings.node.0.clone();
    let moved = SessionMove { from, to, by, files, left_behind, memory };
    Ok(Some(Unpacked { moved, release_queue }))
}

/// Whether the arrival may succeed at the next attempt.
pub(super) fn is_passing(error: &Error) -> bool {
    matches!(
        error,
        Error::Store(_)
            | Error::Stopping
            | Error::OtherNode { .. }
            // Git is cancelled when the daemon stops.
            | Error::Changes(ChangesError::Gone | ChangesError::Git(convoke_git::Error::Cancelled))
    )
}

/// Reads a file from its pieces.
pub(super) async fn download(
    shared: &Arc<Sessions>,
    session: SessionId,
    part: MovePart,
    bytes: u64,
) -> Result<std::fs::File> {
    let unwritable = |source| Error::Io { path: super::pack::folder_of(shared), source };
    let mut file = scratch(shared, session, part_name(part)).await?;
    let (mut number, mut total) = (0, 0);
    while let Some(piece) = shared.store.move_part(session, part, number).await? {
        number += 1;
        total += piece.len() as u64;
        let written = blocking(move || {
            let written = file.write_all(&piece);
            (file, written)
        });
        let (back, written) = written.await?;
        file = back;
        written.map_err(unwritable)?;
    }
    if total != bytes {
        return Err(unwritable(std::io::Error::other("it is not complete")));
    }
    file.rewind().map_err(unwritable)?;
    Ok(file)
}

const fn part_name(part: MovePart) -> &'static str {
    match part {
        MovePart::Checkpoint => "pack",
        MovePart::Agent => "record",
        MovePart::Commits => "commits",
    }
}

/// Stores the checkpoints that were transferred; returns why it cannot.
pub(super) async fn unpack_checkpoints(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    workspace: &Path,
    files: &CargoFiles,
) -> Result<std::result::Result<(), String>> {
    let CargoFiles::Checkpoint { carried, newest, bytes, .. } = files else { return Ok(Ok(())) };
    if shared.settings.checkpoints == Checkpointing::Off {
        return Ok(Err("checkpoints are switched off here".to_owned()));
    }
    let words = carried.iter().chain([newest]);
    let carried: Option<Vec<Carried>> = words.map(|word| Carried::parse(word)).collect();
    let Some(carried) = carried else {
        return Ok(Err("another version of Convoke packed them".to_owned()));
    };
    let pack = download(shared, session.id, MovePart::Checkpoint, *bytes).await?;
    let id = session.id.to_string();
    let unpacked = shared.snapshots.with(
        session.project_id,
        workspace.to_owned(),
        move |checkpoints, limits| checkpoints.unpack(&id, &carried, &pack, limits),
    );
    Ok(Ok(unpacked.await?))
}

async fn unpack_files(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    workspace: &Path,
    files: &CargoFiles,
) -> Result<MovedFiles> {
    let CargoFiles::Checkpoint { newest, head, write, .. } = files else {
        return Ok(MovedFiles::Same);
    };
    if let Err(why) = unpack_checkpoints(shared, session, workspace, files).await? {
        return Ok(MovedFiles::Left { why });
    }
    let Some(newest) = Carried::parse(newest) else { return Ok(MovedFiles::Same) };
    let refusal = refusal(shared, session.project_id, workspace, *write, head.as_deref()).await;
    let (id, folder) = (session.id.to_string(), Folder::of(session));
    let unpacked = shared.snapshots.with(
        session.project_id,
        workspace.to_owned(),
        move |checkpoints, limits| {
            let name = Name::new(&id, newest.kind)?;
            let to = checkpoints.find(&name, limits)?.ok_or(convoke_git::Error::Unexpected {
                command: "git index-pack".to_owned(),
                what: "no checkpoint".to_owned(),
            })?;
            if checkpoints.snapshot(limits)?.tree == to.tree {
                return Ok((MovedFiles::Same, None));
            }
            if let Some(why) = refusal {
                return Ok((MovedFiles::Kept { why }, None));
            }
            let names = checkpoints.list(&id)?;
            let guard = RestoreGuard::Force;
            let restored = to_checkpoint(checkpoints, &names, &to, Scope::All, guard, limits)?;
            Ok(match restored {
                Ok((restored, made)) => {
                    let totals = totals(checkpoints, &made, folder, limits);
                    let written = restored.written.len() as u64;
                    let removed = restored.removed.len() as u64;
                    (MovedFiles::Written { written, removed }, totals)
                }
                Err(error) => (MovedFiles::Kept { why: explain(&error) }, None),
            })
        },
    );
    let (files, totals) = unpacked.await?;
    if let Some(totals) = totals {
        shared.store.set_changes(session.id, totals).await?;
    }
    Ok(files)
}

/// Why the files are not written into a folder.
async fn refusal(
    shared: &Arc<Sessions>,
    project: ProjectId,
    workspace: &Path,
    write: MoveFiles,
    head: Option<&str>,
) -> Option<String> {
    match write {
        MoveFiles::Restore => return None,
        MoveFiles::Checkpoint | MoveFiles::Leave => {
            return Some("only a checkpoint was wanted".to_owned());
        }
        MoveFiles::Auto => {}
    }
    let Ok(facts) = facts_of(shared, project, workspace).await else {
        return Some("the folder is not a git repository".to_owned());
    };
    let here = match facts.head {
        Head::Branch { commit, .. } | Head::Detached { commit } => Some(commit.to_string()),
        Head::Unborn { .. } => None,
    };
    if !facts.dirty.is_clean() || facts.operation.is_some() {
        Some("the folder has uncommitted changes".to_owned())
    } else if here.as_deref() != head {
        Some("another commit is checked out here".to_owned())
    } else {
        None
    }
}

async fn unpack_record(
    shared: &Arc<Sessions>,
    session: SessionId,
    workspace: &Path,
    agent: &CargoAgent,
) -> Result<MovedMemory> {
    let CargoAgent::Record { agent, id, path, bytes } = agent else {
        let CargoAgent::None { why } = agent else { return Ok(MovedMemory::Record) };
        return Ok(MovedMemory::Transcript { why: why.clone() });
    };
    let mut from = download(shared, session, MovePart::Agent, *bytes).await?;
    let environment = environment_of(&shared.host);
    let (agent, id, path, cwd) = (*agent, id.clone(), path.clone(), workspace.to_owned());
    let placed =
        blocking(move || place_record(agent, &environment, &id, &path, &cwd, &mut from)).await?;
    Ok(match placed {
        Ok(_) => MovedMemory::Record,
        Err(error) => MovedMemory::Transcript { why: explain(&error) },
    })
}
