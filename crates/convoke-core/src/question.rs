//! Questions for the human: what they look like, when an answer fits, and how it reads to the agent.
//!
//! The JSON is that of `request.json` and `answers.json`, which other programs read and write too.

mod given;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

pub use given::GivenAnswers;

/// One question with its options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The question in full.
    pub prompt: String,
    /// The question in a word or two.
    #[serde(default)]
    pub title: String,
    /// What can be chosen; free text is always possible besides.
    pub options: Vec<Choice>,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionOption")]
pub struct Choice {
    /// What is chosen.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The human's answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "QuestionAnswer")]
pub struct Answer {
    /// Which question, counted from 0.
    pub question_index: usize,
    /// The label of the one chosen option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_option: Option<String>,
    /// The labels of all chosen options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_options: Option<Vec<String>>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_text: Option<String>,
    /// When it was given.
    pub timestamp: Timestamp,
}

impl Answer {
    fn selected(&self) -> impl Iterator<Item = &str> {
        // Several selections take precedence over one, as in the original of the format.
        let one = match self.selected_options {
            Some(_) => None,
            None => self.selected_option.as_deref().filter(|label| !label.is_empty()),
        };
        self.selected_options.iter().flatten().map(String::as_str).chain(one)
    }

    fn custom(&self) -> Option<&str> {
        self.custom_text.as_deref().filter(|text| !text.is_empty())
    }
}

/// How many questions and options a set may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Questions in a set.
    pub questions_max: usize,
    /// Options of a question.
    pub options_max: usize,
}

/// With fewer options there is no choice.
pub const OPTIONS_MIN: usize = 2;

/// Why a set of questions cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionFault {
    /// There are no questions.
    #[error("At least one question is required to create a session")]
    None,
    /// There are too many.
    #[error("Too many questions: {count}, at most {max} are allowed")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// A question is empty.
    #[error("Question {index} has an empty prompt")]
    EmptyPrompt {
        /// Which one, counted from 0.
        index: usize,
    },
    /// A question has too few or too many options.
    #[error("Question {index} has {count} options, between 2 and {max} are allowed")]
    OptionCount {
        /// Which one, counted from 0.
        index: usize,
        /// How many options it has.
        count: usize,
        /// How many it may have.
        max: usize,
    },
    /// An option is empty.
    #[error("Question {index} has an option with an empty label")]
    EmptyLabel {
        /// Which question, counted from 0.
        index: usize,
    },
    /// A question has the same option twice.
    #[error("Question {index} has the option '{label}' twice")]
    RepeatedLabel {
        /// Which question, counted from 0.
        index: usize,
        /// The repeated label.
        label: String,
    },
}

/// Refuses a set of questions that a human could not answer, or that exceeds the limits.
pub fn check_questions(questions: &[Question], limits: Limits) -> Result<(), QuestionFault> {
    if questions.is_empty() {
        return Err(QuestionFault::None);
    }
    if questions.len() > limits.questions_max {
        return Err(QuestionFault::TooMany { count: questions.len(), max: limits.questions_max });
    }
    for (index, question) in questions.iter().enumerate() {
        check_question(index, question, limits.options_max)?;
    }
    Ok(())
}

fn check_question(index: usize, question: &Question, max: usize) -> Result<(), QuestionFault> {
    if question.prompt.trim().is_empty() {
        return Err(QuestionFault::EmptyPrompt { index });
    }
    let count = question.options.len();
    if !(OPTIONS_MIN..=max).contains(&count) {
        return Err(QuestionFault::OptionCount { index, count, max });
    }
    let mut labels: Vec<&str> = question.options.iter().map(|option| &*option.label).collect();
    labels.sort_unstable();
    if labels.first().is_some_and(|label| label.trim().is_empty()) {
        return Err(QuestionFault::EmptyLabel { index });
    }
    match labels.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
        Some([label, ..]) => {
            Err(QuestionFault::RepeatedLabel { index, label: (*label).to_owned() })
        }
        Some([]) | None => Ok(()),
    }
}

/// Why answers do not fit their questions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// There are no answers.
    #[error("No answers provided")]
    None,
    /// The answer is for a question that was not asked.
    #[error("Answer references invalid question index: {index}")]
    UnknownQuestion {
        /// The given index.
        index: usize,
    },
    /// The answer is empty.
    #[error(
        "Answer for question {index} has neither selectedOption, selectedOptions, nor customText"
    )]
    Empty {
        /// Which question, counted from 0.
        index: usize,
    },
    /// The answer selects an option that was not offered.
    #[error("Answer for question {index} references non-existent option: {label}")]
    UnknownOption {
        /// Which question, counted from 0.
        index: usize,
        /// The given label.
        label: String,
    },
    /// The answer selects several options where one was asked for.
    #[error("Answer for question {index} selects {count} options, but only one may be chosen")]
    TooManySelected {
        /// Which question, counted from 0.
        index: usize,
        /// How many it selects.
        count: usize,
    },
    /// A question has no answer.
    #[error("Question {index} has no answer")]
    Missing {
        /// Which question, counted from 0.
        index: usize,
    },
}

/// Refuses answers that do not fit their questions.
pub fn check_answers(questions: &[Question], answers: &[Answer]) -> Result<(), AnswerFault> {
    if answers.is_empty() {
        return Err(AnswerFault::None);
    }
    for answer in answers {
        let index = answer.question_index;
        let question = questions.get(index).ok_or(AnswerFault::UnknownQuestion { index })?;
        check_answer(question, answer)?;
    }
    Ok(())
}

/// Refuses answers that do not fit, and incomplete sets.
pub fn check_all_answered(questions: &[Question], answers: &[Answer]) -> Result<(), AnswerFault> {
    check_answers(questions, answers)?;
    let missing = (0..questions.len())
        .find(|index| !answers.iter().any(|answer| answer.question_index == *index));
    missing.map_or(Ok(()), |index| Err(AnswerFault::Missing { index }))
}

fn check_answer(question: &Question, answer: &Answer) -> Result<(), AnswerFault> {
    let index = answer.question_index;
    let count = answer.selected().count();
    if count == 0 && answer.custom().is_none() && answer.selected_options.is_none() {
        return Err(AnswerFault::Empty { index });
    }
    if count > 1 && !question.multi_select {
        return Err(AnswerFault::TooManySelected { index, count });
    }
    let offered = |label: &str| question.options.iter().any(|option| option.label == label);
    // Also checks a single selection that several override: a wrong label is never ignored.
    let unknown = answer
        .selected()
        .chain(answer.selected_option.as_deref())
        .find(|label| !label.is_empty() && !offered(label));
    unknown
        .map_or(Ok(()), |label| Err(AnswerFault::UnknownOption { index, label: label.to_owned() }))
}

/// The answers as the agent reads them; unanswered questions are left out, and the others keep their numbers.
pub fn format_answers(questions: &[Question], answers: &[Answer]) -> Result<String, AnswerFault> {
    check_answers(questions, answers)?;
    let mut text = "Here are the user's answers:".to_owned();
    for (index, question) in questions.iter().enumerate() {
        let lines: Vec<String> = answers
            .iter()
            .filter(|answer| answer.question_index == index)
            .flat_map(|answer| answer_lines(question, answer))
            .collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n\n{}. {}\n", index + 1, question.prompt));
            text.push_str(&lines.join("\n"));
        }
    }
    Ok(text)
}

fn answer_lines(question: &Question, answer: &Answer) -> Vec<String> {
    let mut lines: Vec<String> =
        answer.selected().map(|label| selected_line(question, label)).collect();
    if let Some(text) = answer.custom() {
        lines.push(format!("→ Other: '{}'", text.replace('\'', "\\'")));
    }
    if lines.is_empty() {
        lines.push("→ (No selection)".to_owned());
    }
    lines
}

fn selected_line(question: &Question, label: &str) -> String {
    let option = question.options.iter().find(|option| option.label == label);
    match option.and_then(|option| option.description.as_deref()).filter(|text| !text.is_empty()) {
        Some(description) => format!("→ {label} — {description}"),
        None => format!("→ {label}"),
    }
}

#[cfg(test)]
mod tests;
