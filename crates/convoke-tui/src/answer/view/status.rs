//! The line at the bottom: the keys that work now, as many as fit.

use ratatui::layout::Rect;

use crate::answer::model::{Model, Overlay};
use crate::card::Card;
use crate::hints::{self, HELP, Hint, Hints, QUIT};
use crate::picture::Picture;
use crate::sheet::{Page, QuestionSet};

const LIST: Hint = ("l", "list");

/// Draws the line.
pub(super) fn line(model: &Model, picture: &mut Picture, area: Rect) {
    hints::line(hints(model), picture, area, model.palette);
}

fn hints(model: &Model) -> Hints {
    match model.overlay {
        Some(Overlay::Help { .. }) => {
            return Hints { here: vec![("↑↓", "move"), ("esc", "close")], always: vec![] };
        }
        Some(Overlay::List { .. }) => {
            let here = vec![("↑↓", "move"), ("enter", "open"), ("esc", "close")];
            return Hints { here, always: vec![QUIT] };
        }
        None => {}
    }
    let Some(set) = model.open_set() else {
        let here = if model.damaged.is_empty() { vec![] } else { vec![LIST] };
        return Hints { here, always: vec![HELP, QUIT] };
    };
    match &set.card {
        Card::Questions(set) => in_set(set),
        Card::Permission(card) => {
            let mut hints = card.hints();
            if !hints.always.is_empty() {
                hints.here.extend([("tab", "next"), LIST]);
            }
            hints
        }
    }
}

fn in_set(set: &QuestionSet) -> Hints {
    let here = match set.page {
        Page::Question(index) => {
            return Hints { here: on_question(set, index), always: vec![HELP, QUIT] };
        }
        Page::Review(row) => {
            let mut here = match set.drafts.get(row) {
                Some(draft) if draft.is_answered() => vec![("enter", "change"), ("s", "send")],
                Some(_) => vec![("enter", "answer"), ("s", "send")],
                None => vec![("enter", "send")],
            };
            here.extend([("↑↓", "move"), ("←", "back"), ("r", "reject"), ("n", "next set"), LIST]);
            return Hints { here, always: vec![HELP, QUIT] };
        }
        Page::Settling => {
            return Hints { here: vec![("n", "next set"), LIST], always: vec![HELP, QUIT] };
        }
        Page::Writing(_) => vec![
            ("enter", "accept"),
            ("alt-enter", "new line"),
            ("esc", "to the options"),
            ("ctrl-z", "undo"),
        ],
        Page::Reason(_) => vec![("enter", "continue"), ("alt-enter", "new line"), ("esc", "back")],
        Page::ConfirmReject(_) => vec![("y", "reject"), ("e", "edit the reason"), ("esc", "back")],
        Page::Gone(_) => vec![("enter", "continue")],
    };
    Hints { here, always: vec![] }
}

fn on_question(set: &QuestionSet, index: usize) -> Vec<Hint> {
    let several = set.question(index).is_some_and(|(question, _)| question.multi_select);
    let mut hints = vec![("↑↓", "move")];
    if several {
        hints.extend([("space", "toggle"), ("enter", "continue")]);
    } else {
        hints.push(("enter", "choose"));
    }
    hints.extend([
        ("o", "other"),
        ("tab", "next"),
        ("r", "reject"),
        LIST,
        ("s", "review"),
        ("n", "next set"),
    ]);
    hints
}
