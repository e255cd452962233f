//! Draws a search and its results.

use convoke_api::bodies::Hit;
use convoke_api::frames::SessionItem;
use convoke_core::count::counted;
use convoke_core::message::Role;
use convoke_core::time::relative;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{At, home, list, split_line};
use crate::picture::{Picture, Strip};
use crate::text::{clean, wrap};
use crate::workbench::layout;
use crate::workbench::model::Model;
use crate::workbench::search::{Found, Search, State};

pub(super) fn page(model: &Model, search: &Search, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let area = layout::text_area(area);
    let width = usize::from(area.width);
    let head = Rect { height: 1, ..area };
    let text = search.query.text().replace(['\n', '\t'], " ");
    let shown = wrap::shorten_start(&text, width.saturating_sub(4));
    let end = u16::try_from(wrap::width(&shown)).unwrap_or_default();
    picture.line(head, vec![Span::styled("/ ", palette.here()), Span::raw(shown)]);
    picture.set_cursor(Position { x: area.x + 2 + end, y: area.y });
    let note = Rect { y: area.y + 1, height: 1, ..area };
    let all = search.found(&model.list);
    picture.line(note, Line::styled(state(search, all.len()), palette.faint()));
    let mut strip = Strip::default();
    for (index, found) in all.iter().enumerate() {
        let here = At::from(index == search.cursor);
        let from = strip.len();
        match found {
            Found::Title(session) => strip.push(title(model, session, here, width)),
            Found::Message(hit) => {
                message(model, hit, here, width).into_iter().for_each(|line| strip.push(line));
            }
        }
        if here == At::Here {
            strip.focus = from..strip.len();
        }
    }
    let below = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
    picture.strip(below, strip);
}

/// The line above the results, of which there are so many.
fn state(search: &Search, results: usize) -> String {
    match &search.state {
        State::Idle => "agent:NAME  project:NAME  role:user  since:2026-11-01  until:…".to_owned(),
        State::Asked => "Searching…".to_owned(),
        State::Failed(why) => clean::line(why),
        State::Answered if results == 0 => "No title and no message has these words.".to_owned(),
        State::Answered if search.hits.is_empty() => {
            "Only titles have these words, no message.".to_owned()
        }
        State::Answered => counted(search.hits.len(), "message"),
        State::Incomplete => {
            let found = counted(search.hits.len(), "message");
            format!("{found}; others may be missing, the search index is still being filled")
        }
    }
}

fn style(model: &Model, here: At) -> Style {
    if here == At::Here { model.palette.open() } else { model.palette.strong() }
}

fn title(model: &Model, session: &SessionItem, here: At, width: usize) -> Line<'static> {
    let palette = model.palette;
    let (mark, mark_style) = list::mark(session, palette);
    let left = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(format!("{mark} "), mark_style),
        Span::styled(clean::line(&session.title), style(model, here)),
        Span::styled(format!("  {}", home::place(model, session)), palette.faint()),
    ];
    let age = relative(session.last_active_at, model.now);
    split_line(left, vec![Span::styled(age, palette.faint())], width)
}

fn message(model: &Model, hit: &Hit, here: At, width: usize) -> [Line<'static>; 2] {
    let palette = model.palette;
    let speaker = match hit.role {
        Role::User => "you".to_owned(),
        Role::Agent => hit.session.agent.to_string(),
        Role::System => "convoke".to_owned(),
    };
    let shelf = if hit.session.archived { " · archived" } else { "" };
    let first = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(clean::line(&hit.session.title), style(model, here)),
        Span::styled(
            format!("  {speaker} · {}{shelf}", clean::line(&hit.session.project)),
            palette.faint(),
        ),
    ];
    let age = relative(hit.timestamp, model.now);
    let mut second = vec![Span::raw("     ")];
    second.extend(hit.excerpt.iter().map(|part| {
        let style = if part.matched { palette.here() } else { Style::new() };
        Span::styled(clean::line(&part.text), style)
    }));
    [
        split_line(first, vec![Span::styled(age, palette.faint())], width),
        split_line(second, vec![], width),
    ]
}
