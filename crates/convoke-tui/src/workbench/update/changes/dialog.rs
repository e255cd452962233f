//! The dialogs about changes: turns, comments, restores, and confirmations.

use convoke_api::bodies::{GivenComment, Restore, RestoreScope};
use convoke_core::message::Seq;
use crossterm::event::{KeyCode, KeyEvent};

use super::{act, confirm, show_turn, shown, shown_mut};
use crate::editor::Editor;
use crate::list_keys::{PAGE, moved};
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::changes::{Call, Commented, Dialog};
use crate::workbench::model::{Model, Sent};
use crate::workbench::update::session;

/// Shows the turns whose changes can be selected.
pub(super) fn turns(model: &mut Model) {
    let Some(changes) = shown_mut(model) else { return };
    let turns = changes.turns();
    // The whole session comes before the turns.
    let at = changes.turn.and_then(|turn| turns.iter().position(|it| *it == turn));
    changes.dialog = Some(Dialog::Turns { cursor: at.map_or(0, |at| at + 1) });
}

/// Shows what can be restored to its state before a turn: the one that is shown, or the last.
pub(super) fn restore(model: &mut Model) {
    let Some(changes) = shown_mut(model) else { return };
    match changes.turn.or_else(|| changes.turns().last().copied()) {
        Some(turn) => changes.dialog = Some(Dialog::Restore { turn }),
        None => model.refuse("There is no checkpoint of this session to restore."),
    }
}

/// Shows the comments that are not sent.
pub(super) fn comments(model: &mut Model) {
    let Some(id) = shown(model).map(|changes| changes.id) else { return };
    if model.reviews.get(&id).is_none_or(Vec::is_empty) {
        model.refuse("No comments yet: open a file, move to a line and press c.");
        return;
    }
    if let Some(changes) = shown_mut(model) {
        changes.dialog = Some(Dialog::Comments { cursor: 0 });
    }
}

/// A pasted text.
pub(in crate::workbench::update) fn paste(model: &mut Model, pasted: &str) {
    if let Some(Dialog::Comment { text, .. }) =
        shown_mut(model).and_then(|changes| changes.dialog.as_mut())
    {
        text.paste(pasted);
    }
}

/// A key in a dialog.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let width = usize::from(model.size.width);
    let Some(changes) = shown_mut(model) else { return };
    let Some(dialog) = &mut changes.dialog else { return };
    match dialog {
        Dialog::Comment { text, .. } => match write(text, key, width) {
            Meaning::Written | Meaning::PageUp | Meaning::PageDown => {}
            Meaning::Leave => changes.dialog = None,
            Meaning::Accept if text.is_blank() => model.refuse("The comment is empty."),
            Meaning::Accept => accept(model),
        },
        Dialog::Turns { cursor } => {
            let at = *cursor;
            press_turns(model, key, at);
        }
        Dialog::Comments { cursor } => {
            let at = *cursor;
            press_comments(model, key, at);
        }
        Dialog::Restore { turn } => {
            let turn = *turn;
            press_restore(model, key, turn);
        }
        Dialog::Confirm(confirmed) => {
            let confirmed = confirmed.clone();
            match (key.code, is_plain(key)) {
                (KeyCode::Char('y') | KeyCode::Enter, true) => act(model, confirmed),
                _ => close_with(model, key, 'n'),
            }
        }
        Dialog::Refused { call, .. } => {
            let forced = call.clone().forced();
            match (key.code, is_plain(key)) {
                (KeyCode::Char('o'), true) => act(model, forced),
                _ => close_with(model, key, 'n'),
            }
        }
        Dialog::Blocked { .. } => close_with(model, key, 'n'),
    }
}

fn close_with(model: &mut Model, key: KeyEvent, letter: char) {
    let is_it = [KeyCode::Esc, KeyCode::Char('q'), KeyCode::Char(letter)].contains(&key.code);
    if let Some(changes) = shown_mut(model).filter(|_| is_it && is_plain(key)) {
        changes.dialog = None;
    }
}

fn press_turns(model: &mut Model, key: KeyEvent, at: usize) {
    let Some(changes) = shown_mut(model) else { return };
    let last = changes.turns().len();
    if let Some(cursor) = moved(key, at, last, PAGE) {
        changes.dialog = Some(Dialog::Turns { cursor });
    } else if (key.code, is_plain(key)) == (KeyCode::Enter, true) {
        let turn = at.checked_sub(1).and_then(|at| changes.turns().get(at)).copied();
        show_turn(model, turn);
    } else {
        close_with(model, key, 't');
    }
}

fn press_restore(model: &mut Model, key: KeyEvent, turn: Seq) {
    let Some(changes) = shown_mut(model) else { return };
    let turns = changes.turns();
    let at = turns.partition_point(|it| *it < turn);
    let id = changes.id;
    if let Some(to) = moved(key, at, turns.len().saturating_sub(1), PAGE) {
        changes.dialog = Some(Dialog::Restore { turn: turns.get(to).copied().unwrap_or(turn) });
        return;
    }
    let what = match (key.code, is_plain(key)) {
        (KeyCode::Char('f'), true) => RestoreScope::Files,
        (KeyCode::Char('c'), true) => RestoreScope::Conversation,
        (KeyCode::Char('b'), true) => RestoreScope::Both,
        _ => return close_with(model, key, 'R'),
    };
    let restore = Restore { turn, what: Some(what), force: false };
    confirm(model, Call::Restore { id, restore });
}

fn press_comments(model: &mut Model, key: KeyEvent, at: usize) {
    let Some(id) = shown(model).map(|changes| changes.id) else { return };
    let comments = model.reviews.entry(id).or_default();
    let last = comments.len().saturating_sub(1);
    let to = match (key.code, is_plain(key)) {
        (KeyCode::Char('d') | KeyCode::Delete | KeyCode::Backspace, true) => {
            if at < comments.len() {
                comments.remove(at);
            }
            let is_empty = comments.is_empty();
            if let Some(changes) = shown_mut(model).filter(|_| is_empty) {
                changes.dialog = None;
                return;
            }
            at
        }
        (KeyCode::Char('e') | KeyCode::Enter, true) => {
            let Some(comment) = comments.get(at) else { return };
            let mut text = Editor::default();
            text.paste(&comment.comment);
            let of = Commented::Comment(at);
            if let Some(changes) = shown_mut(model) {
                changes.dialog = Some(Dialog::Comment { of, text });
            }
            return;
        }
        (KeyCode::Char('s'), true) => return send(model),
        _ => match moved(key, at, last, PAGE) {
            Some(to) => to,
            None => return close_with(model, key, 'C'),
        },
    };
    if let Some(changes) = shown_mut(model) {
        changes.dialog = Some(Dialog::Comments { cursor: to.min(last) });
    }
}

/// Stores the written comment.
fn accept(model: &mut Model) {
    let Some(changes) = shown_mut(model) else { return };
    let Some(Dialog::Comment { of, text }) = changes.dialog.take() else { return };
    let (id, text) = (changes.id, text.text().trim().to_owned());
    let comment = match of {
        Commented::Comment(at) => {
            if let Some(comment) = model.reviews.entry(id).or_default().get_mut(at) {
                comment.comment = text;
            }
            return comments(model);
        }
        Commented::Rows(first, last) => {
            changes.diff().and_then(|diff| diff.comment((first, last), text))
        }
    };
    let Some(comment) = comment else { return };
    if let Some(diff) = changes.diff_mut() {
        diff.mark = None;
    }
    insert(model.reviews.entry(id).or_default(), comment);
    let count = model.reviews.get(&id).map_or(0, Vec::len);
    model.notify(match count {
        1 => "One comment: s shows and sends it.".to_owned(),
        count => format!("{count} comments: s shows and sends them."),
    });
}

/// Inserts a comment after those before it.
fn insert(comments: &mut Vec<GivenComment>, comment: GivenComment) {
    let key = |it: &GivenComment| (it.path.clone(), it.start_line, it.end_line);
    let at = comments.partition_point(|it| key(it) <= key(&comment));
    comments.insert(at, comment);
}

/// Sends all comments as one review, with the draft for the session.
fn send(model: &mut Model) {
    let Some(id) = shown(model).map(|changes| changes.id) else { return };
    let review = model.reviews.get(&id).cloned().unwrap_or_default();
    if session::send_review(model, id, review) == Sent::Yes {
        model.reviews.remove(&id);
        model.overlay = None;
        model.notify("Sent the review.");
    }
}
