//! A tool call: its title, status, arguments and result.

use convoke_api::entry::ToolCall;
use convoke_core::content::ToolStatus;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::{Fold, WaitsFor};
use crate::text::line_buffer::{Excerpt, LineBuffer, head};
use crate::text::{ansi, clean, diff, wrap};
use crate::workbench::chat::Run;

/// Lines of arguments that are shown.
const ARGS_LINES: Excerpt = Excerpt::Head(30);
/// Lines of output that are shown.
const OUTPUT_LINES: Excerpt = Excerpt::Head(200);
/// Lines of a failure that are shown while the card is collapsed: the first, and the last ones.
const ERROR_LINES: Excerpt = Excerpt::Tail(6);

/// The prefix of every line in a card.
const MARGIN: &str = "  │ ";

/// Several calls that only looked, in one line.
pub(super) fn run(line_buffer: &mut LineBuffer, run: Run) {
    let palette = line_buffer.palette;
    let spans = [Span::styled(run.to_string(), palette.faint())];
    line_buffer.row("✓ ", "  ", palette.good(), &spans);
}

/// The card.
pub(super) fn card(line_buffer: &mut LineBuffer, call: &ToolCall, waits_for: WaitsFor, fold: Fold) {
    let palette = line_buffer.palette;
    let (mark, style, state) = match (call.status, waits_for) {
        (ToolStatus::Running, WaitsFor::Tool) => ("◐ ", palette.news(), "  running"),
        (ToolStatus::Running, WaitsFor::Human) => ("◆ ", palette.news(), "  needs your answer"),
        (ToolStatus::Complete, _) => ("✓ ", palette.good(), ""),
        (ToolStatus::Error, _) => ("✗ ", palette.bad(), ""),
    };
    let title = call.title.as_deref().filter(|title| !title.trim().is_empty());
    let title = clean::line(title.unwrap_or(&call.name));
    let mut spans = vec![Span::styled(title.clone(), palette.strong())];
    let kind = call.kind.as_deref().unwrap_or(&call.name);
    if !title.to_lowercase().contains(&kind.to_lowercase()) {
        spans.push(Span::styled(format!("  {}", clean::line(kind)), palette.faint()));
    }
    spans.push(Span::styled(state, palette.news()));
    line_buffer.row(mark, "  ", style, &spans);
    match fold {
        Fold::Folded => folded(line_buffer, call),
        Fold::Unfolded => unfolded(line_buffer, call),
    }
}

fn folded(line_buffer: &mut LineBuffer, call: &ToolCall) {
    let palette = line_buffer.palette;
    for change in &call.diffs {
        diff::summary(line_buffer, change);
    }
    let output = call.result.as_deref().map(str::trim).unwrap_or_default();
    if let Some(error) = &call.error {
        line_buffer.output("  ", error, ERROR_LINES, palette.bad());
        if !output.is_empty() && !error.contains(output) {
            line_buffer.output("  ", output, ERROR_LINES, palette.faint());
        }
        return;
    }
    if call.diffs.is_empty()
        && let Some(line) = output.lines().next()
    {
        let lines = output.lines().count();
        let more = if lines > 1 { format!("  … {lines} lines") } else { String::new() };
        let room = line_buffer.width.saturating_sub(2 + wrap::width(&more));
        let first = ansi::lines(head(line, 1024), palette.faint(), palette);
        let first: String = first.iter().flatten().map(|span| &*span.content).collect();
        let text = wrap::shorten(&first, room);
        line_buffer.lines.push(Line::styled(format!("  {text}{more}"), palette.faint()));
    }
}

fn unfolded(line_buffer: &mut LineBuffer, call: &ToolCall) {
    let palette = line_buffer.palette;
    arguments(line_buffer, &call.args);
    for change in &call.diffs {
        line_buffer.heading(&clean::line(&change.path));
        diff::hunks(line_buffer, change);
    }
    if let Some(output) = call.result.as_deref().filter(|output| !output.trim().is_empty()) {
        line_buffer.heading("output");
        line_buffer.output(MARGIN, output, OUTPUT_LINES, Style::new());
    }
    if let Some(error) = &call.error {
        line_buffer.heading("error");
        line_buffer.output(MARGIN, error, OUTPUT_LINES, palette.bad());
    }
}

fn arguments(line_buffer: &mut LineBuffer, args: &Value) {
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
    line_buffer.heading("input");
    let code = line_buffer.palette.code();
    line_buffer.output(MARGIN, &text, ARGS_LINES, code);
}
