//! A request to the human: one line, or the whole card while it is answered.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::card::Card;
use crate::permission;
use crate::picture::Picture;
use crate::rule;
use crate::sheet;
use crate::text::{clean, wrap};
use crate::workbench::layout;
use crate::workbench::model::{Focus, Model};
use crate::workbench::request::Request;

/// The card below the open session: two rows, or all of it while it is answered.
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
            permission::view::page(card, picture, layout::permission_area(area), palette);
        }
        Card::Questions(set) => {
            sheet::view::tabs(set, picture, row(1), palette);
            sheet::view::page(set, picture, layout::sheet_area(area), palette);
        }
    }
}
