//! The meaning of keys in a text field.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::editor::Editor;

/// The meaning of a key in a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It was written, or moved the cursor.
    Written,
    /// The text is done.
    Accept,
    /// Leave the text, which is kept.
    Leave,
    /// Scroll the text above the editor up or down.
    PageUp,
    PageDown,
}

/// Applies a key to a text.
pub(crate) fn write(editor: &mut Editor, key: KeyEvent, width: usize) -> Meaning {
    match (key.code, key.modifiers) {
        (KeyCode::Esc, _) => return Meaning::Leave,
        (KeyCode::PageUp, _) => return Meaning::PageUp,
        (KeyCode::PageDown, _) => return Meaning::PageDown,
        // Terminals without the newer keyboard protocol send the same bytes for Enter and Shift-Enter.
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
