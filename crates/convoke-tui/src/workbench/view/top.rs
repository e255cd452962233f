//! The row at the top: the large views, how much waits, and whether the daemon is there.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::picture::{Picture, Target};
use crate::text::wrap;
use crate::workbench::model::{Link, Model, Tab};

pub(super) fn row(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let mut spans = Vec::new();
    let mut x = area.x;
    for (index, tab) in Tab::ALL.into_iter().enumerate() {
        let (name, count) = match tab {
            Tab::Sessions => ("Sessions", 0),
            Tab::Inbox => ("Inbox", model.inbox.len()),
            Tab::Teams => ("Teams", 0),
        };
        let mut text = format!(" {} {name} ", index + 1);
        if count > 0 {
            text = format!(" {} {name} ({count}) ", index + 1);
        }
        let width = u16::try_from(wrap::width(&text)).unwrap_or_default();
        picture.zone(Rect { x, width, height: 1, ..area }, Target::Tab(index));
        let style = match (model.tab == tab, count > 0) {
            (true, _) => palette.open(),
            (false, true) => palette.news(),
            (false, false) => palette.faint(),
        };
        spans.push(Span::styled(text, style));
        x = x.saturating_add(width);
    }
    picture.line(area, spans);
    let (text, style) = match model.link {
        Link::Opening => ("connecting… ", palette.faint()),
        Link::Up => return,
        Link::Down(_) => ("✗ no daemon ", palette.bad()),
    };
    let width = u16::try_from(wrap::width(text)).unwrap_or_default();
    if x + width <= area.right() {
        let at = Rect { x: area.right() - width, width, ..area };
        picture.line(at, Line::styled(text, style));
    }
}
