//! Choosing among the options of a question.

use convoke_core::question::Question;
use crossterm::event::{KeyCode, KeyEvent};

use super::key::{Taken, is_plain};
use super::reject;
use crate::draft::{Draft, Nothing, words_row};
use crate::message::Way;
use crate::model::Model;
use crate::set::{Page, Place};
use crate::view;

/// A key on the page of a question.
pub(super) fn press(model: &mut Model, index: usize, key: KeyEvent) -> Taken {
    match (key.code, is_plain(key)) {
        (KeyCode::Up | KeyCode::Char('k'), true) => {
            step(model, index, |row, _| row.saturating_sub(1));
        }
        (KeyCode::Down | KeyCode::Char('j'), true) => {
            step(model, index, |row, last| last.min(row + 1));
        }
        (KeyCode::Home | KeyCode::Char('g'), true) => step(model, index, |_, _| 0),
        (KeyCode::End | KeyCode::Char('G'), true) => step(model, index, |_, last| last),
        (KeyCode::Char(digit @ '1'..='9'), true) => {
            choose(model, index, usize::from(digit as u8 - b'1'));
        }
        (KeyCode::Char(' '), true) => choose_at_cursor(model, index),
        (KeyCode::Enter, _) => accept(model, index),
        (KeyCode::Char('o'), true) => write(model, index),
        (KeyCode::Tab | KeyCode::Right, true) => go_on(model, index),
        (KeyCode::BackTab | KeyCode::Left, true) => {
            go(model, Place::Question(index.saturating_sub(1)));
        }
        (KeyCode::Char('s'), true) => go(model, Place::Review),
        (KeyCode::Char('r'), true) => reject::begin(model, Place::Question(index)),
        (KeyCode::PageUp, _) => turn_page(model, Way::Up),
        (KeyCode::PageDown, _) => turn_page(model, Way::Down),
        _ => return Taken::No,
    }
    Taken::Yes(None)
}

/// Chooses a row of a question, or begins to write where it is for own words.
pub(super) fn choose(model: &mut Model, index: usize, row: usize) {
    let Some((question, draft)) = question_of(model, index) else { return };
    if row > words_row(question) {
        return;
    }
    if row == words_row(question) {
        write(model, index);
    } else {
        draft.choose(question, row);
    }
}

/// Begins to write own words.
pub(super) fn write(model: &mut Model, index: usize) {
    let Some(set) = model.open_set_mut() else { return };
    if let Some((question, draft)) = set.question_mut(index) {
        draft.cursor = words_row(question);
        set.page = Page::Writing(index);
    }
}

/// Goes to the page after a question.
pub(super) fn go_on(model: &mut Model, index: usize) {
    if let Some(set) = model.open_set_mut() {
        set.go(set.place_after(index));
    }
}

/// Goes to a page of the open set.
pub(super) fn go(model: &mut Model, place: Place) {
    if let Some(set) = model.open_set_mut() {
        set.go(place);
    }
}

/// Moves the prompt of the open question by what is shown of it.
pub(super) fn turn_page(model: &mut Model, way: Way) {
    let rows = view::page_rows(model);
    scroll(model, |at| match way {
        Way::Up => at.saturating_sub(rows),
        Way::Down => at + rows,
    });
}

/// Moves the prompt of the open question, as far as there is more of it.
pub(super) fn scroll(model: &mut Model, to: impl Fn(usize) -> usize) {
    let max = view::scroll_max(model);
    let Some(set) = model.open_set_mut() else { return };
    let (Page::Question(index) | Page::Writing(index)) = set.page else { return };
    if let Some(draft) = set.drafts.get_mut(index) {
        draft.scroll = to(draft.scroll.min(max)).min(max);
    }
}

fn question_of(model: &mut Model, index: usize) -> Option<(&Question, &mut Draft)> {
    model.open_set_mut()?.question_mut(index)
}

fn step(model: &mut Model, index: usize, to: impl Fn(usize, usize) -> usize) {
    if let Some((question, draft)) = question_of(model, index) {
        draft.cursor = to(draft.cursor, words_row(question));
    }
}

fn choose_at_cursor(model: &mut Model, index: usize) {
    let Some((question, draft)) = question_of(model, index) else { return };
    if draft.cursor == words_row(question) && draft.words.is_blank() {
        write(model, index);
    } else {
        draft.choose(question, draft.cursor);
    }
}

/// Takes what is chosen, or at the cursor where one is to be chosen, and goes on.
fn accept(model: &mut Model, index: usize) {
    let Some((question, draft)) = question_of(model, index) else { return };
    let at_words = draft.cursor == words_row(question);
    if at_words && draft.words.is_blank() {
        write(model, index);
        return;
    }
    if !question.multi_select || (at_words && !draft.chosen.contains(&draft.cursor)) {
        draft.choose(question, draft.cursor);
    } else if !draft.is_answered() && draft.nothing == Nothing::Unsaid {
        draft.nothing = Nothing::Asked;
        model.refuse("Nothing chosen: enter again answers “(No selection)”.");
        return;
    } else if draft.chosen.is_empty() {
        draft.nothing = Nothing::Meant;
        draft.touched = true;
    }
    go_on(model, index);
}
