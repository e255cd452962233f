//! The page of a question.

use serde_json::json;

use super::stage::{Stage, many, one, set, shop, tea};
use crate::answer::message::Effect;

/// The answers that were sent, as they stand in the file.
fn sent(stage: &Stage) -> serde_json::Value {
    let Some(Effect::Send { answers, .. }) = stage.effects.first() else {
        panic!("nothing was sent: {:?}", stage.effects);
    };
    let mut json = serde_json::to_value(answers).unwrap();
    for answer in json.as_array_mut().unwrap() {
        answer.as_object_mut().unwrap().remove("timestamp");
    }
    json
}

#[test]
fn q19_a_question_is_shown_with_who_asked_from_where_and_when() {
    insta::assert_snapshot!(Stage::with([shop(), tea()]).screen());
}

#[test]
fn q19_a_recommended_option_is_chosen_before_the_human_does_anything() {
    let stage = Stage::with([shop()]);
    assert_eq!(stage.set(0).drafts[0].chosen.iter().collect::<Vec<_>>(), [&0]);
    let prompt = "Which?";
    let several = many("Several", prompt, &["A [Recommended]", "B", "C (RECOMMENDED)"]);
    let only_one = one("One", prompt, &["A", "B (recommended)", "C (recommended)"]);
    let stage = Stage::with([set(1, 0, vec![several, only_one])]);
    let chosen = |index: usize| stage.set(0).drafts[index].chosen.clone();
    assert_eq!((chosen(0), chosen(1)), ([0, 2].into(), [1].into()));
}

#[test]
fn q19_several_options_are_toggled_and_one_goes_on_with_enter() {
    let mut stage = Stage::with([shop()]);
    stage.keys("tab down space 3 1 1");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter 2 enter enter");
    assert_eq!(
        sent(&stage),
        json!([
            {"questionIndex": 0, "selectedOption": "PostgreSQL (recommended)"},
            {"questionIndex": 1, "selectedOptions": ["Images", "Baskets"]},
            {"questionIndex": 2, "selectedOption": "Monday"},
        ])
    );
}

#[test]
fn q19_enter_chooses_what_the_cursor_is_at_and_goes_on_but_never_sends() {
    let mut stage = Stage::with([tea()]);
    stage.keys("j enter");
    assert_eq!(stage.effects, []);
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    assert_eq!(sent(&stage), json!([{"questionIndex": 0, "selectedOption": "No"}]));
}

#[test]
fn q19_choosing_nothing_where_several_may_be_chosen_is_an_answer_only_when_confirmed() {
    let mut stage = Stage::with([set(1, 0, vec![many("Caches", "What?", &["A", "B"])])]);
    stage.keys("enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("tab s");
    assert_eq!(stage.effects, []);
    stage.keys("backtab enter enter enter");
    assert_eq!(sent(&stage), json!([{"questionIndex": 0, "selectedOptions": []}]));
}

#[test]
fn a_choice_takes_back_that_nothing_was_meant() {
    let mut stage = Stage::with([set(1, 0, vec![many("Caches", "What?", &["A", "B"])])]);
    stage.keys("enter enter left 1 1 s s");
    assert_eq!(stage.effects, []);
}

#[test]
fn drafts_are_kept_when_moving_between_questions_and_sets() {
    let mut stage = Stage::with([shop(), tea()]);
    stage.keys("2 tab 1 3 tab o").types("half a thou").keys("esc n 2 p");
    insta::assert_snapshot!(stage.screen());
    stage.keys("left left");
    insta::assert_snapshot!(stage.screen());
    assert_eq!(stage.set(1).drafts[0].chosen, [1].into());
}

#[test]
fn markdown_in_a_prompt_is_rendered_and_a_long_one_can_be_moved() {
    let prompt = "# Plan\n\nThis *changes* **much**:\n\n1. the `schema`\n2. the code\n\n\
                  ```sql\nALTER TABLE orders ADD COLUMN total INTEGER;\n```\n\n\
                  - nothing is lost\n- it takes an hour\n\n> Do it at night.\n\n\
                  More under <https://example.org/plan>.\n\nShall we?";
    let asked = set(1, 0, vec![one("Plan", prompt, &["Yes: now", "No: never", "Later"])]);
    let mut stage = Stage::with([asked]);
    insta::assert_snapshot!(stage.screen());
    stage.keys("pgdn pgdn pgdn");
    insta::assert_snapshot!(stage.screen());
    stage.keys("pgup pgup pgup");
    assert_eq!(stage.set(0).drafts[0].scroll, 0);
}

#[test]
fn escape_sequences_in_what_an_agent_says_are_shown_and_not_obeyed() {
    let mut asked = set(
        1,
        0,
        vec![one(
            "T\u{1b}]0;owned\u{7}",
            "a\u{1b}[2J\u{1b}]52;c;aGk=\u{7} &#27;[31m \u{202e}b\r\nc\u{8}",
            &["L\u{1b}[8m\n2: D\u{9b}1m\ttab"],
        )],
    );
    asked.asked_by = Some("evil\u{1b}c".to_owned());
    asked.working_directory = Some("/tmp/\u{1b}[H\nx".to_owned());
    let stage = Stage::with([asked]);
    let screen = stage.screen();
    assert!(!screen.chars().any(|c| c.is_control() && c != '\n'));
    insta::assert_snapshot!(screen);
}

#[test]
fn an_option_is_sent_with_the_very_label_that_was_asked() {
    let mut stage =
        Stage::with([set(1, 0, vec![one("T", "P", &["A\u{1b}[1m (recommended)", "B"])])]);
    stage.keys("enter enter");
    assert_eq!(
        sent(&stage),
        json!([{"questionIndex": 0, "selectedOption": "A\u{1b}[1m (recommended)"}])
    );
}

#[test]
fn without_colour_nothing_is_coloured() {
    let mut stage = Stage::with([shop(), tea()]);
    assert_ne!(stage.styles(), "Reset on Reset");
    stage.model.palette.colour = crate::Colour::Off;
    assert_eq!(stage.styles(), "Reset on Reset");
    insta::assert_snapshot!(stage.screen());
}
