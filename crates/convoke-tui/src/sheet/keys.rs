//! Keys, clicks and pastes on a set of questions. Pure; the screen that shows the set carries out
//! the result.

mod question;
mod reject;
mod review;
pub(crate) mod writing;

use convoke_core::question::Answer;
use convoke_core::time::Timestamp;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Rect, Size};

use super::{Page, QuestionSet, view};
use crate::list_keys::Move;
use crate::palette::Palette;
use crate::picture::{Direction, Picture, Target};

/// The area of a set on the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) size: Size,
    pub(crate) palette: Palette,
}

/// The result of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Nothing more.
    Taken,
    /// The set has no use for it.
    Left,
    /// Something is not possible, or not yet, and why.
    Refused(String),
    /// The human sends the answers.
    Send(Vec<Answer>),
    /// The human will not answer.
    Reject(Option<String>),
    /// The human has seen that the set was settled elsewhere.
    Away,
}

/// Lines that one notch of the wheel moves.
const NOTCH: usize = 3;

/// A key for the set that is before the human.
pub(crate) fn press(set: &mut QuestionSet, key: KeyEvent, room: Room, now: Timestamp) -> Step {
    match set.page {
        Page::Question(index) => question::press(set, index, key, room),
        Page::Writing(index) => question::press_in_words(set, index, key, room),
        Page::Review(row) => review::press(set, row, key, now),
        Page::Reason(back) => reject::press_in_reason(set, back, key, room),
        Page::ConfirmReject(back) => reject::press_in_question(set, back, key),
        // Keys typed while the set disappeared must not choose or quit.
        Page::Gone(_) if matches!(key.code, KeyCode::Enter | KeyCode::Esc) => Step::Away,
        Page::Gone(_) => Step::Taken,
        Page::Settling => Step::Left,
    }
}

/// Puts a pasted text where one is being written, or where one can be.
pub(crate) fn paste(set: &mut QuestionSet, text: &str) {
    match set.page {
        Page::Question(index) => {
            question::write(set, index);
            paste(set, text);
        }
        Page::Writing(index) => {
            if let Some((_, draft)) = set.question_mut(index) {
                draft.words.paste(text);
                draft.touched = true;
            }
        }
        Page::Reason(_) => set.reason.paste(text),
        Page::Review(_) | Page::ConfirmReject(_) | Page::Settling | Page::Gone(_) => {}
    }
}

/// A click on a target of the set, this many cells from its start.
pub(crate) fn click(
    set: &mut QuestionSet,
    target: Target,
    column: usize,
    room: Room,
    now: Timestamp,
) -> Step {
    if let Target::Text(row) = target {
        point(set, row, column, room);
        return Step::Taken;
    }
    if let Page::Writing(index) = set.page {
        question::leave_words(set, index);
    }
    match (target, set.page) {
        (Target::Choice(row), Page::Question(index)) => question::choose(set, index, row),
        (Target::Page(place), Page::Question(_) | Page::Review(_)) => set.go(place),
        (Target::Send, Page::Review(_)) => return review::send(set, now),
        _ => {}
    }
    Step::Taken
}

/// The wheel scrolls a prompt that is longer than its area.
pub(crate) fn wheel(set: &mut QuestionSet, direction: Direction, room: Room) {
    scroll(set, room, Move::By(direction, NOTCH));
}

/// Puts the cursor into a text.
fn point(set: &mut QuestionSet, row: usize, column: usize, room: Room) {
    let width = room.editor_width();
    match set.page {
        Page::Question(index) | Page::Writing(index) => {
            question::write(set, index);
            if let Some((_, draft)) = set.question_mut(index) {
                draft.words.point(row, column, width);
            }
        }
        Page::Reason(_) => set.reason.point(row, column, width),
        Page::Review(_) | Page::ConfirmReject(_) | Page::Settling | Page::Gone(_) => {}
    }
}

/// Scrolls the prompt of the open question by a page.
fn turn_page(set: &mut QuestionSet, direction: Direction, room: Room) {
    let rows = picture(set, room).page_rows();
    scroll(set, room, Move::By(direction, rows));
}

/// Scrolls the prompt of the open question within its limits.
fn scroll(set: &mut QuestionSet, room: Room, to: Move) {
    let max = picture(set, room).scroll_max;
    let (Page::Question(index) | Page::Writing(index)) = set.page else { return };
    if let Some(draft) = set.drafts.get_mut(index) {
        draft.scroll = to.apply(draft.scroll.min(max), max);
    }
}

fn picture(set: &QuestionSet, room: Room) -> Picture {
    let mut picture = Picture::default();
    let area = Rect::new(0, 0, room.size.width, room.size.height);
    view::page(set, &mut picture, area, room.palette);
    picture
}

impl Room {
    const fn editor_width(self) -> usize {
        view::editor_width(self.size.width)
    }
}

/// Without Ctrl and Alt.
pub(crate) fn is_plain(key: KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}
