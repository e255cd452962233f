//! A pending request, and the draft of its answer.

use convoke_api::bodies::{InboxItem, InboxKind};
use convoke_api::entry::AskedQuestion;
use convoke_core::question::Question;
use convoke_core::request::Status;

use crate::permission::{PermissionCard, Stage};
use crate::sheet::{Asker, Ending, OpenRequest, Page, PageLink, QuestionSet};

/// The draft of an answer.
#[derive(Debug)]
pub(crate) enum Card {
    Permission(Box<PermissionCard>),
    Questions(Box<QuestionSet>),
}

impl Card {
    /// A request of the daemon's inbox.
    pub(crate) fn of(item: &InboxItem) -> Self {
        let asked = asked(item);
        match item.kind {
            InboxKind::Permission => {
                let permission = item.permission.as_ref();
                Self::Permission(Box::new(PermissionCard::new(asked, permission, &item.title)))
            }
            InboxKind::Questions => Self::questions(asked),
        }
    }

    /// A set of questions.
    pub(crate) fn questions(asked: OpenRequest) -> Self {
        Self::Questions(Box::new(QuestionSet::new(asked)))
    }

    /// Who asked, when and where.
    pub(crate) const fn asked(&self) -> &OpenRequest {
        match self {
            Self::Permission(card) => &card.asked,
            Self::Questions(set) => &set.asked,
        }
    }

    /// Sets whether the asker still waits.
    pub(crate) const fn set_asker(&mut self, asker: Asker) {
        match self {
            Self::Permission(card) => card.asked.asker = asker,
            Self::Questions(set) => set.asked.asker = asker,
        }
    }

    /// Its title.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Permission(card) => card.title.clone(),
            Self::Questions(set) => set.name(),
        }
    }

    /// Whether closing it would lose input of the human.
    pub(crate) fn is_touched(&self) -> bool {
        match self {
            Self::Permission(card) => card.is_touched(),
            Self::Questions(set) => set.is_touched(),
        }
    }

    /// Whether the human's answer is being sent.
    pub(crate) fn is_settling(&self) -> bool {
        match self {
            Self::Permission(card) => card.stage == Stage::Settling,
            Self::Questions(set) => set.page == Page::Settling,
        }
    }

    /// Whether it was settled elsewhere while it was open.
    pub(crate) const fn is_gone(&self) -> bool {
        match self {
            Self::Permission(card) => matches!(card.stage, Stage::Gone(_)),
            Self::Questions(set) => matches!(set.page, Page::Gone(_)),
        }
    }

    /// Marks it as settled elsewhere.
    pub(crate) fn end(&mut self, ending: Ending) {
        match self {
            Self::Permission(card) => card.stage = Stage::Gone(ending),
            Self::Questions(set) => set.page = Page::Gone(ending),
        }
    }

    /// Allows to answer it again after the answer was refused.
    pub(crate) fn reopen(&mut self) {
        match self {
            Self::Permission(card) => card.stage = Stage::Choosing,
            Self::Questions(set) => set.go(PageLink::Review),
        }
    }

    /// Marks it as seen.
    pub(crate) fn mark_seen(&mut self) {
        if let Self::Questions(set) = self
            && let Page::Question(index) = set.page
        {
            set.go(PageLink::Question(index));
        }
    }
}

fn asked(item: &InboxItem) -> OpenRequest {
    let agent = item.agent.as_ref().map(ToString::to_string);
    let folder = item.working_directory.clone().or_else(|| item.project.clone());
    OpenRequest {
        id: item.id,
        asked_by: agent.or_else(|| item.asked_by.clone()),
        working_directory: folder,
        created_at: item.created_at,
        questions: item.questions.iter().flatten().map(question).collect(),
        asker: asker(item.status),
    }
}

fn question(asked: &AskedQuestion) -> Question {
    Question {
        prompt: asked.prompt.clone(),
        title: asked.title.clone(),
        options: asked.options.clone(),
        multi_select: asked.multi_select,
    }
}

/// Whether the asker of a request still waits.
pub(crate) const fn asker(status: Status) -> Asker {
    match status {
        Status::Pending | Status::Answered | Status::Rejected => Asker::Waits,
        Status::TimedOut => Asker::TimedOut,
        Status::Abandoned => Asker::Abandoned,
    }
}
