//! Whatever is typed, in whatever order.

use convoke_core::question::check_all_answered;
use proptest::prelude::*;

use super::stage::{Stage, late, shop, tea};
use crate::answer::message::Effect;

/// Every key that means something somewhere, and some that never do.
const KEYS: [&str; 38] = [
    "up",
    "down",
    "left",
    "right",
    "enter",
    "enter",
    "enter",
    "esc",
    "tab",
    "backtab",
    "space",
    "home",
    "end",
    "pgup",
    "pgdn",
    "back",
    "alt-enter",
    "ctrl-j",
    "ctrl-w",
    "ctrl-z",
    "1",
    "2",
    "3",
    "4",
    "9",
    "o",
    "s",
    "r",
    "y",
    "n",
    "p",
    "l",
    "e",
    "j",
    "k",
    "?",
    "語",
    "x",
];

proptest! {
    #[test]
    fn whatever_is_typed_what_is_sent_answers_every_question(
        keys in prop::collection::vec(prop::sample::select(&KEYS[..]), 0..80),
    ) {
        let mut stage = Stage::with([shop(), tea(), late()]).sized(60, 16);
        let asked: Vec<_> = stage.model.sets.iter().map(|set| set.card.asked().clone()).collect();
        for key in keys {
            stage.keys(key);
        }
        for effect in &stage.effects {
            if let Effect::Send { id, answers } = effect {
                let questions = &asked.iter().find(|asked| asked.id == *id).unwrap().questions;
                prop_assert_eq!(check_all_answered(questions, answers), Ok(()));
            }
        }
        prop_assert!(!stage.screen().chars().any(|c| c.is_control() && c != '\n'));
    }
}
