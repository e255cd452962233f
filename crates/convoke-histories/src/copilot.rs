//! Copilot CLI: `session-state/<session>/events.jsonl`, typed events, with the name in `workspace.yaml`.

use std::path::PathBuf;

use convoke_core::time::Timestamp;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome, Titled};
use crate::environment::Environment;
use crate::importer::{Form, Importer, Order, file_name, folder_name};
use crate::item::Tokens;
use crate::json::{arguments, count, field, list, path, plain, time, time_in, word};
use crate::store::SiblingFiles;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["session-state/*/events.jsonl", "session-state/*.jsonl"],
    beside: &["session-state/*/workspace.yaml"],
    locks: &[
        "session-state/.session-operation-locks/{id}.lock",
        "session-state/{id}/.workspace-fork.lock",
    ],
    programs: &["copilot"],
    form: Form::Lines { begin, line, order: Order::File },
    known: None,
};

/// Kinds of events without content for people, or that repeat others.
const IDLE: [&str; 26] = [
    "abort",
    "assistant.message_delta",
    "assistant.reasoning_delta",
    "assistant.turn_end",
    "assistant.turn_start",
    "assistant.usage",
    "hook.end",
    "hook.start",
    "permission.completed",
    "permission.requested",
    "session.compaction_start",
    "session.idle",
    "session.info",
    "session.mode_changed",
    "session.plan_changed",
    "session.remote_steerable_changed",
    "session.resume",
    "session.shutdown",
    "session.snapshot_rewind",
    "session.task_complete",
    "session.truncation",
    "skill.invoked",
    "subagent.completed",
    "subagent.started",
    "system.message",
    "tool.execution_progress",
];

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let moved = environment.folder("COPILOT_HOME");
    vec![moved.unwrap_or_else(|| environment.in_home(".copilot"))]
}

fn begin(assembly: &mut Assembly, path: &str, beside: &mut SiblingFiles<'_>) {
    if file_name(path) != "events.jsonl" {
        assembly.state.identity.id = file_name(path).trim_end_matches(".jsonl").to_owned();
        return;
    }
    let id = folder_name(path, 1);
    assembly.state.identity.id = id.to_owned();
    let workspace = beside.read(&format!("session-state/{id}/workspace.yaml")).unwrap_or_default();
    let workspace = String::from_utf8_lossy(&workspace);
    let of = |key: &str| yaml_field(&workspace, key);
    let titled = if of("user_named") == "true" { Titled::ByUser } else { Titled::ByAgent };
    let name = [of("name"), of("summary")].into_iter().find(|name| !name.is_empty());
    assembly.title(name.unwrap_or_default(), titled);
    assembly.cwd(&of("cwd"));
    assembly.seen_at(time_in(&of("created_at")));
}

/// A field of a flat YAML file, without its quotes.
fn yaml_field(yaml: &str, key: &str) -> String {
    let value = yaml.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let value = value.unwrap_or_default().trim();
    if let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return serde_json::from_str(value).unwrap_or_else(|_| inner.to_owned());
    }
    let inner = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    inner.map_or_else(|| value.to_owned(), |inner| inner.replace("''", "'"))
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let event: Value = serde_json::from_slice(bytes)?;
    let (data, at) = (field(&event, "data"), time(field(&event, "timestamp")));
    let id = word(&event, "id");
    assembly.seen_at(at);
    // The work of a subagent is part of the call that started it.
    if !word(data, "parentToolCallId").is_empty() || !word(&event, "agentId").is_empty() {
        return Ok(());
    }
    match word(&event, "type") {
        "session.start" => {
            assembly.seen_at(time(field(data, "startTime")));
            assembly.cwd(path(data, &["context", "cwd"]).as_str().unwrap_or_default());
        }
        "session.context_changed" => assembly.cwd(word(data, "cwd")),
        "session.model_change" => assembly.model(word(data, "newModel")),
        "session.title_changed" => assembly.title(word(data, "title"), Titled::ByAgent),
        "user.message" => {
            if ["", "user"].contains(&word(data, "source")) {
                assembly.prompt(id, word(data, "content"), at);
            }
        }
        "assistant.message" => answer(assembly, data, id, at),
        "assistant.reasoning" => assembly.thought(id, word(data, "content"), at),
        "tool.execution_start" => {
            begin_call(assembly, data, word(data, "toolName"), at);
        }
        "tool.execution_complete" => settle(assembly, data, at),
        "tool.user_requested" => begin_call(assembly, data, word(data, "toolName"), at),
        "session.usage_record" => usage(assembly, field(data, "usage")),
        "session.compaction_complete" => {
            assembly.compacted(id, word(data, "summaryContent"), at);
        }
        "session.error" => assembly.advice(id, "error", word(data, "message"), at),
        "session.warning" => assembly.advice(id, "warning", word(data, "message"), at),
        kind if IDLE.contains(&kind) => {}
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

fn answer(assembly: &mut Assembly, data: &Value, id: &str, at: Option<Timestamp>) {
    assembly.thought(&format!("{id}/thought"), word(data, "reasoningText"), at);
    assembly.answer(id, word(data, "content"), at);
    assembly.model(word(data, "model"));
    for call in list(data, "toolRequests") {
        begin_call(assembly, call, word(call, "name"), at);
    }
}

fn begin_call(assembly: &mut Assembly, call: &Value, tool: &str, at: Option<Timestamp>) {
    let id = word(call, "toolCallId");
    // A call is announced with the answer and again when it runs.
    if !assembly.is_open(id) {
        let args = arguments(field(call, "arguments"));
        assembly.call(Call { id, tool, args, at, ..Call::default() });
    }
}

fn settle(assembly: &mut Assembly, data: &Value, at: Option<Timestamp>) {
    let result = field(data, "result");
    let text = result.get("content").map_or_else(|| plain(result), plain);
    // The last line is about the shell and not of the command.
    let text = match text.rsplit_once("\n<shellId:") {
        Some((printed, _)) => printed.to_owned(),
        None => text,
    };
    let code = path(data, &["shellExecution", "exitCode"]).as_i64().filter(|code| *code != 0);
    let failed = field(data, "success") == &Value::Bool(false);
    let why = path(data, &["error", "message"]).as_str().map(str::to_owned);
    let error = code.map(|code| format!("exit code {code}"));
    let error = why.or(error).or_else(|| failed.then(String::new));
    assembly.settle(word(data, "toolCallId"), Outcome { text, error, at, ..Outcome::default() });
}

/// The `cost` of a request counts requests of the subscription and no money.
fn usage(assembly: &mut Assembly, usage: &Value) {
    let cached = count(usage, "cacheReadTokens");
    assembly.used(Tokens {
        input: count(usage, "inputTokens").saturating_sub(cached),
        output: count(usage, "outputTokens"),
        cache_read: cached,
        cache_write: count(usage, "cacheWriteTokens"),
    });
    if let Some(size) = field(usage, "maxPromptTokens").as_u64() {
        assembly.state.identity.usage.context_size = Some(size);
    }
}
