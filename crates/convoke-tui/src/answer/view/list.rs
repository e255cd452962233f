//! All sets: those whose asker waits, those whose asker has left, and those that cannot be read.

use convoke_core::id::{RequestId, short};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::frame;
use crate::answer::message::Damaged;
use crate::answer::model::{Model, Overlay, Waiting};
use crate::card::Card;
use crate::picture::{Picture, Strip, Target};
use crate::sheet::Asker;
use crate::text::{clean, wrap};
use crate::words;

/// The list over the page.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect, cursor: usize) {
    let area = frame::text_area(model.size, area);
    picture.strip(area, strip(model, usize::from(area.width), Some(cursor)));
}

/// The list beside the page, with a rule between them.
pub(super) fn side(model: &Model, picture: &mut Picture, area: Rect) {
    let inner = Rect { x: area.x + 1, width: area.width - 3, ..area };
    let cursor = match model.overlay {
        Some(Overlay::List { cursor }) => Some(cursor),
        Some(Overlay::Help { .. }) | None => None,
    };
    picture.strip(inner, strip(model, usize::from(inner.width), cursor));
    for row in area.rows() {
        let bar = Rect { x: area.right() - 1, width: 1, ..row };
        picture.line(bar, Line::styled("│", model.palette.faint()));
    }
}

fn strip(model: &Model, width: usize, cursor: Option<usize>) -> Strip {
    let mut list = List { model, width, cursor, strip: Strip::default() };
    let waiting = model.sets.iter().filter(|set| set.card.asked().asker == Asker::Waits).count();
    list.heading("Waiting for you", waiting);
    for (line, set) in model.sets.iter().enumerate() {
        if line == waiting {
            list.heading("The asker has left", model.sets.len() - waiting);
        }
        list.set(line, set);
    }
    list.heading("Damaged", model.damaged.len());
    for (index, damaged) in model.damaged.iter().enumerate() {
        list.damaged(model.sets.len() + index, damaged);
    }
    list.strip
}

struct List<'a> {
    model: &'a Model,
    width: usize,
    /// The line that the human is at, when they are in the list.
    cursor: Option<usize>,
    strip: Strip,
}

impl List<'_> {
    fn heading(&mut self, text: &str, count: usize) {
        if count == 0 {
            return;
        }
        if self.strip.len() > 0 {
            self.strip.gap();
        }
        self.strip.push(Line::styled(format!("{text} ({count})"), self.model.palette.faint()));
    }

    fn set(&mut self, line: usize, set: &Waiting) {
        let from = self.strip.len();
        let asked = set.card.asked();
        let is_open = Some(asked.id) == self.model.open;
        let mut progress = match &set.card {
            Card::Questions(set) => {
                let answered = set.drafts.iter().filter(|draft| draft.is_answered()).count();
                format!("{answered}/{}", set.drafts.len())
            }
            Card::Permission(_) => "◆".to_owned(),
        };
        if let Some(left) = words::left(asked.asker) {
            progress = format!("{left} · {progress}");
        }
        let room = self.width.saturating_sub(wrap::width(&progress) + 4);
        let name = wrap::shorten(&set.card.name(), room);
        let gap = " ".repeat(room.saturating_sub(wrap::width(&name)) + 2);
        let palette = self.model.palette;
        let style = match (self.cursor, is_open) {
            (Some(cursor), _) if cursor == line => palette.open(),
            (_, true) => palette.here(),
            (_, false) => palette.strong(),
        };
        let spans = vec![
            self.marker(line, asked.id),
            Span::styled(name, style),
            Span::raw(gap),
            Span::styled(progress, palette.faint()),
        ];
        self.strip.push_target(Line::from(spans), Target::Entry(line));
        let origin = words::origin(
            asked,
            self.model.user_folder.as_deref(),
            self.model.now,
            self.width.saturating_sub(2),
        );
        self.strip
            .push_target(Line::styled(format!("  {origin}"), palette.faint()), Target::Entry(line));
        self.focus(line, asked.id, from);
    }

    fn damaged(&mut self, line: usize, damaged: &Damaged) {
        let from = self.strip.len();
        let palette = self.model.palette;
        let style = if self.cursor == Some(line) { palette.open() } else { palette.bad() };
        let spans = vec![self.marker(line, damaged.id), Span::styled(short(damaged.id), style)];
        self.strip.push_target(Line::from(spans), Target::Entry(line));
        let words = clean::line(&damaged.words);
        for row in
            wrap::spans(&[Span::styled(words, palette.faint())], self.width.saturating_sub(2))
        {
            let spans = [vec![Span::raw("  ")], row].concat();
            self.strip.push_target(Line::from(spans), Target::Entry(line));
        }
        self.focus(line, damaged.id, from);
    }

    /// Where the human is in the list, and which set is open behind it.
    fn marker(&self, line: usize, id: RequestId) -> Span<'static> {
        let marker = match (self.is_here(line, id), Some(id) == self.model.open) {
            (true, _) => "▸ ",
            (false, true) => "• ",
            (false, false) => "  ",
        };
        Span::styled(marker, self.model.palette.here())
    }

    fn focus(&mut self, line: usize, id: RequestId, from: usize) {
        if self.is_here(line, id) {
            self.strip.focus = from..self.strip.len();
        }
    }

    /// Whether this is the line at the cursor, or else that of the open set.
    fn is_here(&self, line: usize, id: RequestId) -> bool {
        self.cursor.map_or(Some(id) == self.model.open, |cursor| cursor == line)
    }
}
