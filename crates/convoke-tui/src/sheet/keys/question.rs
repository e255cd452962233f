//! Choosing among the options of a question, and writing free text for it.

use crossterm::event::{KeyCode, KeyEvent};

use super::writing::{Meaning, write as write_key};
use super::{Room, Step, is_plain, turn_page};
use crate::list_keys::{Move, PAGE};
use crate::picture::Direction;
use crate::sheet::draft::{EmptyChoice, words_row};
use crate::sheet::{Page, PageLink, QuestionSet};

/// A key on the page of a question.
pub(super) fn press(set: &mut QuestionSet, index: usize, key: KeyEvent, room: Room) -> Step {
    match (key.code, is_plain(key)) {
        (KeyCode::PageUp, _) => turn_page(set, Direction::Up, room),
        (KeyCode::PageDown, _) => turn_page(set, Direction::Down, room),
        (KeyCode::Char(digit @ '1'..='9'), true) => {
            choose(set, index, usize::from(digit as u8 - b'1'));
        }
        (KeyCode::Char(' '), true) => choose_at_cursor(set, index),
        (KeyCode::Enter, _) => return accept(set, index),
        (KeyCode::Char('o'), true) => write(set, index),
        (KeyCode::Tab | KeyCode::Right, true) => set.go(set.place_after(index)),
        (KeyCode::BackTab | KeyCode::Left, true) => {
            set.go(PageLink::Question(index.saturating_sub(1)));
        }
        (KeyCode::Char('s'), true) => set.go(PageLink::Review),
        (KeyCode::Char('r'), true) => set.page = Page::Reason(PageLink::Question(index)),
        _ => match Move::of(key, PAGE) {
            Some(to) => step(set, index, to),
            None => return Step::Left,
        },
    }
    Step::Taken
}

/// A key in the free-text field: every letter is text here, and no shortcut fires.
pub(super) fn press_in_words(
    set: &mut QuestionSet,
    index: usize,
    key: KeyEvent,
    room: Room,
) -> Step {
    let Some((_, draft)) = set.question_mut(index) else { return Step::Taken };
    match write_key(&mut draft.words, key, room.editor_width()) {
        Meaning::Written => draft.touched = true,
        Meaning::Accept => {
            let is_blank = draft.words.is_blank();
            leave_words(set, index);
            if !is_blank {
                set.go(set.place_after(index));
            }
        }
        Meaning::Leave => leave_words(set, index),
        Meaning::PageUp => turn_page(set, Direction::Up, room),
        Meaning::PageDown => turn_page(set, Direction::Down, room),
    }
    Step::Taken
}

/// Chooses a row of a question, or opens the free-text field.
pub(super) fn choose(set: &mut QuestionSet, index: usize, row: usize) {
    let Some((question, draft)) = set.question_mut(index) else { return };
    if row > words_row(question) {
        return;
    }
    if row == words_row(question) {
        write(set, index);
    } else {
        draft.choose(question, row);
    }
}

/// Opens the free-text field.
pub(super) fn write(set: &mut QuestionSet, index: usize) {
    if let Some((question, draft)) = set.question_mut(index) {
        draft.cursor = words_row(question);
        set.page = Page::Writing(index);
    }
}

/// Back to the options; the written text is chosen.
pub(super) fn leave_words(set: &mut QuestionSet, index: usize) {
    if let Some((question, draft)) = set.question_mut(index) {
        draft.choose_words(question);
        set.page = Page::Question(index);
    }
}

fn step(set: &mut QuestionSet, index: usize, to: Move) {
    if let Some((question, draft)) = set.question_mut(index) {
        draft.cursor = to.apply(draft.cursor, words_row(question));
    }
}

fn choose_at_cursor(set: &mut QuestionSet, index: usize) {
    let Some((question, draft)) = set.question_mut(index) else { return };
    if draft.cursor == words_row(question) && draft.words.is_blank() {
        write(set, index);
    } else {
        draft.choose(question, draft.cursor);
    }
}

/// Accepts the chosen options, or the one at the cursor for a single choice, and moves to the next question.
fn accept(set: &mut QuestionSet, index: usize) -> Step {
    let Some((question, draft)) = set.question_mut(index) else { return Step::Taken };
    let at_words = draft.cursor == words_row(question);
    if at_words && draft.words.is_blank() {
        write(set, index);
        return Step::Taken;
    }
    if !question.multi_select || (at_words && !draft.chosen.contains(&draft.cursor)) {
        draft.choose(question, draft.cursor);
    } else if !draft.is_answered() && draft.empty_choice == EmptyChoice::Unsaid {
        draft.empty_choice = EmptyChoice::Asked;
        return Step::Refused("Nothing chosen: enter again answers “(No selection)”.".to_owned());
    } else if draft.chosen.is_empty() {
        draft.empty_choice = EmptyChoice::Meant;
        draft.touched = true;
    }
    set.go(set.place_after(index));
    Step::Taken
}
