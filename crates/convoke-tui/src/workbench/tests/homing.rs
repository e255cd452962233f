//! The start screen.

use convoke_api::bodies::Activity;
use convoke_api::entry::Older;
use convoke_api::frames::{ClientFrame, ServerFrame, SessionItem};
use convoke_core::content::Cost;
use convoke_core::session::{Attention, EndReason, Status};
use convoke_core::turn::{Failure, FailureKind};

use super::stage::{Stage, permission, prompt, session, session_id, shop, site, words};
use crate::workbench::message::Message;

fn change(stage: &mut Stage, session: SessionItem) {
    stage.receive(ServerFrame::SessionChanged { session });
}

/// A session in every group.
fn busy(width: u16, height: u16) -> Stage {
    let mut stage = Stage::at_home(width, height);
    stage.receive(ServerFrame::InboxList { items: vec![permission(7)] });
    let working = SessionItem {
        step: Some("Test the parser".to_owned()),
        cost: Some(Cost { amount: 0.42, currency: "USD".to_owned() }),
        ..session(1, 2, "Fix the parser of prices", Activity::Running)
    };
    change(&mut stage, working);
    let finished = SessionItem {
        unseen: true,
        last_line: Some("The notes are in CHANGELOG.md.".to_owned()),
        ..session(2, 90, "Write the release notes", Activity::Idle)
    };
    change(&mut stage, finished);
    let detail = "the agent's process ended: exit code 1, last output: no key".to_owned();
    let failed = SessionItem {
        unseen: true,
        attention: Attention::Failed,
        failure: Some(Failure { why: FailureKind::ProcessExited, detail }),
        ..session(3, 10, "Count the \u{1b}[2Jsheep", Activity::Idle)
    };
    change(&mut stage, failed);
    stage.said();
    stage
}

#[test]
fn p3_home_shows_what_needs_you_what_works_what_failed_and_what_is_finished() {
    insta::assert_snapshot!(busy(80, 24).screen());
    insta::assert_snapshot!(busy(120, 26).screen());
}

#[test]
fn p3_h8_home_has_the_newest_sessions_of_folders_that_are_no_projects() {
    let mut stage = Stage::new(140, 24);
    stage.send(Message::Linked);
    stage.receive(ServerFrame::ProjectList { projects: vec![shop()], editor: None });
    let asked = stage.said().into_iter().filter(|frame| *frame == ClientFrame::HomeList {});
    assert_eq!(asked.count(), 1);
    let imported = SessionItem {
        project_id: site().id,
        status: Status::Completed,
        reason: Some(EndReason::Imported),
        attention: Attention::Ended,
        ..session(8, 90, "Where the time goes", Activity::Idle)
    };
    let of_shop = session(9, 5, "A session of the shop", Activity::Idle);
    stage.receive(ServerFrame::HomeList {
        needs_you: Vec::new(),
        working: Vec::new(),
        finished: Vec::new(),
        failed: Vec::new(),
        recent: vec![of_shop, imported],
    });
    let screen = stage.screen();
    assert!(screen.contains("Where the time goes  claude-code · imported"), "{screen}");
    assert!(!screen.contains("A session of the shop"), "it comes with its project: {screen}");
    // A new session begins in the project of the newest one that has a project.
    stage.receive(ServerFrame::ProjectList { projects: vec![site(), shop()], editor: None });
    let elsewhere = SessionItem {
        project_id: convoke_core::id::ProjectId::from_random([77; 16]),
        ..session(8, 1, "Newer, and of no project", Activity::Idle)
    };
    let of_shop = session(9, 5, "A session of the shop", Activity::Idle);
    stage.receive(ServerFrame::SessionList { project_id: shop().id, sessions: vec![of_shop] });
    stage.receive(ServerFrame::HomeList {
        needs_you: Vec::new(),
        working: Vec::new(),
        finished: Vec::new(),
        failed: Vec::new(),
        recent: vec![elsewhere],
    });
    assert_eq!(stage.model.composer_project(), Some(shop().id));
}

#[test]
fn p3_a_request_is_answered_in_place() {
    let mut stage = busy(120, 26);
    stage.keys("enter y");
    let said = stage.said();
    assert!(matches!(said.as_slice(), [ClientFrame::PermissionAnswer { .. }]), "{said:?}");
    stage.answer(ServerFrame::InboxSettled { id: permission(7).id });
    let screen = stage.screen();
    assert!(!screen.contains("Needs you"), "{screen}");
    assert!(screen.contains("▸ ◐ Fix the parser"), "the next one is at hand: {screen}");
}

#[test]
fn p3_a_failed_session_says_why_and_is_tried_again() {
    let mut stage = busy(120, 26);
    stage.keys("down down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("R");
    stage.said();
    let id = session_id(3);
    stage.receive(ServerFrame::SessionHistory {
        session_id: "claude-code:3".to_owned(),
        uid: id,
        rev: convoke_core::message::Rev::new(2),
        generation: "1".to_owned(),
        entries: vec![prompt(1, "Count the sheep")],
        more: false,
        newer: false,
        session: session(3, 10, "Count the sheep", Activity::Idle),
    });
    let said = stage.said();
    let content = "Count the sheep".to_owned();
    let sent = ClientFrame::SessionSend {
        session_id: id.to_string(),
        content,
        attachments: Vec::new(),
        files: Vec::new(),
        review: Vec::new(),
        message_id: None,
    };
    assert!(said.contains(&sent), "{said:?}");
}

#[test]
fn p4_a_session_is_seen_when_its_end_is_shown() {
    let mut stage = busy(80, 24);
    let seen = |id| ClientFrame::SessionSeen { session_id: session_id(id).to_string() };
    assert!(stage.screen().contains("● Write the release notes"), "{}", stage.screen());
    stage.keys("2");
    assert!(stage.screen().contains("● CC Write the release notes"), "{}", stage.screen());
    assert!(stage.screen().contains("✗ CC Count the"), "{}", stage.screen());
    stage.receive(ServerFrame::InboxList { items: vec![] });
    let long: String = (1..80).map(|number| format!("Line {number}\n\n")).collect();
    stage.keys("alt-1 G up");
    stage.said();
    stage.keys("2 enter");
    let open = stage.model.chat.as_ref().map(|chat| chat.id);
    stage.open(vec![prompt(1, "Go"), words(2, &long)], Older::Nothing);
    stage.keys("pgup");
    stage.said();
    let unseen =
        SessionItem { unseen: true, ..session(1, 0, "Fix the parser of prices", Activity::Idle) };
    change(&mut stage, unseen.clone());
    assert_eq!((open, stage.said()), (Some(session_id(1)), vec![]), "its end is not shown");
    stage.keys("pgdn pgdn pgdn");
    assert_eq!(stage.said(), [seen(1)]);
    change(&mut stage, SessionItem { unseen: false, ..unseen });
    assert_eq!(stage.said(), [], "once is enough");
}
