//! The draft of the answer to one question.

use std::collections::BTreeSet;

use convoke_core::question::{Answer, Question};
use convoke_core::time::Timestamp;

use crate::editor::Editor;

/// A draft of an answer. Rows are the options, and one more for free text.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// The row that the human is at.
    pub(crate) cursor: usize,
    /// The rows that are chosen; with one choice at most one.
    pub(crate) chosen: BTreeSet<usize>,
    /// The free text, which is kept while it is not chosen.
    pub(crate) words: Editor,
    /// Whether choosing nothing is the answer.
    pub(crate) empty_choice: EmptyChoice,
    /// Whether the human has seen the question.
    pub(crate) seen: bool,
    /// Whether the human has changed anything.
    pub(crate) touched: bool,
    /// The scroll offset of the prompt, in lines.
    pub(crate) scroll: usize,
}

/// Whether choosing nothing is meant, where several may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyChoice {
    Unsaid,
    /// The human continued without an answer, and is asked to confirm.
    Asked,
    Meant,
}

impl Draft {
    /// A draft with the recommended options chosen.
    pub(crate) fn new(question: &Question) -> Self {
        let recommended = question.options.iter().enumerate();
        let mut chosen: BTreeSet<usize> = recommended
            .filter(|(_, option)| Label::of(&option.label).recommended)
            .map(|(row, _)| row)
            .collect();
        let first = chosen.first().copied();
        if !question.multi_select {
            chosen.retain(|row| Some(*row) == first);
        }
        Self {
            cursor: first.unwrap_or_default(),
            chosen,
            words: Editor::default(),
            empty_choice: EmptyChoice::Unsaid,
            seen: false,
            touched: false,
            scroll: 0,
        }
    }

    pub(crate) fn is_answered(&self) -> bool {
        !self.chosen.is_empty() || self.empty_choice == EmptyChoice::Meant
    }

    /// Chooses a row; if several may be chosen, a second time deselects it.
    pub(crate) fn choose(&mut self, question: &Question, row: usize) {
        self.change(row);
        if !question.multi_select {
            self.chosen = BTreeSet::from([row]);
        } else if !self.chosen.remove(&row) {
            self.chosen.insert(row);
        }
    }

    /// Whatever was written is meant, and nothing written is nothing chosen.
    pub(crate) fn choose_words(&mut self, question: &Question) {
        let row = words_row(question);
        self.change(row);
        if self.words.is_blank() {
            self.chosen.remove(&row);
        } else if question.multi_select {
            self.chosen.insert(row);
        } else {
            self.chosen = BTreeSet::from([row]);
        }
    }

    fn change(&mut self, row: usize) {
        self.cursor = row;
        self.touched = true;
        self.empty_choice = EmptyChoice::Unsaid;
    }

    /// The answer, once there is one.
    pub(crate) fn answer(
        &self,
        question: &Question,
        question_index: usize,
        timestamp: Timestamp,
    ) -> Option<Answer> {
        if !self.is_answered() {
            return None;
        }
        let words = self.chosen.contains(&words_row(question));
        let custom_text = words.then(|| self.words.text().trim_end().to_owned());
        let mut labels = self.labels(question).map(str::to_owned).peekable();
        let (selected_option, selected_options) = if !question.multi_select {
            (labels.next(), None)
        } else if labels.peek().is_none() && custom_text.is_some() {
            (None, None)
        } else {
            (None, Some(labels.collect()))
        };
        Some(Answer { question_index, selected_option, selected_options, custom_text, timestamp })
    }

    /// The labels of the chosen options, in the order of the options.
    pub(crate) fn labels<'a>(&'a self, question: &'a Question) -> impl Iterator<Item = &'a str> {
        let options = self.chosen.iter().filter_map(|row| question.options.get(*row));
        options.map(|option| &*option.label)
    }
}

/// The row for free text.
pub(crate) fn words_row(question: &Question) -> usize {
    question.options.len()
}

/// A label without the mark that recommends it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) recommended: bool,
}

/// The marks by which an agent recommends an option.
const MARKS: [&str; 2] = ["(recommended)", "[recommended]"];

impl Label {
    /// Parses a label; the mark may be anywhere in it.
    pub(crate) fn of(label: &str) -> Self {
        let lower = label.to_ascii_lowercase();
        let found = MARKS.iter().find_map(|mark| Some((lower.find(mark)?, mark.len())));
        let Some((at, len)) = found else {
            return Self { text: label.to_owned(), recommended: false };
        };
        let (before, mark_and_after) = label.split_at(at);
        let after = mark_and_after.get(len..).unwrap_or_default();
        let text = format!("{} {}", before.trim(), after.trim()).trim().to_owned();
        // A label that consists of the mark alone keeps it: something must be shown.
        let text = if text.is_empty() { label.to_owned() } else { text };
        Self { text, recommended: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recommendation_is_recognised_in_the_label_and_not_shown_twice() {
        let read = |label: &str| {
            let Label { text, recommended } = Label::of(label);
            (text, recommended)
        };
        assert_eq!(read("Redis (Recommended)"), ("Redis".to_owned(), true));
        assert_eq!(read("[RECOMMENDED] Redis"), ("Redis".to_owned(), true));
        assert_eq!(read("日本 (recommended) 語"), ("日本 語".to_owned(), true));
        assert_eq!(read("(recommended)"), ("(recommended)".to_owned(), true));
        assert_eq!(read("recommended by nobody"), ("recommended by nobody".to_owned(), false));
    }
}
