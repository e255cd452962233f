//! Comparisons: begun, listed with what each agent made of the prompt, and decided.

use convoke_api::bodies::{
    Comparison, ComparisonEntry, ComparisonState, ConflictSide, FinishOutcome, FinishWay,
    FinishedWorktree, KeepEntry, KeptEntry, NewComparison, NewComparisonEntry, Session, TestResult,
    WorktreeConflict,
};
use convoke_api::frames::ServerFrame;
use convoke_core::content::Cost;
use convoke_core::files::{ChangeTotals, OwnWorktree, Removal, RemovedWorktree};
use convoke_core::time::Timestamp;

use super::stage::{Stage, full_session, session_id, shop};
use crate::workbench::message::Message;
use crate::workbench::refusal::{CallRefusal, RefusalReason};
use crate::workbench::worktrees::{CallDelay, WorktreeCall, WorktreeReturned};

fn candidate(number: u8, agent: &str, state: ComparisonState) -> ComparisonEntry {
    let own = OwnWorktree {
        path: format!("/w/{number}"),
        branch: format!("convoke/{number}/work"),
        base: Some("main".to_owned()),
        removed: None,
    };
    let changes = ChangeTotals { files: 3, added: 120 * u64::from(number), removed: 34 };
    let session = Session {
        worktree: Some(own),
        changes: Some(changes),
        cost: Some(Cost { amount: 0.12, currency: "USD".to_owned() }),
        ..full_session(number, "Price it")
    };
    ComparisonEntry {
        agent: Some(agent.parse().unwrap()),
        model: None,
        state,
        session: Some(session),
        error: None,
        duration_ms: (state == ComparisonState::Ended).then_some(83_400),
        test: None,
    }
}

fn test(exit_code: i32, output: &str) -> Option<TestResult> {
    let (exit_code, output) = (Some(exit_code), output.to_owned());
    Some(TestResult { exit_code, output, duration_ms: 10 })
}

fn comparison(stage: &Stage) -> Comparison {
    let done = candidate(11, "claude-code", ComparisonState::Ended);
    let done = ComparisonEntry { test: test(0, "fine\n"), ..done };
    let failing = candidate(12, "demo", ComparisonState::Ended);
    let failing = ComparisonEntry {
        model: Some("opus".to_owned()),
        test: test(3, "2 failed\n\n"),
        ..failing
    };
    let missing = ComparisonEntry {
        session: None,
        error: Some("no such agent: missing".to_owned()),
        ..candidate(13, "missing", ComparisonState::Failed)
    };
    Comparison {
        id: "c1".to_owned(),
        repo_id: shop().id,
        prompt: "Price everything in whole cents and round as the law says\nAnd test it."
            .to_owned(),
        test: Some("cargo test --workspace --all-targets".to_owned()),
        created_at: Timestamp::from_millis(stage.model.now.as_millis() - 300_000),
        kept: None,
        done: true,
        entries: vec![done, failing, missing],
    }
}

/// The list with one comparison.
fn listed(width: u16, height: u16) -> Stage {
    let mut stage = Stage::at_home(width, height);
    stage.keys("5");
    assert_eq!(stage.called(), [reading(CallDelay::Now)]);
    let all = vec![comparison(&stage)];
    stage.returns(reading(CallDelay::Now), WorktreeReturned::Comparisons(all));
    assert_eq!(stage.called(), [], "all of them are done");
    stage
}

fn reading(delay: CallDelay) -> WorktreeCall {
    WorktreeCall::Comparisons { delay }
}

#[test]
fn c8_candidates_are_listed_with_changes_time_cost_and_test() {
    let mut stage = listed(120, 40);
    stage.keys("down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    assert_eq!(stage.model.chat.as_ref().map(|chat| chat.id), Some(session_id(12)));
}

#[test]
fn c8_candidates_fit_on_a_small_screen() {
    let mut stage = listed(80, 24);
    insta::assert_snapshot!(stage.screen());
    stage.resize(40, 16);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn c8_one_candidate_is_kept_after_a_confirmation() {
    let mut stage = listed(80, 24);
    stage.keys("K");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter ctrl-u").types("Cents").keys("enter");
    insta::assert_snapshot!(stage.screen());
    assert_eq!(stage.called(), []);
    stage.keys("y");
    let keep = KeepEntry {
        session_id: session_id(11).to_string(),
        how: Some(FinishWay::Merge),
        message: Some("Cents".to_owned()),
        force: false,
        resolve: false,
    };
    let call = WorktreeCall::Keep { comparison: "c1".to_owned(), keep };
    assert_eq!(stage.called(), std::slice::from_ref(&call));
    let mut comparison = Comparison { kept: Some(session_id(11)), ..comparison(&stage) };
    let mut session = comparison.entries[0].session.clone().unwrap();
    let removed = RemovedWorktree { how: Removal::Merge, at: stage.model.now, commit: None };
    session.worktree.as_mut().unwrap().removed = Some(removed.clone());
    let finished = FinishedWorktree {
        outcome: FinishOutcome::Finished,
        session,
        base: Some("main".to_owned()),
        commit: None,
        conflicts: Vec::new(),
        pull_request: None,
        prompt: None,
    };
    for entry in &mut comparison.entries[..2] {
        let own = entry.session.as_mut().and_then(|session| session.worktree.as_mut());
        own.unwrap().removed = Some(removed.clone());
    }
    stage.returns(call, WorktreeReturned::Kept(KeptEntry { finished, comparison }));
    insta::assert_snapshot!(stage.screen());
    stage.keys("K");
    assert!(stage.screen().contains("was kept already"), "{}", stage.screen());
}

#[test]
fn c8_what_is_in_the_way_of_a_candidate_is_given_to_its_agent_or_deleted() {
    let mut stage = listed(80, 24);
    stage.keys("K enter enter y");
    let [asked] = &stage.called()[..] else { panic!("{}", stage.screen()) };
    let asked = asked.clone();
    let WorktreeCall::Keep { comparison: id, keep } = &asked else { panic!("{asked:?}") };
    let with = |force: bool, resolve: bool| {
        let keep = KeepEntry { force, resolve, ..keep.clone() };
        WorktreeCall::Keep { comparison: id.clone(), keep }
    };
    let refusal = CallRefusal {
        why: "files are in no snapshot".to_owned(),
        hint: None,
        files: vec!["big.bin".to_owned()],
        reason: RefusalReason::FilesNotCaptured,
    };
    stage.send(Message::WorktreeCalled { call: asked.clone(), returned: Err(refusal) });
    assert!(stage.screen().contains("big.bin"), "{}", stage.screen());
    stage.keys("d");
    assert_eq!(stage.called(), [with(true, false)]);
    let comparison = comparison(&stage);
    let path = "price.rs".to_owned();
    let (base, branch) = (ConflictSide::Changed, ConflictSide::Changed);
    let finished = FinishedWorktree {
        outcome: FinishOutcome::Conflicts,
        session: comparison.entries[0].session.clone().unwrap(),
        base: Some("main".to_owned()),
        commit: None,
        conflicts: vec![WorktreeConflict { path, base, branch }],
        pull_request: None,
        prompt: None,
    };
    let kept = WorktreeReturned::Kept(KeptEntry { finished, comparison });
    stage.returns(with(true, false), kept);
    assert!(stage.screen().contains("price.rs"), "{}", stage.screen());
    stage.effects();
    stage.keys("g");
    assert_eq!(stage.called(), [with(false, true)]);
}

#[test]
fn c8_comparisons_that_are_shown_are_read_again_when_they_change() {
    let mut stage = listed(80, 24);
    stage.effects();
    stage.receive(ServerFrame::ComparisonChanged { comparison_id: "c1".to_owned() });
    assert_eq!(stage.called(), [reading(CallDelay::Now)]);
    stage.receive(ServerFrame::ComparisonChanged { comparison_id: "c1".to_owned() });
    assert_eq!(stage.called(), [], "a response is on its way");
    stage.returns(reading(CallDelay::Now), WorktreeReturned::Comparisons(Vec::new()));
    assert_eq!(stage.called(), [reading(CallDelay::Now)], "and may be older than the change");
    stage.returns(reading(CallDelay::Now), WorktreeReturned::Comparisons(Vec::new()));
    stage.keys("1");
    stage.effects();
    stage.receive(ServerFrame::ComparisonChanged { comparison_id: "c1".to_owned() });
    assert_eq!(stage.called(), [], "it is not shown");
}

#[test]
fn c8_agents_and_models_are_chosen_and_the_prompt_is_given_to_all() {
    let mut stage = Stage::at_home(80, 24);
    stage.keys("n").types("Price it").keys("alt-c enter");
    assert!(stage.screen().contains("Choose two"), "{}", stage.screen());
    stage.keys("down space right down space t").types("cargo test").keys("enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let entry = |agent: &str, model: Option<&str>| NewComparisonEntry {
        agent: agent.to_owned(),
        model: model.map(str::to_owned),
        mode: None,
    };
    let new = NewComparison {
        repo_id: shop().id.to_string(),
        prompt: "Price it".to_owned(),
        entries: vec![entry("claude-code", None), entry("demo", None), entry("demo", Some("opus"))],
        test: Some("cargo test".to_owned()),
    };
    let call = WorktreeCall::Compare(new);
    assert_eq!(stage.called(), std::slice::from_ref(&call));
    let refusal = CallRefusal {
        why: "/home/ann/src/shop is not a git repository".to_owned(),
        hint: Some(
            "a work tree needs a project that is the root of a git repository: `git init`"
                .to_owned(),
        ),
        files: Vec::new(),
        reason: RefusalReason::Other,
    };
    stage.send(Message::WorktreeCalled { call: call.clone(), returned: Err(refusal) });
    assert!(stage.screen().contains("The comparison was not started"), "{}", stage.screen());
    assert!(stage.screen().contains("Hint: a work tree needs"), "{}", stage.screen());
    stage.keys("esc");
    assert!(stage.screen().contains("❯ Price it"), "{}", stage.screen());
    stage.keys("enter");
    let working = Comparison { done: false, ..comparison(&stage) };
    stage.returns(call, WorktreeReturned::Compared(working.clone()));
    assert!(stage.screen().contains("Price everything"), "{}", stage.screen());
    stage.effects();
    // As long as one is not done, it is read again.
    let all = vec![working];
    stage.returns(reading(CallDelay::Now), WorktreeReturned::Comparisons(all.clone()));
    assert_eq!(stage.called(), [reading(CallDelay::Later)]);
    stage.keys("1");
    stage.returns(reading(CallDelay::Later), WorktreeReturned::Comparisons(all));
    assert_eq!(stage.called(), [], "it is not shown");
}

#[test]
fn c8_without_comparisons_the_page_says_how_to_begin_one() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("5");
    stage.returns(reading(CallDelay::Now), WorktreeReturned::Comparisons(Vec::new()));
    assert!(stage.screen().contains("n: one prompt for several agents"), "{}", stage.screen());
    stage.keys("n");
    assert!(stage.screen().contains("Compare: which agents get the prompt?"), "{}", stage.screen());
    stage.keys("x");
    assert!(stage.screen().contains("shop · Claude Code"), "{}", stage.screen());
}
