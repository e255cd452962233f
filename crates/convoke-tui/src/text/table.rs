//! A table in columns that fit: each as wide as its widest cell, the widest ones narrower when there is no room.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use super::wrap;
use crate::palette::Palette;

/// A cell, without line breaks.
pub(crate) type Cell = Vec<Span<'static>>;

/// A table; the first row is its heading.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) alignments: Vec<Alignment>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// Columns narrower than this cannot be read; then every row becomes a list of its cells.
const COLUMN_MIN: usize = 6;
/// The separator of two columns.
const BETWEEN: &str = " │ ";

impl Table {
    /// The rows of the table, wrapped to a width.
    pub(crate) fn lines(&self, width: usize, palette: Palette) -> Vec<Line<'static>> {
        let Some(widths) = self.widths(width) else { return self.as_list(width, palette) };
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            self.push_row(&mut lines, row, &widths, palette);
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::styled(rule.join("─┼─"), palette.faint()));
            }
        }
        lines
    }

    /// The widths of the columns; `None` when they do not fit.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let count = self.rows.iter().map(Vec::len).max().filter(|count| *count > 0)?;
        let mut widths = vec![1; count];
        for row in &self.rows {
            for (cell, widest) in row.iter().zip(&mut widths) {
                *widest = (*widest).max(cells(cell));
            }
        }
        let room = width.checked_sub(wrap::width(BETWEEN) * (count - 1))?;
        while widths.iter().sum::<usize>() > room {
            let widest = widths.iter_mut().max().filter(|widest| **widest > COLUMN_MIN)?;
            *widest -= 1;
        }
        Some(widths)
    }

    fn push_row(
        &self,
        lines: &mut Vec<Line<'static>>,
        row: &[Cell],
        widths: &[usize],
        palette: Palette,
    ) {
        let empty = Cell::new();
        let columns: Vec<Vec<Cell>> = widths
            .iter()
            .enumerate()
            .map(|(index, width)| wrap::spans(row.get(index).unwrap_or(&empty), *width))
            .collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or_default();
        for at in 0..height {
            let mut line = Vec::new();
            for (index, (column, width)) in columns.iter().zip(widths).enumerate() {
                if index > 0 {
                    line.push(Span::styled(BETWEEN, palette.faint()));
                }
                let cell = column.get(at).unwrap_or(&empty);
                let room = width.saturating_sub(cells(cell));
                let (before, after) = match self.alignments.get(index) {
                    Some(Alignment::Right) => (room, 0),
                    Some(Alignment::Center) => (room / 2, room - room / 2),
                    Some(Alignment::Left | Alignment::None) | None => (0, room),
                };
                line.push(Span::raw(" ".repeat(before)));
                line.extend(cell.iter().cloned());
                line.push(Span::raw(" ".repeat(after)));
            }
            lines.push(Line::from(line));
        }
    }

    fn as_list(&self, width: usize, palette: Palette) -> Vec<Line<'static>> {
        let Some((heads, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            for (index, cell) in row.iter().enumerate() {
                let mut spans = heads.get(index).cloned().unwrap_or_default();
                spans.push(Span::styled(": ", palette.faint()));
                spans.extend(cell.iter().cloned());
                lines.extend(wrap::spans(&spans, width.max(1)).into_iter().map(Line::from));
            }
        }
        lines
    }
}

fn cells(spans: &[Span<'static>]) -> usize {
    spans.iter().map(|span| wrap::width(&span.content)).sum()
}
