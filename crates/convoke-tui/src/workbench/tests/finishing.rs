//! Work trees: chosen for a new session, shown, finished and restored.

use convoke_api::bodies::{
    Activity, ConflictSide, FinishOutcome, FinishWay, FinishWorktree, FinishedWorktree,
    NewWorktree, Prompted, Session, WorktreeConflict, WorktreeState,
};
use convoke_api::frames::{ClientFrame, ServerFrame, SessionItem};
use convoke_core::files::{OwnWorktree, Removal, RemovedWorktree};
use convoke_core::id::MessageId;
use convoke_core::message::{Rev, Seq};
use convoke_core::time::Timestamp;

use super::stage::{Stage, full_session, prompt, session, session_id, words};
use crate::workbench::message::Message;
use crate::workbench::refusal::{CallRefusal, RefusalReason};
use crate::workbench::worktrees::{WorktreeCall, WorktreeReturned};

const BRANCH: &str = "convoke/01010101/work";

fn own() -> OwnWorktree {
    OwnWorktree {
        path: "/home/ann/.local/share/convoke/worktrees/shop/01010101".to_owned(),
        branch: BRANCH.to_owned(),
        base: Some("main".to_owned()),
        removed: None,
    }
}

fn merged(stage: &Stage) -> OwnWorktree {
    let at = Timestamp::from_millis(stage.model.now.as_millis() - 3 * 3_600_000);
    let removed = RemovedWorktree { how: Removal::Merge, at, commit: None };
    OwnWorktree { removed: Some(removed), ..own() }
}

/// The first session, which has a work tree, is open.
fn stage(width: u16, height: u16) -> Stage {
    let entries = vec![prompt(1, "Use decimals"), words(2, "Done.")];
    let mut stage = Stage::talking(width, height, entries);
    put(&mut stage, own());
    stage
}

fn put(stage: &mut Stage, own: OwnWorktree) {
    let title = "Fix the parser of prices so that every test of it passes again";
    let item = SessionItem { worktree: Some(own), ..session(1, 2, title, Activity::Idle) };
    stage.receive(ServerFrame::SessionChanged { session: item });
    stage.effects();
}

fn look() -> WorktreeCall {
    WorktreeCall::Look { id: session_id(1) }
}

fn finish(how: FinishWay, message: Option<&str>) -> FinishWorktree {
    FinishWorktree { how, message: message.map(str::to_owned), force: false, resolve: false }
}

fn finishing(finish: FinishWorktree) -> WorktreeCall {
    WorktreeCall::Finish { id: session_id(1), finish }
}

fn refuses(stage: &mut Stage, call: WorktreeCall, files: &[&str], reason: RefusalReason) {
    let refusal = CallRefusal {
        why: "/home/ann/src/shop has uncommitted changes".to_owned(),
        hint: Some("commit or stash these files first; nothing was changed".to_owned()),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        reason,
    };
    stage.send(Message::WorktreeCalled { call, returned: Err(refusal) });
}

fn finished(outcome: FinishOutcome, own: OwnWorktree) -> FinishedWorktree {
    let session = Session { worktree: Some(own), ..full_session(1, "Fix the parser") };
    FinishedWorktree {
        outcome,
        session,
        base: (outcome == FinishOutcome::Finished).then(|| "main".to_owned()),
        commit: None,
        conflicts: Vec::new(),
        pull_request: None,
        prompt: None,
    }
}

#[test]
fn c6_a_work_tree_is_chosen_for_a_new_session_and_a_refusal_shows_the_way_out() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n").types("Price it").keys("alt-w down down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter").types("fix-prices");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let [ClientFrame::SessionCreate { worktree, .. }] = &stage.said()[..] else {
        panic!("{}", stage.screen());
    };
    let branch = Some("fix-prices".to_owned());
    assert_eq!(*worktree, Some(NewWorktree { branch }));
    stage.answer(ServerFrame::Error {
        message: "the branch fix-prices exists already".to_owned(),
        hint: Some("choose another name, or a branch that is checked out nowhere".to_owned()),
    });
    insta::assert_snapshot!(stage.screen());
    // Prompt and branch are still there.
    stage.keys("esc");
    assert!(stage.screen().contains("❯ Price it"), "{}", stage.screen());
    assert!(stage.screen().contains("⎇ fix-prices"), "{}", stage.screen());
    stage.keys("alt-w g enter");
    assert!(!stage.screen().contains('⎇'), "{}", stage.screen());
}

#[test]
fn c7_the_branch_is_in_the_header_and_the_ways_to_finish_are_explained() {
    let mut stage = stage(80, 24);
    let screen = stage.screen();
    assert!(screen.contains(&format!("claude-code · shop  ⎇ {BRANCH}")), "{screen}");
    stage.keys("esc F");
    assert_eq!(stage.called(), [look()]);
    insta::assert_snapshot!(stage.screen());
    stage.keys("down enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("ctrl-u").types("Decimals").keys("enter");
    let call = finishing(finish(FinishWay::Squash, Some("Decimals")));
    assert_eq!(stage.called(), std::slice::from_ref(&call));
    let own = merged(&stage);
    let finished = finished(FinishOutcome::Finished, own);
    stage.returns(call, WorktreeReturned::Finished(finished));
    let screen = stage.screen();
    assert!(screen.contains(&format!("main has the changes of {BRANCH}; F restores")), "{screen}");
    assert!(screen.contains(&format!("⎇ {BRANCH} (merged)")), "{screen}");
}

#[test]
fn c7_the_ways_to_finish_stand_beside_the_list_on_a_wide_screen() {
    let mut stage = stage(120, 40);
    stage.keys("alt-w");
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn c7_conflicts_are_listed_and_given_to_the_agent() {
    let mut stage = stage(80, 24);
    stage.keys("alt-w enter ctrl-u enter");
    let merge = finish(FinishWay::Merge, None);
    assert_eq!(stage.called(), [look(), finishing(merge.clone())]);
    let conflict = |path: &str, base| WorktreeConflict {
        path: path.to_owned(),
        base,
        branch: ConflictSide::Changed,
    };
    let conflicts = vec![
        conflict("src/prices/parser.rs", ConflictSide::Changed),
        conflict("old\u{1b}[2J.rs", ConflictSide::Deleted),
    ];
    let told = FinishedWorktree { conflicts, ..finished(FinishOutcome::Conflicts, own()) };
    stage.returns(finishing(merge.clone()), WorktreeReturned::Finished(told.clone()));
    insta::assert_snapshot!(stage.screen());
    stage.keys("g");
    let call = finishing(FinishWorktree { resolve: true, ..merge });
    assert_eq!(stage.called(), std::slice::from_ref(&call));
    let prompt = Prompted {
        accepted: true,
        message_id: MessageId::from_random([7; 16]),
        seq: Some(Seq::new(3)),
        queued: false,
        rev: Rev::new(3),
        waits_for: None,
    };
    let told = FinishedWorktree { prompt: Some(prompt), ..told };
    stage.returns(call, WorktreeReturned::Finished(told));
    let screen = stage.screen();
    assert!(screen.contains("The agent was prompted to resolve the conflicts."), "{screen}");
    assert!(screen.contains("❯ Use decimals"), "{screen}");
}

#[test]
fn c7_discarding_asks_once_more_and_again_for_files_that_no_snapshot_holds() {
    let mut stage = stage(80, 24);
    stage.keys("alt-w G enter");
    insta::assert_snapshot!(stage.screen());
    assert_eq!(stage.called(), [look()]);
    stage.keys("y");
    let discard = finish(FinishWay::Discard, None);
    assert_eq!(stage.called(), [finishing(discard.clone())]);
    let reason = RefusalReason::FilesNotCaptured;
    refuses(&mut stage, finishing(discard.clone()), &["dump.sql", "video.mp4"], reason);
    insta::assert_snapshot!(stage.screen());
    stage.keys("y enter");
    assert_eq!(stage.called(), [], "only d deletes them");
    stage.keys("d");
    assert_eq!(stage.called(), [finishing(FinishWorktree { force: true, ..discard })]);
}

#[test]
fn c7_a_refusal_names_the_files_and_the_way_out() {
    let mut stage = stage(80, 24);
    stage.keys("alt-w enter ctrl-u enter");
    let call = finishing(finish(FinishWay::Merge, None));
    refuses(&mut stage, call.clone(), &["notes.txt"], RefusalReason::Other);
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc esc");
    assert!(stage.screen().contains("❯ Use decimals"), "{}", stage.screen());
    // What comes after the page was closed is a notice.
    refuses(&mut stage, call, &["notes.txt"], RefusalReason::Other);
    assert!(stage.screen().contains("has uncommitted changes"), "{}", stage.screen());
}

#[test]
fn c7_a_pull_request_shows_its_address() {
    let mut stage = stage(80, 24);
    stage.keys("alt-w 4 enter enter");
    let title = "Fix the parser of prices so that every test of it passes again";
    let call = finishing(finish(FinishWay::Pr, Some(title)));
    assert_eq!(stage.called(), [look(), call.clone()]);
    let made = FinishedWorktree {
        pull_request: Some("https://github.com/ann/shop/pull/7".to_owned()),
        ..finished(FinishOutcome::PullRequest, own())
    };
    stage.returns(call, WorktreeReturned::Finished(made));
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn c7_a_removed_or_missing_work_tree_is_restored() {
    let mut stage = stage(80, 24);
    let removed = merged(&stage);
    put(&mut stage, removed);
    stage.keys("alt-w");
    assert_eq!(stage.called(), [], "it is known that it is not there");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let restore = WorktreeCall::Restore { id: session_id(1) };
    assert_eq!(stage.called(), std::slice::from_ref(&restore));
    let restored = Session { worktree: Some(own()), ..full_session(1, "Fix the parser") };
    stage.returns(restore.clone(), WorktreeReturned::Restored(restored));
    let screen = stage.screen();
    assert!(screen.contains("Restored the work tree: R resumes its session."), "{screen}");
    assert!(!screen.contains("(merged)"), "{screen}");
    stage.keys("alt-w");
    stage.returns(look(), WorktreeReturned::State(Some(WorktreeState::Missing)));
    assert!(stage.screen().contains("Its folder was deleted by hand."), "{}", stage.screen());
    stage.keys("enter");
    assert_eq!(stage.called(), [look(), restore]);
}

#[test]
fn c7_a_session_without_a_work_tree_has_nothing_to_finish() {
    let mut stage = Stage::with_sessions(80, 24);
    stage.keys("F");
    assert!(stage.screen().contains("This session has no work tree"), "{}", stage.screen());
    assert_eq!(stage.called(), []);
}

#[test]
fn c7_from_the_changes_finishing_leads_back_to_them() {
    let mut stage = stage(80, 24);
    stage.keys("alt-c F");
    assert!(stage.screen().contains("Finish convoke/"), "{}", stage.screen());
    stage.keys("esc");
    assert!(stage.screen().contains("Changes  Fix the parser"), "{}", stage.screen());
}
