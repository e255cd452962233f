//! Tool calls: their names, arguments, results and file changes.

use std::collections::BTreeMap;

use convoke_core::bounds::{clip, fit, fit_args};
use convoke_core::call;
use convoke_core::content::{Diff, PlanStatus, PlanStep, ToolResult, ToolStatus};
use convoke_core::session::{Report, ToolUpdate};
use serde_json::Value;

use super::{Conversation, list, word};
use crate::driver::WORDS_BYTES_MAX;
use crate::evidence::kind_of;

/// Open calls that are tracked; beyond that the oldest is evicted, and its result has no diffs.
const OPEN_MAX: usize = 1024;
/// Bytes of diffs of open calls that are stored; further calls are tracked without diffs.
const OPEN_BYTES_MAX: usize = 8 << 20;

/// The changes that open calls are about to make.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<String, Vec<Diff>>);

impl Calls {
    fn remember(&mut self, id: &str, diffs: Vec<Diff>) {
        if self.0.len() >= OPEN_MAX {
            self.0.pop_first();
        }
        let bytes: usize = self.0.values().flatten().map(weight).sum();
        let has_room = bytes + diffs.iter().map(weight).sum::<usize>() <= OPEN_BYTES_MAX;
        self.0.insert(id.to_owned(), if has_room { diffs } else { Vec::new() });
    }
}

fn weight(diff: &Diff) -> usize {
    diff.path.len() + diff.old_text.as_ref().map_or(0, String::len) + diff.new_text.len()
}

impl Conversation {
    /// Handles a call; `frame` shows whether a sub-agent makes it.
    pub(super) fn call(&mut self, block: &Value, frame: &Value) {
        let (id, tool, args) = (word(block, "id"), word(block, "name"), &block["input"]);
        if id.is_empty() {
            return;
        }
        let by = [word(frame, "task_description"), word(frame, "subagent_type")];
        let title = match by.into_iter().find(|name| !name.is_empty()) {
            Some(name) => Some(format!("{name}: {}", full_title(tool, args))),
            None => call::summary(args),
        };
        self.announce(id, tool, args, title);
        if tool == "TodoWrite" {
            let steps = list(args, "todos").iter().filter_map(plan_step).collect();
            self.report(Report::Planned(steps));
        }
    }

    /// Reports a call unless it was reported before; a permission request may precede its call.
    pub(super) fn announce(&mut self, id: &str, tool: &str, args: &Value, title: Option<String>) {
        if self.calls.0.contains_key(id) {
            return;
        }
        let diffs = fit(planned_diffs(tool, args));
        let result = ToolResult { diffs: diffs.clone(), ..ToolResult::default() };
        self.report(Report::ToolCalled(ToolUpdate {
            tool_call_id: id.to_owned(),
            tool: Some(tool.to_owned()),
            title,
            kind: Some(kind_of(tool).to_owned()),
            args: Some(fit_args(args.clone())),
            status: Some(ToolStatus::Running),
            result: (!diffs.is_empty()).then_some(result),
        }));
        self.calls.remember(id, diffs);
    }

    /// Handles the results of tools. Any other text in the user's role is the agent's own:
    /// summaries, replays, marks.
    pub(super) fn handle_results(&mut self, frame: &Value) {
        for block in list(&frame["message"], "content") {
            if word(block, "type") == "tool_result" {
                self.settle(block, &frame["tool_use_result"]);
            }
        }
    }

    /// Handles a result; `details` are further fields in the tool's own format.
    pub(super) fn settle(&mut self, block: &Value, details: &Value) {
        let id = word(block, "tool_use_id");
        let mut diffs = self.calls.0.remove(id).unwrap_or_default();
        let text = Some(cut(plain_text(&block["content"]))).filter(|text| !text.is_empty());
        let (status, result) = if block["is_error"] == true {
            let error = text.map(|text| without_tag(&text).to_owned());
            (ToolStatus::Error, ToolResult { error, ..ToolResult::default() })
        } else {
            if let ([diff], Some(before)) = (diffs.as_mut_slice(), details["originalFile"].as_str())
                && diff.old_text.is_none()
            {
                diff.old_text = Some(cut(before.to_owned()));
            }
            (ToolStatus::Complete, ToolResult { text, diffs, error: None })
        };
        self.report(Report::ToolCalled(ToolUpdate {
            tool_call_id: id.to_owned(),
            status: Some(status),
            result: Some(result),
            ..ToolUpdate::default()
        }));
    }
}

/// The summary of a call with the tool's name: `Bash: echo hi`.
pub(super) fn full_title(tool: &str, args: &Value) -> String {
    call::summary(args).map_or_else(|| tool.to_owned(), |summary| format!("{tool}: {summary}"))
}

/// The changes that a call announces. The text before a `Write` is only known after it.
fn planned_diffs(tool: &str, args: &Value) -> Vec<Diff> {
    let path = word(args, "file_path");
    let edit = |change: &Value| {
        let (old, new) = (change["old_string"].as_str()?, change["new_string"].as_str()?);
        let old_text = Some(old).filter(|old| !old.is_empty()).map(|old| cut(old.to_owned()));
        Some(Diff { path: path.to_owned(), old_text, new_text: cut(new.to_owned()) })
    };
    match tool {
        "Edit" => edit(args).into_iter().collect(),
        "MultiEdit" => list(args, "edits").iter().filter_map(edit).collect(),
        "Write" => {
            let written = args["content"].as_str().map(|text| cut(text.to_owned()));
            let diff = |new_text| Diff { path: path.to_owned(), old_text: None, new_text };
            written.map(diff).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn plan_step(todo: &Value) -> Option<PlanStep> {
    let status = match word(todo, "status") {
        "completed" => PlanStatus::Completed,
        "in_progress" => PlanStatus::InProgress,
        _ => PlanStatus::Pending,
    };
    let content = todo["content"].as_str()?.to_owned();
    Some(PlanStep { content, status, priority: None })
}

/// The text of a result, which is a string or a list of blocks.
fn plain_text(content: &Value) -> String {
    let Some(blocks) = content.as_array() else {
        return content.as_str().unwrap_or_default().to_owned();
    };
    let texts = blocks.iter().map(|block| match word(block, "type") {
        "text" => word(block, "text").to_owned(),
        other => format!("[{other}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// An error without the tag that marks it for the model.
fn without_tag(text: &str) -> &str {
    let inner = text.strip_prefix("<tool_use_error>");
    inner.and_then(|text| text.strip_suffix("</tool_use_error>")).unwrap_or(text)
}

/// The text, or the head and the tail of one that is too long for the log.
fn cut(text: String) -> String {
    if text.len() <= WORDS_BYTES_MAX { text } else { clip(&text, WORDS_BYTES_MAX) }
}
