//! The window: what a reader drops, and what it gets again.

use proptest::prelude::*;

use super::*;
use crate::Cursor;

fn cursor(rev: u64) -> Cursor {
    Cursor { generation: "1".to_owned(), rev: Rev::new(rev) }
}

fn places(entries: &Entries) -> Vec<u64> {
    entries.conversation().iter().map(|entry| entry.seq.get()).collect()
}

fn range(from: u64, to: u64) -> Vec<Entry> {
    (from..=to).map(|seq| words(seq, seq, "x")).collect()
}

fn newest(from: u64, to: u64) -> Entries {
    let mut entries = Entries::new();
    entries.replace(range(from, to), cursor(to), Older::More);
    entries
}

#[test]
fn what_was_dropped_above_comes_back_with_a_page_only() {
    let mut entries = newest(91, 100);
    entries.drop_oldest(5);
    assert_eq!((places(&entries), entries.before()), ((96..=100).collect(), Some(Seq::new(96))));
    entries.upsert(words(93, 200, "changed"));
    assert_eq!(places(&entries), (96..=100).collect::<Vec<u64>>());
    entries.prepend(range(94, 95), Older::More);
    assert_eq!((places(&entries), entries.before()), ((94..=100).collect(), Some(Seq::new(94))));
}

#[test]
fn what_is_open_is_not_dropped() {
    let mut entries = newest(91, 100);
    let mut open = words(92, 101, "still");
    open.body =
        EntryBody::Assistant(Words { content: "still".to_owned(), html: None, partial: true });
    entries.upsert(open);
    entries.drop_oldest(8);
    assert_eq!((places(&entries), entries.before()), (vec![92, 99, 100], Some(Seq::new(99))));
    assert_eq!(entries.window(), 1..3);
    entries.append(&id(92), " speaking", Rev::new(102));
    entries.upsert(words(92, 103, "over"));
    entries.drop_oldest(1);
    assert_eq!(places(&entries), [100]);
}

#[test]
fn what_was_dropped_below_comes_back_page_by_page() {
    let mut entries = newest(91, 100);
    entries.drop_newest(4);
    entries.upsert(words(101, 101, "new"));
    assert_eq!(places(&entries), [91, 92, 93, 94]);
    assert_eq!(entries.missing_after(), Some((Seq::new(94), Seq::new(101))));
    entries.extend(range(93, 98), Seq::new(98));
    assert_eq!(entries.missing_after(), Some((Seq::new(98), Seq::new(101))));
    entries.extend(range(99, 101), Seq::new(101));
    assert_eq!((places(&entries), entries.is_at_end()), ((91..=101).collect(), true));
    entries.upsert(words(102, 102, "newer"));
    assert_eq!(places(&entries), (91..=102).collect::<Vec<u64>>());
}

/// A change of a session: an entry begins, or the newest one grows.
#[derive(Debug, Clone, Copy)]
enum Step {
    Begin,
    Grow,
}

fn play(entries: &mut Entries, steps: &[Step]) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for (step, rev) in steps.iter().zip(1..) {
        match (step, all.last_mut()) {
            (
                Step::Grow,
                Some(Entry { entry_id, rev: newest, body: EntryBody::Assistant(words), .. }),
            ) => {
                *newest = Rev::new(rev);
                words.content.push('x');
                entries.append(entry_id, "x", Rev::new(rev));
            }
            (Step::Begin | Step::Grow, _) => {
                let entry = words(all.len() as u64 + 1, rev, "");
                entries.upsert(entry.clone());
                all.push(entry);
            }
        }
    }
    all
}

proptest! {
    /// Frames from an earlier cursor on may come again, and each changed entry may come whole.
    #[test]
    fn a_reader_that_was_away_has_what_one_that_stayed_has(
        steps in proptest::collection::vec(prop_oneof![Just(Step::Begin), Just(Step::Grow)], 0..60),
        left in 0.0..1.0f64,
        after in 0.0..1.0f64,
    ) {
        let mut stayed = Entries::new();
        stayed.replace(Vec::new(), cursor(0), Older::Nothing);
        let mut away = stayed.clone();
        let all = play(&mut stayed, &steps);
        let left = (steps.len() as f64 * left) as usize;
        play(&mut away, &steps[..left]);
        let after = Rev::new((left as f64 * after) as u64);
        for entry in all.iter().filter(|entry| entry.rev > after) {
            away.upsert(entry.clone());
        }
        prop_assert_eq!(away, stayed);
    }
}
