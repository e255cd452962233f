//! A question, and answers to it.

use convoke_core::question::{Choice, GivenAnswers, Question};

/// A question with two options.
pub(crate) fn question() -> Question {
    let choice = |label: &str| Choice { label: label.to_owned(), description: None };
    Question {
        prompt: "Which colour?".to_owned(),
        title: "Colour".to_owned(),
        options: vec![choice("Red"), choice("Blue")],
        multi_select: false,
    }
}

pub(crate) fn answers(label: &str) -> GivenAnswers {
    serde_json::from_value(serde_json::json!({"0": {"selectedOption": label}})).unwrap()
}
