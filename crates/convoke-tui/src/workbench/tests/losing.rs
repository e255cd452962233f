//! The connection to the daemon is lost and restored.

use convoke_api::frames::ClientFrame;
use convoke_core::message::Rev;

use super::stage::{Stage, permission, prompt, session_id, words};
use crate::workbench::message::Message;
use convoke_api::frames::ServerFrame;

fn lost() -> Stage {
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Hello"), words(2, "Hi.")]);
    stage.send(Message::Unlinked("Lost the connection to the daemon".to_owned()));
    stage
}

#[test]
fn a_lost_connection_is_shown_and_the_screen_keeps_its_content() {
    insta::assert_snapshot!(lost().screen());
}

#[test]
fn a_draft_is_kept_while_the_daemon_is_away() {
    let mut stage = lost();
    stage.types("Still there?").keys("enter");
    assert_eq!(stage.said(), []);
    let screen = stage.screen();
    assert!(screen.contains("Still there?") && screen.contains("nothing was done"), "{screen}");
}

#[test]
fn an_unanswered_prompt_becomes_a_draft_again_with_a_warning() {
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Hello")]);
    stage.types("Again").keys("enter");
    stage.send(Message::Unlinked("Lost the connection to the daemon".to_owned()));
    let screen = stage.screen();
    assert!(screen.contains("❯ Again"), "{screen}");
    assert!(screen.contains("check whether your last message arrived"), "{screen}");
}

#[test]
fn when_it_is_back_everything_is_asked_for_that_may_have_changed() {
    let mut stage = lost();
    stage.said();
    stage.send(Message::Linked);
    let (after, generation) = (Some(Rev::new(2)), Some("1".to_owned()));
    let (session_id, limit) = (session_id(1).to_string(), Some(100));
    assert_eq!(
        stage.said(),
        [
            ClientFrame::AgentList {},
            ClientFrame::ProjectList {},
            ClientFrame::InboxList {},
            ClientFrame::SessionOpen {
                session_id,
                after,
                generation,
                render: None,
                limit,
                at: None
            },
        ]
    );
    assert!(stage.screen().contains("Reconnected to the daemon."), "{}", stage.screen());
}

#[test]
fn an_answer_that_was_under_way_can_be_given_again() {
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Hello")]);
    stage.receive(ServerFrame::InboxList { items: vec![permission(7)] });
    stage.keys("tab y");
    stage.send(Message::Unlinked("Lost the connection to the daemon".to_owned()));
    stage.send(Message::Linked);
    stage.said();
    stage.keys("y");
    assert_eq!(stage.said().len(), 1);
}
