//! What every page has around it: the head of the set, the rule with the news, and the list on wide screens.

use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::picture::Picture;
use super::words;
use crate::message::Target;
use crate::model::{Model, NoticeKind};
use crate::set::{Page, Place, QuestionSet, title};
use crate::text::{clean, wrap};

/// From this width on the list of sets stays beside the page.
const WIDE: u16 = 100;
/// Columns of the list beside the page, its rule included.
const SIDE: u16 = 36;
/// Lines longer than this are hard to read.
const TEXT_MAX: usize = 96;

/// Where things are.
pub(super) struct Areas {
    pub(super) side: Option<Rect>,
    pub(super) main: Rect,
    pub(super) rule: Rect,
    pub(super) status: Rect,
}

pub(super) fn areas(model: &Model) -> Areas {
    let Size { width, height } = model.size;
    let content = Rect::new(0, 0, width, height - 2);
    let has_side = width >= WIDE && model.entries() > 0;
    let side = has_side.then_some(Rect { width: SIDE, ..content });
    let x = side.map_or(0, |side| side.width);
    Areas {
        side,
        main: Rect { x, width: width - x, ..content },
        rule: Rect::new(0, height - 2, width, 1),
        status: Rect::new(0, height - 1, width, 1),
    }
}

/// The cells that text has on a page, which begins one cell from the left.
pub(super) fn text_width(size: Size) -> usize {
    let side = if size.width >= WIDE { SIDE } else { 0 };
    usize::from(size.width.saturating_sub(side + 2)).min(TEXT_MAX)
}

/// The part of an area in which text stands.
pub(super) fn text_area(model: &Model, area: Rect) -> Rect {
    let width = u16::try_from(text_width(model.size)).unwrap_or(area.width);
    Rect { x: area.x + 1, width: width.min(area.width.saturating_sub(1)), ..area }
}

/// Who asks, the pages of the set and a rule; returns what is left for the page.
pub(super) fn head(model: &Model, set: &QuestionSet, picture: &mut Picture, area: Rect) -> Rect {
    let [first, second, third] = [0, 1, 2].map(|row| Rect { y: area.y + row, height: 1, ..area });
    origin(model, set, picture, first);
    tabs(model, set, picture, second);
    let text = match words::left(set.asked.asker) {
        Some(_) => "the asker has left; your answer is kept for it",
        None => "",
    };
    picture.line(third, rule_line(model, area.width, text, model.palette.news()));
    text_area(model, Rect { y: area.y + 3, height: area.height - 3, ..area })
}

fn origin(model: &Model, set: &QuestionSet, picture: &mut Picture, area: Rect) {
    let position = model.open_position().map_or(1, |position| position + 1);
    let mut right = format!("set {position} of {} ", model.sets.len());
    if let Some(left) = words::left(set.asked.asker) {
        right = format!("{left} · {right}");
    }
    let room = usize::from(area.width).saturating_sub(wrap::width(&right) + 3);
    let left = words::origin(model, &set.asked, room);
    let gap = usize::from(area.width).saturating_sub(wrap::width(&left) + wrap::width(&right) + 1);
    picture.line(
        area,
        vec![
            Span::raw(" "),
            Span::styled(left, model.palette.strong()),
            Span::raw(" ".repeat(gap)),
            Span::styled(right, model.palette.faint()),
        ],
    );
}

/// The pages of the set, each with a mark when it is answered.
fn tabs(model: &Model, set: &QuestionSet, picture: &mut Picture, area: Rect) {
    const REVIEW: &str = " Review ";
    let count = set.drafts.len();
    // Each page has a mark and a space on both sides, and one between it and the next.
    let room = usize::from(area.width).saturating_sub(REVIEW.len() + 1);
    let title_max = (room / count.max(1)).saturating_sub(5).max(3);
    let open = match set.page {
        Page::Question(index) | Page::Writing(index) => Some(Place::Question(index)),
        Page::Review(_) | Page::Settling => Some(Place::Review),
        Page::Reason(_) | Page::ConfirmReject(_) | Page::Gone(_) => None,
    };
    let mut spans = Vec::new();
    let mut x = area.x;
    let questions = set.asked.questions.iter().zip(&set.drafts).enumerate();
    let pages = questions.map(|(index, (question, draft))| {
        let (mark, style) =
            if draft.is_answered() { ('✓', model.palette.good()) } else { ('·', Style::new()) };
        let title = wrap::shorten(&title(question), title_max);
        (Place::Question(index), format!(" {mark} {title} "), style)
    });
    let review = (Place::Review, REVIEW.to_owned(), Style::new());
    for (place, text, style) in pages.chain([review]) {
        let width = u16::try_from(wrap::width(&text)).unwrap_or_default();
        picture.zone(Rect { x, width, height: 1, ..area }, Target::Page(place));
        let style = if open == Some(place) { model.palette.open() } else { style };
        spans.extend([Span::styled(text, style), Span::raw(" ")]);
        x = x.saturating_add(width + 1);
    }
    picture.line(area, spans);
}

/// The rule above the status line, with what has just happened and how much does not fit.
pub(super) fn rule(model: &Model, picture: &mut Picture, area: Rect) {
    let more = match picture.hidden {
        (0, 0) => String::new(),
        (0, below) => format!(" ↓ {below} more ─"),
        (above, 0) => format!(" ↑ {above} more ─"),
        (above, below) => format!(" ↑ {above} ↓ {below} more ─"),
    };
    let room = usize::from(area.width).saturating_sub(wrap::width(&more) + 4);
    let (text, style) = match &model.notice {
        Some(notice) => {
            let style = match notice.kind {
                NoticeKind::News => model.palette.news(),
                NoticeKind::Refusal => model.palette.bad(),
            };
            (wrap::shorten(&clean::line(&notice.text), room), style)
        }
        None => (String::new(), Style::new()),
    };
    let mut line = rule_line(model, area.width, &text, style);
    if !more.is_empty() {
        let more_width = u16::try_from(wrap::width(&more)).unwrap_or_default();
        line = rule_line(model, area.width.saturating_sub(more_width), &text, style);
        line.push_span(Span::styled(more, model.palette.faint()));
    }
    picture.line(area, line);
}

/// A rule with a text in it.
fn rule_line(model: &Model, width: u16, text: &str, style: Style) -> Line<'static> {
    let faint = model.palette.faint();
    let width = usize::from(width);
    if text.is_empty() {
        return Line::styled("─".repeat(width), faint);
    }
    let rest = width.saturating_sub(wrap::width(text) + 3);
    Line::from(vec![
        Span::styled("─ ", faint),
        Span::styled(text.to_owned(), style),
        Span::styled(format!(" {}", "─".repeat(rest)), faint),
    ])
}
