//! The changes of the open session: files, the diff of one, and actions on them.

mod dialog;

use convoke_api::bodies::{Fork, Restored, Revert, Undo};
use convoke_core::files::ChangeTotals;
use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{finish, session};
use crate::editor::Editor;
use crate::list_keys::Move;
use crate::picture::{Direction, Target};
use crate::sheet::keys::is_plain;
use crate::workbench::changes::{
    Call, Changes, Commented, Dialog, Loaded, OpenFile, Pane, Returned,
};
use crate::workbench::layout;
use crate::workbench::message::Effect;
use crate::workbench::model::{Link, Model, Overlay};
use crate::workbench::refusal::CallRefusal;
use crate::workbench::view;
pub(super) use dialog::paste;

/// Cells that a key moves long lines by.
const SHIFT: usize = 16;

/// Shows the changes of a session.
pub(super) fn begin(model: &mut Model, id: SessionId) {
    model.overlay = Some(Overlay::Changes(Box::new(Changes::new(id))));
    load(model);
}

/// Sets the changes aside while something else is shown.
fn set_aside(model: &mut Model) {
    if let Some(Overlay::Changes(changes)) = model.overlay.take() {
        model.behind = Some(changes);
    }
}

/// Shows the changes again that were set aside.
pub(super) fn show_again(model: &mut Model) {
    if let Some(changes) = model.behind.take() {
        model.overlay = Some(Overlay::Changes(changes));
        load(model);
    }
}

/// Requests the list that is shown, and the open diff.
fn load(model: &mut Model) {
    let Some(changes) = shown(model) else { return };
    let (id, turn) = (changes.id, changes.turn);
    let open = changes.open.as_ref().map(|open| open.path.clone());
    call(model, Call::List { id, turn });
    if let Some(path) = open {
        call(model, Call::Open { id, turn, path });
    }
}

fn call(model: &mut Model, call: Call) {
    if model.link != Link::Up {
        model.refuse("Not connected to the daemon: nothing was done.");
        return;
    }
    model.effects.push(Effect::Call(call));
}

/// Makes a call that changes files or sessions; one at a time.
fn act(model: &mut Model, acted: Call) {
    let Some(changes) = shown_mut(model) else { return };
    changes.dialog = None;
    if changes.under_way.is_some() {
        model.refuse("Wait: the last step is not done yet.");
        return;
    }
    changes.under_way = Some(acted.clone());
    call(model, acted);
}

fn shown(model: &Model) -> Option<&Changes> {
    match &model.overlay {
        Some(Overlay::Changes(changes)) => Some(changes),
        _ => None,
    }
}

fn shown_mut(model: &mut Model) -> Option<&mut Changes> {
    match &mut model.overlay {
        Some(Overlay::Changes(changes)) => Some(changes),
        _ => None,
    }
}

/// The changes of a session are others than before.
pub(super) fn updated(model: &mut Model, id: SessionId, totals: Option<ChangeTotals>) {
    model.list.change(id, |session| session.changes = totals);
    if shown(model).is_some_and(|changes| changes.id == id) {
        load(model);
    }
}

/// Handles the result of a call.
pub(super) fn take(model: &mut Model, called: &Call, returned: Result<Box<Returned>, CallRefusal>) {
    let is_shown = shown(model).is_some_and(|changes| changes.id == called.session());
    if let Some(changes) = shown_mut(model)
        && changes.under_way.as_ref() == Some(called)
    {
        changes.under_way = None;
    }
    match returned.map(|returned| *returned) {
        Ok(Returned::Forked(session)) => {
            model.overlay = None;
            session::open(model, session.id);
            model.notify("This is the fork; the other session is unchanged.");
        }
        Ok(Returned::Restored(restored)) => take_restored(model, restored),
        Ok(_) | Err(_) if !is_shown => {}
        Ok(Returned::Changes(listed)) => take_list(model, called, listed),
        Ok(Returned::Diff(diff)) => {
            if let (Some(changes), Call::Open { turn, path, .. }) = (shown_mut(model), called)
                && changes.turn == *turn
            {
                changes.take_diff(path, diff);
            }
        }
        Err(refusal) => refused(model, called, refusal),
    }
}

fn take_list(model: &mut Model, called: &Call, listed: convoke_api::bodies::SessionChanges) {
    let Some(changes) = shown_mut(model) else { return };
    if !matches!(called, Call::List { turn, .. } if *turn == changes.turn) {
        return;
    }
    changes.take_list(listed);
    preview(model);
}

fn refused(model: &mut Model, called: &Call, refusal: CallRefusal) {
    let line = refusal.line();
    let CallRefusal { why, files, .. } = refusal;
    let Some(changes) = shown_mut(model) else { return };
    match called {
        Call::List { .. } => changes.fail(None, why),
        Call::Open { path, .. } => changes.fail(Some(path), why),
        Call::Revert { .. } | Call::Restore { .. } | Call::Undo { .. } | Call::Fork { .. } => {
            if files.is_empty() {
                model.refuse(line);
            } else {
                changes.dialog = Some(Dialog::Refused { call: called.clone(), why, files });
            }
        }
    }
}

fn take_restored(model: &mut Model, restored: Restored) {
    let Restored { written, removed, blocked, session } = restored;
    let files = written.len() + removed.len();
    let words = match (files, &session) {
        (0, None) => "Nothing differs.".to_owned(),
        (0, Some(_)) => {
            "The conversation continues here; the other session is unchanged.".to_owned()
        }
        (1, _) => "One file was restored; u undoes it.".to_owned(),
        (files, _) => format!("{files} files were restored; u undoes it."),
    };
    if let Some(session) = session {
        model.overlay = None;
        session::open(model, session.id);
    } else if !blocked.is_empty()
        && let Some(changes) = shown_mut(model)
    {
        let line =
            |file: &convoke_api::bodies::BlockedFile| format!("{} ({})", file.path, file.why);
        changes.dialog = Some(Dialog::Blocked { files: blocked.iter().map(line).collect() });
    }
    model.notify(words);
    load(model);
}

/// A click on a file, or on a row of the diff.
pub(super) fn click(model: &mut Model, target: Target) {
    if shown(model).is_none_or(|changes| changes.dialog.is_some()) {
        return;
    }
    if let Target::Entry(at) = target {
        step(model, Move::To(at));
        open_file(model);
    } else if let Target::Block(row) = target
        && let Some(changes) = shown_mut(model)
    {
        changes.pane = Pane::Diff;
        if let Some(diff) = changes.diff_mut() {
            diff.step(Move::To(row));
        }
    }
}

/// A turn of the wheel.
pub(super) fn wheel(model: &mut Model, direction: Direction, rows: usize) {
    let to = Move::By(direction, rows);
    match shown(model).map(|changes| changes.pane) {
        Some(Pane::Files) => step(model, to),
        Some(Pane::Diff) => {
            if let Some(diff) = shown_mut(model).and_then(Changes::diff_mut) {
                diff.step(to);
            }
        }
        None => {}
    }
}

/// A key while the changes are shown.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let Some(changes) = shown(model) else { return };
    if changes.dialog.is_some() {
        return dialog::press(model, key);
    }
    match (key.code, is_plain(key), changes.pane) {
        (KeyCode::Char('t'), true, _) => dialog::turns(model),
        (KeyCode::Char('['), true, _) => beside(model, Direction::Up),
        (KeyCode::Char(']'), true, _) => beside(model, Direction::Down),
        (KeyCode::Char('D'), true, _) | (KeyCode::Char('d'), true, Pane::Files) => {
            revert_file(model);
        }
        (KeyCode::Char('R'), true, _) => dialog::restore(model),
        (KeyCode::Char('u'), true, _) => {
            let (id, undo) = (changes.id, Undo { force: false });
            confirm(model, Call::Undo { id, undo });
        }
        (KeyCode::Char('f'), true, _) => {
            let (id, fork) = (changes.id, Fork { turn: changes.turn, worktree: None });
            confirm(model, Call::Fork { id, fork });
        }
        (KeyCode::Char('C' | 's'), true, _) => dialog::comments(model),
        (KeyCode::Char('F'), true, _) => {
            let id = changes.id;
            set_aside(model);
            finish::begin(model, id);
        }
        (KeyCode::Char('?') | KeyCode::F(1), true, _) => {
            set_aside(model);
            model.overlay = Some(Overlay::Help { scroll: 0 });
        }
        (_, _, Pane::Files) => press_files(model, key),
        (_, _, Pane::Diff) => press_diff(model, key),
    }
}

fn press_files(model: &mut Model, key: KeyEvent) {
    if let Some(to) = Move::of(key, view::page_rows(model)) {
        return step(model, to);
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Enter | KeyCode::Right | KeyCode::Tab | KeyCode::Char('l'), true) => {
            open_file(model);
        }
        (KeyCode::Esc | KeyCode::Char('q' | 'c') | KeyCode::Left, true) => model.overlay = None,
        _ => {}
    }
}

fn press_diff(model: &mut Model, key: KeyEvent) {
    let page = view::page_rows(model);
    let half = (page / 2).max(1);
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match (key.code, is_control) {
        (KeyCode::Esc, _) if unmark(model) => return,
        (KeyCode::Esc | KeyCode::Tab | KeyCode::Char('q'), false) => return to_files(model),
        (KeyCode::Char('d'), false) => return revert_hunk(model),
        (KeyCode::Char('c') | KeyCode::Enter, false) => return comment(model),
        (KeyCode::Char('N'), false) => return next_file(model, Direction::Down),
        (KeyCode::Char('P'), false) => return next_file(model, Direction::Up),
        _ => {}
    }
    let Some(diff) = shown_mut(model).and_then(Changes::diff_mut) else { return };
    if let Some(to) = Move::of(key, page) {
        return diff.step(to);
    }
    match (key.code, is_control) {
        (KeyCode::Char(' '), false) => diff.step(Move::By(Direction::Down, page)),
        (KeyCode::Char('u'), true) => diff.step(Move::By(Direction::Up, half)),
        (KeyCode::Char('d'), true) => diff.step(Move::By(Direction::Down, half)),
        (KeyCode::Char('n'), false) => diff.step_hunk(Direction::Down),
        (KeyCode::Char('p'), false) => diff.step_hunk(Direction::Up),
        (KeyCode::Right | KeyCode::Char('l'), false) => diff.shift += SHIFT,
        (KeyCode::Left | KeyCode::Char('h'), false) => {
            diff.shift = diff.shift.saturating_sub(SHIFT);
        }
        (KeyCode::Char('v'), false) => {
            diff.mark = if diff.mark.is_some() { None } else { Some(diff.cursor) };
        }
        _ => {}
    }
}

/// Moves between files.
fn step(model: &mut Model, to: Move) {
    let Some(changes) = shown_mut(model) else { return };
    changes.cursor = to.apply(changes.cursor, changes.files().len().saturating_sub(1));
    preview(model);
}

/// If the diff is beside the files, it is that of the file at the cursor.
fn preview(model: &mut Model) {
    if layout::changes(model).is_some_and(|areas| areas.files.is_some() && areas.diff.is_some()) {
        ask_for_file(model);
    }
}

/// Requests the diff of the file at the cursor, unless it is open.
fn ask_for_file(model: &mut Model) {
    let Some(changes) = shown_mut(model) else { return };
    let Some(path) = changes.file().map(|file| file.path.clone()) else { return };
    if changes.open.as_ref().is_some_and(|open| open.path == path) {
        return;
    }
    changes.open = Some(OpenFile { path: path.clone(), diff: Loaded::Asked });
    let (id, turn) = (changes.id, changes.turn);
    call(model, Call::Open { id, turn, path });
}

fn open_file(model: &mut Model) {
    ask_for_file(model);
    if let Some(changes) = shown_mut(model).filter(|changes| changes.open.is_some()) {
        changes.pane = Pane::Diff;
    }
}

fn next_file(model: &mut Model, direction: Direction) {
    step(model, Move::By(direction, 1));
    ask_for_file(model);
}

fn to_files(model: &mut Model) {
    if let Some(changes) = shown_mut(model) {
        changes.pane = Pane::Files;
    }
}

/// Removes the mark; returns whether there was one.
fn unmark(model: &mut Model) -> bool {
    let diff = shown_mut(model).and_then(Changes::diff_mut);
    diff.is_some_and(|diff| diff.mark.take().is_some())
}

/// Shows the changes of another turn, or of all of them.
fn show_turn(model: &mut Model, turn: Option<Seq>) {
    let Some(changes) = shown_mut(model) else { return };
    changes.dialog = None;
    if changes.turn == turn {
        return;
    }
    changes.turn = turn;
    changes.open = None;
    changes.pane = Pane::Files;
    load(model);
}

fn beside(model: &mut Model, direction: Direction) {
    let Some(turn) = shown(model).map(|changes| changes.turn_beside(direction)) else { return };
    show_turn(model, turn);
}

/// Asks for confirmation.
fn confirm(model: &mut Model, call: Call) {
    if let Some(changes) = shown_mut(model) {
        changes.dialog = Some(Dialog::Confirm(call));
    }
}

fn revert_file(model: &mut Model) {
    revert(model, None);
}

fn revert_hunk(model: &mut Model) {
    let hunk = shown(model).and_then(Changes::diff).and_then(|diff| diff.hunk_here());
    match hunk.and_then(|hunk| u32::try_from(hunk).ok()) {
        Some(hunk) => revert(model, Some(hunk)),
        None => model.refuse("There is no hunk here: D reverts the file."),
    }
}

fn revert(model: &mut Model, hunk: Option<u32>) {
    let Some(changes) = shown(model) else { return };
    let path = match changes.pane {
        Pane::Files => changes.file().map(|file| file.path.clone()),
        Pane::Diff => changes.open.as_ref().map(|open| open.path.clone()),
    };
    let Some(path) = path else { return };
    let (id, turn) = (changes.id, changes.turn);
    confirm(model, Call::Revert { id, revert: Revert { path, turn, hunk, force: false } });
}

/// Begins a comment on the lines that are marked, or on the one that the human is at.
fn comment(model: &mut Model) {
    let rows = shown(model).and_then(Changes::diff).and_then(|diff| {
        let rows = diff.marked();
        diff.comment(rows, String::new()).map(|_| rows)
    });
    let Some((first, last)) = rows else {
        model.refuse("Move to a line to comment on it.");
        return;
    };
    if let Some(changes) = shown_mut(model) {
        let (of, text) = (Commented::Rows(first, last), Editor::default());
        changes.dialog = Some(Dialog::Comment { of, text });
    }
}
