//! Kimi Code: `sessions/<folder>/<session>/agents/<agent>/wire.jsonl`, an event log. The main
//! agent's log is the session; the others are its subagents. Its predecessor had one file per
//! session, with other events.

mod early;

use std::path::PathBuf;

use convoke_core::time::Timestamp;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome, Titled};
use crate::environment::Environment;
use crate::importer::{Form, Importer, Order, folder_name};
use crate::item::Tokens;
use crate::json::{arguments, count, field, is_set, path, plain, time, word};
use crate::store::SiblingFiles;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["sessions/*/*/agents/*/wire.jsonl", "sessions/*/*/wire.jsonl"],
    beside: &["sessions/*/*/state.json"],
    locks: &[],
    programs: &["kimi", "kimi-code", "kimi-cli"],
    form: Form::Lines { begin, line, order: Order::File },
    known: None,
};

/// Kinds of records without content for people, or that repeat others.
const IDLE: [&str; 29] = [
    "agent.message.appended",
    "agent.turn.ended",
    "agent.turn.started",
    "context.append_message",
    "context.clear",
    "context.undo",
    "file_history.checkpoint",
    "file_history.tracked",
    "full_compaction.begin",
    "full_compaction.cancel",
    "goal.update",
    "interaction.request",
    "interaction.resolved",
    "llm.request",
    "llm.tools_snapshot",
    "metadata",
    "permission.record_approval_result",
    "permission.set_mode",
    "plan_mode.enter",
    "plan_mode.exit",
    "plugin.session_start",
    "profile.bind",
    "prompt.completed",
    "runtime.set_binding",
    "token_counting.measured",
    "token_counting.turn_recorded",
    "tools.set_active_tools",
    "tools.update_store",
    "turn.ended",
];

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let now = environment.folder("KIMI_CODE_HOME");
    let before = environment.folder("KIMI_SHARE_DIR");
    vec![
        now.unwrap_or_else(|| environment.in_home(".kimi-code")),
        before.unwrap_or_else(|| environment.in_home(".kimi")),
    ]
}

fn begin(assembly: &mut Assembly, path: &str, beside: &mut SiblingFiles<'_>) {
    let is_early = folder_name(path, 2) != "agents";
    let session = folder_name(path, if is_early { 1 } else { 3 });
    let agent = if is_early { "main" } else { folder_name(path, 1) };
    let folder = folder_name(path, if is_early { 2 } else { 4 });
    let state = beside.json(&format!("sessions/{folder}/{session}/state.json"));
    assembly.cwd(word(&state, "cwd"));
    assembly.cwd(word(&state, "workDir"));
    if agent != "main" {
        assembly.state.identity.id = format!("{session}/{agent}");
        assembly.state.identity.parent = Some(session.to_owned());
        return;
    }
    assembly.state.identity.id = session.to_owned();
    let titled = if is_set(&state, "isCustomTitle") { Titled::ByUser } else { Titled::ByAgent };
    assembly.title(word(&state, "title"), titled);
    assembly.seen_at(time(field(&state, "createdAt")));
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let record: Value = serde_json::from_slice(bytes)?;
    let at = time(field(&record, "time")).or_else(|| time(field(&record, "timestamp")));
    assembly.seen_at(at);
    let kind = word(&record, "type");
    match kind {
        "" if record.get("message").is_some() => {
            early::add(assembly, field(&record, "message"), at);
        }
        "turn.prompt" | "turn.steer" => {
            let by = path(&record, &["origin", "kind"]).as_str().unwrap_or("user");
            let key = match word(&record, "promptId") {
                "" => assembly.line_key(),
                id => id.to_owned(),
            };
            if by == "user" || assembly.state.identity.parent.is_some() {
                assembly.prompt(&key, &plain(field(&record, "input")), at);
            }
        }
        "context.append_loop_event" => event(assembly, field(&record, "event"), at),
        "usage.record" => usage(assembly, &record),
        "config.update" => {
            assembly.cwd(word(&record, "cwd"));
            assembly.model(word(&record, "modelAlias"));
        }
        "context.apply_compaction" | "full_compaction.complete" => {
            let key = assembly.line_key();
            assembly.compacted(&key, word(&record, "summary"), at);
        }
        kind if IDLE.contains(&kind) => {}
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

/// Parses an event of a turn.
fn event(assembly: &mut Assembly, event: &Value, at: Option<Timestamp>) {
    let key = match word(event, "uuid") {
        "" => assembly.line_key(),
        id => id.to_owned(),
    };
    match word(event, "type") {
        "content.part" => part(assembly, field(event, "part"), &key, at),
        "tool.call" => assembly.call(Call {
            id: word(event, "toolCallId"),
            tool: word(event, "name"),
            args: arguments(field(event, "args")),
            at,
            ..Call::default()
        }),
        "tool.result" => {
            settle(assembly, word(event, "toolCallId"), field(event, "result"), at);
        }
        _ => {}
    }
}

fn part(assembly: &mut Assembly, part: &Value, key: &str, at: Option<Timestamp>) {
    match word(part, "type") {
        "text" => assembly.answer(key, word(part, "text"), at),
        "think" => {
            let text = match word(part, "think") {
                "" => word(part, "text"),
                text => text,
            };
            assembly.thought(key, text, at);
        }
        _ => {}
    }
}

fn settle(assembly: &mut Assembly, id: &str, result: &Value, at: Option<Timestamp>) {
    let text = match plain(field(result, "output")) {
        text if text.is_empty() => word(result, "message").to_owned(),
        text => text,
    };
    // The flag's name changed with the format.
    let outcome = if is_set(result, "isError") || is_set(result, "is_error") {
        Outcome { error: Some(text), at, ..Outcome::default() }
    } else {
        Outcome { text, at, ..Outcome::default() }
    };
    assembly.settle(id, outcome);
}

fn usage(assembly: &mut Assembly, record: &Value) {
    assembly.model(word(record, "model"));
    let usage = field(record, "usage");
    assembly.used(Tokens {
        input: count(usage, "inputOther"),
        output: count(usage, "output"),
        cache_read: count(usage, "inputCacheRead"),
        cache_write: count(usage, "inputCacheCreation"),
    });
}
