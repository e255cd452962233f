//! What the agents of a daemon ask, beside the questions in files.

use convoke_api::bodies::{InboxItem, InboxKind};
use convoke_api::entry::{AskedQuestion, Permission};
use convoke_api::frames::ClientFrame;
use convoke_core::content::Diff;
use convoke_core::evidence::Evidence;
use convoke_core::id::SessionId;
use convoke_core::question::Choice;
use convoke_core::request::{PermissionKind, PermissionOption, Status};
use convoke_core::time::Timestamp;

use super::stage::{Stage, id, tea};
use crate::answer::message::{Effect, Message, Outcome};

fn item(number: u8, kind: InboxKind, title: &str) -> InboxItem {
    InboxItem {
        id: id(number),
        kind,
        session_id: Some("claude-code:1".to_owned()),
        uid: Some(SessionId::from_random([1; 16])),
        title: title.to_owned(),
        created_at: Timestamp::from_millis(1_794_739_200_000),
        agent: Some("claude-code".parse().unwrap()),
        project: Some("harbour".to_owned()),
        project_id: None,
        permission: None,
        questions: None,
        asked_by: None,
        working_directory: None,
        status: Status::Pending,
    }
}

fn permission(number: u8) -> InboxItem {
    let option = |id: &str, name: &str, kind| PermissionOption {
        option_id: id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    let diff = Diff {
        path: "src/upload.rs".to_owned(),
        old_text: Some("let limit = 1;\n".to_owned()),
        new_text: "let limit = 2;\n".to_owned(),
    };
    let permission = Permission {
        by: None,
        permission_id: id(number),
        title: "Edit src/upload.rs".to_owned(),
        tool_call_id: None,
        tool: Some("edit".to_owned()),
        evidence: Some(Evidence::Changes { diffs: vec![diff], omitted_bytes: 0 }),
        rules: vec![],
        options: vec![
            option("yes", "Allow", PermissionKind::AllowOnce),
            option("no", "Deny", PermissionKind::RejectOnce),
        ],
        status: Status::Pending,
        option_id: None,
        reason: None,
    };
    let item = item(number, InboxKind::Permission, "Edit src/upload.rs");
    InboxItem { permission: Some(permission), ..item }
}

fn question(number: u8) -> InboxItem {
    let choice = |label: &str| Choice { label: label.to_owned(), description: None };
    let asked = AskedQuestion {
        prompt: "Which port?".to_owned(),
        title: "Port".to_owned(),
        options: vec![choice("80"), choice("8080")],
        multi_select: false,
        html: None,
    };
    InboxItem { questions: Some(vec![asked]), ..item(number, InboxKind::Questions, "Port") }
}

/// A question in a file, and a permission and a question of an agent.
fn both() -> Stage {
    let mut stage = Stage::with([tea()]);
    stage.send(Message::Linked);
    // The daemon lists the questions in files, too.
    let of_file = InboxItem { uid: None, session_id: None, ..question(2) };
    stage.send(Message::Listed(vec![permission(7), question(8), of_file]));
    stage
}

#[test]
fn p10_requests_of_agents_and_questions_in_files_are_one_queue() {
    let mut stage = both();
    assert_eq!(stage.effects, [], "what is there at the start rings no bell");
    stage.keys("l");
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc");
    stage.send(Message::Listed(vec![permission(7), question(8), permission(9)]));
    assert!(matches!(stage.effects.as_slice(), [Effect::Announce(_)]), "{:?}", stage.effects);
}

#[test]
fn p1_p10_a_permission_is_shown_with_its_evidence_and_answered_through_the_daemon() {
    let mut stage = both();
    // From the question in a file to the oldest.
    stage.keys("n");
    insta::assert_snapshot!(stage.screen());
    stage.keys("1");
    let frame = ClientFrame::PermissionAnswer {
        permission_id: id(7).to_string(),
        option_id: "yes".to_owned(),
        remember: None,
        rule: None,
    };
    assert_eq!(stage.effects, [Effect::SendFrame { id: id(7), frame }]);
    stage.settle(7, Outcome::Sent);
    assert!(stage.screen().contains("Sent: Edit src/upload.rs"), "{}", stage.screen());
    stage.send(Message::Listed(vec![permission(7), question(8)]));
    assert!(!stage.screen().contains("Change src/upload.rs?"), "a list that was on its way");
}

#[test]
fn p10_a_permission_that_was_settled_elsewhere_under_the_humans_eyes_says_so() {
    let mut stage = both();
    // From the question in a file to the oldest.
    stage.keys("n");
    stage.send(Message::Listed(vec![question(8)]));
    stage.keys("y");
    assert_eq!(stage.effects, []);
    assert!(stage.screen().contains("This was answered elsewhere."), "{}", stage.screen());
    stage.keys("enter");
    assert!(!stage.screen().contains("src/upload.rs"), "{}", stage.screen());
}

#[test]
fn p10_without_a_daemon_only_files_are_answered() {
    let mut stage = both();
    stage.send(Message::Unlinked);
    assert!(stage.screen().contains("Lost the connection to the daemon"), "{}", stage.screen());
    // From the question in a file to the oldest.
    stage.keys("n");
    stage.keys("y");
    assert_eq!(stage.effects, []);
    assert!(stage.screen().contains("your answer was not sent"), "{}", stage.screen());
}
