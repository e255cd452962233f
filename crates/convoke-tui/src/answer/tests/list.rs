//! The list of sets, and the page of keys.

use super::stage::{Stage, damaged, late, set, shop, tea};

fn full() -> Stage {
    let mut stage = Stage::with([shop(), tea(), late()]);
    stage.find(vec![], vec![damaged()]);
    stage
}

#[test]
fn q19_the_list_shows_all_sets_and_leads_to_each() {
    let mut stage = full();
    stage.keys("l down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("down enter");
    assert!(stage.screen().contains("How shall we call it?"));
    stage.keys("l up up esc");
    assert!(stage.screen().contains("How shall we call it?"), "closing it changes nothing");
}

#[test]
fn on_a_wide_screen_the_list_stays_beside_the_page() {
    let mut stage = full().sized(120, 40);
    insta::assert_snapshot!(stage.screen());
    stage.keys("l down");
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn the_cursor_of_the_list_stays_at_its_set_when_others_arrive() {
    let mut stage = Stage::with([shop(), late()]);
    stage.keys("l down");
    stage.arrive([tea()]);
    stage.keys("enter");
    assert!(stage.screen().contains("How shall we call it?"));
}

#[test]
fn a_long_list_moves_with_its_cursor() {
    let sets = (1..=30).map(|number| {
        let mut asked = set(number, i64::from(60 - number), tea().questions);
        asked.questions[0].title = format!("Set number {number}");
        asked
    });
    let mut stage = Stage::with(sets).sized(60, 16);
    stage.keys("l end up up");
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn the_keys_are_explained() {
    let mut stage = full().sized(80, 40);
    stage.keys("?");
    insta::assert_snapshot!(stage.screen());
    stage.resize(60, 16);
    stage.keys("pgdn pgdn pgdn pgdn");
    insta::assert_snapshot!(stage.screen());
    stage.keys("q");
    assert_eq!(stage.effects, []);
    assert!(stage.screen().contains("Which database"));
}
