//! The list of sessions.

use crossterm::event::{KeyCode, KeyEvent};

use super::{Handled, changes, finish, frames, home, queue, session};
use crate::list_keys::Move;
use crate::sheet::keys::is_plain;
use crate::workbench::list::{ListFilter, Row};
use crate::workbench::model::{Focus, Model};
use crate::workbench::view;

/// Handles a key in the list; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Handled {
    let to = Move::of(key, view::list_rows(model));
    let list = &mut model.list;
    if let Some(to) = to {
        list.step(to);
        return Handled::Yes;
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Char(' ') | KeyCode::Left, true) => list.toggle_project(),
        (KeyCode::Enter | KeyCode::Right, true) => open_at_cursor(model),
        (KeyCode::Tab, true) if model.chat.is_some() => model.focus = Focus::Input,
        (KeyCode::Char('n'), true) => {
            let project = list.project_at_cursor();
            home::compose(model, project);
        }
        (KeyCode::Char('u'), true) => session::undo(model),
        (KeyCode::Char('A'), true) => toggle_archived(model),
        (KeyCode::Char(letter @ ('r' | 'a' | 'x' | 'R' | 'c' | 'F')), true) => {
            let Some(id) = model.list.session_at_cursor().map(|session| session.uid) else {
                model.refuse("Choose a session first.");
                return Handled::Yes;
            };
            with_session(model, letter, id);
        }
        _ => return Handled::No,
    }
    Handled::Yes
}

/// Letters for a session, in the list and while it is read.
pub(super) fn with_session(model: &mut Model, letter: char, id: convoke_core::id::SessionId) {
    match letter {
        'r' => session::rename(model, id),
        'a' => session::archive(model, id),
        'x' => queue::stop(model, id),
        'c' => {
            session::open(model, id);
            changes::begin(model, id);
        }
        'F' => finish::begin(model, id),
        'R' if home::has_failed(model, id) => session::retry(model, id),
        'R' => session::resume(model, id),
        _ => {}
    }
}

/// Opens the session at the cursor, or shows and hides those of its project.
pub(super) fn open_at_cursor(model: &mut Model) {
    match model.list.at_cursor() {
        Some(Row::Session(id)) => session::open(model, id),
        Some(Row::Project(_)) => model.list.toggle_project(),
        None => {}
    }
}

fn toggle_archived(model: &mut Model) {
    model.list.filter = match model.list.filter {
        ListFilter::Current => ListFilter::Archived,
        ListFilter::Archived => ListFilter::Current,
    };
    model.list.cursor = None;
    frames::ask_for_sessions(model);
}
