//! Reviewing all answers, and sending them.

use convoke_core::time::Timestamp;
use crossterm::event::{KeyCode, KeyEvent};

use super::{Step, is_plain};
use crate::list_keys::{PAGE, moved};
use crate::sheet::{Page, PageLink, QuestionSet};

/// A key on the review page; the row after the questions sends.
pub(super) fn press(set: &mut QuestionSet, row: usize, key: KeyEvent, now: Timestamp) -> Step {
    let count = set.drafts.len();
    if let Some(to) = moved(key, row, count, PAGE) {
        set.page = Page::Review(to);
        return Step::Taken;
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Enter, _) if row < count => set.go(PageLink::Question(row)),
        (KeyCode::Enter, _) | (KeyCode::Char('s'), true) => return send(set, now),
        (KeyCode::Char(digit @ '1'..='9'), true) => {
            let index = usize::from(digit as u8 - b'1');
            if index < count {
                set.go(PageLink::Question(index));
            }
        }
        (KeyCode::BackTab | KeyCode::Left | KeyCode::Esc, true) => {
            set.go(PageLink::Question(count.saturating_sub(1)));
        }
        (KeyCode::Tab | KeyCode::Right, true) => set.go(PageLink::Question(0)),
        (KeyCode::Char('r'), true) => set.page = Page::Reason(PageLink::Review),
        _ => return Step::Left,
    }
    Step::Taken
}

/// Sends the answers once there are all.
pub(super) fn send(set: &mut QuestionSet, now: Timestamp) -> Step {
    if let Some(missing) = set.first_missing() {
        set.page = Page::Review(missing);
        return Step::Refused(format!("Question {} has no answer yet.", missing + 1));
    }
    let Some(answers) = set.answers(now) else { return Step::Taken };
    set.page = Page::Settling;
    Step::Send(answers)
}
