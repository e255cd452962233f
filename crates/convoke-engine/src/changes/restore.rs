//! Restores files to what they were before a turn, and undoes that.

use std::path::PathBuf;

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::notice::{FilesEvent, Notice};
use convoke_core::session::{Command, Report};
use convoke_core::turn::TurnNumbers;
use convoke_git::{
    Blocked, Checkpoint, CheckpointKind, Checkpoints, Guard, Limits, Name, Restored, Scope, Status,
};

use super::{
    Changes, ChangesError, DIFF_BYTES_MAX, DiffRange, SessionFiles, change_at, numbers, range,
};
use crate::error::Result;
use crate::session::{self, HeldProcess, Request};
use crate::snapshots;
use crate::view::Change;
use crate::worktrees::WorktreeError;

/// When a restore is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreGuard {
    /// When a file that it would write was changed since the last checkpoint.
    Unchanged,
    /// Never.
    Force,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// Files that were written, in order.
    pub written: Vec<PathBuf>,
    /// Files that were removed, in order.
    pub removed: Vec<PathBuf>,
    /// Files that differ and were left alone.
    pub blocked: Vec<Blocked>,
}

/// The result of a call that may be refused.
type Refusable<T> = convoke_git::Result<std::result::Result<T, ChangesError>>;

/// What was restored, and the checkpoint after it.
type Outcome = (Restored, Checkpoint);

impl Changes {
    /// Restores all files to what they were before a turn.
    pub async fn restore(
        &self,
        id: SessionId,
        turn: Seq,
        guard: RestoreGuard,
    ) -> Result<Restoration> {
        let place = self.idle_place(id).await?;
        let restored = self.run(place, move |checkpoints, names, limits| {
            let begin = numbers::begin_of(names, turn.get());
            let Some(to) = range::side(checkpoints, names, begin, limits)? else {
                let turns = range::turns(names);
                return Ok(Err(ChangesError::UnknownTurn { turn, turns }));
            };
            to_checkpoint(checkpoints, names, &to, Scope::All, guard, limits)
        });
        let restored = restored.await?;
        self.add_restore_notice(id, Some(turn), &restored).await;
        Ok(restored)
    }

    /// Undoes the last restore that was not undone yet; one after the other until the last turn.
    pub async fn undo(&self, id: SessionId, guard: RestoreGuard) -> Result<Restoration> {
        let place = self.idle_place(id).await?;
        let restored = self.run(place, move |checkpoints, names, limits| {
            let Some(to) = before_last(checkpoints, names, limits)? else {
                return Ok(Err(ChangesError::NothingToUndo));
            };
            to_checkpoint(checkpoints, names, &to, Scope::All, guard, limits)
        });
        let restored = restored.await?;
        self.add_restore_notice(id, None, &restored).await;
        Ok(restored)
    }

    /// Reverts one file of a diff to what it was before, or one hunk of it by its number from 0.
    pub async fn revert(
        &self,
        id: SessionId,
        range: DiffRange,
        path: String,
        hunk: Option<usize>,
        guard: RestoreGuard,
    ) -> Result<Restoration> {
        let place = self.idle_place(id).await?;
        let sides = place.clone();
        let restored = self.run(place, move |checkpoints, names, limits| {
            let found = match range::find(checkpoints, &sides, range, limits)? {
                Ok(found) => found,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let Some(change) = change_at(checkpoints, &found, &path, limits)? else {
                return Ok(Err(ChangesError::Unchanged { path }));
            };
            let Some(hunk) = hunk else {
                let turns = match range {
                    DiffRange::Session => range::turns(names),
                    DiffRange::Turn(turn) => vec![turn],
                };
                // Of the first turn, unless that checkpoint is lost.
                let mut found_before = None;
                for turn in turns {
                    let kind = CheckpointKind::Before(turn.get());
                    found_before = range::side(checkpoints, names, kind, limits)?;
                    if found_before.is_some() {
                        break;
                    }
                }
                let Some(before) = found_before else {
                    return Ok(Err(ChangesError::NoCheckpoint));
                };
                // What the diff shows as the old side, which has what others changed since.
                let to = Checkpoint { tree: found.from, ..before };
                let mut paths = vec![change.path];
                if let Status::Renamed { from } = change.status {
                    paths.push(from);
                }
                return to_checkpoint(checkpoints, names, &to, Scope::Paths(&paths), guard, limits);
            };
            let diff =
                checkpoints.file_diff(&found.from, &found.to, &change, DIFF_BYTES_MAX, limits)?;
            let Some(one) = diff.hunks.get(hunk) else {
                return Ok(Err(ChangesError::UnknownHunk { path, hunk }));
            };
            let numbers = numbers::next(names);
            let before = named(&sides, numbers.before)?;
            let restored = checkpoints.revert_hunk(&change, one, &before, limits)?;
            Ok(Ok((restored, checkpoints.checkpoint(&named(&sides, numbers.after)?, limits)?)))
        });
        let restored = restored.await?;
        self.announce(id, None).await;
        Ok(restored)
    }

    /// Where the files of a session are, if no turn may write to them.
    async fn idle_place(&self, id: SessionId) -> Result<SessionFiles> {
        let place = self.place(id).await?;
        if place.is_removed {
            return Err(WorktreeError::Removed.into());
        }
        match place.running {
            Some(_) => Err(ChangesError::Working.into()),
            None => Ok(place),
        }
    }

    async fn run(
        &self,
        place: SessionFiles,
        run: impl FnOnce(&Checkpoints, &[Name], &Limits) -> Refusable<Outcome> + Send + 'static,
    ) -> Result<Restoration> {
        let (id, project, work_tree) = (place.id, place.project, place.work_tree.clone());
        let folder = place.folder;
        let _held = session::hold(&self.sessions, id, HeldProcess::Keep).await?;
        let done = self.sessions.snapshots.with(project, work_tree, move |checkpoints, limits| {
            let names = checkpoints.list(&place.id.to_string())?;
            let (restored, made) = match run(checkpoints, &names, limits)? {
                Ok(done) => done,
                Err(refusal) => return Ok(Err(refusal)),
            };
            Ok(Ok((restored, snapshots::totals(checkpoints, &made, folder, limits))))
        });
        let (Restored { written, removed, blocked, .. }, totals) = done.await??;
        if let Some(totals) = totals {
            self.sessions.store.set_changes(id, totals).await?;
            let shown =
                session::ask(&self.sessions, id, |reply| Request::ShowChanges { totals, reply });
            shown.await?;
        }
        Ok(Restoration { written, removed, blocked })
    }

    /// Adds a notice about a restore to the conversation.
    async fn add_restore_notice(&self, id: SessionId, turn: Option<Seq>, restored: &Restoration) {
        let (written, removed) = (restored.written.len() as u64, restored.removed.len() as u64);
        let number = match turn {
            // Without it, the notice says "an earlier turn".
            Some(turn) => self
                .sessions
                .store
                .prompt_seqs(id)
                .await
                .ok()
                .and_then(|prompts| TurnNumbers::new(prompts).number(turn)),
            None => None,
        };
        let notice = Notice::new(FilesEvent::FilesRestored { turn, number, written, removed });
        self.notice(id, notice).await;
        self.announce(id, None).await;
    }

    /// Adds a notice to a session; an ended one has none.
    pub(super) async fn notice(&self, id: SessionId, notice: Notice) {
        let report = Command::Agent(Report::Noticed(notice));
        if let Err(error) = self.sessions.send_command(id, report).await {
            tracing::warn!(session.id = %id, "a restore cannot be noted: {error}");
        }
    }

    async fn announce(&self, id: SessionId, turn: Option<Seq>) {
        if let Ok(session) = self.stored(id).await {
            self.sessions.publish(Change::ChangesUpdated { session: Box::new(session), turn });
        }
    }
}

/// The files before the last restore that was not undone.
///
/// An undo is a restore as well. It is recognised by the trees before and after it, which are those of the restore that
/// it undid, exchanged; one that replaced other files can be undone.
fn before_last(
    checkpoints: &Checkpoints,
    names: &[Name],
    limits: &Limits,
) -> convoke_git::Result<Option<Checkpoint>> {
    let mut open: Vec<(Checkpoint, Option<Checkpoint>)> = Vec::new();
    for restore in numbers::since_turn(names) {
        let Some(before) = range::side(checkpoints, names, restore.before, limits)? else {
            continue;
        };
        let after = range::side(checkpoints, names, restore.after, limits)?;
        let is_undo = open.last().is_some_and(|(first, last)| {
            after.as_ref().is_some_and(|after| after.tree == first.tree)
                && last.as_ref().is_some_and(|last| last.tree == before.tree)
        });
        if is_undo {
            open.pop();
        } else {
            open.push((before, after));
        }
    }
    Ok(open.pop().map(|(before, _)| before))
}

/// Restores files to a checkpoint, between two checkpoints that make it undoable and show what follows.
pub(crate) fn to_checkpoint(
    checkpoints: &Checkpoints,
    names: &[Name],
    to: &Checkpoint,
    scope: Scope<'_>,
    guard: RestoreGuard,
    limits: &Limits,
) -> Refusable<Outcome> {
    let since = match numbers::newest(names) {
        Some(name) => checkpoints.find(name, limits)?,
        None => None,
    };
    let guard = match (guard, &since) {
        (RestoreGuard::Unchanged, Some(since)) => Guard::UnchangedSince(&since.tree),
        (RestoreGuard::Unchanged, None) => Guard::UnchangedSince(&to.tree),
        (RestoreGuard::Force, _) => Guard::Force,
    };
    let numbers = numbers::next(names);
    let session = to.name.session();
    let before = Name::new(session, numbers.before)?;
    let restored = checkpoints.restore(to, scope, guard, &before, limits)?;
    Ok(Ok((restored, checkpoints.checkpoint(&Name::new(session, numbers.after)?, limits)?)))
}

fn named(place: &SessionFiles, kind: CheckpointKind) -> convoke_git::Result<Name> {
    Name::new(&place.id.to_string(), kind)
}
