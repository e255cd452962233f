//! The numbers of restores, which order their checkpoints among those of the turns.
//!
//! Each restore has two checkpoints: the files before it, to undo it, and the files after it, to
//! notice later changes by other programs. A number includes the turn that was last when the
//! restore was made, so that a later turn sorts after it.

use std::collections::{BTreeSet, HashSet};

use convoke_git::{CheckpointKind, Name};

/// Restores of one turn, times two; with more, the last ones are overwritten.
const PER_TURN: u64 = 1_000;

/// The two checkpoints of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Restore {
    /// The files before it.
    pub(crate) before: CheckpointKind,
    /// The files after it.
    pub(crate) after: CheckpointKind,
}

/// The numbers of the next restore.
pub(crate) fn next(names: &[Name]) -> Restore {
    let turn = names.iter().filter_map(turn_of).max().unwrap_or_default();
    let taken = names.iter().filter_map(|name| match name.kind() {
        CheckpointKind::Restore(number) if number / PER_TURN == turn => Some(number % PER_TURN),
        CheckpointKind::Restore(_)
        | CheckpointKind::Before(_)
        | CheckpointKind::After(_)
        | CheckpointKind::Late(_)
        | CheckpointKind::Removal(_) => None,
    });
    let free = taken.max().map_or(0, |taken| (taken / 2 + 1) * 2).min(PER_TURN - 2);
    restore(turn * PER_TURN + free)
}

/// The restores since the last turn, in order. Undoing an older one would take back that turn's changes, too.
pub(super) fn since_turn(names: &[Name]) -> Vec<Restore> {
    let turn = names.iter().filter_map(turn_of).max().unwrap_or_default();
    let numbers: BTreeSet<u64> = names
        .iter()
        .filter_map(|name| match name.kind() {
            CheckpointKind::Restore(number) if number / PER_TURN == turn => Some(number / 2 * 2),
            CheckpointKind::Restore(_)
            | CheckpointKind::Before(_)
            | CheckpointKind::After(_)
            | CheckpointKind::Late(_)
            | CheckpointKind::Removal(_) => None,
        })
        .collect();
    numbers.into_iter().map(restore).collect()
}

/// The newest checkpoint of the files as Convoke left them: after a turn, or after a restore.
pub(super) fn newest(names: &[Name]) -> Option<&Name> {
    let age = |name: &&Name| match name.kind() {
        CheckpointKind::After(turn) => Some((turn, 0)),
        CheckpointKind::Restore(number) if number % 2 == 1 => {
            Some((number / PER_TURN, number % PER_TURN))
        }
        CheckpointKind::Restore(_)
        | CheckpointKind::Before(_)
        | CheckpointKind::Late(_)
        | CheckpointKind::Removal(_) => None,
    };
    names.iter().filter(|name| age(name).is_some()).max_by_key(age)
}

/// The same, unless it is older than the end of a turn.
pub(super) fn newest_since(names: &[Name], turn: u64) -> Option<&Name> {
    newest(names).filter(|name| turn_of(name).is_some_and(|of| of >= turn))
}

/// The checkpoint after the restore that this one was made before.
pub(super) fn after(before: &Name) -> Option<CheckpointKind> {
    match before.kind() {
        CheckpointKind::Restore(number) => Some(CheckpointKind::Restore(number / 2 * 2 + 1)),
        CheckpointKind::Before(_)
        | CheckpointKind::After(_)
        | CheckpointKind::Late(_)
        | CheckpointKind::Removal(_) => None,
    }
}

/// The checkpoint before the first turn, and all later times in which neither a turn nor a restore changed files: from
/// the end of one to the beginning of the next.
///
/// A turn whose end was not captured lasts until the next one begins; so does one that may have begun before the
/// checkpoint before it was made.
pub(super) fn between(names: &[Name]) -> (Option<&Name>, Vec<(&Name, &Name)>) {
    let mut ordered: Vec<((u64, u64), &Name)> = names
        .iter()
        .filter_map(|name| match name.kind() {
            CheckpointKind::Before(turn) => Some(((turn, 0), name)),
            CheckpointKind::After(turn) => Some(((turn, 1), name)),
            CheckpointKind::Restore(number) => {
                Some(((number / PER_TURN, 2 + number % PER_TURN), name))
            }
            CheckpointKind::Late(_) | CheckpointKind::Removal(_) => None,
        })
        .collect();
    ordered.sort_unstable();
    let ordered: Vec<&Name> = ordered
        .into_iter()
        .map(|(_, name)| name)
        .skip_while(|name| !matches!(name.kind(), CheckpointKind::Before(_)))
        .collect();
    let late: HashSet<u64> = names.iter().filter_map(late).collect();
    let between = ordered.iter().zip(ordered.iter().skip(1)).filter(|(end, begin)| {
        let is_end = match end.kind() {
            CheckpointKind::After(_) => true,
            CheckpointKind::Restore(number) => !number.is_multiple_of(2),
            CheckpointKind::Before(_) | CheckpointKind::Late(_) | CheckpointKind::Removal(_) => {
                false
            }
        };
        let is_beginning = match begin.kind() {
            CheckpointKind::Before(turn) => !late.contains(&turn),
            CheckpointKind::Restore(number) => number.is_multiple_of(2),
            CheckpointKind::After(_) | CheckpointKind::Late(_) | CheckpointKind::Removal(_) => {
                false
            }
        };
        is_end && is_beginning
    });
    (ordered.first().copied(), between.map(|(end, begin)| (*end, *begin)).collect())
}

/// The checkpoint with which a turn begins: the one before it or, if the turn may have begun before that was made, the
/// last one before that. The first turn has no other.
pub(super) fn begin_of(names: &[Name], turn: u64) -> CheckpointKind {
    let is_late = names.iter().filter_map(late).any(|late| late == turn);
    let is_earlier = |name: &&Name| turn_of(name).is_some_and(|of| of < turn);
    let earlier: Vec<Name> = names.iter().filter(is_earlier).cloned().collect();
    let last = newest(&earlier).filter(|_| is_late);
    last.map_or(CheckpointKind::Before(turn), Name::kind)
}

/// The turn that may have begun before the checkpoint before it was made.
fn late(name: &Name) -> Option<u64> {
    match name.kind() {
        CheckpointKind::Late(turn) => Some(turn),
        CheckpointKind::Before(_)
        | CheckpointKind::After(_)
        | CheckpointKind::Restore(_)
        | CheckpointKind::Removal(_) => None,
    }
}

fn restore(before: u64) -> Restore {
    Restore { before: CheckpointKind::Restore(before), after: CheckpointKind::Restore(before + 1) }
}

fn turn_of(name: &Name) -> Option<u64> {
    match name.kind() {
        CheckpointKind::Before(turn) | CheckpointKind::After(turn) | CheckpointKind::Late(turn) => {
            Some(turn)
        }
        CheckpointKind::Restore(number) => Some(number / PER_TURN),
        CheckpointKind::Removal(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kinds: &[CheckpointKind]) -> Vec<Name> {
        kinds.iter().map(|kind| Name::new("s", *kind).unwrap()).collect()
    }

    #[test]
    fn c3_others_change_files_between_the_turns_and_restores_of_a_session() {
        let (before, after, restore) =
            (CheckpointKind::Before, CheckpointKind::After, CheckpointKind::Restore);
        let late = CheckpointKind::Late;
        let of = |kinds: &[CheckpointKind]| {
            let names = names(kinds);
            let (first, pairs) = between(&names);
            let pairs = pairs.into_iter().map(|(end, begin)| (end.kind(), begin.kind()));
            (first.map(Name::kind), pairs.collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), (None, vec![]));
        assert_eq!(of(&[after(1)]), (None, vec![]), "the files before it are not known");
        assert_eq!(of(&[before(1), after(1)]), (Some(before(1)), vec![]));
        let kinds = [after(1), before(3), after(3), restore(3_000), restore(3_001), before(12)];
        let found = vec![(after(3), restore(3_000)), (restore(3_001), before(12))];
        assert_eq!(of(&kinds), (Some(before(3)), found));
        // The end of turn 3 and the beginning of turn 7 were not captured.
        let kinds = [before(3), before(5), after(5), after(7), before(9), after(9)];
        assert_eq!(of(&kinds), (Some(before(3)), vec![(after(7), before(9))]));
        // Turn 3 may have begun before its checkpoint was made.
        let kinds = [before(1), after(1), before(3), late(3), after(3), before(5), after(5)];
        assert_eq!(of(&kinds), (Some(before(1)), vec![(after(3), before(5))]));
        assert_eq!(begin_of(&names(&kinds), 3), after(1));
        assert_eq!(begin_of(&names(&kinds), 5), before(5));
        let kinds = [before(1), late(1), after(1), restore(1_000), restore(1_001), late(3)];
        assert_eq!(begin_of(&names(&kinds), 1), before(1), "there is nothing before it");
        assert_eq!(begin_of(&names(&kinds), 3), restore(1_001));
    }

    #[test]
    fn c5_a_restore_is_newer_than_the_turn_before_it_and_older_than_the_next() {
        let mut kinds = vec![CheckpointKind::Before(3), CheckpointKind::After(3)];
        assert_eq!(newest(&names(&kinds)).unwrap().kind(), CheckpointKind::After(3));
        let first = next(&names(&kinds));
        assert_eq!(first, restore(3_000));
        kinds.extend([first.before, first.after]);
        assert_eq!(newest(&names(&kinds)).unwrap().kind(), CheckpointKind::Restore(3_001));
        assert_eq!(since_turn(&names(&kinds)), [first]);
        assert_eq!(next(&names(&kinds)), restore(3_002));
        assert_eq!(newest_since(&names(&kinds), 3), newest(&names(&kinds)));
        kinds.push(CheckpointKind::Before(7));
        assert_eq!(newest_since(&names(&kinds), 7), None, "the turn was cut off");
        kinds.push(CheckpointKind::After(7));
        assert_eq!(newest(&names(&kinds)).unwrap().kind(), CheckpointKind::After(7));
        assert_eq!(next(&names(&kinds)), restore(7_000));
        assert_eq!(since_turn(&names(&kinds)), [], "undoing it would take back turn 7");
    }
}
