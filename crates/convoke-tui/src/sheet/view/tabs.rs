//! The pages of a set, each with a mark when it is answered.

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use crate::palette::Palette;
use crate::picture::{Picture, Target};
use crate::sheet::{Page, PageLink, QuestionSet, title};
use crate::text::wrap;

/// The row of all pages.
pub(crate) fn tabs(set: &QuestionSet, picture: &mut Picture, area: Rect, palette: Palette) {
    const REVIEW: &str = " Review ";
    let count = set.drafts.len();
    // Each page has a mark and a space on both sides, and one between it and the next.
    let room = usize::from(area.width).saturating_sub(REVIEW.len() + 1);
    let title_max = (room / count.max(1)).saturating_sub(5).max(3);
    let open = match set.page {
        Page::Question(index) | Page::Writing(index) => Some(PageLink::Question(index)),
        Page::Review(_) | Page::Settling => Some(PageLink::Review),
        Page::Reason(_) | Page::ConfirmReject(_) | Page::Gone(_) => None,
    };
    let mut spans = Vec::new();
    let mut x = area.x;
    let questions = set.asked.questions.iter().zip(&set.drafts).enumerate();
    let pages = questions.map(|(index, (question, draft))| {
        let (mark, style) =
            if draft.is_answered() { ('✓', palette.good()) } else { ('·', Style::new()) };
        let title = wrap::shorten(&title(question), title_max);
        (PageLink::Question(index), format!(" {mark} {title} "), style)
    });
    let review = (PageLink::Review, REVIEW.to_owned(), Style::new());
    for (place, text, style) in pages.chain([review]) {
        let width = u16::try_from(wrap::width(&text)).unwrap_or_default();
        picture.zone(Rect { x, width, height: 1, ..area }, Target::Page(place));
        let style = if open == Some(place) { palette.open() } else { style };
        spans.extend([Span::styled(text, style), Span::raw(" ")]);
        x = x.saturating_add(width + 1);
    }
    picture.line(area, spans);
}
