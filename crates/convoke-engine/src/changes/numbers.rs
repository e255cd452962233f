//! The numbers of restores, which order their checkpoints among those of the turns.
//!
//! Each restore has two checkpoints: the files before it, to undo it, and the files after it, to
//! notice later changes by other programs. A number includes the turn that was last when the
//! restore was made, so that a later turn sorts after it.

use std::collections::BTreeSet;

use convoke_git::{Moment, Name};

/// Restores of one turn, times two; with more, the last ones are overwritten.
const PER_TURN: u64 = 1_000;

/// The two checkpoints of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Restore {
    /// The files before it.
    pub(crate) before: Moment,
    /// The files after it.
    pub(crate) after: Moment,
}

/// The numbers of the next restore.
pub(crate) fn next(names: &[Name]) -> Restore {
    let turn = names.iter().filter_map(turn_of).max().unwrap_or_default();
    let taken = names.iter().filter_map(|name| match name.moment() {
        Moment::Restore(number) if number / PER_TURN == turn => Some(number % PER_TURN),
        Moment::Restore(_) | Moment::Before(_) | Moment::After(_) | Moment::Removal(_) => None,
    });
    let free = taken.max().map_or(0, |taken| (taken / 2 + 1) * 2).min(PER_TURN - 2);
    restore(turn * PER_TURN + free)
}

/// The restores since the last turn, in order. Undoing an older one would take back that turn's changes, too.
pub(super) fn since_turn(names: &[Name]) -> Vec<Restore> {
    let turn = names.iter().filter_map(turn_of).max().unwrap_or_default();
    let numbers: BTreeSet<u64> = names
        .iter()
        .filter_map(|name| match name.moment() {
            Moment::Restore(number) if number / PER_TURN == turn => Some(number / 2 * 2),
            Moment::Restore(_) | Moment::Before(_) | Moment::After(_) | Moment::Removal(_) => None,
        })
        .collect();
    numbers.into_iter().map(restore).collect()
}

/// The newest checkpoint of the files as Convoke left them: after a turn, or after a restore.
pub(super) fn newest(names: &[Name]) -> Option<&Name> {
    let age = |name: &&Name| match name.moment() {
        Moment::After(turn) => Some((turn, 0)),
        Moment::Restore(number) if number % 2 == 1 => Some((number / PER_TURN, number % PER_TURN)),
        Moment::Restore(_) | Moment::Before(_) | Moment::Removal(_) => None,
    };
    names.iter().filter(|name| age(name).is_some()).max_by_key(age)
}

/// The same, unless it is older than the end of a turn.
pub(super) fn newest_since(names: &[Name], turn: u64) -> Option<&Name> {
    newest(names).filter(|name| turn_of(name).is_some_and(|of| of >= turn))
}

/// The checkpoint after the restore that this one was made before.
pub(super) fn after(before: &Name) -> Option<Moment> {
    match before.moment() {
        Moment::Restore(number) => Some(Moment::Restore(number / 2 * 2 + 1)),
        Moment::Before(_) | Moment::After(_) | Moment::Removal(_) => None,
    }
}

fn restore(before: u64) -> Restore {
    Restore { before: Moment::Restore(before), after: Moment::Restore(before + 1) }
}

fn turn_of(name: &Name) -> Option<u64> {
    match name.moment() {
        Moment::Before(turn) | Moment::After(turn) => Some(turn),
        Moment::Restore(number) => Some(number / PER_TURN),
        Moment::Removal(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(moments: &[Moment]) -> Vec<Name> {
        moments.iter().map(|moment| Name::new("s", *moment).unwrap()).collect()
    }

    #[test]
    fn c5_a_restore_is_newer_than_the_turn_before_it_and_older_than_the_next() {
        let mut moments = vec![Moment::Before(3), Moment::After(3)];
        assert_eq!(newest(&names(&moments)).unwrap().moment(), Moment::After(3));
        let first = next(&names(&moments));
        assert_eq!(first, restore(3_000));
        moments.extend([first.before, first.after]);
        assert_eq!(newest(&names(&moments)).unwrap().moment(), Moment::Restore(3_001));
        assert_eq!(since_turn(&names(&moments)), [first]);
        assert_eq!(next(&names(&moments)), restore(3_002));
        assert_eq!(newest_since(&names(&moments), 3), newest(&names(&moments)));
        moments.push(Moment::Before(7));
        assert_eq!(newest_since(&names(&moments), 7), None, "the turn was cut off");
        moments.push(Moment::After(7));
        assert_eq!(newest(&names(&moments)).unwrap().moment(), Moment::After(7));
        assert_eq!(next(&names(&moments)), restore(7_000));
        assert_eq!(since_turn(&names(&moments)), [], "undoing it would take back turn 7");
    }
}
