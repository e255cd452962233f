//! Draws the row at the top: the tabs, the number of pending requests, and the state of the
//! connection.

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
    let tabs = Tab::ALL.map(|tab| (tab, count(model, tab)));
    let labels = tabs.into_iter().enumerate();
    let labels = labels.map(|(index, (tab, count))| label(index, tab, count)).collect::<Vec<_>>();
    let is_narrow = labels.iter().map(|it| wrap::width(it)).sum::<usize>() > area.width.into();
    for (index, ((tab, count), label)) in tabs.into_iter().zip(labels).enumerate() {
        // Where not all names fit, there is that of the open view.
        let text = match is_narrow && tab != model.tab && count == 0 {
            true => format!(" {} ", index + 1),
            false => label,
        };
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

fn count(model: &Model, tab: Tab) -> usize {
    match tab {
        Tab::Home => model.inbox.iter().filter(|request| request.is_pending()).count(),
        Tab::Sessions | Tab::Teams | Tab::Rules | Tab::Compare => 0,
    }
}

fn label(index: usize, tab: Tab, count: usize) -> String {
    let name = match tab {
        Tab::Home => "Home",
        Tab::Sessions => "Sessions",
        Tab::Teams => "Teams",
        Tab::Rules => "Rules",
        Tab::Compare => "Compare",
    };
    match count {
        0 => format!(" {} {name} ", index + 1),
        count => format!(" {} {name} ({count}) ", index + 1),
    }
}

/// The number of sessions that need attention, by reason.
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
