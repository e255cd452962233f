//! Queued prompts: edited, moved, removed, sent now; and their fate when the turn is cancelled.

use convoke_api::entry::QueuedEntry;
use convoke_api::frames::ClientFrame;
use convoke_core::id::SessionId;
use convoke_core::session::QueueChoice;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::session;
use crate::editor::Editor;
use crate::list_keys::{PAGE, moved};
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::message::InFlight;
use crate::workbench::model::{Model, Overlay};

/// Shows the prompts that wait, at the last one.
pub(super) fn begin(model: &mut Model) {
    match prompts(model).len().checked_sub(1) {
        Some(cursor) => model.overlay = Some(Overlay::Queue { cursor, edited: None }),
        None => model.refuse("No prompt is queued."),
    }
}

/// Closes the list or adjusts its cursor after a change by the daemon.
pub(super) fn arrange(model: &mut Model) {
    let last = prompts(model).len().checked_sub(1);
    if let Some(Overlay::Queue { cursor, .. }) = &mut model.overlay {
        match last {
            Some(last) => *cursor = (*cursor).min(last),
            None => model.overlay = None,
        }
    }
}

/// A key while the prompts are shown.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let width = usize::from(model.size.width);
    let Some(Overlay::Queue { cursor, edited }) = &mut model.overlay else { return };
    let at = *cursor;
    let Some(editor) = edited else { return choose(model, key, at) };
    match write(editor, key, width) {
        Meaning::Written | Meaning::PageUp | Meaning::PageDown => {}
        Meaning::Leave => *edited = None,
        Meaning::Accept if editor.is_blank() => model.refuse("The prompt is empty."),
        Meaning::Accept => {
            let content = editor.text().trim_end().to_owned();
            *edited = None;
            send_frame(model, at, |session_id, prompt| ClientFrame::QueueEdit {
                session_id,
                message_id: prompt.id,
                content,
            });
        }
    }
}

/// A pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    if let Some(Overlay::Queue { edited: Some(editor), .. }) = &mut model.overlay {
        editor.paste(text);
    }
}

fn choose(model: &mut Model, key: KeyEvent, at: usize) {
    let last = prompts(model).len().saturating_sub(1);
    let is_shifted = key.modifiers.contains(KeyModifiers::SHIFT);
    let to = match (key.code, is_plain(key)) {
        (KeyCode::Up, true) if is_shifted => return shift(model, at, at.saturating_sub(1)),
        (KeyCode::Down, true) if is_shifted => return shift(model, at, (at + 1).min(last)),
        (KeyCode::Char('K'), true) => return shift(model, at, at.saturating_sub(1)),
        (KeyCode::Char('J'), true) => return shift(model, at, (at + 1).min(last)),
        (KeyCode::Enter | KeyCode::Char('e'), true) => {
            let text = prompts(model).get(at).map(|prompt| prompt.content.clone());
            if let (Some(Overlay::Queue { edited, .. }), Some(text)) = (&mut model.overlay, text) {
                let mut editor = Editor::default();
                editor.paste(&text);
                *edited = Some(editor);
            }
            return;
        }
        (KeyCode::Char('d') | KeyCode::Delete | KeyCode::Backspace, true) => {
            return send_frame(model, at, |session_id, prompt| ClientFrame::QueueRemove {
                session_id,
                message_id: prompt.id,
            });
        }
        (KeyCode::Char('s'), true) => {
            return send_frame(model, at, |session_id, prompt| ClientFrame::QueueSend {
                session_id,
                message_id: prompt.id,
            });
        }
        (KeyCode::Esc | KeyCode::Char('q'), true) => {
            model.overlay = None;
            return;
        }
        _ => moved(key, at, last, PAGE).unwrap_or(at),
    };
    model.overlay = Some(Overlay::Queue { cursor: to, edited: None });
}

/// Moves a prompt to another position, with the cursor.
fn shift(model: &mut Model, at: usize, to: usize) {
    if at == to {
        return;
    }
    let place = u32::try_from(to).unwrap_or(u32::MAX);
    send_frame(model, at, |session_id, prompt| ClientFrame::QueueMove {
        session_id,
        message_id: prompt.id,
        to: place,
    });
    model.overlay = Some(Overlay::Queue { cursor: to, edited: None });
}

/// Sends a frame about the prompt at an index.
fn send_frame(
    model: &mut Model,
    at: usize,
    frame: impl FnOnce(String, &QueuedEntry) -> ClientFrame,
) {
    let Some(id) = model.chat.as_ref().map(|chat| chat.id) else { return };
    let frame = prompts(model).get(at).map(|prompt| frame(id.to_string(), prompt));
    if let Some(frame) = frame {
        model.send(InFlight::Queue, frame);
    }
}

fn prompts(model: &Model) -> &[QueuedEntry] {
    model.chat.as_ref().map(|chat| chat.entries().queue()).unwrap_or_default()
}

/// Cancels the running turn; asks first what to do with queued prompts.
pub(super) fn stop(model: &mut Model, id: SessionId) {
    let is_open = model.chat.as_ref().is_some_and(|chat| chat.id == id);
    if is_open && !prompts(model).is_empty() {
        model.overlay = Some(Overlay::Stop { id });
    } else {
        session::stop(model, id, None);
    }
}

/// A key in the dialog about queued prompts.
pub(super) fn press_stop(model: &mut Model, key: KeyEvent, id: SessionId) {
    let choice = match (key.code, is_plain(key)) {
        (KeyCode::Char('s' | '1') | KeyCode::Enter, true) => QueueChoice::Send,
        (KeyCode::Char('k' | '2'), true) => QueueChoice::Keep,
        (KeyCode::Char('d' | '3'), true) => QueueChoice::Discard,
        (KeyCode::Esc | KeyCode::Char('q'), true) => {
            model.overlay = None;
            return;
        }
        _ => return,
    };
    model.overlay = None;
    session::stop(model, id, Some(choice));
}
