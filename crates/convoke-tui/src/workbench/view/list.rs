//! Draws the list of sessions. Only visible rows are built.

use convoke_api::bodies::Repo;
use convoke_api::frames::SessionItem;
use convoke_core::files::ChangeTotals;
use convoke_core::session::Attention;
use convoke_core::time::relative;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{At, split_line};
use crate::palette::Palette;
use crate::picture::{Picture, Strip, Target};
use crate::text::{clean, wrap};
use crate::words;
use crate::workbench::list::{ListFilter, Row};
use crate::workbench::model::{Focus, Link, Model};

pub(super) fn pane(model: &Model, picture: &mut Picture, area: Rect) {
    let area = Rect { width: area.width.saturating_sub(2), ..area };
    let head = Rect { height: 1, ..area };
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    heading(model, picture, head);
    let rows = model.list.rows();
    if rows.is_empty() {
        return empty(model, picture, body);
    }
    let at = model.list.position(&rows);
    let height = usize::from(body.height);
    let first = at.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    for (place, (index, row)) in body.rows().zip(rows.iter().enumerate().skip(first)) {
        let here = At::from(index == at && model.focus == Focus::List);
        let line = match row {
            Row::Project(id) => {
                model.list.project(*id).map(|it| project(model, it, here, place.width))
            }
            Row::Session(id) => {
                model.list.session(*id).map(|it| session(model, it, here, place.width))
            }
        };
        if let Some(line) = line {
            picture.zone(place, Target::Entry(index));
            picture.line(place, line);
        }
    }
    picture.hidden = (first, rows.len().saturating_sub(first + height));
}

fn heading(model: &Model, picture: &mut Picture, area: Rect) {
    let text = match model.list.filter {
        ListFilter::Current => return,
        ListFilter::Archived => " Archived sessions (A: back)",
    };
    picture.line(area, Line::styled(text, model.palette.news()));
}

fn empty(model: &Model, picture: &mut Picture, area: Rect) {
    let text = match (&model.link, model.list.filter) {
        (Link::Opening, _) => "Asking the daemon…",
        (Link::Up | Link::Down(_), ListFilter::Archived) => "No archived sessions.",
        (Link::Up | Link::Down(_), ListFilter::Current) => {
            "No projects yet. Press n to create a session in a folder."
        }
    };
    let mut strip = Strip::default();
    strip.gap();
    let width = usize::from(area.width).saturating_sub(2);
    for row in wrap::spans(&[Span::styled(text, model.palette.faint())], width) {
        strip.push([vec![Span::raw(" ")], row].concat());
    }
    picture.strip(area, strip);
}

fn project(model: &Model, project: &Repo, here: At, width: u16) -> Line<'static> {
    let palette = model.palette;
    let marker = if model.list.is_collapsed(project.id) { " ▸ " } else { " ▾ " };
    let style = if here == At::Here { palette.open() } else { palette.strong() };
    let name = clean::line(&project.name);
    let path = words::folder(model.user_folder.as_deref(), &project.path);
    let count = model.list.count(project.id).to_string();
    let node = model.node(project.node).map(|node| format!("{node}  ")).unwrap_or_default();
    let count = format!("{node}{count}");
    let room = usize::from(width).saturating_sub(wrap::width(&name) + wrap::width(&count) + 7);
    let path = if room >= 8 { words::tail(&path, room) } else { String::new() };
    let left = vec![
        Span::styled(marker, palette.faint()),
        Span::styled(name, style),
        Span::styled(format!("  {path}"), palette.faint()),
    ];
    split_line(left, vec![Span::styled(count, palette.faint())], usize::from(width))
}

fn session(model: &Model, session: &SessionItem, here: At, width: u16) -> Line<'static> {
    let palette = model.palette;
    let is_open = model.chat.as_ref().is_some_and(|chat| chat.id == session.uid);
    let (mark, mark_style) = mark(session, palette);
    let style = match (here, is_open) {
        (At::Here, _) => palette.open(),
        (At::Elsewhere, true) => palette.here(),
        (At::Elsewhere, false) if session.unseen => palette.strong(),
        (At::Elsewhere, false) => Style::new(),
    };
    let draft = model.drafts.get(&session.uid).is_some_and(|draft| !draft.is_blank());
    let left = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(mark, mark_style),
        Span::raw(" "),
        Span::styled(model.badge(&session.cli_type), palette.faint()),
        Span::raw(" "),
        Span::styled(clean::line(&session.title), style),
        Span::styled(if draft { " ✎" } else { "" }, palette.news()),
    ];
    let age = relative(session.last_active_at, model.now);
    let mut right = totals(session, palette);
    right.push(Span::styled(age, palette.faint()));
    split_line(left, right, usize::from(width))
}

/// The numbers of added and removed lines, abbreviated, with a gap behind them.
pub(super) fn totals(session: &SessionItem, palette: Palette) -> Vec<Span<'static>> {
    let changes = session.changes.filter(|changes| changes.files > 0);
    let Some(ChangeTotals { added, removed, .. }) = changes else { return Vec::new() };
    vec![
        Span::styled(format!("+{}", words::short(added)), palette.good()),
        Span::styled(format!(" −{}  ", words::short(removed)), palette.removed()),
    ]
}

/// The attention of a session, as a symbol and a colour.
pub(super) fn mark(session: &SessionItem, palette: Palette) -> (&'static str, Style) {
    match (session.attention, session.unseen) {
        (Attention::NeedsYou, _) => ("◆", palette.news()),
        (Attention::Working, _) => ("◐", palette.good()),
        (Attention::Failed, true) => ("✗", palette.bad()),
        (Attention::Failed, false) => ("✗", palette.removed()),
        (Attention::Idle | Attention::Ended, true) => ("●", palette.here()),
        (Attention::Idle, false) => ("○", palette.faint()),
        (Attention::Ended, false) => ("·", palette.faint()),
    }
}
