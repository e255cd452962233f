//! The layout: a function of the model, so that drawing and mouse handling agree.

mod changes;

use ratatui::layout::{Rect, Size};

use super::model::{Focus, Model, Tab};
use super::request::Request;
use crate::card::Card;
use crate::permission::{self, Stage};
use crate::sheet::{self, Page, keys::Room};

pub(crate) use changes::{ChangesAreas, changes};

/// The smallest terminal in which everything can be used.
pub(crate) const SIZE_MIN: Size = Size::new(40, 10);
/// From this width on the list stays beside the page.
const WIDE: u16 = 96;
/// Columns of the list beside the page, its rule included.
const SIDE: u16 = 38;
/// Columns of the start screen's list beside the page at most.
const HOME_SIDE_MAX: u16 = 64;
/// Rows of the first prompt of a new session at most.
const COMPOSER_ROWS_MAX: u16 = 6;
/// Lines longer than this are hard to read.
const TEXT_MAX: u16 = 100;
/// Rows of the text that is written, at most.
const INPUT_ROWS_MAX: u16 = 8;
/// Cells before the text that is written.
pub(crate) const INPUT_INDENT: u16 = 3;
/// Cells before the entries of a session: the bar of the one that the human is at.
pub(crate) const GUTTER: u16 = 2;

/// The areas of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Areas {
    /// The row of views.
    pub(crate) top: Rect,
    /// Where a new session is written, with its project and a rule below.
    pub(crate) composer: Option<Rect>,
    /// The list, if it is shown.
    pub(crate) list: Option<Rect>,
    /// The page beside or instead of the list, if it is shown.
    pub(crate) page: Option<Rect>,
    /// The rule with notices.
    pub(crate) rule: Rect,
    /// The keys.
    pub(crate) status: Rect,
}

/// Where the parts of the open session are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChatAreas {
    pub(crate) head: Rect,
    pub(crate) body: Rect,
    /// The request, with a rule above it.
    pub(crate) card: Option<Rect>,
    /// The input, with a rule above it.
    pub(crate) input: Option<Rect>,
}

pub(crate) const fn is_too_small(size: Size) -> bool {
    size.width < SIZE_MIN.width || size.height < SIZE_MIN.height
}

pub(crate) fn areas(model: &Model) -> Areas {
    let Size { width, height } = model.size;
    let row = |y: u16| Rect::new(0, y, width, 1);
    let content = Rect::new(0, 1, width, height.saturating_sub(3));
    let in_list = matches!(model.focus, Focus::List | Focus::Composer);
    let has_page = matches!(model.tab, Tab::Home | Tab::Sessions);
    let (composer, content) = match model.tab {
        Tab::Home if width >= WIDE || in_list => {
            let rows = composer_rows(model).min(content.height);
            let rest = content.height - rows;
            let below = Rect { y: content.y + rows, height: rest, ..content };
            (Some(Rect { height: rows, ..content }), below)
        }
        Tab::Home | Tab::Sessions | Tab::Teams | Tab::Rules | Tab::Compare => (None, content),
    };
    let (list, page) = if !has_page {
        (Some(content), None)
    } else if width >= WIDE {
        let side = if model.tab == Tab::Home { (width / 2).min(HOME_SIDE_MAX) } else { SIDE };
        let list = Rect { width: side, ..content };
        (Some(list), Some(Rect { x: side, width: width - side, ..content }))
    } else if in_list {
        (Some(content), None)
    } else {
        (None, Some(content))
    };
    Areas {
        top: row(0),
        composer,
        list,
        page,
        rule: row(height.saturating_sub(2)),
        status: row(height.saturating_sub(1)),
    }
}

/// The parts of the open session in the page.
pub(crate) fn chat(model: &Model, page: Rect) -> ChatAreas {
    let head = Rect { height: 1, ..page };
    let rest = page.height.saturating_sub(1);
    let request = model.request();
    let is_answering = model.focus == Focus::Card && request.is_some();
    let card_height = request.map_or(0, |request| match is_answering {
        true if is_viewing(request) => rest,
        true => card_height(model, request, page.width).min(rest.saturating_sub(rest / 4)),
        false => 2,
    });
    // While a request is answered, there is no input, which leaves it more room.
    let input_height = if is_answering { 0 } else { 1 + input_rows(model, page) };
    let body_height = rest.saturating_sub(card_height + input_height);
    let body = Rect { y: page.y + 1, height: body_height, ..page };
    let card = Rect { y: body.bottom(), height: card_height, ..page };
    let input = Rect { y: card.bottom(), height: input_height, ..page };
    ChatAreas {
        head,
        body,
        card: (card_height > 0).then_some(card),
        input: (input_height > 0).then_some(input),
    }
}

/// The part of an area for text.
pub(crate) fn text_area(area: Rect) -> Rect {
    let width = area.width.saturating_sub(GUTTER + 1).min(TEXT_MAX);
    Rect { x: area.x + GUTTER, width, ..area }
}

/// The cells that a written text has in a row.
pub(crate) fn input_width(page: Rect) -> usize {
    // One cell is left for a cursor behind the last letter.
    usize::from(page.width.saturating_sub(INPUT_INDENT + 1))
}

/// The cells that the first prompt of a new session has in a row.
pub(crate) fn composer_width(model: &Model) -> usize {
    usize::from(model.size.width.saturating_sub(INPUT_INDENT + 1))
}

/// The rows of the composer: the prompt, where it goes, and a rule.
fn composer_rows(model: &Model) -> u16 {
    let rows = model.home.composer.text.layout(composer_width(model)).rows.len();
    let max = COMPOSER_ROWS_MAX.min(model.size.height / 4).max(1);
    u16::try_from(rows).unwrap_or(max).clamp(1, max) + 2
}

/// The area of the entries, if they are shown.
pub(crate) fn chat_room(model: &Model) -> Option<Size> {
    let page = areas(model).page.filter(|_| model.tab == Tab::Sessions)?;
    Some(text_area(chat(model, page).body).as_size())
}

/// The area of the request that is being answered.
pub(crate) fn sheet_room(model: &Model) -> Room {
    let card = match (areas(model).page, model.tab) {
        (Some(page), Tab::Sessions) => chat(model, page).card,
        (Some(page), Tab::Home) => Some(page),
        (Some(_), Tab::Teams | Tab::Rules | Tab::Compare) | (None, _) => None,
    };
    let inner = match model.request().map(|request| &request.card) {
        Some(Card::Permission(_)) => permission_area,
        Some(Card::Questions(_)) | None => sheet_area,
    };
    Room { size: card.map(inner).unwrap_or_default().as_size(), palette: model.palette }
}

/// The area of a permission in its card: below a rule.
pub(crate) fn permission_area(card: Rect) -> Rect {
    text_area(Rect { y: card.y + 1, height: card.height.saturating_sub(1), ..card })
}

/// The area of a set of questions in its card: below a rule and the row of its pages.
pub(crate) fn sheet_area(card: Rect) -> Rect {
    let below = Rect { y: card.y + 2, height: card.height.saturating_sub(2), ..card };
    text_area(below)
}

fn input_rows(model: &Model, page: Rect) -> u16 {
    let rows = model.draft().map_or(1, |draft| draft.layout(input_width(page)).rows.len());
    let max = INPUT_ROWS_MAX.min(page.height / 3).max(1);
    u16::try_from(rows).unwrap_or(max).clamp(1, max)
}

/// Whether the whole evidence is viewed.
fn is_viewing(request: &Request) -> bool {
    matches!(&request.card, Card::Permission(card) if card.stage == Stage::Viewing)
}

fn card_height(model: &Model, request: &Request, width: u16) -> u16 {
    let page = Rect::new(0, 0, width, model.size.height);
    match &request.card {
        Card::Permission(card) => {
            let height = permission::view::height(card, text_area(page).width, model.palette);
            // Plus the rule above.
            u16::try_from(height + 1).unwrap_or(u16::MAX)
        }
        Card::Questions(set) => match set.page {
            Page::Question(index) | Page::Writing(index) => {
                let width = text_area(page).width;
                let height = sheet::view::question_height(set, index, width, model.palette);
                // Plus the rule and the row of pages above.
                u16::try_from(height + 2).unwrap_or(u16::MAX)
            }
            Page::Review(_) | Page::Settling => (model.size.height / 3 * 2).max(10),
            Page::Reason(_) | Page::ConfirmReject(_) | Page::Gone(_) => 10,
        },
    }
}
