//! A request to the human: a line that announces it, or all of it while they answer.

use convoke_core::request::PermissionKind;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::picture::{Picture, Strip, Target};
use crate::rule;
use crate::sheet;
use crate::text::{clean, wrap};
use crate::workbench::layout;
use crate::workbench::model::{Focus, Model};
use crate::workbench::request::{Card, PermissionCard, Request};

/// The card below the open session: two rows, or all of it while the human answers.
pub(super) fn dock(model: &Model, request: &Request, picture: &mut Picture, area: Rect) {
    if model.focus == Focus::Card {
        return whole(model, request, picture, area, "needs your answer");
    }
    let palette = model.palette;
    let head = Rect { height: 1, ..area };
    picture.line(head, rule::line(area.width, "", palette.news(), palette));
    let title = clean::line(&request.item.title);
    let room = usize::from(area.width).saturating_sub(16);
    let line = vec![
        Span::styled(" ◆ ", palette.news()),
        Span::styled(wrap::shorten(&title, room), palette.strong()),
        Span::styled("  tab", palette.here()),
        Span::raw(" answers"),
    ];
    picture.line(Rect { y: area.y + 1, height: 1, ..area }, Line::from(line));
}

/// All of a card, below a rule.
pub(super) fn whole(
    model: &Model,
    request: &Request,
    picture: &mut Picture,
    area: Rect,
    heading: &str,
) {
    let palette = model.palette;
    let row = |y: u16| Rect { y: area.y + y, height: 1, ..area };
    picture.line(row(0), rule::line(area.width, heading, palette.news(), palette));
    match &request.card {
        Card::Permission(card) => {
            let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
            permission(model, request, card, picture, layout::text_area(below));
        }
        Card::Questions(set) => {
            sheet::view::tabs(set, picture, row(1), palette);
            sheet::view::page(set, picture, layout::sheet_area(area), palette);
        }
    }
}

fn permission(
    model: &Model,
    request: &Request,
    card: &PermissionCard,
    picture: &mut Picture,
    area: Rect,
) {
    let palette = model.palette;
    let width = usize::from(area.width);
    let mut strip = Strip::default();
    let title = clean::line(&request.item.title);
    for row in wrap::spans(&[Span::styled(title, palette.strong())], width) {
        strip.push(row);
    }
    for (index, choice) in card.choices.iter().enumerate() {
        let is_here = index == card.cursor;
        if is_here {
            strip.focus = strip.len()..strip.len() + 1;
        }
        let kind = match choice.kind {
            PermissionKind::AllowOnce | PermissionKind::AllowAlways => palette.good(),
            PermissionKind::RejectOnce | PermissionKind::RejectAlways => palette.removed(),
        };
        let style = if is_here { palette.open() } else { kind };
        let name = wrap::shorten(&clean::line(&choice.name), width.saturating_sub(6));
        let sending = if is_here && card.is_settling { "  sending…" } else { "" };
        let line = vec![
            Span::styled(if is_here { "▸ " } else { "  " }, palette.here()),
            Span::styled(format!("{} ", index + 1), palette.faint()),
            Span::styled(format!(" {name} "), style),
            Span::styled(sending, palette.faint()),
        ];
        strip.push_target(Line::from(line), Target::Choice(index));
    }
    picture.strip(area, strip);
}
