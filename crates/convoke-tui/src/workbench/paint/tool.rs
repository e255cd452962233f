//! A tool call: what it is, how far it is, what went in and what came out.

use convoke_api::entry::ToolCall;
use convoke_core::content::ToolStatus;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::{Fold, Paper, diff};
use crate::text::{clean, wrap};

/// Lines of arguments that are shown.
const ARGS_LINES_MAX: usize = 30;
/// Lines of output that are shown.
const OUTPUT_LINES_MAX: usize = 200;
/// Lines of a failure that are shown while the card is folded.
const ERROR_LINES_MAX: usize = 3;

/// What stands before everything inside of a card.
const MARGIN: &str = "  │ ";

/// The card.
pub(super) fn card(paper: &mut Paper, call: &ToolCall, fold: Fold) {
    let palette = paper.palette;
    let (mark, style) = match call.status {
        ToolStatus::Running => ("◐ ", palette.news()),
        ToolStatus::Complete => ("✓ ", palette.good()),
        ToolStatus::Error => ("✗ ", palette.bad()),
    };
    let title = call.title.as_deref().filter(|title| !title.trim().is_empty());
    let title = clean::line(title.unwrap_or(&call.name));
    let mut spans = vec![Span::styled(title.clone(), palette.strong())];
    let kind = call.kind.as_deref().unwrap_or(&call.name);
    if !title.contains(kind) {
        spans.push(Span::styled(format!("  {}", clean::line(kind)), palette.faint()));
    }
    if call.status == ToolStatus::Running {
        spans.push(Span::styled("  running", palette.news()));
    }
    paper.row(mark, "  ", style, &spans);
    match fold {
        Fold::Folded => folded(paper, call),
        Fold::Unfolded => unfolded(paper, call),
    }
}

fn folded(paper: &mut Paper, call: &ToolCall) {
    for change in &call.diffs {
        diff::summary(paper, change);
    }
    if let Some(error) = &call.error {
        let bad = paper.palette.bad();
        paper.excerpt("  ", error, ERROR_LINES_MAX, bad);
        return;
    }
    let output = call.result.as_deref().map(str::trim).unwrap_or_default();
    if call.diffs.is_empty()
        && let Some(line) = output.lines().next()
    {
        let lines = output.lines().count();
        let more = if lines > 1 { format!("  … {lines} lines") } else { String::new() };
        let room = paper.width.saturating_sub(2 + wrap::width(&more));
        let text = wrap::shorten(&clean::line(super::head(line, 1024)), room);
        paper.lines.push(Line::styled(format!("  {text}{more}"), paper.palette.faint()));
    }
}

fn unfolded(paper: &mut Paper, call: &ToolCall) {
    let palette = paper.palette;
    arguments(paper, &call.args);
    for change in &call.diffs {
        diff::hunks(paper, change);
    }
    if let Some(output) = call.result.as_deref().filter(|output| !output.trim().is_empty()) {
        heading(paper, "output");
        paper.excerpt(MARGIN, output, OUTPUT_LINES_MAX, Style::new());
    }
    if let Some(error) = &call.error {
        heading(paper, "error");
        paper.excerpt(MARGIN, error, OUTPUT_LINES_MAX, palette.bad());
    }
}

fn arguments(paper: &mut Paper, args: &Value) {
    let text = match args {
        Value::Null => return,
        Value::Object(fields) if fields.is_empty() => return,
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match value.as_str() {
                Some(text) => format!("{name}: {text}"),
                None => format!("{name}: {value}"),
            };
            fields.iter().map(field).collect::<Vec<_>>().join("\n")
        }
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => args.to_string(),
    };
    heading(paper, "input");
    let code = paper.palette.code();
    paper.excerpt(MARGIN, &text, ARGS_LINES_MAX, code);
}

pub(super) fn heading(paper: &mut Paper, text: &str) {
    let line = Line::styled(format!("  ├ {text}"), paper.palette.faint());
    paper.lines.push(line);
}
