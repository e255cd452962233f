//! What waits for the human, wherever it was asked, and what they are about to say to it.

use convoke_api::bodies::{InboxItem, InboxKind};
use convoke_api::entry::AskedQuestion;
use convoke_core::question::Question;
use convoke_core::request::{PermissionKind, Status};

use crate::sheet::{Asked, Asker, QuestionSet};

/// Something that waits for the human.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) item: InboxItem,
    pub(crate) card: Card,
}

/// What the human is about to say.
#[derive(Debug)]
pub(crate) enum Card {
    Permission(PermissionCard),
    Questions(Box<QuestionSet>),
}

/// A permission with what can be chosen.
#[derive(Debug)]
pub(crate) struct PermissionCard {
    pub(crate) choices: Vec<Choice>,
    pub(crate) cursor: usize,
    /// The choice is on its way.
    pub(crate) is_settling: bool,
}

/// One way to answer a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) option_id: String,
    pub(crate) kind: PermissionKind,
    pub(crate) memory: Memory,
}

/// How long a choice lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// As the agent says.
    Agents,
    /// The same is allowed from now on in this project.
    Project,
}

impl Request {
    /// A request of the daemon's inbox.
    pub(crate) fn new(item: InboxItem) -> Self {
        let card = match item.kind {
            InboxKind::Permission => Card::Permission(PermissionCard::of(&item)),
            InboxKind::Questions => Card::Questions(Box::new(QuestionSet::new(asked(&item)))),
        };
        Self { item, card }
    }

    /// Takes in what has changed, and keeps what the human is about to say.
    pub(crate) fn renew(&mut self, item: InboxItem) {
        if let Card::Questions(set) = &mut self.card {
            set.asked.asker = asker(item.status);
        }
        self.item = item;
    }

    /// Whether closing it would lose input of the human.
    pub(crate) fn is_touched(&self) -> bool {
        match &self.card {
            Card::Permission(_) => false,
            Card::Questions(set) => set.is_touched(),
        }
    }

    /// The verdict was not taken: it can be given again.
    pub(crate) fn reopen(&mut self) {
        match &mut self.card {
            Card::Permission(card) => card.is_settling = false,
            Card::Questions(set) => set.go(crate::sheet::Place::Review),
        }
    }
}

impl PermissionCard {
    fn of(item: &InboxItem) -> Self {
        let options = item.permission.iter().flat_map(|permission| &permission.options);
        let mut choices: Vec<Choice> = options
            .map(|option| Choice {
                name: option.name.clone(),
                option_id: option.option_id.clone(),
                kind: option.kind,
                memory: Memory::Agents,
            })
            .collect();
        let once = choices.iter().position(|choice| choice.kind == PermissionKind::AllowOnce);
        let rule = item.permission.as_ref().and_then(|permission| permission.rules.first());
        if let (Some(at), Some(rule)) = (once, rule)
            && let Some(choice) = choices.get(at)
        {
            let name = format!("Always allow {}", rule.label);
            let remembered = Choice { name, memory: Memory::Project, ..choice.clone() };
            choices.insert(at + 1, remembered);
        }
        Self { choices, cursor: 0, is_settling: false }
    }
}

fn asked(item: &InboxItem) -> Asked {
    let agent = item.agent.as_ref().map(ToString::to_string);
    let folder = item.working_directory.clone().or_else(|| item.project.clone());
    Asked {
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

const fn asker(status: Status) -> Asker {
    match status {
        Status::Pending | Status::Answered | Status::Rejected => Asker::Waits,
        Status::TimedOut => Asker::TimedOut,
        Status::Abandoned => Asker::Abandoned,
    }
}
