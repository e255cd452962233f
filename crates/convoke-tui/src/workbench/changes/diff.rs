//! A diff as rows that the human moves through.

use convoke_api::bodies::{DiffHunk, DiffLine, DiffLineKind, FileDiff, GivenComment};
use convoke_core::review::{COMMENT_BYTES_MAX, DiffSide};

use crate::list_keys::Move;
use crate::picture::Direction;
use crate::text::line_buffer::head;

/// The open diff.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OpenDiff {
    pub(crate) diff: FileDiff,
    rows: Vec<DiffRow>,
    /// The row that the human is at.
    pub(crate) cursor: usize,
    /// Where the rows begin that are marked, up to the cursor.
    pub(crate) mark: Option<usize>,
    /// Cells of the lines that are out of sight at the left.
    pub(crate) shift: usize,
}

/// A row of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffRow {
    /// Where a hunk begins.
    Hunk(usize),
    /// A line of a hunk.
    Line(usize, usize),
}

impl OpenDiff {
    pub(crate) fn new(diff: FileDiff) -> Self {
        let mut rows = Vec::new();
        for (number, hunk) in diff.hunks.iter().enumerate() {
            rows.push(DiffRow::Hunk(number));
            rows.extend((0..hunk.lines.len()).map(|line| DiffRow::Line(number, line)));
        }
        Self { diff, rows, cursor: 0, mark: None, shift: 0 }
    }

    pub(crate) fn rows(&self) -> &[DiffRow] {
        &self.rows
    }

    /// Moves to the line at which the human was in an earlier diff of the same file.
    pub(crate) fn stay_at(&mut self, before: &Self) {
        self.shift = before.shift;
        let number = before.line_at(before.cursor).and_then(|line| line.new.or(line.old));
        let same = number.and_then(|number| {
            (0..self.rows.len()).find(|row| {
                self.line_at(*row).and_then(|line| line.new.or(line.old)) >= Some(number)
            })
        });
        self.cursor = same.unwrap_or(before.cursor).min(self.rows.len().saturating_sub(1));
    }

    pub(crate) fn hunk(&self, number: usize) -> Option<&DiffHunk> {
        self.diff.hunks.get(number)
    }

    /// The hunk that the human is in.
    pub(crate) fn hunk_here(&self) -> Option<usize> {
        self.rows.get(self.cursor).map(|row| match row {
            DiffRow::Hunk(hunk) | DiffRow::Line(hunk, _) => *hunk,
        })
    }

    pub(crate) fn line_at(&self, row: usize) -> Option<&DiffLine> {
        match self.rows.get(row)? {
            DiffRow::Hunk(_) => None,
            DiffRow::Line(hunk, line) => self.hunk(*hunk)?.lines.get(*line),
        }
    }

    /// Moves the cursor.
    pub(crate) fn step(&mut self, to: Move) {
        self.cursor = to.apply(self.cursor, self.rows.len().saturating_sub(1));
    }

    /// Moves to the next hunk, or to the one before.
    pub(crate) fn step_hunk(&mut self, direction: Direction) {
        let is_hunk = |row: &usize| matches!(self.rows.get(*row), Some(DiffRow::Hunk(_)));
        let found = match direction {
            Direction::Down => (self.cursor + 1..self.rows.len()).find(is_hunk),
            Direction::Up => (0..self.cursor).rev().find(is_hunk),
        };
        self.cursor = found.unwrap_or(self.cursor);
    }

    /// The rows that a comment would be about: those that are marked, or the one that the human is at.
    pub(crate) fn marked(&self) -> (usize, usize) {
        let from = self.mark.unwrap_or(self.cursor);
        (from.min(self.cursor), from.max(self.cursor))
    }

    /// A comment on rows: on those lines of them that are in one version, the new one if any is.
    pub(crate) fn comment(&self, rows: (usize, usize), comment: String) -> Option<GivenComment> {
        let lines: Vec<&DiffLine> = (rows.0..=rows.1).filter_map(|row| self.line_at(row)).collect();
        let is_new = lines.iter().any(|line| line.kind == DiffLineKind::Added)
            || lines.iter().all(|line| line.kind == DiffLineKind::Context);
        let side = if is_new { DiffSide::New } else { DiffSide::Old };
        let number = |line: &DiffLine| if is_new { line.new } else { line.old };
        let lines: Vec<(u32, &str)> = lines
            .iter()
            .filter_map(|line| Some((u32::try_from(number(line)?).ok()?, line.text.as_str())))
            .collect();
        let (start_line, end_line) = (lines.first()?.0, lines.last()?.0);
        let quote = lines.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("\n");
        let quote = head(&quote, COMMENT_BYTES_MAX).to_owned();
        let path = match (side, &self.diff.file.from) {
            (DiffSide::Old, Some(from)) => from.clone(),
            (DiffSide::Old | DiffSide::New, _) => self.diff.file.path.clone(),
        };
        Some(GivenComment { path, side, start_line, end_line, quote, comment })
    }

    /// Whether a comment is about the line at a row.
    pub(crate) fn is_about(&self, comment: &GivenComment, row: usize) -> bool {
        let Some(line) = self.line_at(row) else { return false };
        let file = &self.diff.file;
        let (number, path) = match comment.side {
            DiffSide::New => (line.new, &file.path),
            DiffSide::Old => (line.old, file.from.as_ref().unwrap_or(&file.path)),
        };
        let lines = u64::from(comment.start_line)..=u64::from(comment.end_line);
        comment.path == *path && number.is_some_and(|number| lines.contains(&number))
    }
}
