//! The row at the top: the large views, how much waits, and whether the daemon is there.

use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::picture::{Picture, Target};
use crate::text::wrap;
use crate::workbench::home::Group;
use crate::workbench::model::{Link, Model, Tab};

pub(super) fn row(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let mut spans = Vec::new();
    let mut x = area.x;
    for (index, tab) in Tab::ALL.into_iter().enumerate() {
        let (name, count) = match tab {
            Tab::Home => ("Home", model.inbox.len()),
            Tab::Sessions => ("Sessions", 0),
            Tab::Teams => ("Teams", 0),
            Tab::Rules => ("Rules", 0),
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
    let mut right = attention(model);
    match model.link {
        Link::Opening => right.push(Span::styled("connecting… ", palette.faint())),
        Link::Up => {}
        Link::Down(_) => right.push(Span::styled("✗ no daemon ", palette.bad())),
    }
    let width: usize = right.iter().map(|span| wrap::width(&span.content)).sum();
    let width = u16::try_from(width).unwrap_or_default();
    if x + width <= area.right() {
        let at = Rect { x: area.right() - width, width, ..area };
        picture.line(at, right);
    }
}

/// How many sessions want to be looked at, by what for.
fn attention(model: &Model) -> Vec<Span<'static>> {
    let palette = model.palette;
    let rows = model.home_rows();
    let groups = [
        (Group::Working, "◐", palette.good()),
        (Group::Failed, "✗", palette.bad()),
        (Group::Finished, "●", palette.here()),
    ];
    let count = |wanted: Group| rows.iter().filter(|(group, _)| *group == wanted).count();
    let shown = groups.into_iter().filter_map(|(group, mark, style)| {
        let count = count(group);
        (count > 0).then(|| Span::styled(format!("{mark} {count}  "), style))
    });
    shown.collect()
}
