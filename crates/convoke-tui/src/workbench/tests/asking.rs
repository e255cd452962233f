//! What waits for the human, in the session that asks and in the inbox.

use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::id::RequestId;

use super::stage::{Stage, permission, prompt, question};
use crate::workbench::message::Effect;

fn asked() -> Stage {
    let mut stage = Stage::talking(80, 20, vec![prompt(1, "Fix it")]);
    stage.hear(ServerFrame::InboxList { items: vec![] });
    stage.hear(ServerFrame::InboxList { items: vec![permission(7), question(8)] });
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
fn a_permission_is_answered_in_the_session_that_asks() {
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
            rule: Some(0),
            remember: None,
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
fn the_inbox_shows_all_that_waits_and_questions_are_answered_there() {
    let mut stage = asked();
    stage.keys("alt-2");
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
    assert!(stage.screen().contains("Inbox (1)"), "{}", stage.screen());
}

#[test]
fn questions_are_rejected_with_a_reason() {
    let mut stage = asked();
    stage.keys("alt-2 down enter r").types("Not now").keys("enter y");
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
    stage.hear(ServerFrame::InboxList { items: vec![] });
    stage.said();
    stage.types("y");
    assert_eq!(stage.said(), []);
    assert!(stage.screen().contains("❯ y"), "{}", stage.screen());
}

#[test]
fn from_the_inbox_to_the_session_that_asks() {
    let mut stage = asked();
    stage.keys("alt-2 down o");
    let screen = stage.screen();
    assert!(screen.contains("Write the release notes"), "{screen}");
    assert!(screen.contains("Which database?"), "{screen}");
}
