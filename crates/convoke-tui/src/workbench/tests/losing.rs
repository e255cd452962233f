//! The daemon goes away and comes back.

use convoke_api::frames::ClientFrame;
use convoke_core::message::Rev;

use super::stage::{Stage, permission, prompt, session_id, words};
use crate::workbench::message::Message;
use convoke_api::frames::ServerFrame;

fn lost() -> Stage {
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Hello"), words(2, "Hi.")]);
    stage.send(Message::Unlinked("The daemon went away".to_owned()));
    stage
}

#[test]
fn that_the_daemon_is_gone_is_told_and_what_was_shown_stays() {
    insta::assert_snapshot!(lost().screen());
}

#[test]
fn words_are_kept_while_there_is_nobody_to_say_them_to() {
    let mut stage = lost();
    stage.types("Still there?").keys("enter");
    assert_eq!(stage.said(), []);
    let screen = stage.screen();
    assert!(screen.contains("Still there?") && screen.contains("nothing was done"), "{screen}");
}

#[test]
fn words_that_were_under_way_come_back_with_a_warning() {
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Hello")]);
    stage.types("Again").keys("enter");
    stage.send(Message::Unlinked("The daemon went away".to_owned()));
    let screen = stage.screen();
    assert!(screen.contains("❯ Again"), "{screen}");
    assert!(screen.contains("look whether your last words arrived"), "{screen}");
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
            ClientFrame::SessionOpen { session_id, after, generation, render: None, limit },
        ]
    );
    assert!(stage.screen().contains("The daemon is back."), "{}", stage.screen());
}

#[test]
fn an_answer_that_was_under_way_can_be_given_again() {
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Hello")]);
    stage.hear(ServerFrame::InboxList { items: vec![permission(7)] });
    stage.keys("tab y");
    stage.send(Message::Unlinked("The daemon went away".to_owned()));
    stage.send(Message::Linked);
    stage.said();
    stage.keys("y");
    assert_eq!(stage.said().len(), 1);
}
