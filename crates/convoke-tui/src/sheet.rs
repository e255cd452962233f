//! A set of questions with the human's drafts, and the current page.
//!
//! The screen that shows it passes keys in and carries out the result; nothing here knows where questions come from.

pub(crate) mod draft;
pub(crate) mod keys;
pub(crate) mod view;

use convoke_core::id::RequestId;
use convoke_core::question::{Answer, Question};
use convoke_core::time::Timestamp;

use crate::editor::Editor;
use crate::text::clean;
use draft::Draft;

/// What was asked, and by whom.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenRequest {
    pub(crate) id: RequestId,
    pub(crate) asked_by: Option<String>,
    pub(crate) working_directory: Option<String>,
    pub(crate) created_at: Timestamp,
    /// At least one.
    pub(crate) questions: Vec<Question>,
    pub(crate) asker: Asker,
}

/// Whether the asker still waits; it can be answered in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asker {
    Waits,
    TimedOut,
    Abandoned,
}

/// A set of questions with drafts of its answers.
#[derive(Debug, Clone)]
pub(crate) struct QuestionSet {
    pub(crate) asked: OpenRequest,
    /// As many as there are questions.
    pub(crate) drafts: Vec<Draft>,
    /// Why the human would not answer.
    pub(crate) reason: Editor,
    pub(crate) page: Page,
}

/// Where in a set the human is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// Choosing among the options of a question.
    Question(usize),
    /// Writing a free-text answer.
    Writing(usize),
    /// Reviewing all answers: at a question, or at the end where they are sent.
    Review(usize),
    /// Writing why not to answer; then back.
    Reason(PageLink),
    /// Confirming the rejection; then back.
    ConfirmReject(PageLink),
    /// The verdict is being written.
    Settling,
    /// Settled while the human was at it.
    Gone(Ending),
}

/// How a set was settled elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Answered,
    Rejected,
    Deleted,
}

/// A page that one can be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageLink {
    /// The question with this index.
    Question(usize),
    /// The review of all answers.
    Review,
}

impl QuestionSet {
    pub(crate) fn new(asked: OpenRequest) -> Self {
        let drafts = asked.questions.iter().map(Draft::new).collect();
        Self { asked, drafts, reason: Editor::default(), page: Page::Question(0) }
    }

    /// A question with its draft.
    pub(crate) fn question(&self, index: usize) -> Option<(&Question, &Draft)> {
        self.asked.questions.get(index).zip(self.drafts.get(index))
    }

    /// A question with its draft to change.
    pub(crate) fn question_mut(&mut self, index: usize) -> Option<(&Question, &mut Draft)> {
        self.asked.questions.get(index).zip(self.drafts.get_mut(index))
    }

    /// Goes to a page. The review begins at the first missing answer, or else where the answers are
    /// sent.
    pub(crate) fn go(&mut self, place: PageLink) {
        self.page = match place {
            PageLink::Question(index) => {
                let index = index.min(self.drafts.len().saturating_sub(1));
                if let Some(draft) = self.drafts.get_mut(index) {
                    draft.seen = true;
                }
                Page::Question(index)
            }
            PageLink::Review => Page::Review(self.first_missing().unwrap_or(self.drafts.len())),
        };
    }

    /// The page after a question.
    pub(crate) fn place_after(&self, index: usize) -> PageLink {
        if index + 1 < self.drafts.len() { PageLink::Question(index + 1) } else { PageLink::Review }
    }

    /// The first question without an answer.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        self.drafts.iter().position(|draft| !draft.is_answered())
    }

    /// All answers, once there are all.
    pub(crate) fn answers(&self, now: Timestamp) -> Option<Vec<Answer>> {
        let questions = self.asked.questions.iter().zip(&self.drafts).enumerate();
        questions.map(|(index, (question, draft))| draft.answer(question, index, now)).collect()
    }

    /// Whether closing it would lose input of the human.
    pub(crate) fn is_touched(&self) -> bool {
        self.drafts.iter().any(|draft| draft.touched) || !self.reason.is_blank()
    }

    /// The name of the set: the title of its first question.
    pub(crate) fn name(&self) -> String {
        self.asked.questions.first().map(title).unwrap_or_default()
    }
}

/// The name of a question: its title, or else the start of its prompt.
pub(crate) fn title(question: &Question) -> String {
    let text = if question.title.trim().is_empty() { &question.prompt } else { &question.title };
    let line = text.trim().lines().next().unwrap_or_default();
    clean::line(line.trim_start_matches(['#', ' ']))
}
