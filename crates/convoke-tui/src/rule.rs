//! A rule across the screen, with a text in it.

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::notice::{Notice, NoticeKind};
use crate::palette::Palette;
use crate::picture::Picture;
use crate::text::{clean, wrap};

/// The most rows that a notice which is longer than the rule gets above it.
const NOTICE_ROWS_MAX: usize = 4;

/// The rule above the status line, with a notice and the number of hidden rows. A notice that does
/// not fit into the rule covers the rows above it.
pub(crate) fn with_notice(
    picture: &mut Picture,
    area: Rect,
    notice: Option<&Notice>,
    palette: Palette,
) {
    let more = match picture.hidden {
        (0, 0) => String::new(),
        (0, below) => format!(" ↓ {below} more ─"),
        (above, 0) => format!(" ↑ {above} more ─"),
        (above, below) => format!(" ↑ {above} ↓ {below} more ─"),
    };
    let room = usize::from(area.width).saturating_sub(wrap::width(&more) + 4);
    let (text, style) = match notice {
        Some(notice) => {
            let style = match notice.kind {
                NoticeKind::News => palette.news(),
                NoticeKind::Refusal => palette.bad(),
            };
            let text = clean::line(&notice.text);
            let is_long = wrap::width(&text) > room && usize::from(area.y) > NOTICE_ROWS_MAX;
            if is_long {
                rows_above(picture, area, &text, style);
            }
            (if is_long { String::new() } else { wrap::shorten(&text, room) }, style)
        }
        None => (String::new(), Style::new()),
    };
    let more_width = u16::try_from(wrap::width(&more)).unwrap_or_default();
    let mut rule = line(area.width.saturating_sub(more_width), &text, style, palette);
    if !more.is_empty() {
        rule.push_span(Span::styled(more, palette.faint()));
    }
    picture.line(area, rule);
}

/// Covers the rows above the rule with a text.
fn rows_above(picture: &mut Picture, rule: Rect, text: &str, style: Style) {
    let width = usize::from(rule.width).saturating_sub(2);
    let mut rows = wrap::rows(text, width);
    if rows.len() > NOTICE_ROWS_MAX {
        rows.truncate(NOTICE_ROWS_MAX);
        // The last row gets the rest of the text, shortened below.
        if let Some(last) = rows.last_mut() {
            last.end = text.len();
        }
    }
    for (row, above) in rows.iter().rev().zip(1..) {
        let shown = wrap::shorten(text[row.clone()].trim_end(), width);
        let padding = usize::from(rule.width).saturating_sub(wrap::width(&shown) + 1);
        let line = Line::styled(format!(" {shown}{}", " ".repeat(padding)), style);
        picture.line(Rect { y: rule.y.saturating_sub(above), height: 1, ..rule }, line);
    }
}

/// A rule with a text in it.
pub(crate) fn line(width: u16, text: &str, style: Style, palette: Palette) -> Line<'static> {
    let faint = palette.faint();
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
