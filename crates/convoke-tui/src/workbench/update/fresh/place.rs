//! Where a new session works: in the project's folder, or in a work tree of its own.

use convoke_api::bodies::NewWorktree;
use crossterm::event::{KeyCode, KeyEvent};

use super::show;
use crate::editor::Editor;
use crate::list_keys::moved_or_numbered;
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::model::{Model, NewSession, Overlay};

/// The index of the last row: a work tree on a branch that the human names.
const LAST: usize = 2;

/// Shows the working directories to choose from.
pub(in crate::workbench::update) fn choose(model: &mut Model) {
    let cursor = match &model.home.composer.worktree {
        None => 0,
        Some(NewWorktree { branch: None }) => 1,
        Some(NewWorktree { branch: Some(_) }) => LAST,
    };
    show(model, NewSession::Place { cursor });
}

pub(super) fn press(model: &mut Model, cursor: usize, key: KeyEvent) {
    match (key.code, is_plain(key)) {
        (KeyCode::Enter, _) => match cursor {
            0 => chosen(model, None),
            1 => chosen(model, Some(NewWorktree::default())),
            _ => ask_for_branch(model),
        },
        (KeyCode::Esc | KeyCode::Left | KeyCode::Char('q'), true) => model.overlay = None,
        _ => show(model, NewSession::Place { cursor: moved_or_numbered(key, cursor, LAST) }),
    }
}

fn chosen(model: &mut Model, worktree: Option<NewWorktree>) {
    model.overlay = None;
    model.home.composer.worktree = worktree;
    // Those that are compared have work trees in any case.
    model.home.composer.comparison = None;
}

fn ask_for_branch(model: &mut Model) {
    let mut name = Editor::default();
    let known = model.home.composer.worktree.as_ref().and_then(|it| it.branch.as_deref());
    name.paste(known.unwrap_or_default());
    show(model, NewSession::Branch { name });
}

pub(super) fn press_branch(model: &mut Model, key: KeyEvent) {
    let width = usize::from(model.size.width);
    let Some(Overlay::New(NewSession::Branch { name })) = &mut model.overlay else { return };
    match write(name, key, width) {
        Meaning::Written | Meaning::PageUp | Meaning::PageDown => {}
        Meaning::Leave => choose(model),
        Meaning::Accept => {
            let name = name.text().trim().to_owned();
            let branch = (!name.is_empty()).then_some(name);
            chosen(model, Some(NewWorktree { branch }));
        }
    }
}
