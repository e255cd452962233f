//! The change of a file: its totals, or the changed lines with some context.

use std::time::{Duration, Instant};

use convoke_core::content::Diff;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use similar::{ChangeTag, TextDiff};

use super::line_buffer::LineBuffer;
use super::{clean, wrap};

/// Changed files beyond this are not compared line by line.
const BYTES_MAX: usize = 200 * 1024;
/// The time limit of the comparison; then the rest counts as changed.
const TIMEOUT: Duration = Duration::from_millis(20);
/// Lines around a change.
const AROUND: usize = 3;
/// Lines of one file that are shown.
const LINES_MAX: usize = 300;

/// The prefix of every line of a change.
const MARGIN: &str = "  │ ";

/// The file, with the number of added and removed lines.
pub(crate) fn summary(line_buffer: &mut LineBuffer, change: &Diff) {
    let palette = line_buffer.palette;
    let (added, removed) = count(change);
    let counts = format!(" +{added} −{removed}");
    let room = line_buffer.width.saturating_sub(2 + wrap::width(&counts));
    let path = wrap::shorten_start(&clean::line(&change.path), room);
    line_buffer.lines.push(Line::from(vec![
        Span::raw("  "),
        Span::styled(path, palette.code()),
        Span::styled(format!(" +{added}"), palette.good()),
        Span::styled(format!(" −{removed}"), palette.removed()),
    ]));
}

/// The changed lines, with the changed words in them marked.
pub(crate) fn hunks(line_buffer: &mut LineBuffer, change: &Diff) {
    let palette = line_buffer.palette;
    let Some(diff) = compare(change) else {
        let text = format!("{MARGIN}too large to compare");
        line_buffer.lines.push(Line::styled(text, palette.faint()));
        return;
    };
    let deadline = Instant::now() + TIMEOUT;
    let mut left = LINES_MAX;
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        if left == 0 {
            let more = format!("{MARGIN}… and more changes");
            line_buffer.lines.push(Line::styled(more, palette.faint()));
            return;
        }
        let header = format!("{MARGIN}{}", hunk.header().to_string().trim_end());
        line_buffer.lines.push(Line::styled(header, palette.faint()));
        let changes =
            hunk.ops().iter().flat_map(|op| diff.iter_inline_changes_deadline(op, Some(deadline)));
        for change in changes.take(left) {
            let (mark, style) = match change.tag() {
                ChangeTag::Insert => ("+", palette.good()),
                ChangeTag::Delete => ("-", palette.removed()),
                ChangeTag::Equal => (" ", Style::new()),
            };
            let mut spans = vec![Span::styled(mark, style)];
            for (is_changed, text) in change.iter_strings_lossy() {
                let text = clean::line(text.trim_end_matches(['\n', '\r']));
                let word = if is_changed { style.add_modifier(Modifier::REVERSED) } else { style };
                spans.push(Span::styled(text, word));
            }
            line_buffer.row(MARGIN, "  │   ", palette.faint(), &spans);
            left -= 1;
        }
    }
}

/// How many lines were added and removed.
pub(crate) fn count(change: &Diff) -> (usize, usize) {
    let old = change.old_text.as_deref().unwrap_or_default();
    let Some(diff) = compare(change) else {
        return (change.new_text.lines().count(), old.lines().count());
    };
    diff.iter_all_changes().fold((0, 0), |(added, removed), change| match change.tag() {
        ChangeTag::Insert => (added + 1, removed),
        ChangeTag::Delete => (added, removed + 1),
        ChangeTag::Equal => (added, removed),
    })
}

fn compare(change: &Diff) -> Option<TextDiff<'_, '_, '_, str>> {
    let old = change.old_text.as_deref().unwrap_or_default();
    if old.len() + change.new_text.len() > BYTES_MAX {
        return None;
    }
    Some(TextDiff::configure().timeout(TIMEOUT).diff_lines(old, &change.new_text))
}
