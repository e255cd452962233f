//! All that waits for the human, and the one that they are at.

use convoke_api::bodies::InboxKind;
use convoke_core::time::relative;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{At, card, split_line};
use crate::picture::{Picture, Strip, Target};
use crate::text::clean;
use crate::words;
use crate::workbench::layout;
use crate::workbench::model::{Focus, Model};
use crate::workbench::request::Request;

/// Rows of one request in the list.
const ROWS: usize = 2;

pub(super) fn pane(model: &Model, picture: &mut Picture, area: Rect) {
    let area = Rect { width: area.width.saturating_sub(2), ..area };
    let at = model.request_position().unwrap_or_default();
    let mut strip = Strip::default();
    if model.inbox.is_empty() {
        strip.gap();
        strip.push(Line::styled(" No pending requests.", model.palette.faint()));
    }
    let seen = usize::from(area.height) / ROWS + 1;
    let first = at.saturating_sub(seen);
    for (index, request) in model.inbox.iter().enumerate().skip(first).take(seen * 2) {
        let from = strip.len();
        for line in lines(model, request, At::from(index == at), usize::from(area.width)) {
            strip.push_target(line, Target::Entry(index));
        }
        if index == at {
            strip.focus = from..strip.len();
        }
    }
    picture.strip(area, strip);
}

fn lines(model: &Model, request: &Request, here: At, width: usize) -> [Line<'static>; ROWS] {
    let palette = model.palette;
    let item = &request.item;
    let style = match (here, model.focus) {
        (At::Here, Focus::List) => palette.open(),
        (At::Here, _) => palette.here(),
        (At::Elsewhere, _) => Style::new(),
    };
    let kind = match item.kind {
        InboxKind::Permission => "◆",
        InboxKind::Questions => "?",
    };
    let first = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(format!("{kind} "), palette.news()),
        Span::styled(clean::line(&item.title), style),
    ];
    let age = Span::styled(relative(item.created_at, model.now), palette.faint());
    let second = vec![Span::styled(format!("     {}", origin(request)), palette.faint())];
    [split_line(first, vec![age], width), split_line(second, vec![], width)]
}

fn origin(request: &Request) -> String {
    let item = &request.item;
    let agent = item.agent.as_ref().map(ToString::to_string);
    let asker = agent.or_else(|| item.asked_by.clone()).unwrap_or_else(|| "someone".to_owned());
    let place = item.project.clone().or_else(|| item.working_directory.clone());
    clean::line(&match place {
        Some(place) => format!("{asker} · {place}"),
        None => asker,
    })
}

/// The request that the human is at.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect) {
    let Some(request) = model.request() else {
        let mut strip = Strip::default();
        strip.gap();
        strip.push(Line::styled("Requests from agents appear here.", model.palette.faint()));
        picture.strip(layout::text_area(area), strip);
        return;
    };
    let age = words::ago(request.item.created_at, model.now);
    let heading = format!("{} · {age}", origin(request));
    card::whole(model, request, picture, area, &heading);
}
