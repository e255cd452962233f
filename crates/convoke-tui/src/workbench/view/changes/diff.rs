//! Draws the diff of one file. Only visible rows are built.

use convoke_api::bodies::{DiffLine, DiffLineKind, FileMode, GivenComment};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::counts;
use crate::palette::Palette;
use crate::picture::{Picture, Strip, Target};
use crate::text::line_buffer::head;
use crate::text::{clean, wrap};
use crate::workbench::changes::{Changes, DiffRow, Loaded, OpenDiff, Pane};
use crate::workbench::model::Model;
use crate::workbench::view::split_line;

/// The part of a line that is drawn; no screen is wider.
const LINE_BYTES_MAX: usize = 16 << 10;
/// Lines of a comment that are shown below its lines.
const COMMENT_LINES: usize = 3;

pub(super) fn page(model: &Model, changes: &Changes, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let Some(open) = &changes.open else { return };
    let words = match &open.diff {
        Loaded::Asked => "Asking the daemon…".to_owned(),
        Loaded::Failed(why) => clean::line(why),
        Loaded::Here(diff) => {
            heading(diff, picture, Rect { height: 1.min(area.height), ..area }, palette);
            rows(model, changes, diff, picture, body);
            return;
        }
    };
    picture.line(
        Rect { height: 1.min(area.height), ..area },
        Line::styled(format!(" {words}"), palette.faint()),
    );
}

fn heading(diff: &OpenDiff, picture: &mut Picture, area: Rect, palette: Palette) {
    let file = &diff.diff.file;
    let mut left = vec![Span::styled(format!(" {}", clean::line(&file.path)), palette.strong())];
    if let Some(from) = &file.from {
        left.push(Span::styled(format!("  from {}", clean::line(from)), palette.faint()));
    }
    let word = |mode: Option<FileMode>| match mode {
        Some(FileMode::Regular) | None => "",
        Some(FileMode::Executable) => "  executable",
        Some(FileMode::Link) => "  link",
        Some(FileMode::Submodule) => "  submodule",
    };
    if file.old_mode != file.new_mode {
        left.push(Span::styled(word(file.new_mode), palette.faint()));
    }
    let mut right = counts(file.added, file.removed, palette);
    right.push(Span::raw(" "));
    picture.line(area, split_line(left, right, usize::from(area.width)));
}

fn rows(model: &Model, changes: &Changes, diff: &OpenDiff, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let height = usize::from(area.height);
    let mut strip = Strip::default();
    let none = match (diff.rows().is_empty(), diff.diff.file.binary) {
        (false, _) => None,
        (true, true) => Some(" A binary file."),
        (true, false) => Some(" No line changed."),
    };
    strip.rows.reserve(height);
    if let Some(words) = none {
        strip.push(Line::styled(words, palette.faint()));
    }
    let comments = model.reviews.get(&changes.id).map(Vec::as_slice).unwrap_or_default();
    let style = RowStyle::new(diff, comments, usize::from(area.width), palette);
    let first = diff.cursor.saturating_sub(height);
    let shown = diff.rows().len().min(diff.cursor + height + 1);
    for row in first..shown {
        let is_here = row == diff.cursor && changes.pane == Pane::Diff;
        if row == diff.cursor {
            strip.focus = strip.len()..strip.len() + 1;
        }
        strip.push_target(style.row(row, is_here), Target::Block(row));
        style.comments_below(row, &mut strip);
    }
    if shown == diff.rows().len() && !diff.diff.complete {
        strip.push(Line::styled(
            " … the diff is longer; `convoke session diff` has all of it.",
            palette.faint(),
        ));
    }
    if changes.pane == Pane::Diff {
        picture.scroll_rows = height;
    }
    picture.strip(area, strip);
}

/// How rows look.
struct RowStyle<'a> {
    diff: &'a OpenDiff,
    comments: &'a [GivenComment],
    /// Cells of a line's number.
    digits: usize,
    width: usize,
    palette: Palette,
}

impl<'a> RowStyle<'a> {
    fn new(
        diff: &'a OpenDiff,
        comments: &'a [GivenComment],
        width: usize,
        palette: Palette,
    ) -> Self {
        let last = diff.diff.hunks.last();
        let most =
            last.map_or(0, |it| (it.old_start + it.old_lines).max(it.new_start + it.new_lines));
        let digits = most.to_string().len().max(3);
        Self { diff, comments, digits, width, palette }
    }

    fn row(&self, row: usize, is_here: bool) -> Line<'static> {
        let palette = self.palette;
        let (from, to) = self.diff.marked();
        let is_marked = self.diff.mark.is_some() && (from..=to).contains(&row);
        let marker = match (is_here, is_marked) {
            (true, _) => "▸",
            (false, true) => "┃",
            (false, false) => " ",
        };
        let mut spans = vec![Span::styled(marker, palette.here())];
        match self.diff.rows().get(row) {
            Some(DiffRow::Hunk(number)) => {
                let hunk = self.diff.hunk(*number);
                let words = hunk.map(|hunk| {
                    let lines = format!(
                        "@@ -{},{} +{},{} @@",
                        hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines
                    );
                    format!("{lines} {}", clean::line(&hunk.heading))
                });
                let room = self.width.saturating_sub(2);
                let words = wrap::shorten(words.unwrap_or_default().trim_end(), room);
                spans.push(Span::styled(words, palette.code()));
            }
            Some(DiffRow::Line(..)) => {
                if let Some(line) = self.diff.line_at(row) {
                    self.line(row, line, &mut spans);
                }
            }
            None => {}
        }
        Line::from(spans)
    }

    fn line(&self, row: usize, line: &DiffLine, spans: &mut Vec<Span<'static>>) {
        let (palette, digits) = (self.palette, self.digits);
        let number = |number: Option<u64>| number.map(|it| it.to_string()).unwrap_or_default();
        let is_commented = self.comments.iter().any(|it| self.diff.is_about(it, row));
        spans.push(Span::styled(if is_commented { "●" } else { " " }, palette.news()));
        let numbers = format!("{:>digits$} {:>digits$} ", number(line.old), number(line.new));
        let (sign, style) = match line.kind {
            DiffLineKind::Context => (" ", Style::new()),
            DiffLineKind::Added => ("+", palette.good()),
            DiffLineKind::Removed => ("-", palette.removed()),
        };
        let used = 3 + wrap::width(&numbers);
        spans.push(Span::styled(numbers, palette.faint()));
        spans.push(Span::styled(sign, style));
        let text = head(&line.text, LINE_BYTES_MAX);
        let words = marked(text, &line.marks, style);
        spans.extend(window(words, self.diff.shift, self.width.saturating_sub(used)));
        if line.no_newline {
            spans.push(Span::styled(" ∅", palette.faint()));
        }
    }

    /// The comments that end at a row.
    fn comments_below(&self, row: usize, strip: &mut Strip) {
        let palette = self.palette;
        let indent = " ".repeat(2 * self.digits + 4);
        let room = self.width.saturating_sub(wrap::width(&indent) + 3).max(8);
        let is_last = |comment: &&GivenComment| {
            self.diff.is_about(comment, row)
                && !(row + 1..self.diff.rows().len().min(row + 3))
                    .any(|next| self.diff.is_about(comment, next))
        };
        for comment in self.comments.iter().filter(is_last) {
            let text = clean::block(&comment.comment);
            let lines = text.lines().map(|line| Span::styled(line.to_owned(), palette.strong()));
            let lines = lines.flat_map(|line| wrap::spans(&[line], room));
            for words in lines.take(COMMENT_LINES) {
                let margin = Span::styled(format!("{indent}▏ "), palette.news());
                strip.push([vec![margin], words].concat());
            }
        }
    }
}

/// A text in spans, with the differing words marked by UTF-16 code units.
fn marked(text: &str, marks: &[(u64, u64)], style: Style) -> Vec<Span<'static>> {
    let mut spans: Vec<(bool, String)> = Vec::new();
    let mut at = 0;
    for letter in text.chars() {
        let is_marked = marks.iter().any(|(from, to)| (*from..*to).contains(&at));
        at += letter.len_utf16() as u64;
        match spans.last_mut() {
            Some((last, part)) if *last == is_marked => part.push(letter),
            Some(_) | None => spans.push((is_marked, letter.to_string())),
        }
    }
    let span = |(is_marked, part): (bool, String)| {
        let part = clean::line(&part.replace('\t', "    "));
        let style = if is_marked { style.add_modifier(Modifier::REVERSED) } else { style };
        Span::styled(part, style)
    };
    spans.into_iter().map(span).collect()
}

/// The part of a line that is in sight, with `…` where something is cut off at its end.
fn window(spans: Vec<Span<'static>>, shift: usize, width: usize) -> Vec<Span<'static>> {
    let total: usize = spans.iter().map(|span| wrap::width(&span.content)).sum();
    let is_cut = total > shift + width;
    let end = shift + if is_cut { width.saturating_sub(1) } else { width };
    let mut at = 0;
    let mut seen = Vec::new();
    for span in spans {
        let mut part = String::new();
        for grapheme in span.content.graphemes(true) {
            let cells = wrap::cells(grapheme);
            if at >= shift && at + cells <= end {
                part.push_str(grapheme);
            }
            at += cells;
        }
        seen.push(Span::styled(part, span.style));
    }
    if is_cut {
        seen.push(Span::raw("…"));
    }
    seen
}
