//! Prompts that wait, and stopping the turn that they wait for.

use convoke_api::frames::ClientFrame;
use convoke_core::id::MessageId;
use convoke_core::session::QueueChoice;

use super::stage::{Stage, prompt, queue, session_id};

fn queued() -> Stage {
    let mut stage = Stage::talking(80, 20, vec![prompt(1, "Fix it")]);
    stage.update(queue(2, &[(1, "and test it"), (2, "and commit it")]));
    stage.said();
    stage
}

fn id(number: u8) -> MessageId {
    MessageId::from_random([number; 16])
}

#[test]
fn p5_queued_prompts_are_edited_moved_removed_and_sent_now() {
    let mut stage = queued();
    let session_id = session_id(1).to_string();
    stage.keys("up");
    insta::assert_snapshot!(stage.screen());
    stage.keys("K");
    let moved = ClientFrame::QueueMove { session_id: session_id.clone(), message_id: id(2), to: 0 };
    assert_eq!(stage.said(), [moved]);
    stage.update(queue(3, &[(2, "and commit it"), (1, "and test it")]));
    stage.keys("e ctrl-u").types("and push it");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let content = "and push it".to_owned();
    let edited =
        ClientFrame::QueueEdit { session_id: session_id.clone(), message_id: id(2), content };
    assert_eq!(stage.said(), [edited]);
    stage.keys("s down d");
    let sent = ClientFrame::QueueSend { session_id: session_id.clone(), message_id: id(2) };
    let removed = ClientFrame::QueueRemove { session_id, message_id: id(1) };
    assert_eq!(stage.said(), [sent, removed]);
    stage.update(queue(4, &[]));
    assert!(!stage.screen().contains("Queued prompts"), "{}", stage.screen());
}

#[test]
fn p5_esc_twice_within_a_second_stops_and_asks_about_the_queue() {
    let mut stage = queued();
    stage.keys("esc");
    assert!(stage.screen().contains("Press esc again to stop the turn."), "{}", stage.screen());
    stage.keys("esc");
    assert_eq!(stage.said(), []);
    insta::assert_snapshot!(stage.screen());
    stage.keys("k");
    let session_id = session_id(1).to_string();
    let queue = Some(QueueChoice::Keep);
    assert_eq!(stage.said(), [ClientFrame::SessionCancel { session_id, queue }]);
}

#[test]
fn p5_esc_after_a_while_only_leaves() {
    let mut stage = Stage::talking(80, 20, vec![prompt(1, "Fix it")]);
    stage.keys("esc").pass(1200);
    stage.keys("esc");
    assert_eq!(stage.said(), []);
    assert!(stage.screen().contains("release notes"), "{}", stage.screen());
    stage.keys("enter esc esc");
    let stopped = ClientFrame::SessionCancel { session_id: session_id(1).to_string(), queue: None };
    assert_eq!(stage.said(), [stopped], "nothing is queued, so nothing is asked");
}
