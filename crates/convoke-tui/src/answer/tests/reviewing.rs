//! The review, and what comes of sending.

use super::stage::{Stage, id, shop, tea};
use crate::answer::message::{Effect, Message, Outcome};
use crate::sheet::Ending;

#[test]
fn q19_the_review_shows_what_is_missing_and_refuses_to_send() {
    let mut stage = Stage::with([shop()]);
    stage.keys("s s");
    assert_eq!(stage.effects, []);
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter 1 s");
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn an_unvisited_recommendation_is_marked_in_the_review() {
    let mut asked = shop();
    asked.questions.rotate_left(2);
    let mut stage = Stage::with([asked]);
    stage.keys("1 s");
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn q19_after_sending_the_next_set_is_shown() {
    let mut stage = Stage::with([tea(), shop()]);
    stage.keys("p 1 s enter");
    assert!(matches!(stage.effects.as_slice(), [Effect::Send { .. }]));
    insta::assert_snapshot!(stage.screen());
    stage.settle(2, Outcome::Sent);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn a_late_answer_shows_that_the_set_was_answered_elsewhere() {
    let mut stage = Stage::with([tea(), shop()]);
    stage.keys("n o").types("Oolong").keys("enter enter");
    stage.settle(2, Outcome::Late(Ending::Answered));
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    assert_eq!(stage.model.sets.len(), 1);
}

#[test]
fn an_answer_that_cannot_be_written_stays_to_be_sent_again() {
    let mut stage = Stage::with([tea()]);
    stage.keys("1 s enter");
    stage.send(Message::Settled {
        id: id(2),
        outcome: Outcome::Failed(
            "cannot write answers.json: syncing failed: no space left".to_owned(),
        ),
    });
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    assert_eq!(stage.effects.len(), 2);
}

#[test]
fn a_late_look_at_the_folder_does_not_bring_back_what_was_sent() {
    let mut stage = Stage::with([tea()]);
    stage.keys("1 s enter");
    let asked = stage.model.sets[0].card.asked().clone();
    stage.settle(2, Outcome::Sent);
    stage.arrive([asked]);
    assert!(stage.model.sets.is_empty());
}

#[test]
fn leaving_with_unsent_answers_asks_once() {
    let mut stage = Stage::with([tea()]);
    stage.keys("1 q");
    assert_eq!(stage.effects, []);
    insta::assert_snapshot!(stage.screen());
    stage.keys("j q");
    assert_eq!(stage.effects, []);
    stage.keys("q");
    assert_eq!(stage.effects, [Effect::Quit]);
}

#[test]
fn leaving_with_nothing_to_lose_asks_nothing() {
    for key in ["q", "ctrl-c"] {
        let mut stage = Stage::with([tea(), shop()]);
        stage.keys(key);
        assert_eq!(stage.effects, [Effect::Quit]);
    }
}
