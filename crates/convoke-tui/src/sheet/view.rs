//! A set of questions as a picture: the page that the human is at, and the row of all pages.

mod editor;
mod gone;
mod options;
mod question;
mod reject;
mod review;
mod tabs;

use ratatui::layout::Rect;

use super::{Page, QuestionSet};
use crate::palette::Palette;
use crate::picture::Picture;
pub(crate) use editor::width as editor_width;
pub(crate) use question::height as question_height;
pub(crate) use tabs::tabs;

/// The page of a set that the human is at.
pub(crate) fn page(set: &QuestionSet, picture: &mut Picture, area: Rect, palette: Palette) {
    match set.page {
        Page::Question(index) | Page::Writing(index) => {
            question::page(set, picture, area, palette, index);
        }
        Page::Review(row) => review::page(set, picture, area, palette, row),
        // The review without its cursor: nothing can be changed while it is written down.
        Page::Settling => review::page(set, picture, area, palette, usize::MAX),
        Page::Reason(_) => reject::reason(set, picture, area, palette),
        Page::ConfirmReject(_) => reject::confirm(set, picture, area, palette),
        Page::Gone(ending) => gone::page(set, picture, area, palette, ending),
    }
}
