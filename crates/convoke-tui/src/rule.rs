//! A rule across the screen, with a text in it.

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::notice::{Notice, NoticeKind};
use crate::palette::Palette;
use crate::picture::Picture;
use crate::text::{clean, wrap};

/// The rule above the status line, with a notice and the number of hidden rows.
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
            (wrap::shorten(&clean::line(&notice.text), room), style)
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
