//! Saying no to a whole set: a reason if there is one, then one more question.

use crossterm::event::{KeyCode, KeyEvent};

use super::key::is_plain;
use super::question;
use super::writing::{Meaning, write};
use crate::message::Effect;
use crate::model::Model;
use crate::set::{Page, Place};
use crate::view;

/// Asks for the reason; the way back leads to `back`.
pub(super) fn begin(model: &mut Model, back: Place) {
    if let Some(set) = model.open_set_mut() {
        set.page = Page::Reason(back);
    }
}

/// A key while the reason is written.
pub(super) fn press_in_reason(model: &mut Model, back: Place, key: KeyEvent) -> Option<Effect> {
    let width = view::editor_width(model.size);
    let set = model.open_set_mut()?;
    match write(&mut set.reason, key, width) {
        Meaning::Written | Meaning::PromptUp | Meaning::PromptDown => {}
        // Whoever typed blindly, thinking to be elsewhere, has rejected nothing yet.
        Meaning::Accept => set.page = Page::ConfirmReject(back),
        Meaning::Leave => question::go(model, back),
    }
    None
}

/// A key when asked whether the rejection is meant.
pub(super) fn press_in_question(model: &mut Model, back: Place, key: KeyEvent) -> Option<Effect> {
    let set = model.open_set_mut()?;
    match (key.code, is_plain(key)) {
        (KeyCode::Char('y' | 'Y'), true) => {
            set.page = Page::Settling;
            let reason = (!set.reason.is_blank()).then(|| set.reason.text().trim_end().to_owned());
            return Some(Effect::Reject { id: set.asked.id, reason });
        }
        (KeyCode::Char('e'), true) => set.page = Page::Reason(back),
        (KeyCode::Esc | KeyCode::Char('n' | 'N'), true) => question::go(model, back),
        _ => model.refuse("Press y to reject the set, or Esc to go back."),
    }
    None
}
