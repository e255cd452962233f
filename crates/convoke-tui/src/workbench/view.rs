//! The model as a picture. Changes nothing, and lays out no entry: `update` has done that.

mod card;
mod changes;
mod chat;
mod comparisons;
mod finish;
mod fresh;
mod help;
mod home;
mod list;
mod overlay;
mod rules;
mod search;
mod status;
mod teams;
mod top;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::layout::{self, SIZE_MIN};
use super::model::{Link, Model, Overlay, Tab};
use crate::palette::Palette;
use crate::picture::{Picture, Target};
use crate::rule;
use crate::text::wrap;

/// Draws the model.
pub fn view(model: &Model, frame: &mut Frame<'_>) {
    compose(model).paint(frame);
}

/// The target at a position, and the offset of the position from its start, in cells.
pub(crate) fn target_at(model: &Model, at: Position) -> Option<(Target, usize)> {
    compose(model).target_at(at)
}

/// The maximum scroll offset of the scrollable text.
pub(crate) fn scroll_max(model: &Model) -> usize {
    compose(model).scroll_max
}

/// Rows that the keys for pages move by.
pub(crate) fn page_rows(model: &Model) -> usize {
    compose(model).page_rows()
}

/// Rows that the keys for pages move by in the list.
pub(crate) fn list_rows(model: &Model) -> usize {
    let list = layout::areas(model).list;
    list.map_or(1, |list| usize::from(list.height.saturating_sub(3)).max(1))
}

fn compose(model: &Model) -> Picture {
    let mut picture = Picture::default();
    if layout::is_too_small(model.size) {
        picture.ask_for_room(model.size, SIZE_MIN);
        return picture;
    }
    let areas = layout::areas(model);
    top::row(model, &mut picture, areas.top);
    let content = Rect::new(0, 1, model.size.width, model.size.height - 3);
    if model
        .overlay
        .as_ref()
        .is_some_and(|it| it.is_wide() || areas.page.is_none() || areas.list.is_none())
    {
        making(model, &mut picture, content);
    } else {
        if let Some(area) = areas.composer {
            home::composer(model, &mut picture, area);
        }
        if let Some(area) = areas.list {
            pane(model, &mut picture, area);
        }
        if let Some(page) = areas.page {
            main(model, &mut picture, page);
        }
        if let (Some(list), Some(_)) = (areas.list, areas.page) {
            bar(&mut picture, list, model.palette);
        }
    }
    rule::with_notice(&mut picture, areas.rule, model.notices.shown(), model.palette);
    status::line(model, &mut picture, areas.status);
    picture
}

/// The list of the view.
fn pane(model: &Model, picture: &mut Picture, area: Rect) {
    match model.tab {
        Tab::Sessions => list::pane(model, picture, area),
        Tab::Home => home::pane(model, picture, area),
        Tab::Teams => teams::pane(model, picture, area),
        Tab::Rules => rules::pane(model, picture, area),
        Tab::Compare => comparisons::pane(model, picture, area),
    }
}

fn main(model: &Model, picture: &mut Picture, page: Rect) {
    match (model.tab, &model.overlay) {
        (_, Some(_)) => making(model, picture, page),
        (Tab::Sessions, None) => chat::page(model, picture, page),
        (Tab::Home | Tab::Teams | Tab::Rules | Tab::Compare, None) => {
            home::page(model, picture, page);
        }
    }
}

impl Overlay {
    /// Whether it needs the whole screen.
    const fn is_wide(&self) -> bool {
        match self {
            Self::Help { .. } | Self::New(_) | Self::Search(_) | Self::Changes(_) => true,
            Self::Offers { .. }
            | Self::Rename { .. }
            | Self::Queue { .. }
            | Self::Stop { .. }
            | Self::Finish(_)
            | Self::Refused { .. } => false,
        }
    }
}

/// Draws a dialog in place of the page.
fn making(model: &Model, picture: &mut Picture, area: Rect) {
    match &model.overlay {
        Some(Overlay::New(new)) => fresh::page(model, new, picture, area),
        Some(Overlay::Offers { cursor }) => fresh::offers(model, *cursor, picture, area),
        Some(Overlay::Rename { title, .. }) => fresh::rename(model, title, picture, area),
        Some(Overlay::Search(search)) => search::page(model, search, picture, area),
        Some(Overlay::Queue { cursor, edited }) => {
            overlay::queue(model, *cursor, edited.as_ref(), picture, area);
        }
        Some(Overlay::Stop { .. }) => overlay::stop(model, picture, area),
        Some(Overlay::Changes(changes)) => changes::page(model, changes, picture),
        Some(Overlay::Finish(finish)) => finish::page(model, finish, picture, area),
        Some(Overlay::Refused { title, refusal }) => {
            overlay::refused(model, title, refusal, picture, area);
        }
        Some(Overlay::Help { scroll }) => {
            help::page(model, picture, layout::text_area(area), *scroll);
        }
        None => {}
    }
}

/// The rule between the list and the page.
fn bar(picture: &mut Picture, area: Rect, palette: Palette) {
    for row in area.rows() {
        let bar = Rect { x: area.right() - 1, width: 1, ..row };
        picture.line(bar, Line::styled("│", palette.faint()));
    }
}

/// The text in place of a list that has not arrived.
const fn not_loaded(link: &Link) -> &'static str {
    match link {
        Link::Down(_) => " Not connected to the daemon.",
        Link::Opening | Link::Up => " Asking the daemon…",
    }
}

/// Whether the human is at a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Here,
    Elsewhere,
}

impl From<bool> for At {
    fn from(is_here: bool) -> Self {
        if is_here { Self::Here } else { Self::Elsewhere }
    }
}

impl At {
    /// The marker of the row.
    const fn marker(self) -> &'static str {
        match self {
            Self::Here => " ▸ ",
            Self::Elsewhere => "   ",
        }
    }
}

/// If a title would have fewer cells, the rest of its line is cut instead.
const TITLE_MIN: usize = 12;

/// A line with a title, which is cut so that everything else fits.
fn titled_line(
    title: Title,
    after: Vec<Span<'static>>,
    right: Vec<Span<'static>>,
    width: usize,
) -> Line<'static> {
    let Title { mut before, title } = title;
    let rest = cells(&before) + cells(&after) + cells(&right) + 1;
    let room = width.checked_sub(rest).filter(|room| *room >= TITLE_MIN).unwrap_or(width);
    before.push(Span::styled(wrap::shorten(&title.content, room), title.style));
    before.extend(after);
    split_line(before, right, width)
}

/// A title, and its prefix.
struct Title {
    before: Vec<Span<'static>>,
    title: Span<'static>,
}

fn cells(spans: &[Span<'static>]) -> usize {
    spans.iter().map(|span| wrap::width(&span.content)).sum()
}

/// A line with something at its left and something at its right end, of which the left is cut if it must be.
fn split_line(left: Vec<Span<'static>>, right: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let mut room = width.saturating_sub(cells(&right) + 1);
    let mut spans = Vec::new();
    for span in left {
        let text = wrap::shorten(&span.content, room);
        room = room.saturating_sub(wrap::width(&text));
        spans.push(Span::styled(text, span.style));
        if room == 0 {
            break;
        }
    }
    spans.push(Span::raw(" ".repeat(room + 1)));
    spans.extend(right);
    Line::from(spans)
}
