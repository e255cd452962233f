//! Sessions longer than what is kept of them.

use convoke_api::entry::Entry;
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::message::Seq;

use super::stage::{Stage, session_id, words};
use crate::workbench::chat::{Older, WINDOW};

/// The newest place of the session.
const LAST: u64 = 5000;

fn entries(from: u64, to: u64) -> Vec<Entry> {
    (from..to).map(|seq| words(seq, &format!("Entry {seq}"))).collect()
}

/// A session of which the newest hundred entries are there.
fn long() -> Stage {
    let mut stage = Stage::with_sessions(80, 24);
    stage.keys("enter");
    stage.open(entries(LAST - 100, LAST), Older::More);
    stage.said();
    stage
}

/// The daemon answers what is asked for, as it does: at least so many entries, in order.
fn serve(stage: &mut Stage) {
    for frame in stage.said() {
        if let ClientFrame::SessionPage { before, limit, .. } = frame {
            let from = before.get().saturating_sub(u64::from(limit.unwrap())).max(1);
            stage.hear(ServerFrame::SessionPage {
                session_id: "claude-code:1".to_owned(),
                uid: session_id(1),
                entries: entries(from, before.get()),
                more: from > 1,
            });
        } else if let ClientFrame::SessionOpen { limit, .. } = frame {
            stage.open(entries(LAST - u64::from(limit.unwrap()), LAST), Older::More);
        } else {
            panic!("{frame:?}");
        }
    }
}

fn first_shown(stage: &Stage) -> u64 {
    let screen = stage.screen();
    let entry = screen.lines().find_map(|line| line.trim().strip_prefix("Entry "));
    entry.unwrap().trim().parse().unwrap()
}

#[test]
fn older_entries_are_fetched_before_they_are_needed_and_memory_stays_bounded() {
    let mut stage = long();
    let mut last = LAST;
    for _ in 0..300 {
        stage.keys("pgup");
        serve(&mut stage);
        let first = first_shown(&stage);
        assert!(first < last && last - first < 20, "from {last} to {first}");
        assert!(stage.model.chat.as_ref().unwrap().len() <= WINDOW + 100);
        last = first;
    }
    for _ in 0..310 {
        stage.keys("pgdn");
        serve(&mut stage);
        let first = first_shown(&stage);
        assert!(first >= last && first - last < 20, "from {last} to {first}");
        assert!(stage.model.chat.as_ref().unwrap().len() <= WINDOW + 300);
        last = first;
    }
    assert!(stage.screen().contains(&format!("Entry {}", LAST - 1)), "{}", stage.screen());
    assert!(stage.model.chat.as_ref().unwrap().is_following());
}

#[test]
fn the_newest_entry_is_one_key_away() {
    let mut stage = long();
    for _ in 0..200 {
        stage.keys("pgup");
        serve(&mut stage);
    }
    stage.keys("esc G");
    serve(&mut stage);
    assert!(stage.screen().contains(&format!("Entry {}", LAST - 1)), "{}", stage.screen());
}

#[test]
fn what_comes_while_the_end_is_not_kept_is_there_when_it_is() {
    let mut stage = long();
    for _ in 0..200 {
        stage.keys("pgup");
        serve(&mut stage);
    }
    let before = stage.screen();
    stage.update(words(LAST, "Something new"));
    assert_eq!(stage.screen(), before);
    assert_eq!(stage.model.chat.as_ref().unwrap().seq, Seq::new(LAST));
}

#[test]
fn a_refused_page_is_not_asked_for_again_and_again() {
    let mut stage = long();
    for _ in 0..30 {
        stage.keys("pgup");
    }
    stage.refuse("cannot read the log");
    assert_eq!(stage.said().len(), 1);
    stage.keys("pgup pgup");
    assert_eq!(stage.said(), []);
}

#[test]
fn lines_are_laid_out_anew_when_the_terminal_changes() {
    let mut stage = long();
    stage.keys("pgup");
    stage.resize(40, 12);
    let narrow = stage.screen();
    stage.resize(80, 24);
    assert!(narrow.contains("Entry"), "{narrow}");
    assert!(stage.screen().contains("Entry"));
}

#[test]
fn reading_page_by_page_goes_to_the_beginning_and_back_to_the_end() {
    let mut stage = long();
    stage.keys("esc");
    for _ in 0..700 {
        stage.keys("pgup");
        serve(&mut stage);
    }
    assert_eq!(first_shown(&stage), 1);
    for _ in 0..700 {
        stage.keys("pgdn");
        serve(&mut stage);
    }
    assert!(stage.screen().contains(&format!("Entry {}", LAST - 1)), "{}", stage.screen());
    assert_eq!(stage.said(), []);
}

#[test]
fn keys_that_outrun_the_daemon_wait_where_the_window_ends() {
    let mut stage = long();
    for _ in 0..200 {
        stage.keys("pgup");
        serve(&mut stage);
    }
    let from = first_shown(&stage);
    for _ in 0..60 {
        stage.keys("pgdn");
    }
    for _ in 0..40 {
        serve(&mut stage);
    }
    let first = first_shown(&stage);
    assert!(first > from && first < from + 60 * 20, "from {from} to {first}");
}

#[test]
fn what_was_let_go_of_does_not_come_back_at_the_end() {
    let mut stage = long();
    for seq in LAST..LAST + 500 {
        stage.update(words(seq, &format!("Entry {seq}")));
    }
    let before = stage.screen();
    stage.update(words(LAST - 90, "an old one, changed"));
    assert_eq!(stage.screen(), before);
}

#[test]
fn what_waits_stands_where_it_began_once_that_is_there() {
    let mut stage = Stage::with_sessions(80, 24);
    stage.keys("enter");
    // The daemon puts what is not over before the newest entries.
    let mut newest = entries(LAST - 100, LAST);
    newest.insert(0, Entry { entry_id: "m4850".to_owned(), ..words(LAST - 100, "Asked long ago") });
    stage.open(newest, Older::More);
    stage.said();
    for _ in 0..12 {
        stage.keys("pgup");
        serve(&mut stage);
    }
    let chat = stage.model.chat.as_ref().unwrap();
    let names: Vec<&str> = (0..chat.len()).map(|at| &*chat.entry(at).unwrap().entry_id).collect();
    let sorted = names.is_sorted();
    assert!(sorted && names.len() > 150, "{names:?}");
    assert_eq!(names.iter().filter(|name| **name == "m4850").count(), 1);
}
