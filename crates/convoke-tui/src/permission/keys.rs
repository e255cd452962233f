//! Keys and clicks on a permission. Pure; the screen that shows it carries out the result.

use convoke_api::frames::ClientFrame;
use convoke_core::id::RequestId;
use convoke_core::request::PermissionKind;
use crossterm::event::{KeyCode, KeyEvent};

use super::{Answer, Choice, PermissionCard, Rules, Stage, view};
use crate::hints::Hint;
use crate::list_keys::{Move, PAGE, moved};
use crate::picture::Direction;
use crate::sheet::keys::writing::{Meaning, write};
use crate::sheet::keys::{Room, is_plain};

/// The rows of the page of all keys that are the same in both screens.
pub(crate) const HELP: [Hint; 7] = [
    ("", "Answering a permission"),
    ("1 … 9", "choose an answer by its number"),
    ("y n", "allow once, deny once"),
    ("a", "always allow: the rule that is shown"),
    ("w", "wider rules, and rules that deny"),
    ("r", "deny with a note for the agent"),
    ("v", "all of the command, the changes or the arguments"),
];

/// The result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing more.
    Taken,
    /// The card has no use for it.
    Left,
    /// The human chose an option, and a rule that it creates.
    Answer { option_id: String, rule: Option<usize> },
    /// The human denies it, with or without a note.
    Deny(Option<String>),
    /// The human has seen that it was settled elsewhere.
    Away,
}

impl Step {
    /// The frame that tells the daemon, if the human answered.
    pub(crate) fn frame(self, id: RequestId) -> Option<ClientFrame> {
        match self {
            Self::Taken | Self::Left | Self::Away => None,
            Self::Answer { option_id, rule } => Some(ClientFrame::PermissionAnswer {
                permission_id: id.to_string(),
                option_id,
                remember: None,
                rule,
            }),
            Self::Deny(reason) => {
                Some(ClientFrame::QuestionReject { question_id: id.to_string(), reason })
            }
        }
    }
}

/// Lines that one notch of the wheel moves.
const NOTCH: usize = 3;

/// A key for the permission that is before the human.
pub(crate) fn press(card: &mut PermissionCard, key: KeyEvent, room: Room) -> Step {
    match card.stage {
        Stage::Choosing => press_choosing(card, key, room),
        Stage::Viewing => press_viewing(card, key, room),
        Stage::Noting => press_noting(card, key, room),
        Stage::Settling => Step::Left,
        // Keys typed while it disappeared must not choose or quit.
        Stage::Gone(_) if matches!(key.code, KeyCode::Enter | KeyCode::Esc) => Step::Away,
        Stage::Gone(_) => Step::Taken,
    }
}

/// Puts a pasted text into the note.
pub(crate) fn paste(card: &mut PermissionCard, text: &str) {
    if card.stage == Stage::Noting {
        card.note.paste(text);
    }
}

/// Chooses an answer by its index.
pub(crate) fn choose(card: &mut PermissionCard, at: usize) -> Step {
    if matches!(card.stage, Stage::Settling | Stage::Gone(_)) {
        return Step::Taken;
    }
    let Some(answer) = card.choices().get(at).map(|choice| choice.answer.clone()) else {
        return Step::Taken;
    };
    card.cursor = at;
    match answer {
        Answer::Note => {
            card.stage = Stage::Noting;
            Step::Taken
        }
        Answer::Option { option_id, rule } => {
            card.stage = Stage::Settling;
            Step::Answer { option_id, rule }
        }
    }
}

/// A turn of the wheel moves the evidence.
pub(crate) fn wheel(card: &mut PermissionCard, direction: Direction, room: Room) {
    scroll(card, Move::By(direction, NOTCH), room);
}

fn press_choosing(card: &mut PermissionCard, key: KeyEvent, room: Room) -> Step {
    let last = card.choices().len().saturating_sub(1);
    let find = |wanted: fn(&Choice) -> bool| {
        card.choices().iter().position(|choice: &&Choice| wanted(choice))
    };
    let at = match (key.code, is_plain(key)) {
        (KeyCode::PageUp, _) => {
            scroll(card, Move::By(Direction::Up, page(room)), room);
            return Step::Taken;
        }
        (KeyCode::PageDown, _) => {
            scroll(card, Move::By(Direction::Down, page(room)), room);
            return Step::Taken;
        }
        (KeyCode::Char('v'), true) => {
            card.stage = Stage::Viewing;
            return Step::Taken;
        }
        (KeyCode::Char('w'), true) if card.has_wider() => {
            widen(card);
            return Step::Taken;
        }
        (KeyCode::Char(digit @ '1'..='9'), true) => Some(usize::from(digit as u8 - b'1')),
        (KeyCode::Enter, _) => Some(card.cursor),
        (KeyCode::Char('y'), true) => {
            find(|it| it.kind == PermissionKind::AllowOnce && it.is_once())
        }
        (KeyCode::Char('a'), true) => {
            find(|it| it.kind == PermissionKind::AllowOnce && it.is_rule())
        }
        (KeyCode::Char('n'), true) => {
            let deny = find(|it| it.kind == PermissionKind::RejectOnce && it.is_once());
            if deny.is_none() {
                // Like `convoke inbox deny`: an agent without such an option gets the denial, too.
                card.cursor = find(|it| it.answer == Answer::Note).unwrap_or(card.cursor);
                card.stage = Stage::Settling;
                return Step::Deny(None);
            }
            deny
        }
        (KeyCode::Char('r'), true) => find(|it| it.answer == Answer::Note),
        _ => match moved(key, card.cursor, last, PAGE) {
            Some(to) => {
                card.cursor = to;
                return Step::Taken;
            }
            None => return Step::Left,
        },
    };
    at.map_or(Step::Taken, |at| choose(card, at))
}

fn press_viewing(card: &mut PermissionCard, key: KeyEvent, room: Room) -> Step {
    if let Some(to) = Move::of(key, page(room)) {
        scroll(card, to, room);
        return Step::Taken;
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Char(' '), _) => scroll(card, Move::By(Direction::Down, page(room)), room),
        (KeyCode::Esc | KeyCode::Char('v' | 'q'), true) => {
            card.stage = Stage::Choosing;
            card.scroll = 0;
        }
        // Answers must be visible when one is chosen.
        _ => {}
    }
    Step::Taken
}

fn press_noting(card: &mut PermissionCard, key: KeyEvent, room: Room) -> Step {
    match write(&mut card.note, key, view::note_width(room.size.width)) {
        Meaning::Written | Meaning::PageUp | Meaning::PageDown => Step::Taken,
        Meaning::Leave => {
            card.stage = Stage::Choosing;
            Step::Taken
        }
        Meaning::Accept => {
            card.stage = Stage::Settling;
            let note = card.note.text().trim();
            Step::Deny((!note.is_empty()).then(|| note.to_owned()))
        }
    }
}

/// Shows all rules, or the narrowest again; the cursor stays at its answer.
fn widen(card: &mut PermissionCard) {
    let here = card.choices().get(card.cursor).map(|choice| choice.answer.clone());
    card.rules = match card.rules {
        Rules::Narrowest => Rules::All,
        Rules::All => Rules::Narrowest,
    };
    let place = card.choices().iter().position(|choice| Some(&choice.answer) == here.as_ref());
    card.cursor = place.unwrap_or_default();
}

fn page(room: Room) -> usize {
    usize::from(room.size.height / 2).max(1)
}

fn scroll(card: &mut PermissionCard, to: Move, room: Room) {
    let max = view::scroll_max(card, room);
    card.scroll = to.apply(card.scroll.min(max), max);
}

impl Choice {
    /// Whether it is for this time alone.
    const fn is_once(&self) -> bool {
        matches!(self.answer, Answer::Option { rule: None, .. })
    }

    const fn is_rule(&self) -> bool {
        matches!(self.answer, Answer::Option { rule: Some(_), .. })
    }
}
