//! Own words.

use super::stage::{Stage, many, one, set, shop, tea};
use crate::answer::message::Effect;

fn words_sent(stage: &Stage) -> Vec<Option<&str>> {
    let Some(Effect::Send { answers, .. }) = stage.effects.first() else { return vec![] };
    answers.iter().map(|answer| answer.custom_text.as_deref()).collect()
}

#[test]
fn q19_own_words_may_be_wide_and_have_line_breaks() {
    let mut stage = Stage::with([tea()]);
    stage.keys("o").types("日本茶を、ください").keys("alt-enter").types("e\u{301}👩‍💻 ok");
    stage.pastes("\r\nthree\nfour").keys("ctrl-j").types("five");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let text = "日本茶を、ください\ne\u{301}👩‍💻 ok\nthree\nfour\nfive";
    assert_eq!(words_sent(&stage), [Some(text)]);
}

#[test]
fn shortcuts_do_not_fire_while_writing() {
    let mut stage = Stage::with([shop(), tea()]);
    stage.keys("o").types("q? r l n p s 1 2").keys("tab backtab space");
    assert_eq!(stage.effects, []);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn a_pasted_line_break_never_accepts_and_a_paste_on_a_question_is_written_down() {
    let mut stage = Stage::with([tea()]);
    stage.pastes("q\nq\n\n");
    assert_eq!(stage.effects, []);
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter enter");
    assert_eq!(words_sent(&stage), [Some("q\nq")]);
}

#[test]
fn leaving_the_text_keeps_it_and_another_choice_does_not_lose_it() {
    let mut stage = Stage::with([tea()]);
    stage.keys("o").types("green").keys("esc 1");
    insta::assert_snapshot!(stage.screen());
    stage.keys("down down enter enter");
    assert_eq!(words_sent(&stage), [Some("green")]);
}

#[test]
fn own_words_stand_beside_options_where_several_may_be_chosen() {
    let question = many("Caches", "What?", &["A", "B"]);
    let mut stage = Stage::with([set(1, 0, vec![question])]);
    stage.keys("1 o").types("and C").keys("enter enter");
    let Some(Effect::Send { answers, .. }) = stage.effects.first() else { panic!("not sent") };
    let json = serde_json::to_value(&answers[0]).unwrap();
    assert_eq!(json["selectedOptions"], serde_json::json!(["A"]));
    assert_eq!(json["customText"], "and C");
}

#[test]
fn words_that_are_only_spaces_are_no_answer() {
    let mut stage = Stage::with([tea()]);
    stage.keys("o space alt-enter space enter s s");
    assert_eq!(stage.effects, []);
}

#[test]
fn a_long_text_is_broken_into_rows_and_moved_so_that_the_cursor_is_seen() {
    let mut stage = Stage::with([set(1, 0, vec![one("Why", "Why?", &["Because", "So"])])]);
    stage.resize(60, 16);
    stage.keys("o");
    for line in 1..=12 {
        stage.types(&format!("line {line} of a text that does not fit into one row of it"));
        stage.keys("shift-enter");
    }
    insta::assert_snapshot!(stage.screen());
}
