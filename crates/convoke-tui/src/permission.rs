//! A permission that is asked for: what it is about, what the human may say, and where in saying it they are.
//!
//! The screen that shows it passes keys in and carries out the result; nothing here knows where requests come from.

pub(crate) mod keys;
pub(crate) mod view;

use convoke_api::entry::Permission;
use convoke_core::evidence::Evidence;
use convoke_core::request::PermissionKind;

use crate::editor::Editor;
use crate::sheet::{Ending, OpenRequest};
use crate::text::{clean, evidence};

/// A permission with the draft of its answer.
#[derive(Debug)]
pub(crate) struct PermissionCard {
    /// Who asked; there are no questions in it.
    pub(crate) asked: OpenRequest,
    /// What the agent calls it.
    pub(crate) title: String,
    /// What is asked, in a line.
    pub(crate) question: String,
    evidence: Option<Evidence>,
    /// Every answer there is.
    answers: Vec<Choice>,
    pub(crate) cursor: usize,
    rules: Rules,
    pub(crate) stage: Stage,
    /// Why the human denies it.
    pub(crate) note: Editor,
    /// The scroll offset of the evidence, in rows.
    scroll: usize,
}

/// One way to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    name: String,
    kind: PermissionKind,
    answer: Answer,
    /// Shown only among the wider rules.
    is_wider: bool,
}

/// The meaning of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    /// An option of the agent, which may create one of the offered rules.
    Option { option_id: String, rule: Option<usize> },
    /// No, with a note.
    Note,
}

/// Which rules are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// The narrowest one that allows.
    Narrowest,
    /// All of them.
    All,
}

/// Where the human is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Choosing among the answers.
    Choosing,
    /// Viewing the whole evidence.
    Viewing,
    /// Writing why not.
    Noting,
    /// The answer is being sent.
    Settling,
    /// Settled while the human was at it.
    Gone(Ending),
}

impl PermissionCard {
    /// A permission that waits.
    pub(crate) fn new(asked: OpenRequest, permission: Option<&Permission>, title: &str) -> Self {
        let evidence = permission.and_then(|permission| permission.evidence.clone());
        Self {
            asked,
            title: clean::line(title),
            question: evidence::question(evidence.as_ref(), title),
            evidence,
            answers: permission.map(answers).unwrap_or_default(),
            cursor: 0,
            rules: Rules::Narrowest,
            stage: Stage::Choosing,
            note: Editor::default(),
            scroll: 0,
        }
    }

    /// The current choices, first to last.
    pub(crate) fn choices(&self) -> Vec<&Choice> {
        let is_shown = |choice: &&Choice| !choice.is_wider || self.rules == Rules::All;
        self.answers.iter().filter(is_shown).collect()
    }

    /// Whether there are further rules than the offered ones.
    pub(crate) fn has_wider(&self) -> bool {
        self.answers.iter().any(|choice| choice.is_wider)
    }

    /// Whether closing it would lose input of the human.
    pub(crate) fn is_touched(&self) -> bool {
        !self.note.is_blank()
    }
}

fn answers(permission: &Permission) -> Vec<Choice> {
    let mut answers = Vec::new();
    for option in &permission.options {
        let option_id = option.option_id.clone();
        let answer = Answer::Option { option_id: option_id.clone(), rule: None };
        answers.push(Choice {
            name: clean::line(&option.name),
            kind: option.kind,
            answer,
            is_wider: false,
        });
        let (verb, is_first_shown) = match option.kind {
            PermissionKind::AllowOnce => ("allow", true),
            PermissionKind::RejectOnce => ("deny", false),
            PermissionKind::AllowAlways | PermissionKind::RejectAlways => continue,
        };
        for (index, rule) in permission.rules.iter().enumerate() {
            let rule_answer = Answer::Option { option_id: option_id.clone(), rule: Some(index) };
            answers.push(Choice {
                name: clean::line(&format!("Always {verb} {}", rule.label)),
                kind: option.kind,
                answer: rule_answer,
                is_wider: index > 0 || !is_first_shown,
            });
        }
    }
    answers.push(Choice {
        name: "Deny with a note…".to_owned(),
        kind: PermissionKind::RejectOnce,
        answer: Answer::Note,
        is_wider: false,
    });
    answers
}
