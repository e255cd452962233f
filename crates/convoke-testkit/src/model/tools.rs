//! Which of an agent's tools a prompt means: agents name their shell and their tool that writes files as they like.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Names of shell tools.
const SHELLS: [&str; 13] = [
    "Bash",
    "mcp__acp__Bash",
    "exec_command",
    "shell_command",
    "shell",
    "run_shell_command",
    "bash",
    "developer__shell",
    "execute_command",
    "run_commands",
    "run_command",
    "Execute",
    "Shell",
];
/// Names of tools that write a file.
const WRITERS: [&str; 7] =
    ["Write", "mcp__acp__Write", "write_file", "write", "write_to_file", "Create", "WriteFile"];

/// Names of tools that search for other tools.
const SEARCHES: [&str; 2] = ["ToolSearch", "tool_search"];

/// Our question tool.
const ASK: &str = "ask_user_questions";
/// Our server of tools.
const SERVER: &str = "convoke";
/// The tool of vibe that runs a script, which is its only access to tools of MCP servers.
const SCRIPTS: &str = "run_typescript";

/// A tool that the model is offered.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tool {
    /// The schema of its arguments.
    pub(super) schema: Value,
    /// The group that it belongs to, which a call must name.
    pub(super) namespace: Option<String>,
}

/// The tools that the model is offered, by name.
pub(super) type Tools = BTreeMap<String, Tool>;

/// A call of the tool that is meant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meant {
    pub(super) name: String,
    pub(super) args: Value,
    pub(super) namespace: Option<String>,
}

/// The call that a verb of the script means; none if the agent has no such tool.
pub(super) fn meant(verb: &str, rest: &str, tools: &Tools, hidden: Option<&str>) -> Option<Meant> {
    let (name, args) = match verb {
        "tool" => {
            let (name, args) = rest.split_once(' ').unwrap_or((rest, "{}"));
            // A mistake in a test shows as an invalid tool call.
            (name.to_owned(), serde_json::from_str(args).unwrap_or_else(|_| json!(args)))
        }
        "shell" => shell(rest, tools)?,
        "write" => write(rest, tools)?,
        "ask" => ask(rest, tools, hidden)?,
        _ => return None,
    };
    let namespace = tools.get(&name).and_then(|tool| tool.namespace.clone());
    Some(Meant { name, args, namespace })
}

fn ask(rest: &str, tools: &Tools, hidden: Option<&str>) -> Option<(String, Value)> {
    let args = serde_json::from_str(rest).unwrap_or_else(|_| json!(rest));
    if let Some(name) = tools.keys().find(|name| name.ends_with(ASK)) {
        return Some((name.clone(), args));
    }
    if SEARCHES.iter().any(|name| tools.contains_key(*name)) {
        return Some((hidden?.to_owned(), args));
    }
    tools.contains_key(SCRIPTS).then(|| {
        let call = format!("tools.mcp_{SERVER}.{ASK}({args})");
        let code = format!("async function main() {{ return await {call}; }}");
        (SCRIPTS.to_owned(), json!({"code": code}))
    })
}

/// The name of our question tool in the request to a model: Claude, qwen and droid offer the tools of servers only by
/// name, to a model that searches for them.
pub(super) fn hidden_ask(told: &Value) -> Option<String> {
    match told {
        Value::String(text) => {
            let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            words.find(|word| word.contains(SERVER) && word.ends_with(ASK)).map(str::to_owned)
        }
        Value::Array(items) => items.iter().find_map(hidden_ask),
        Value::Object(fields) => fields.values().find_map(hidden_ask),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn shell(command: &str, tools: &Tools) -> Option<(String, Value)> {
    let name = SHELLS.into_iter().find(|name| tools.contains_key(*name))?;
    let fields = fields(name, tools);
    let mut args = Map::new();
    let key = first(&fields, &["command", "cmd", "commands"]).unwrap_or("command");
    let is_list = key == "commands" || fields.get(key).is_some_and(|it| it["type"] == "array");
    let value = match (key, is_list) {
        ("commands", _) => json!([command]),
        (_, true) => json!(["bash", "-lc", command]),
        (_, false) => json!(command),
    };
    args.insert(key.to_owned(), value);
    let extras = [
        // Otherwise Codex does not ask.
        ("sandbox_permissions", json!("require_escalated")),
        ("justification", json!("scripted")),
        ("description", json!("scripted")),
        ("summary", json!("scripted")),
        ("requires_approval", json!(true)),
        ("is_background", json!(false)),
        ("riskLevel", json!("medium")),
        ("riskLevelReason", json!("scripted")),
    ];
    for (extra, value) in extras {
        if fields.contains_key(extra) {
            args.insert(extra.to_owned(), value);
        }
    }
    Some((name.to_owned(), args.into()))
}

fn write(rest: &str, tools: &Tools) -> Option<(String, Value)> {
    let (path, content) = rest.split_once('|').unwrap_or((rest, ""));
    let Some(name) = WRITERS.into_iter().find(|name| tools.contains_key(*name)) else {
        return shell(&format!("printf %s '{content}' > '{path}'"), tools);
    };
    let fields = fields(name, tools);
    let key = first(&fields, &["file_path", "filePath", "path", "absolutePath"]);
    let text = first(&fields, &["content", "file_text", "contents", "new_text"]);
    let args = json!({key.unwrap_or("file_path"): path, text.unwrap_or("content"): content});
    Some((name.to_owned(), args))
}

fn fields(name: &str, tools: &Tools) -> Map<String, Value> {
    let schema = tools.get(name).map(|tool| &tool.schema);
    schema.and_then(|it| it["properties"].as_object()).cloned().unwrap_or_default()
}

fn first<'a>(fields: &Map<String, Value>, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| fields.contains_key(*name))
}
