//! What waits for the human, in the session that asks and on the start screen.

use convoke_api::entry::{EntryBody, ToolCall};
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::content::{Diff, ToolStatus};
use convoke_core::evidence::Evidence;
use convoke_core::id::RequestId;
use convoke_core::request::{PermissionKind, Status};

use super::stage::{Stage, entry, permission, prompt, question};
use crate::workbench::message::Effect;

fn asked() -> Stage {
    let mut stage = Stage::talking(80, 20, vec![prompt(1, "Fix it")]);
    stage.receive(ServerFrame::InboxList { items: vec![] });
    stage.receive(ServerFrame::InboxList { items: vec![permission(7), question(8)] });
    stage
}

#[test]
fn a_request_announces_itself_and_takes_no_key_from_who_writes() {
    let mut stage = asked();
    let announced = |effect: &Effect| matches!(effect, Effect::Announce(_));
    assert!(stage.effects().iter().any(announced));
    stage.types("y");
    assert_eq!(stage.said(), []);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn p1_p2_a_permission_is_answered_in_the_session_that_asks() {
    let mut stage = asked();
    stage.said();
    stage.keys("tab");
    insta::assert_snapshot!(stage.screen());
    stage.keys("2");
    assert_eq!(
        stage.said(),
        [ClientFrame::PermissionAnswer {
            permission_id: RequestId::from_random([7; 16]).to_string(),
            option_id: "yes".to_owned(),
            remember: None,
            rule: Some(0),
        }]
    );
    stage.keys("2");
    assert_eq!(stage.said(), [], "once is enough");
}

#[test]
fn a_refused_verdict_can_be_given_again() {
    let mut stage = asked();
    stage.keys("tab n");
    stage.refuse("somebody else was faster");
    stage.said();
    stage.keys("y");
    assert_eq!(stage.said().len(), 1);
}

#[test]
fn p3_p10_home_shows_all_that_waits_and_questions_are_answered_there() {
    let mut stage = asked();
    stage.keys("alt-1");
    insta::assert_snapshot!(stage.screen());
    stage.resize(110, 20);
    stage.said();
    stage.keys("down enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("2 s enter");
    let said = stage.said();
    let [ClientFrame::QuestionAnswer { question_id, answers }] = said.as_slice() else {
        panic!("{said:?}");
    };
    assert_eq!(*question_id, RequestId::from_random([8; 16]).to_string());
    let answers = serde_json::to_value(answers).unwrap();
    assert_eq!(answers, serde_json::json!({"0": {"selectedOption": "SQLite"}}));
    stage.answer(ServerFrame::InboxSettled { id: RequestId::from_random([8; 16]) });
    assert!(stage.screen().contains("Home (1)"), "{}", stage.screen());
}

#[test]
fn questions_are_rejected_with_a_reason() {
    let mut stage = asked();
    stage.keys("alt-1 down enter r").types("Not now").keys("enter y");
    let said = stage.said();
    let reason = Some("Not now".to_owned());
    let question_id = RequestId::from_random([8; 16]).to_string();
    let rejected = |frame: &ClientFrame| {
        *frame
            == ClientFrame::QuestionReject {
                question_id: question_id.clone(),
                reason: reason.clone(),
            }
    };
    assert!(said.iter().any(rejected), "{said:?}");
}

#[test]
fn what_others_answered_disappears_and_the_keys_go_elsewhere() {
    let mut stage = asked();
    stage.keys("tab");
    stage.receive(ServerFrame::InboxList { items: vec![] });
    stage.said();
    stage.types("y");
    assert_eq!(stage.said(), []);
    assert!(stage.screen().contains("❯ y"), "{}", stage.screen());
}

#[test]
fn from_home_to_the_session_that_asks() {
    let mut stage = asked();
    stage.keys("alt-1 down o");
    let screen = stage.screen();
    assert!(screen.contains("Write the release notes"), "{screen}");
    assert!(screen.contains("Which database?"), "{screen}");
}

#[test]
fn p2_wider_rules_and_rules_that_deny_are_behind_a_key() {
    let mut stage = asked();
    stage.keys("tab w");
    insta::assert_snapshot!(stage.screen());
    stage.said();
    stage.keys("3");
    let said = stage.said();
    let [ClientFrame::PermissionAnswer { option_id, rule, .. }] = said.as_slice() else {
        panic!("{said:?}");
    };
    assert_eq!((option_id.as_str(), *rule), ("yes", Some(1)));
}

#[test]
fn p1_a_permission_is_denied_with_a_note() {
    let mut stage = asked();
    stage.said();
    stage.keys("tab r").types("Use nextest");
    assert!(stage.screen().contains("│ Use nextest"), "{}", stage.screen());
    stage.keys("enter");
    let question_id = RequestId::from_random([7; 16]).to_string();
    let reason = Some("Use nextest".to_owned());
    assert_eq!(stage.said(), [ClientFrame::QuestionReject { question_id, reason }]);
}

#[test]
fn p1_long_evidence_is_cut_and_v_shows_all_of_it() {
    let mut stage = asked();
    let mut item = permission(7);
    let diff = Diff {
        path: "src/price.rs".to_owned(),
        old_text: None,
        new_text: (1..60).map(|number| format!("line {number}\n")).collect(),
    };
    item.permission.as_mut().unwrap().evidence =
        Some(Evidence::Changes { diffs: vec![diff], omitted_bytes: 0 });
    stage.receive(ServerFrame::InboxList { items: vec![] });
    stage.receive(ServerFrame::InboxList { items: vec![item] });
    stage.keys("tab");
    insta::assert_snapshot!(stage.screen());
    stage.said();
    stage.keys("v 1");
    assert_eq!(stage.said(), [], "what is answered is seen with its answers");
    stage.keys("G");
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc y");
    assert_eq!(stage.said().len(), 1);
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        tool_call_id: id.to_owned(),
        name: "execute".to_owned(),
        title: Some("cargo test".to_owned()),
        kind: Some("execute".to_owned()),
        status: ToolStatus::Running,
        args: serde_json::Value::Null,
        result: None,
        diffs: vec![],
        error: None,
        html: None,
    }
}

#[test]
fn p8_a_call_that_waits_for_the_human_does_not_run() {
    let mut stage = asked();
    let call = call("c2");
    stage.update(entry("t2", 2, EntryBody::ToolCall(call)));
    assert!(stage.screen().contains("◐ cargo test  execute  running"), "{}", stage.screen());
    let mut asked = permission(7).permission.unwrap();
    asked.tool_call_id = Some("c2".to_owned());
    stage.update(entry("p3", 3, EntryBody::Permission(asked.clone())));
    let screen = stage.screen();
    assert!(screen.contains("◆ cargo test  execute  needs your answer"), "{screen}");
    assert!(!screen.contains("running"), "{screen}");
    asked.status = Status::Answered;
    asked.option_id = Some("yes".to_owned());
    let mut answered = entry("p3", 3, EntryBody::Permission(asked));
    answered.rev = answered.rev.next();
    stage.receive(ServerFrame::InboxList { items: vec![] });
    stage.update(answered);
    let screen = stage.screen();
    assert!(screen.contains("◐ cargo test  execute  running"), "{screen}");
    assert!(!screen.contains("✓ cargo test"), "the answer is no row of its own: {screen}");
}

#[test]
fn p1_a_denied_permission_is_shown_as_denied_with_and_without_an_option() {
    let mut stage = asked();
    let mut denied = permission(7).permission.unwrap();
    denied.tool_call_id = Some("c2".to_owned());
    denied.status = Status::Answered;
    denied.option_id = Some("no".to_owned());
    denied.by = Some("ada".parse().unwrap());
    let mut call = call("c2");
    call.status = ToolStatus::Complete;
    stage.receive(ServerFrame::InboxList { items: vec![] });
    stage.update(entry("t2", 2, EntryBody::ToolCall(call)));
    stage.update(entry("p3", 3, EntryBody::Permission(denied.clone())));
    let screen = stage.screen();
    assert!(screen.contains("✗ cargo test --workspace"), "{screen}");
    assert!(screen.contains("denied by ada"), "{screen}");
    // Without an option of the agent.
    denied.status = Status::Rejected;
    denied.option_id = None;
    denied.by = Some("bob".parse().unwrap());
    let mut rejected = entry("p3", 3, EntryBody::Permission(denied));
    rejected.rev = rejected.rev.next();
    stage.update(rejected);
    assert!(stage.screen().contains("denied by bob"), "{}", stage.screen());
}

#[test]
fn p1_n_denies_also_if_the_agent_has_no_option_for_it() {
    let mut stage = asked();
    let mut item = permission(7);
    let options = &mut item.permission.as_mut().unwrap().options;
    options.retain(|option| option.kind == PermissionKind::AllowOnce);
    stage.receive(ServerFrame::InboxList { items: vec![] });
    stage.receive(ServerFrame::InboxList { items: vec![item] });
    stage.said();
    stage.keys("tab n");
    let question_id = RequestId::from_random([7; 16]).to_string();
    assert_eq!(stage.said(), [ClientFrame::QuestionReject { question_id, reason: None }]);
    let screen = stage.screen();
    let sent = screen.lines().find(|line| line.contains("sending…")).unwrap();
    assert!(sent.contains("Deny with a note"), "{screen}");
}
