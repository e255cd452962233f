//! Answers as clients send them: `{"0": {"selectedOption": "A"}, "1": {"customText": "…"}}`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Answer;
use crate::time::Timestamp;

/// Answers by question number, counted from 0. A contract of the command line and of REST.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct GivenAnswers(BTreeMap<usize, GivenAnswer>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenAnswer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selected_option: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selected_options: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    custom_text: Option<String>,
}

impl FromIterator<Answer> for GivenAnswers {
    fn from_iter<T: IntoIterator<Item = Answer>>(answers: T) -> Self {
        let given = |answer: Answer| {
            let Answer { question_index, selected_option, selected_options, custom_text, .. } =
                answer;
            (question_index, GivenAnswer { selected_option, selected_options, custom_text })
        };
        Self(answers.into_iter().map(given).collect())
    }
}

impl GivenAnswers {
    /// The answers as they are stored, with the current time.
    pub fn at(self, now: Timestamp) -> Vec<Answer> {
        let answer = |(question_index, given): (usize, GivenAnswer)| Answer {
            question_index,
            selected_option: given.selected_option,
            selected_options: given.selected_options,
            custom_text: given.custom_text,
            timestamp: now,
        };
        self.0.into_iter().map(answer).collect()
    }
}
