//! Factory Droid: `sessions/<escaped cwd>/<session>.jsonl`, with the usage in
//! `<session>.settings.json`.

use std::path::PathBuf;

use convoke_core::content::{PlanStatus, PlanStep};
use serde_json::Value;

use crate::assembly::{Assembly, Titled};
use crate::blocks;
use crate::edits::plan_step;
use crate::environment::Environment;
use crate::importer::{Form, Importer, Order, file_name};
use crate::item::Tokens;
use crate::json::{count, field, list, plain, text, time, word};
use crate::store::SiblingFiles;
use crate::wrapped::without;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["sessions/*/*.jsonl", "sessions/*.jsonl", "projects/*/*.jsonl"],
    beside: &[
        "sessions/*/*.settings.json",
        "sessions/*.settings.json",
        "projects/*/*.settings.json",
    ],
    locks: &[],
    programs: &["droid"],
    form: Form::Lines { begin, line, order: Order::File },
    known: None,
};

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let home = environment.folder("FACTORY_HOME_OVERRIDE");
    vec![home.map_or_else(|| environment.in_home(".factory"), |home| home.join(".factory"))]
}

fn begin(assembly: &mut Assembly, path: &str, beside: &mut SiblingFiles<'_>) {
    assembly.state.identity.id = file_name(path).trim_end_matches(".jsonl").to_owned();
    let settings = beside.json(&format!("{}.settings.json", path.trim_end_matches(".jsonl")));
    assembly.model(word(&settings, "model"));
    let usage = field(&settings, "tokenUsage");
    if !usage.is_null() {
        assembly.state.identity.tokens = Tokens {
            input: count(usage, "inputTokens"),
            output: count(usage, "outputTokens") + count(usage, "thinkingTokens"),
            cache_read: count(usage, "cacheReadTokens"),
            cache_write: count(usage, "cacheCreationTokens"),
        };
    }
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let record: Value = serde_json::from_slice(bytes)?;
    let at = time(field(&record, "timestamp"));
    let key = text(&record, "id").unwrap_or_else(|| assembly.line_key());
    assembly.seen_at(at);
    match word(&record, "type") {
        "session_start" => {
            assembly.state.identity.id = key;
            assembly.cwd(word(&record, "cwd"));
            let own = word(&record, "sessionTitle");
            assembly
                .title(if own.is_empty() { word(&record, "title") } else { own }, Titled::ByAgent);
            let identity = &mut assembly.state.identity;
            identity.parent = text(&record, "callingSessionId").or_else(|| text(&record, "parent"));
        }
        "message" => blocks::add(assembly, field(&record, "message"), &key, at, said),
        "todo_state" => assembly.plan(&key, steps(field(&record, "todos")), at),
        "compaction_state" => assembly.compacted(&key, &plain(field(&record, "summaryText")), at),
        "session_end" => {}
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

fn said(text: &str) -> String {
    without(text, &["system-reminder", "system-notification"])
}

/// A plan: a list of steps, or a text with a step a line, such as `1. [completed] look around`.
fn steps(todos: &Value) -> Vec<PlanStep> {
    let inner = todos.get("todos").unwrap_or(todos);
    if let Some(text) = inner.as_str() {
        return text.lines().filter_map(step_of_line).collect();
    }
    let listed = inner.as_array().map_or_else(|| list(todos, "items"), Vec::as_slice);
    listed.iter().filter_map(plan_step).collect()
}

fn step_of_line(line: &str) -> Option<PlanStep> {
    let (_, rest) = line.split_once('[')?;
    let (status, content) = rest.split_once(']')?;
    let status = match status {
        "completed" => PlanStatus::Completed,
        "in_progress" => PlanStatus::InProgress,
        _ => PlanStatus::Pending,
    };
    Some(PlanStep { content: content.trim().to_owned(), status, priority: None })
}
