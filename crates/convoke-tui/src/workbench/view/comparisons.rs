//! Draws comparisons: one prompt each, with the result of every agent.

use convoke_api::bodies::{Comparison, ComparisonEntry, ComparisonState, TestResult};
use convoke_core::time::relative;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::changes::counts;
use super::{At, Title, not_loaded, split_line, titled_line};
use crate::palette::Palette;
use crate::picture::{Picture, Strip, Target};
use crate::text::{clean, wrap};
use crate::words;
use crate::workbench::changes::Loaded;
use crate::workbench::model::Model;

/// Cells of the columns behind the name: state, changes, time, cost, test.
const COLUMNS: [usize; 5] = [11, 13, 9, 11, 9];
/// From this width on there are time and cost.
const WIDE: usize = 76;
/// From this width on there are changes.
const MEDIUM: usize = 56;

pub(super) fn pane(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let head = Rect { height: 1, ..area };
    let width = usize::from(area.width).saturating_sub(1);
    let mut strip = Strip::default();
    match &model.comparisons.all {
        Loaded::Here(all) if all.is_empty() => {
            strip.push(Line::styled(" No comparisons yet.", palette.strong()));
            let words = " n: one prompt for several agents, each in a work tree of its own.";
            strip.push(Line::styled(words, palette.faint()));
        }
        Loaded::Here(all) => {
            picture.line(head, split_line(vec![], headings(width, palette), width));
            candidates(model, all, &mut strip, width);
        }
        Loaded::Failed(why) => {
            strip.push(Line::styled(format!(" {}", clean::line(why)), palette.bad()));
        }
        Loaded::Asked => strip.push(Line::styled(not_loaded(&model.link), palette.faint())),
    }
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    picture.strip(body, strip);
}

fn candidates(model: &Model, all: &[Comparison], strip: &mut Strip, width: usize) {
    let cursor = model.comparisons.position(&model.comparisons.candidates());
    let mut index = 0;
    for comparison in all {
        if index > 0 {
            strip.gap();
        }
        let from = strip.len();
        strip.push(heading(model, comparison, width));
        for entry in &comparison.entries {
            let here = At::from(index == cursor);
            // The prompt is scrolled into view with its first candidate.
            let start = if strip.len() == from + 1 { from } else { strip.len() };
            for line in candidate(model, comparison, entry, here, width) {
                strip.push_target(line, Target::Entry(index));
            }
            if here == At::Here {
                strip.focus = start..strip.len();
            }
            index += 1;
        }
    }
}

fn heading(model: &Model, comparison: &Comparison, width: usize) -> Line<'static> {
    let palette = model.palette;
    let project = model.list.project(comparison.repo_id);
    let mut after = project
        .map(|project| {
            vec![Span::styled(format!("  {}", clean::line(&project.name)), palette.faint())]
        })
        .unwrap_or_default();
    if let Some(test) = &comparison.test {
        let test = wrap::shorten(&clean::line(test), width / 4);
        after.push(Span::styled(format!("  $ {test}"), palette.code()));
    }
    let prompt = clean::line(comparison.prompt.lines().next().unwrap_or_default());
    let title =
        Title { before: vec![Span::raw(" ")], title: Span::styled(prompt, palette.strong()) };
    let age = Span::styled(relative(comparison.created_at, model.now), palette.faint());
    titled_line(title, after, vec![age], width)
}

/// The cells of a row behind its name, in columns; some are left out where it is narrow.
fn columns(cells: [Vec<Span<'static>>; 5], width: usize) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (index, (cell, room)) in cells.into_iter().zip(COLUMNS).enumerate() {
        let width_min = match index {
            1 => MEDIUM,
            2 | 3 => WIDE,
            _ => 0,
        };
        if width < width_min {
            continue;
        }
        let used = super::cells(&cell);
        spans.extend(cell);
        spans.push(Span::raw(" ".repeat(room.saturating_sub(used))));
    }
    spans
}

fn headings(width: usize, palette: Palette) -> Vec<Span<'static>> {
    let cell = |text: &'static str| vec![Span::styled(text, palette.faint())];
    columns([cell("state"), cell("changes"), cell("time"), cell("cost"), cell("test")], width)
}

fn candidate(
    model: &Model,
    comparison: &Comparison,
    entry: &ComparisonEntry,
    here: At,
    width: usize,
) -> Vec<Line<'static>> {
    let palette = model.palette;
    let (mark, state, state_style) = state(comparison, entry, palette);
    let session = entry.session.as_ref();
    let changes = session.and_then(|session| session.changes);
    let cost = session.and_then(|session| session.cost.as_ref()).map(words::cost);
    let faint = |text: String| vec![Span::styled(text, palette.faint())];
    let right = columns(
        [
            vec![Span::styled(state, state_style)],
            changes.map(|it| counts(Some(it.added), Some(it.removed), palette)).unwrap_or_default(),
            faint(entry.duration_ms.map(words::took).unwrap_or_default()),
            faint(cost.unwrap_or_default()),
            tested(entry.test.as_ref(), palette),
        ],
        width,
    );
    let name_style = if here == At::Here { palette.open() } else { Style::new() };
    let left = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(format!("{mark} "), state_style),
        Span::styled(name(model, entry), name_style),
    ];
    let mut lines = vec![split_line(left, right, width)];
    let note = note(entry, here).map(|words| wrap::shorten(&clean::line(&words), width - 5));
    lines.extend(note.map(|words| Line::styled(format!("     {words}"), palette.removed())));
    lines
}

/// Why there is no session, or the last output of a failed test.
fn note(entry: &ComparisonEntry, here: At) -> Option<String> {
    let failure = entry.session.as_ref().and_then(|session| session.failure.as_ref());
    let failed = entry.test.as_ref().filter(|test| test.exit_code != Some(0) && here == At::Here);
    let said = failed.and_then(|test| {
        let last = test.output.lines().rfind(|line| !line.trim().is_empty())?;
        Some(format!("test: {}", last.trim()))
    });
    entry.error.clone().or_else(|| failure.map(|failure| failure.detail.clone())).or(said)
}

fn name(model: &Model, entry: &ComparisonEntry) -> String {
    let known = model.agents.iter().find(|agent| Some(&agent.cli_type) == entry.agent.as_ref());
    let title = known.map(|agent| agent.title.clone());
    let title = title.or_else(|| entry.agent.as_ref().map(ToString::to_string));
    let model = entry.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
    clean::line(&format!("{}{model}", title.unwrap_or_default()))
}

fn state(
    comparison: &Comparison,
    entry: &ComparisonEntry,
    palette: Palette,
) -> (&'static str, &'static str, Style) {
    let id = entry.session.as_ref().map(|session| session.id);
    let own = entry.session.as_ref().and_then(|session| session.worktree.as_ref());
    let is_removed = own.is_some_and(|own| own.removed.is_some());
    match (comparison.kept, entry.state) {
        (Some(kept), _) if Some(kept) == id => ("★", "kept", palette.good()),
        (Some(_), _) if is_removed => ("·", "discarded", palette.faint()),
        (_, ComparisonState::Working) => ("◐", "working", palette.good()),
        (_, ComparisonState::Waiting) => ("◆", "needs you", palette.news()),
        (_, ComparisonState::Testing) => ("◐", "testing", palette.good()),
        (_, ComparisonState::Ended) => ("●", "done", palette.here()),
        (_, ComparisonState::Failed) => ("✗", "failed", palette.bad()),
    }
}

fn tested(test: Option<&TestResult>, palette: Palette) -> Vec<Span<'static>> {
    let Some(test) = test else { return Vec::new() };
    vec![match test.exit_code {
        Some(0) => Span::styled("✓ passed", palette.good()),
        Some(code) => Span::styled(format!("✗ exit {code}"), palette.bad()),
        None => Span::styled("✗ no end", palette.bad()),
    }]
}
