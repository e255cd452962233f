//! Everything that can be clicked on.

use super::stage::{Stage, late, shop, tea};
use crate::answer::message::{Effect, Message};
use crate::picture::Direction;
use crate::sheet::Page;

#[test]
fn options_pages_and_sending_can_be_clicked() {
    let mut stage = Stage::with([shop()]);
    stage.clicks("Stays a single file").clicks("Caches").clicks("Prices").clicks("Images");
    stage.clicks("Deploy").clicks("Monday").clicks("Review");
    insta::assert_snapshot!(stage.screen());
    stage.clicks("Send these answers");
    assert!(matches!(stage.effects.as_slice(), [Effect::Send { .. }]));
}

#[test]
fn a_click_into_a_text_puts_the_cursor_there_and_one_elsewhere_leaves_it() {
    let mut stage = Stage::with([tea()]);
    stage.clicks("Other").types("green tea").clicks("tea").types("iced ");
    assert_eq!(stage.set(0).drafts[0].words.text(), "green iced tea");
    stage.clicks("Review");
    assert_eq!(stage.set(0).page, Page::Review(1));
    stage.clicks("Send");
    let Some(Effect::Send { answers, .. }) = stage.effects.first() else { panic!("not sent") };
    assert_eq!(answers[0].custom_text.as_deref(), Some("green iced tea"));
}

#[test]
fn a_line_of_the_list_can_be_clicked_also_beside_the_page() {
    let mut stage = Stage::with([shop(), tea(), late()]);
    stage.keys("l").clicks("Names");
    assert!(stage.screen().contains("How shall we call it?"));
    stage.resize(120, 40);
    stage.clicks("Tea");
    assert!(stage.screen().contains("Tea?"));
}

#[test]
fn the_wheel_moves_a_long_prompt_and_not_beyond_its_end() {
    let mut asked = tea();
    asked.questions[0].prompt = (1..=40).map(|line| format!("line {line}\n")).collect();
    let mut stage = Stage::with([asked]);
    for _ in 0..50 {
        stage.send(Message::Wheeled(Direction::Down));
    }
    assert!(stage.screen().contains("line 40"));
    stage.send(Message::Wheeled(Direction::Up));
    assert!(!stage.screen().contains("line 40"));
}
