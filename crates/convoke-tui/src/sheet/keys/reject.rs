//! Saying no to a whole set: a reason if there is one, then one more question.

use crossterm::event::{KeyCode, KeyEvent};

use super::writing::{Meaning, write};
use super::{Room, Step, is_plain};
use crate::sheet::{Page, PageLink, QuestionSet};

/// A key while the reason is written; leaving it leads to `back`.
pub(super) fn press_in_reason(
    set: &mut QuestionSet,
    back: PageLink,
    key: KeyEvent,
    room: Room,
) -> Step {
    match write(&mut set.reason, key, room.editor_width()) {
        Meaning::Written | Meaning::PageUp | Meaning::PageDown => {}
        // Asks for confirmation, in case the keys were meant for another page.
        Meaning::Accept => set.page = Page::ConfirmReject(back),
        Meaning::Leave => set.go(back),
    }
    Step::Taken
}

/// A key in the confirmation of the rejection.
pub(super) fn press_in_question(set: &mut QuestionSet, back: PageLink, key: KeyEvent) -> Step {
    match (key.code, is_plain(key)) {
        (KeyCode::Char('y' | 'Y'), true) => {
            set.page = Page::Settling;
            let reason = (!set.reason.is_blank()).then(|| set.reason.text().trim_end().to_owned());
            return Step::Reject(reason);
        }
        (KeyCode::Char('e'), true) => set.page = Page::Reason(back),
        (KeyCode::Esc | KeyCode::Char('n' | 'N'), true) => set.go(back),
        _ => return Step::Refused("Press y to reject the set, or Esc to go back.".to_owned()),
    }
    Step::Taken
}
