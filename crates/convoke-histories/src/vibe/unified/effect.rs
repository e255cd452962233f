//! Tool calls of Vibe 3, which are in one entry with their results.

use convoke_core::content::Diff;
use convoke_core::time::Timestamp;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome};
use crate::json::{field, list, path, plain, time, word};

/// Shows a call, and its result once it has one.
pub(super) fn show(assembly: &mut Assembly, id: &str, entry: &Value, at: Option<Timestamp>) {
    let detail = field(entry, "detail");
    // The tool's group is not part of its name for people.
    let tool = word(detail, "toolName");
    let tool = tool.rsplit('.').next().unwrap_or(tool);
    let args = field(detail, "input").clone();
    assembly.call(Call { id, tool, args, at, ..Call::default() });
    let ended = time(field(entry, "updatedAt"));
    if let Some(outcome) = outcome(tool, field(detail, "input"), field(entry, "state"), ended) {
        assembly.settle(id, outcome);
    }
}

fn outcome(tool: &str, input: &Value, state: &Value, at: Option<Timestamp>) -> Option<Outcome> {
    let output = field(state, "output");
    let result = field(output, "structured_content");
    let text = printed(state, result);
    match word(state, "status") {
        "completed" => {
            let code = field(result, "returncode").as_i64().filter(|code| *code != 0);
            let error = code.map(|code| format!("exit code {code}"));
            Some(Outcome { text, error, diffs: diffs(tool, input, output), at, before: None })
        }
        "failed" => {
            let error = path(state, &["error", "message"]).as_str().unwrap_or("failed");
            Some(Outcome { text, error: Some(error.to_owned()), at, ..Outcome::default() })
        }
        status @ ("cancelled" | "skipped") => {
            let reason = Some(word(state, "reason")).filter(|reason| !reason.is_empty());
            let error = Some(reason.unwrap_or(status).to_owned());
            Some(Outcome { text, error, at, ..Outcome::default() })
        }
        _ => None,
    }
}

/// The output of a tool: of a terminal, or about a file.
fn printed(state: &Value, result: &Value) -> String {
    let said = word(state, "outputText");
    if !said.is_empty() {
        return said.to_owned();
    }
    if result.get("stdout").is_some() {
        let printed = [word(result, "stdout"), word(result, "stderr")];
        let printed: Vec<&str> = printed.into_iter().filter(|text| !text.is_empty()).collect();
        return printed.join("\n");
    }
    match result.get("content") {
        Some(content) => plain(content),
        // A written file is shown as a diff.
        None if result.get("bytes_written").is_some() => String::new(),
        None if result.get("lines_changed").is_some() => String::new(),
        None => plain(result),
    }
}

/// The changes, with the whole path, and for an overwritten file its previous text.
fn diffs(tool: &str, input: &Value, output: &Value) -> Vec<Diff> {
    let result = field(output, "structured_content");
    let Some(path) = ["path", "file"].into_iter().find_map(|key| result.get(key)?.as_str()) else {
        return Vec::new();
    };
    let diff = |old: Option<&str>, new: &str| Diff {
        path: path.to_owned(),
        old_text: old.map(str::to_owned),
        new_text: new.to_owned(),
    };
    match (tool, field(input, "content")) {
        ("write_file", Value::String(new)) => vec![diff(before(output), new)],
        ("search_replace", Value::Array(_)) => list(input, "content")
            .iter()
            .map(|change| diff(Some(word(change, "old_str")), word(change, "new_str")))
            .collect(),
        _ => Vec::new(),
    }
}

/// The previous text of a file, which is in one of the notes about the result.
fn before(output: &Value) -> Option<&str> {
    let notes = field(output, "_meta").as_object()?;
    notes.values().find_map(|note| note.get("previous_content")?.as_str())
}
