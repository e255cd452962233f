//! Finds the two sides of a diff: the checkpoints of a session or of one of its turns.

use std::collections::BTreeSet;
use std::path::PathBuf;

use convoke_core::message::Seq;
use convoke_git::{Checkpoint, CheckpointKind, Checkpoints, LeftOut, Limits, Name, ObjectId};

use super::{ChangesError, OldSide, SessionFiles, numbers, old_side};

/// What a diff is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffRange {
    /// Everything that the turns of the session changed.
    Session,
    /// One turn, by the place of its prompt.
    Turn(Seq),
}

/// Both sides of a diff.
#[derive(Debug)]
pub(super) struct Range {
    pub(super) from: ObjectId,
    pub(super) to: ObjectId,
    /// The turns that have checkpoints.
    pub(super) turns: Vec<Seq>,
    pub(super) left_out: Vec<LeftOut>,
    /// Files that were changed between the turns, and are on both sides as others left them.
    pub(super) between: Vec<PathBuf>,
}

/// Finds both sides; a running turn ends with the files as they are now.
pub(super) fn find(
    checkpoints: &Checkpoints,
    place: &SessionFiles,
    range: DiffRange,
    limits: &Limits,
) -> convoke_git::Result<Result<Range, ChangesError>> {
    let names = checkpoints.list(&place.id.to_string())?;
    let turns = turns(&names);
    let (from, to, between) = match range {
        DiffRange::Session => {
            let old = old_side(checkpoints, &place.id.to_string(), place.folder, limits)?;
            match (old, turns.last()) {
                (Some(OldSide { tree, between }), Some(last)) => (tree, *last, between),
                _ => return Ok(Err(ChangesError::NoCheckpoint)),
            }
        }
        DiffRange::Turn(turn) => {
            match side(checkpoints, &names, numbers::begin_of(&names, turn.get()), limits)? {
                Some(begin) => (begin.tree, turn, Vec::new()),
                None => return Ok(Err(ChangesError::UnknownTurn { turn, turns })),
            }
        }
    };
    let end = match range {
        // A restore after the last turn is part of what the session did.
        DiffRange::Session => numbers::newest_since(&names, to.get()).map(Name::kind),
        DiffRange::Turn(turn) => Some(CheckpointKind::After(turn.get())),
    };
    let after = match end {
        Some(end) if place.running != Some(to) => side(checkpoints, &names, end, limits)?,
        Some(_) | None => None,
    };
    let after = match (after, next_turn(&turns, range)) {
        // The daemon was killed before the end was captured: nothing later belongs to the turn.
        (None, Some(next)) => {
            side(checkpoints, &names, CheckpointKind::Before(next.get()), limits)?
        }
        (after, _) => after,
    };
    let (to, left_out) = match after {
        Some(after) => (after.tree, after.left_out),
        // It runs, or was cut off before its end was captured.
        None => {
            let now = checkpoints.snapshot(limits)?;
            (now.tree, now.left_out)
        }
    };
    Ok(Ok(Range { from, to, turns, left_out, between }))
}

/// The turn after the one that a diff is of.
fn next_turn(turns: &[Seq], range: DiffRange) -> Option<Seq> {
    match range {
        DiffRange::Session => None,
        DiffRange::Turn(of) => turns.iter().copied().find(|turn| *turn > of),
    }
}

/// The turns that have a checkpoint before them, in order.
pub(super) fn turns(names: &[Name]) -> Vec<Seq> {
    let found: BTreeSet<u64> = names
        .iter()
        .filter_map(|name| match name.kind() {
            CheckpointKind::Before(turn) => Some(turn),
            CheckpointKind::Late(_)
            | CheckpointKind::After(_)
            | CheckpointKind::Restore(_)
            | CheckpointKind::Removal(_) => None,
        })
        .collect();
    found.into_iter().map(Seq::new).collect()
}

/// A checkpoint of a session, if it is among its names.
pub(super) fn side(
    checkpoints: &Checkpoints,
    names: &[Name],
    kind: CheckpointKind,
    limits: &Limits,
) -> convoke_git::Result<Option<Checkpoint>> {
    match names.iter().find(|name| name.kind() == kind) {
        Some(name) => checkpoints.find(name, limits),
        None => Ok(None),
    }
}
