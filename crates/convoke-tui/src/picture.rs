//! The drawn screen, and the targets of clicks.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::{Position, Rect, Size};
use ratatui::text::{Line, Span};

use crate::sheet::PageLink;
use crate::text::wrap;

/// Towards the beginning of a text, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the beginning.
    Up,
    /// Towards the end.
    Down,
}

/// A target of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A row of the open question.
    Choice(usize),
    /// A row of the text that is being written.
    Text(usize),
    /// A page of the open set.
    Page(PageLink),
    /// The row that sends the answers.
    Send,
    /// A line of the list.
    Entry(usize),
    /// One of the tabs.
    Tab(usize),
    /// An entry of the open session.
    Block(usize),
    /// The input of the open session.
    Input,
}

/// A screen, ready to be painted.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    lines: Vec<(Rect, Line<'static>)>,
    zones: Vec<(Rect, Target)>,
    cursor: Option<Position>,
    /// The maximum scroll offset of the scrollable text.
    pub(crate) scroll_max: usize,
    /// How many rows of it are visible.
    pub(crate) scroll_rows: usize,
    /// Rows above and below the visible part of the options, or of a list.
    pub(crate) hidden: (usize, usize),
}

/// Rows of which as many are shown as fit.
#[derive(Debug, Default)]
pub(crate) struct Strip {
    pub(crate) rows: Vec<Row>,
    /// The rows that must be shown.
    pub(crate) focus: Range<usize>,
    /// Where to put the cursor: a row, and a column in it.
    pub(crate) cursor: Option<(usize, usize)>,
}

/// One row.
#[derive(Debug)]
pub(crate) struct Row {
    line: Line<'static>,
    /// The target of a click, from a column on.
    target: Option<(Target, usize)>,
}

impl Strip {
    pub(crate) fn push(&mut self, line: impl Into<Line<'static>>) {
        self.rows.push(Row { line: line.into(), target: None });
    }

    pub(crate) fn push_target(&mut self, line: impl Into<Line<'static>>, target: Target) {
        self.push_target_from(line, target, 0);
    }

    /// A row whose columns are counted from one of them.
    pub(crate) fn push_target_from(
        &mut self,
        line: impl Into<Line<'static>>,
        target: Target,
        column: usize,
    ) {
        self.rows.push(Row { line: line.into(), target: Some((target, column)) });
    }

    pub(crate) fn gap(&mut self) {
        self.push(Line::default());
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The first row to show so that the focus is in the middle, as far as there is a middle.
    fn first(&self, height: usize) -> usize {
        let max = self.rows.len().saturating_sub(height);
        let of_cursor = self.cursor.map(|(row, _)| row..row + 1);
        let focus = of_cursor.unwrap_or_else(|| self.focus.clone());
        let above = height.saturating_sub(focus.len()) / 2;
        focus.start.saturating_sub(above).min(max)
    }
}

impl Picture {
    pub(crate) fn line(&mut self, area: Rect, line: impl Into<Line<'static>>) {
        self.lines.push((area, line.into()));
    }

    pub(crate) fn zone(&mut self, area: Rect, target: Target) {
        self.zones.push((area, target));
    }

    pub(crate) const fn set_cursor(&mut self, at: Position) {
        self.cursor = Some(at);
    }

    /// Shows the part of a strip that its focus is in.
    pub(crate) fn strip(&mut self, area: Rect, strip: Strip) {
        let height = usize::from(area.height);
        let first = strip.first(height);
        self.hidden = (first, strip.rows.len().saturating_sub(first + height));
        self.strip_from(area, strip, first);
    }

    /// The page in a terminal that is too small for any other.
    pub(crate) fn ask_for_room(&mut self, size: Size, needed: Size) {
        let texts = [
            "Make the terminal larger:".to_owned(),
            format!("{}×{} at least,", needed.width, needed.height),
            format!("now {}×{}.", size.width, size.height),
            "Your drafts are kept; q quits.".to_owned(),
        ];
        let mut strip = Strip::default();
        for text in texts {
            for row in wrap::spans(&[Span::raw(text)], usize::from(size.width)) {
                strip.push(row);
            }
        }
        self.strip(Rect::new(0, 0, size.width, size.height), strip);
    }

    /// Shows a strip that the human moves.
    pub(crate) fn scrolled(&mut self, area: Rect, strip: Strip, scroll: usize) {
        self.scroll_rows = usize::from(area.height);
        self.scroll_max = strip.rows.len().saturating_sub(self.scroll_rows);
        let first = scroll.min(self.scroll_max);
        self.strip_from(area, strip, first);
    }

    fn strip_from(&mut self, area: Rect, strip: Strip, first: usize) {
        if let Some((row, column)) = strip.cursor
            && let Some(row) = row.checked_sub(first)
        {
            let column = u16::try_from(column).unwrap_or(u16::MAX);
            let x = area.x.saturating_add(column).min(area.right().saturating_sub(1));
            let y = area.y.saturating_add(u16::try_from(row).unwrap_or(u16::MAX));
            self.cursor = (y < area.bottom()).then_some(Position { x, y });
        }
        for (place, row) in area.rows().zip(strip.rows.into_iter().skip(first)) {
            if let Some((target, column)) = row.target {
                let column = u16::try_from(column).unwrap_or(u16::MAX).min(place.width);
                let (x, width) = (place.x + column, place.width - column);
                self.zones.push((Rect { x, width, ..place }, target));
            }
            self.lines.push((place, row.line));
        }
    }

    /// Rows that the paging keys move by: the visible ones, less two for orientation.
    pub(crate) fn page_rows(&self) -> usize {
        self.scroll_rows.saturating_sub(2).max(1)
    }

    pub(crate) fn target_at(&self, at: Position) -> Option<(Target, usize)> {
        let (area, target) = self.zones.iter().find(|(area, _)| area.contains(at))?;
        Some((*target, usize::from(at.x - area.x)))
    }

    pub(crate) fn paint(self, frame: &mut Frame<'_>) {
        let screen = frame.area();
        for (area, line) in self.lines {
            // The terminal may have shrunk since the model got its size.
            frame.render_widget(line, area.intersection(screen));
        }
        if let Some(cursor) = self.cursor.filter(|cursor| screen.contains(*cursor)) {
            frame.set_cursor_position(cursor);
        }
    }
}
