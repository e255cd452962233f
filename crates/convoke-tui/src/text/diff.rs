//! What changed in a file: how much, or the changed lines with a few around them.

use std::time::Duration;

use convoke_core::content::Diff;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use similar::{ChangeTag, TextDiff};

use super::{Paper, tool};
use crate::text::{clean, wrap};

/// Changed files beyond this are not compared line by line.
const BYTES_MAX: usize = 200 * 1024;
/// Comparing may take this long; then the rest counts as changed.
const PATIENCE: Duration = Duration::from_millis(20);
/// Lines around a change.
const AROUND: usize = 3;
/// Lines of one file that are shown.
const LINES_MAX: usize = 300;

/// The file and how many lines were added and removed.
pub(super) fn summary(paper: &mut Paper, change: &Diff) {
    let palette = paper.palette;
    let (added, removed) = count(change);
    let counts = format!(" +{added} −{removed}");
    let room = paper.width.saturating_sub(2 + wrap::width(&counts));
    let path = wrap::shorten_start(&clean::line(&change.path), room);
    paper.lines.push(Line::from(vec![
        Span::raw("  "),
        Span::styled(path, palette.code()),
        Span::styled(format!(" +{added}"), palette.good()),
        Span::styled(format!(" −{removed}"), palette.removed()),
    ]));
}

/// The changed lines.
pub(super) fn hunks(paper: &mut Paper, change: &Diff) {
    let palette = paper.palette;
    tool::heading(paper, &clean::line(&change.path));
    let Some(diff) = compare(change) else {
        let text = "  │ too large to compare";
        paper.lines.push(Line::styled(text, palette.faint()));
        return;
    };
    let mut left = LINES_MAX;
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        if left == 0 {
            paper.lines.push(Line::styled("  │ … and more changes", palette.faint()));
            return;
        }
        let header = format!("  │ {}", hunk.header().to_string().trim_end());
        paper.lines.push(Line::styled(header, palette.faint()));
        for change in hunk.iter_changes().take(left) {
            let (mark, style) = match change.tag() {
                ChangeTag::Insert => ("+", palette.good()),
                ChangeTag::Delete => ("-", palette.removed()),
                ChangeTag::Equal => (" ", Style::new()),
            };
            let text = clean::line(change.value().trim_end_matches(['\n', '\r']));
            let first = format!("  │ {mark}");
            paper.row(&first, "  │  ", palette.faint(), &[Span::styled(text, style)]);
            left -= 1;
        }
    }
}

fn count(change: &Diff) -> (usize, usize) {
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
    Some(TextDiff::configure().timeout(PATIENCE).diff_lines(old, &change.new_text))
}
