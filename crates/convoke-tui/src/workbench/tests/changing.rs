//! What a session changed: listed, read, commented on, reverted and restored.

use convoke_api::bodies::{
    BetweenTurns, ChangedFile, DiffHunk, DiffLine, DiffLineKind, FileDiff, FileMode, FileStatus,
    Fork, GivenComment, LeftOutFile, LeftOutReason, Restore, RestoreScope, Restored, Revert,
    SessionChanges, Undo,
};
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::files::ChangeTotals;
use convoke_core::message::Seq;
use convoke_core::review::DiffSide;

use super::stage::{Stage, prompt, session_id, words};
use crate::workbench::changes::{Call, Returned};
use crate::workbench::message::{Effect, Message};
use crate::workbench::refusal::{CallRefusal, RefusalReason};

fn file(path: &str, status: FileStatus, added: u64, removed: u64) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        status,
        from: None,
        added: Some(added),
        removed: Some(removed),
        binary: false,
        old_mode: (status != FileStatus::Added).then_some(FileMode::Regular),
        new_mode: (status != FileStatus::Deleted).then_some(FileMode::Regular),
    }
}

fn listed() -> SessionChanges {
    let logo = ChangedFile {
        added: None,
        removed: None,
        binary: true,
        ..file("logo.png", FileStatus::Modified, 0, 0)
    };
    SessionChanges {
        turns: vec![Seq::new(1), Seq::new(5)],
        numbers: vec![1, 2],
        turn: None,
        files: vec![
            logo,
            file("src/prices/parser.rs", FileStatus::Modified, 2, 1),
            file("src/prices/tests/odd_currencies.rs", FileStatus::Added, 120, 0),
            file("src/old\u{1b}[2J.rs", FileStatus::Deleted, 0, 33),
        ],
        totals: ChangeTotals { files: 4, added: 122, removed: 34 },
        complete: true,
        left_out: vec![LeftOutFile {
            path: "dump.sql".to_owned(),
            reason: LeftOutReason::TooLarge,
            bytes: Some(1 << 30),
        }],
        between: Some(BetweenTurns { files: 7, paths: vec!["notes\u{1b}[2J.md".to_owned()] }),
    }
}

fn line(
    kind: DiffLineKind,
    numbers: (Option<u64>, Option<u64>),
    text: &str,
    marks: &[(u64, u64)],
) -> DiffLine {
    let (old, new) = numbers;
    let (text, marks) = (text.to_owned(), marks.to_vec());
    DiffLine { kind, old, new, text, marks, no_newline: false }
}

fn parser() -> FileDiff {
    use DiffLineKind::{Added, Context, Removed};
    let first = DiffHunk {
        old_start: 3,
        old_lines: 3,
        new_start: 3,
        new_lines: 4,
        heading: "impl Parser {".to_owned(),
        lines: vec![
            line(Context, (Some(3), Some(3)), "\tfn price(&self) -> Price {", &[]),
            line(Removed, (Some(4), None), "\t\tself.float()", &[(7, 12)]),
            line(Added, (None, Some(4)), "\t\tself.decimal()", &[(7, 14)]),
            line(
                Added,
                (None, Some(5)),
                "\t\t// 日本円 has no decimals\u{1b}[31m, and this line is longer than any screen is wide: it can be moved to the left with the arrow keys",
                &[],
            ),
            line(Context, (Some(5), Some(6)), "\t}", &[]),
        ],
    };
    let second = DiffHunk {
        old_start: 40,
        old_lines: 1,
        new_start: 41,
        new_lines: 1,
        heading: String::new(),
        lines: vec![line(Context, (Some(40), Some(41)), "}", &[])],
    };
    FileDiff {
        file: file("src/prices/parser.rs", FileStatus::Modified, 2, 1),
        hunks: vec![first, second],
        complete: true,
    }
}

/// The changes of the first session, at its list of files.
fn changes(width: u16, height: u16) -> Stage {
    let entries = vec![prompt(1, "Use decimals"), words(2, "Done."), prompt(5, "And the tests?")];
    let mut stage = Stage::talking(width, height, entries);
    stage.keys("alt-c");
    let turn = None;
    assert_eq!(stage.effects(), [Effect::Call(Call::List { id: session_id(1), turn })]);
    returns(&mut stage, Call::List { id: session_id(1), turn }, Returned::Changes(listed()));
    stage
}

/// The same, in the diff of the second file.
fn diff(width: u16, height: u16) -> Stage {
    let mut stage = changes(width, height);
    stage.keys("down enter");
    let call = opening("src/prices/parser.rs");
    let effects = stage.effects();
    assert_eq!(effects.last(), Some(&Effect::Call(call.clone())), "{effects:?}");
    returns(&mut stage, call, Returned::Diff(parser()));
    stage
}

fn opening(path: &str) -> Call {
    Call::Open { id: session_id(1), turn: None, path: path.to_owned() }
}

fn returns(stage: &mut Stage, call: Call, returned: Returned) {
    stage.send(Message::Called { call, returned: Ok(Box::new(returned)) });
}

fn refuses(stage: &mut Stage, call: Call, why: &str, files: &[&str]) {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    let (why, reason) = (why.to_owned(), RefusalReason::Other);
    let refusal = CallRefusal { why, hint: None, files, reason };
    stage.send(Message::Called { call, returned: Err(refusal) });
}

fn restored(written: &[&str]) -> Returned {
    let written = written.iter().map(|file| (*file).to_owned()).collect();
    Returned::Restored(Restored {
        written,
        removed: Vec::new(),
        blocked: Vec::new(),
        session: None,
    })
}

#[test]
fn c3_files_and_the_diff_of_one_stand_side_by_side() {
    let mut stage = diff(120, 40);
    insta::assert_snapshot!(stage.screen());
    stage.keys("down down down down right");
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn c3_on_a_small_screen_files_and_diff_take_turns() {
    let mut stage = diff(80, 24);
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc");
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc");
    assert!(stage.screen().contains("❯ Use decimals"), "{}", stage.screen());
}

#[test]
fn c3_a_long_title_is_shortened_and_the_counts_stay() {
    let mut stage = changes(80, 24);
    stage.receive(ServerFrame::SessionTitleUpdated {
        session_id: "claude-code:1".to_owned(),
        uid: session_id(1),
        title:
            "Fix the parser of prices so that 日本円 has no decimals and every test of it passes"
                .to_owned(),
    });
    let screen = stage.screen();
    let head = screen.lines().nth(1).unwrap();
    assert!(head.starts_with(" Changes  Fix the parser of prices so"), "{head}");
    assert!(head.ends_with("…  whole session  4 files  +122 −34"), "{head}");
}

#[test]
fn c3_the_changes_of_a_turn_are_chosen_and_read_again_when_they_change() {
    let mut stage = changes(80, 24);
    stage.keys("t down down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let call = Call::List { id: session_id(1), turn: Some(Seq::new(5)) };
    assert_eq!(stage.effects(), [Effect::Call(call.clone())]);
    // What comes late for another turn is not taken.
    returns(&mut stage, Call::List { id: session_id(1), turn: None }, Returned::Changes(listed()));
    let none = SessionChanges { files: Vec::new(), totals: ChangeTotals::default(), ..listed() };
    returns(&mut stage, call.clone(), Returned::Changes(none));
    assert!(stage.screen().contains("No file changed."), "{}", stage.screen());
    stage.receive(ServerFrame::ChangesUpdated {
        session_id: "claude-code:1".to_owned(),
        uid: session_id(1),
        turn: Some(Seq::new(5)),
        changes: Some(ChangeTotals { files: 2, added: 1_234, removed: 5 }),
    });
    assert_eq!(stage.effects(), [Effect::Call(call)]);
    stage.keys("]");
    let call = Call::List { id: session_id(1), turn: None };
    assert_eq!(stage.effects(), [Effect::Call(call)], "after the last turn comes everything");
    stage.keys("[ [");
    let turns: Vec<Effect> = [5, 1]
        .map(|turn| Effect::Call(Call::List { id: session_id(1), turn: Some(Seq::new(turn)) }))
        .into();
    assert_eq!(stage.effects(), turns);
    stage.keys("esc esc 1");
    assert!(stage.screen().contains("+1k −5"), "{}", stage.screen());
}

#[test]
fn c4_comments_on_lines_are_collected_and_sent_as_one_review() {
    let mut stage = diff(80, 24);
    stage.keys("c");
    assert!(stage.screen().contains("Move to a line"), "{}", stage.screen());
    stage.keys("down down v down down c").types("Say which decimals").keys("enter");
    stage.keys("up up c").types("Why?");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter s");
    insta::assert_snapshot!(stage.screen());
    stage.keys("e").types(" Tell me.").keys("enter");
    // What is written to the session goes along.
    stage.keys("esc esc esc").types("Nearly there.").keys("alt-c");
    let list = Call::List { id: session_id(1), turn: None };
    returns(&mut stage, list, Returned::Changes(listed()));
    stage.keys("s");
    assert!(stage.screen().contains("Sent with what you wrote: Nearly there."));
    stage.effects();
    stage.keys("s");
    let comment = |side, lines: (u32, u32), quote: &str, comment: &str| GivenComment {
        path: "src/prices/parser.rs".to_owned(),
        side,
        start_line: lines.0,
        end_line: lines.1,
        quote: quote.to_owned(),
        comment: comment.to_owned(),
    };
    let Some(ClientFrame::SessionSend { content, review, .. }) = stage.said().pop() else {
        panic!("{}", stage.screen());
    };
    assert_eq!(content, "Nearly there.");
    let long = "\t\t// 日本円 has no decimals\u{1b}[31m, and this line is longer than any screen is wide: it can be moved to the left with the arrow keys";
    let new = format!("\t\tself.decimal()\n{long}");
    assert_eq!(
        review,
        [
            comment(DiffSide::Old, (4, 4), "\t\tself.float()", "Why? Tell me."),
            comment(DiffSide::New, (4, 5), &new, "Say which decimals"),
        ]
    );
    // A review that is refused is not lost.
    stage.refuse("The queue is full.");
    stage.keys("alt-c");
    assert!(stage.screen().contains("2 comments: s sends"), "{}", stage.screen());
    stage.keys("ctrl-c");
    assert!(stage.screen().contains("Unsent text would be lost"), "{}", stage.screen());
}

#[test]
fn c4_hunks_and_files_are_reverted_when_asked_twice() {
    let mut stage = diff(80, 24);
    stage.keys("n d");
    insta::assert_snapshot!(stage.screen());
    assert_eq!(stage.effects(), []);
    stage.keys("y");
    let revert = |hunk| Call::Revert {
        id: session_id(1),
        revert: Revert { path: "src/prices/parser.rs".to_owned(), turn: None, hunk, force: false },
    };
    assert_eq!(stage.effects(), [Effect::Call(revert(Some(1)))]);
    returns(&mut stage, revert(Some(1)), restored(&["src/prices/parser.rs"]));
    assert!(stage.screen().contains("One file was restored; u undoes it."), "{}", stage.screen());
    let (list, open) =
        (Call::List { id: session_id(1), turn: None }, opening("src/prices/parser.rs"));
    assert_eq!(stage.effects(), [Effect::Call(list), Effect::Call(open)]);
    stage.keys("D esc");
    assert_eq!(stage.effects(), []);
    stage.keys("D y");
    assert_eq!(stage.effects(), [Effect::Call(revert(None))]);
}

#[test]
fn c5_restoring_asks_what_and_again_and_shows_the_files_in_the_way() {
    let mut stage = changes(80, 24);
    stage.keys("R");
    insta::assert_snapshot!(stage.screen());
    stage.keys("up f");
    insta::assert_snapshot!(stage.screen());
    stage.keys("y");
    let restore = |force| Call::Restore {
        id: session_id(1),
        restore: Restore { turn: Seq::new(1), what: Some(RestoreScope::Files), force },
    };
    assert_eq!(stage.effects(), [Effect::Call(restore(false))]);
    refuses(
        &mut stage,
        restore(false),
        "files were changed since the last checkpoint",
        &["logo.png", "src/prices/parser.rs"],
    );
    insta::assert_snapshot!(stage.screen());
    stage.keys("y o");
    assert_eq!(stage.effects(), [Effect::Call(restore(true))]);
    returns(&mut stage, restore(true), restored(&["a", "b"]));
    assert!(stage.screen().contains("2 files were restored; u undoes it."));
    stage.effects();
    stage.keys("u y");
    let undo = Call::Undo { id: session_id(1), undo: Undo { force: false } };
    assert_eq!(stage.effects(), [Effect::Call(undo.clone())]);
    refuses(&mut stage, undo, "there is no restore to undo", &[]);
    assert!(stage.screen().contains("there is no restore to undo"), "{}", stage.screen());
}

#[test]
fn c8_a_fork_is_asked_for_and_help_leads_back() {
    let mut stage = changes(80, 24);
    stage.keys("? esc");
    assert!(stage.screen().contains("src/prices/parser.rs"), "{}", stage.screen());
    stage.effects();
    stage.keys("f y");
    let fork = Call::Fork { id: session_id(1), fork: Fork { turn: None, worktree: None } };
    assert_eq!(stage.effects(), [Effect::Call(fork)]);
}

#[test]
fn c3_a_diff_of_many_lines_and_files_is_moved_through() {
    let mut stage = changes(80, 24);
    let call = Call::List { id: session_id(1), turn: None };
    let many = (0..5_000).map(|n| file(&format!("f{n:04}"), FileStatus::Modified, 1, 1));
    let listed = SessionChanges { files: many.collect(), complete: false, ..listed() };
    returns(&mut stage, call, Returned::Changes(listed));
    stage.keys("G");
    assert!(stage.screen().contains("▸ M f4999"), "{}", stage.screen());
    stage.keys("g enter");
    let lines = (1..=100_000)
        .map(|n| line(DiffLineKind::Added, (None, Some(n)), &format!("line {n}"), &[]));
    let hunk = DiffHunk {
        old_start: 0,
        old_lines: 0,
        new_start: 1,
        new_lines: 100_000,
        heading: String::new(),
        lines: lines.collect(),
    };
    let diff = FileDiff {
        file: file("f0000", FileStatus::Added, 100_000, 0),
        hunks: vec![hunk],
        complete: false,
    };
    returns(&mut stage, opening("f0000"), Returned::Diff(diff));
    stage.keys("G");
    assert!(stage.screen().contains("+line 100000"), "{}", stage.screen());
    assert!(stage.screen().contains("the diff is longer"), "{}", stage.screen());
    stage.keys("pgup N");
    let screen = stage.screen();
    assert!(screen.contains("Asking the daemon…"), "{screen}");
}
