//! Writing own words: every letter is text here, and no shortcut fires.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::question;
use crate::editor::Editor;
use crate::message::{Effect, Way};
use crate::model::Model;
use crate::set::Page;
use crate::view;

/// What a key means to whoever writes.
pub(super) enum Meaning {
    /// It was written, or moved the cursor.
    Written,
    /// The text is done.
    Accept,
    /// Away from the text, which is kept.
    Leave,
    /// Look at the prompt further up, or further down.
    PromptUp,
    PromptDown,
}

/// A key while own words are written.
pub(super) fn press(model: &mut Model, index: usize, key: KeyEvent) -> Option<Effect> {
    let width = view::editor_width(model.size);
    let (_, draft) = model.open_set_mut()?.question_mut(index)?;
    match write(&mut draft.words, key, width) {
        Meaning::Written => draft.touched = true,
        Meaning::Accept => {
            let is_blank = draft.words.is_blank();
            leave(model, index);
            if !is_blank {
                question::go_on(model, index);
            }
        }
        Meaning::Leave => leave(model, index),
        Meaning::PromptUp => question::turn_page(model, Way::Up),
        Meaning::PromptDown => question::turn_page(model, Way::Down),
    }
    None
}

/// Back to the options; what was written is chosen.
pub(super) fn leave(model: &mut Model, index: usize) {
    let Some(set) = model.open_set_mut() else { return };
    if let Some((question, draft)) = set.question_mut(index) {
        draft.choose_words(question);
        set.page = Page::Question(index);
    }
}

/// Puts a pasted text where one is being written, or where one can be.
pub(super) fn paste(model: &mut Model, text: &str) -> Option<Effect> {
    if model.overlay.is_some() {
        return None;
    }
    let set = model.open_set_mut()?;
    match set.page {
        Page::Question(index) => {
            question::write(model, index);
            return paste(model, text);
        }
        Page::Writing(index) => {
            let (_, draft) = set.question_mut(index)?;
            draft.words.paste(text);
            draft.touched = true;
        }
        Page::Reason(_) => set.reason.paste(text),
        Page::Review(_) | Page::ConfirmReject(_) | Page::Settling | Page::Gone(_) => {}
    }
    None
}

/// Gives a key to a text.
pub(super) fn write(editor: &mut Editor, key: KeyEvent, width: usize) -> Meaning {
    match (key.code, key.modifiers) {
        (KeyCode::Esc, _) => return Meaning::Leave,
        (KeyCode::PageUp, _) => return Meaning::PromptUp,
        (KeyCode::PageDown, _) => return Meaning::PromptDown,
        // Terminals without the newer keyboard protocol tell Enter from Shift-Enter by nothing.
        (KeyCode::Enter, modifiers) if modifiers.intersects(NEW_LINE) => editor.break_line(),
        (KeyCode::Char('j'), KeyModifiers::CONTROL) => editor.break_line(),
        (KeyCode::Enter, _) => return Meaning::Accept,
        _ => editor.press(key, width),
    }
    Meaning::Written
}

/// With Enter these mean a line break.
const NEW_LINE: KeyModifiers =
    KeyModifiers::ALT.union(KeyModifiers::SHIFT).union(KeyModifiers::CONTROL);
