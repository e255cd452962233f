//! Gemini CLI: `tmp/<project>/chats/session-*.jsonl`, a log of changes: a message that is written again replaces the one
//! before, and `$set` changes fields of the whole. Older versions have one document a session, with the same messages.

use std::path::PathBuf;

use convoke_core::content::Diff;
use convoke_core::time::Timestamp;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome, Titled};
use crate::environment::Environment;
use crate::importer::{Form, Importer, Order, file_name, folder_name};
use crate::item::Tokens;
use crate::json::{count, field, list, path, plain, time, word};
use crate::store::SiblingFiles;
use crate::wrapped::unwrapped;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &[
        "tmp/*/chats/session-*.jsonl",
        "tmp/*/chats/session-*.json",
        "tmp/*/chats/*/*.jsonl",
    ],
    beside: &["projects.json", "tmp/*/.project_root"],
    locks: &[],
    programs: &["gemini", "gemini-cli"],
    form: Form::Lines { begin, line, order: Order::File },
    known: None,
};

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let home = environment.folder("GEMINI_CLI_HOME");
    vec![home.map_or_else(|| environment.in_home(".gemini"), |home| home.join(".gemini"))]
}

fn begin(assembly: &mut Assembly, path: &str, beside: &mut SiblingFiles<'_>) {
    let stem = file_name(path).trim_end_matches(".jsonl").trim_end_matches(".json");
    assembly.state.identity.id = stem.to_owned();
    // A subagent's file is in a folder with the name of its session.
    if folder_name(path, 2) == "chats" {
        assembly.state.identity.parent = Some(folder_name(path, 1).to_owned());
    }
    let project = path.split('/').nth(1).unwrap_or_default();
    if let Some(root) = beside.read(&format!("tmp/{project}/.project_root")) {
        assembly.cwd(String::from_utf8_lossy(&root).trim());
        return;
    }
    let projects = beside.json("projects.json");
    let projects = field(&projects, "projects").as_object();
    let cwd = projects.into_iter().flatten().find(|(_, slug)| slug.as_str() == Some(project));
    assembly.cwd(cwd.map_or("", |(cwd, _)| cwd));
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let record: Value = serde_json::from_slice(bytes)?;
    if let Some(set) = record.get("$set") {
        list(set, "messages").iter().for_each(|message| add(assembly, message));
        head(assembly, set);
    } else if record.get("$rewindTo").is_some() {
        assembly.rewound(None);
    } else if record.get("type").is_some() {
        let kind = word(&record, "type");
        if ["user", "gemini", "info", "warning", "error"].contains(&kind) {
            add(assembly, &record);
        } else {
            assembly.unknown(kind, bytes);
        }
    } else {
        head(assembly, &record);
    }
    Ok(())
}

/// Fields of the whole conversation.
fn head(assembly: &mut Assembly, record: &Value) {
    if let Some(id) = record.get("sessionId").and_then(Value::as_str) {
        assembly.state.identity.id = id.to_owned();
    }
    assembly.seen_at(time(field(record, "startTime")));
    assembly.seen_at(time(field(record, "lastUpdated")));
    assembly.title(word(record, "summary"), Titled::ByAgent);
}

fn add(assembly: &mut Assembly, message: &Value) {
    let (id, at) = (word(message, "id"), time(field(message, "timestamp")));
    let content = field(message, "content");
    match word(message, "type") {
        "user" => {
            let said = words(content);
            let is_context = said.trim_start().starts_with("<session_context>");
            if !is_context {
                assembly.prompt(id, &said, at);
            }
        }
        "gemini" => answer(assembly, message, id, at),
        kind @ ("info" | "warning" | "error") => assembly.advice(id, kind, &plain(content), at),
        _ => {}
    }
}

/// The texts of a message; results of tools are in the answer that called them.
fn words(content: &Value) -> String {
    let Some(parts) = content.as_array() else { return plain(content) };
    let texts: Vec<&str> =
        parts.iter().map(|part| word(part, "text")).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

fn answer(assembly: &mut Assembly, message: &Value, id: &str, at: Option<Timestamp>) {
    for (place, thought) in list(message, "thoughts").iter().enumerate() {
        let (subject, description) = (word(thought, "subject"), word(thought, "description"));
        let text = match subject {
            "" => description.to_owned(),
            subject => format!("{subject}\n\n{description}"),
        };
        assembly.thought(&format!("{id}/thought/{place}"), &text, at);
    }
    assembly.answer(id, &words(field(message, "content")), at);
    list(message, "toolCalls").iter().for_each(|call| add_call(assembly, call));
    assembly.model(word(message, "model"));
    let tokens = field(message, "tokens");
    if !tokens.is_null() && assembly.is_first(id) {
        let cached = count(tokens, "cached");
        assembly.used(Tokens {
            input: count(tokens, "input").saturating_sub(cached),
            output: count(tokens, "output") + count(tokens, "thoughts"),
            cache_read: cached,
            cache_write: 0,
        });
    }
}

fn add_call(assembly: &mut Assembly, call: &Value) {
    let (id, at) = (word(call, "id"), time(field(call, "timestamp")));
    let args = field(call, "args").clone();
    assembly.call(Call { id, tool: word(call, "name"), args, at, ..Call::default() });
    let status = word(call, "status");
    if !["success", "error", "cancelled"].contains(&status) {
        return;
    }
    let responses = list(call, "result").iter();
    let responses = responses.map(|it| path(it, &["functionResponse", "response"]));
    let texts: Vec<String> = responses
        .map(|response| match response.get("output").or_else(|| response.get("error")) {
            Some(text) => {
                unwrapped(&plain(text), "untrusted_context").trim_matches('\n').to_owned()
            }
            None => plain(response),
        })
        .collect();
    let text = texts.join("\n");
    let display = field(call, "resultDisplay");
    let outcome = match status {
        "success" => Outcome { text, diffs: changed(display), at, ..Outcome::default() },
        _ => Outcome { error: Some(text), at, ..Outcome::default() },
    };
    assembly.settle(id, outcome);
}

/// The changes of a call, as they were shown to the user.
fn changed(display: &Value) -> Vec<Diff> {
    let Some(new) = display.get("newContent").and_then(Value::as_str) else { return Vec::new() };
    let old = display.get("originalContent").and_then(Value::as_str);
    let path = match word(display, "filePath") {
        "" => word(display, "fileName"),
        path => path,
    };
    let old_text = old.filter(|old| !old.is_empty()).map(str::to_owned);
    vec![Diff { path: path.to_owned(), old_text, new_text: new.to_owned() }]
}
