//! Sessions longer than what is kept of them.

use convoke_api::entry::{Entry, EntryBody, Older, PromptState, Prompted};
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::message::Rev;

use super::stage::{Stage, entry, session_id, words};
use crate::workbench::chat::WINDOW;

/// The newest place of the session.
const LAST: u64 = 5000;

fn entries(from: u64, to: u64) -> Vec<Entry> {
    let text = |seq| if seq == LAST { "Something new".to_owned() } else { format!("Entry {seq}") };
    (from..to).map(|seq| words(seq, &text(seq))).collect()
}

/// A session of which the newest hundred entries are there.
fn long() -> Stage {
    let mut stage = Stage::with_sessions(80, 24);
    stage.keys("enter");
    stage.open(entries(LAST - 100, LAST), Older::More);
    stage.said();
    stage
}

/// The daemon answers what is asked for: the newest entries before a place, in order.
fn serve(stage: &mut Stage) {
    serve_upto(stage, LAST);
}

/// The same, of a session that has this many entries.
fn serve_upto(stage: &mut Stage, last: u64) {
    serve_at_most(stage, last, u64::MAX);
}

/// The same with so many entries in a page at most; returns whether something was requested.
fn serve_at_most(stage: &mut Stage, last: u64, most: u64) -> bool {
    let said = stage.said();
    let is_asked = !said.is_empty();
    for frame in said {
        if let ClientFrame::SessionPage { before, limit, .. } = frame {
            let count = u64::from(limit.unwrap()).min(most);
            let from = before.get().saturating_sub(count).max(1);
            stage.receive(ServerFrame::SessionPage {
                session_id: "claude-code:1".to_owned(),
                uid: session_id(1),
                entries: entries(from, before.get().min(last)),
                more: from > 1,
            });
        } else if let ClientFrame::SessionOpen { limit, .. } = frame {
            stage.open(entries(last - u64::from(limit.unwrap()), last), Older::More);
        } else {
            panic!("{frame:?}");
        }
    }
    is_asked
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
    assert_eq!(stage.rev(), Rev::new(LAST));
    for _ in 0..300 {
        stage.keys("pgdn");
        serve_upto(&mut stage, LAST + 1);
    }
    assert!(stage.screen().contains("Something new"), "{}", stage.screen());
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

/// The places of the entries that are kept.
fn places(stage: &Stage) -> Vec<u64> {
    let entries = stage.model.chat.as_ref().unwrap().entries();
    entries.conversation().iter().map(|entry| entry.seq.get()).collect()
}

#[test]
fn an_old_prompt_whose_turn_runs_stands_before_the_window_until_that_reaches_it() {
    let mut stage = Stage::with_sessions(80, 24);
    stage.keys("enter");
    let state = PromptState::Running;
    let prompt = Prompted {
        by: None,
        content: "Asked long ago".to_owned(),
        html: None,
        attachments: Vec::new(),
        files: Vec::new(),
        review: Vec::new(),
        state,
    };
    let mut newest = entries(LAST - 100, LAST);
    newest.insert(0, entry("m4850", 4850, EntryBody::User(prompt)));
    stage.open(newest, Older::More);
    stage.said();
    assert_eq!(places(&stage)[..2], [4850, 4900]);
    for _ in 0..12 {
        stage.keys("pgup");
        serve(&mut stage);
    }
    let places = places(&stage);
    let first = places[0];
    assert!(first < 4850, "from {first} on");
    assert_eq!(places, (first..LAST).collect::<Vec<u64>>());
}

#[test]
fn a_page_that_is_too_large_to_reach_the_window_is_asked_for_in_parts() {
    let mut stage = long();
    for _ in 0..200 {
        stage.keys("pgup");
        serve(&mut stage);
    }
    for _ in 0..250 {
        stage.keys("pgdn");
        // However many are asked for, thirty fit.
        while serve_at_most(&mut stage, LAST, 30) {}
        let places = places(&stage);
        assert!(places.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{places:?}");
    }
    assert!(stage.screen().contains(&format!("Entry {}", LAST - 1)), "{}", stage.screen());
}
