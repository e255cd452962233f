//! What others do while the human is at it.

use super::stage::{Stage, damaged, late, set, shop, tea};
use crate::answer::message::{Effect, Found, Message};
use crate::sheet::{Asker, Ending};

#[test]
fn q19_while_nothing_waits_the_page_says_where_it_waits_and_how_to_ask() {
    let mut stage = Stage::new(80, 24);
    stage.find(vec![], vec![]);
    insta::assert_snapshot!(stage.screen());
    stage.arrive([tea()]);
    assert_eq!(stage.effects, [Effect::Announce("Needs your answer: Tea".to_owned())]);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn q19_a_set_that_arrives_while_the_human_writes_rings_and_takes_nothing_from_them() {
    let mut stage = Stage::with([shop()]);
    stage.keys("o").types("I am wri");
    stage.arrive([tea()]);
    stage.types("ting");
    assert_eq!(stage.effects, [Effect::Announce("Needs your answer: Tea".to_owned())]);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn a_set_that_arrives_does_not_close_what_the_human_reads() {
    let mut stage = Stage::new(80, 24);
    stage.keys("?");
    stage.arrive([tea()]);
    assert!(stage.screen().contains("move between the options"));
    stage.keys("esc");
    assert!(stage.screen().contains("Tea?"));
}

#[test]
fn several_arrivals_ring_once() {
    let mut stage = Stage::with([shop()]);
    stage.arrive([tea(), late()]);
    assert_eq!(stage.effects, [Effect::Announce("2 new requests need your answer".to_owned())]);
}

#[test]
fn the_queue_is_oldest_first_with_abandoned_sets_last() {
    let stage = Stage::with([tea(), late(), shop()]);
    let names: Vec<String> = stage.model.sets.iter().map(|set| set.card.name()).collect();
    assert_eq!(names, ["Database", "Tea", "Names"]);
}

#[test]
fn q19_a_set_whose_asker_has_left_says_so_and_can_be_answered() {
    let mut stage = Stage::with([late()]);
    insta::assert_snapshot!(stage.screen());
    stage.keys("1 s enter");
    assert!(matches!(stage.effects.as_slice(), [Effect::Send { .. }]));
}

#[test]
fn an_asker_that_leaves_meanwhile_takes_no_draft_with_it() {
    let mut stage = Stage::with([tea(), shop()]);
    stage.keys("2");
    let mut asked = shop();
    asked.asker = Asker::Abandoned;
    stage.send(Message::Found(Found { open: vec![asked, tea()], ..Found::default() }));
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn a_set_answered_elsewhere_disappears_with_a_word() {
    let mut stage = Stage::with([shop(), tea()]);
    stage.end(2, Ending::Answered);
    insta::assert_snapshot!(stage.screen());
    stage.keys("down");
    assert!(stage.screen().contains("Answered elsewhere: Tea"), "it stays long enough to be read");
    stage.pass(5);
    stage.keys("down");
    assert!(!stage.screen().contains("Answered elsewhere"));
}

#[test]
fn a_set_answered_elsewhere_under_the_humans_hands_shows_what_they_wrote() {
    let mut stage = Stage::with([shop(), tea()]);
    stage.keys("o").types("MariaDB");
    stage.end(1, Ending::Answered);
    stage.types(", please. q");
    insta::assert_snapshot!(stage.screen());
    assert_eq!(stage.effects, []);
    stage.keys("enter");
    assert!(stage.screen().contains("Tea?"));
}

#[test]
fn how_long_ago_it_was_asked_grows() {
    let mut stage = Stage::with([set(1, 0, tea().questions)]);
    assert!(stage.screen().contains("just now"));
    stage.pass(3 * 3600);
    assert!(stage.screen().contains("3h ago"));
}

#[test]
fn q18_a_damaged_set_is_mentioned_and_hides_no_other() {
    let mut stage = Stage::new(80, 24);
    stage.find(vec![], vec![damaged()]);
    insta::assert_snapshot!(stage.screen());
    stage.keys("l enter");
    insta::assert_snapshot!(stage.screen());
}
