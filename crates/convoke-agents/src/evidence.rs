//! The evidence of a permission: what a call is about, by the arguments of its tool. Titles are the
//! agent's words, and are not used.

mod paths;

use convoke_core::content::Diff;
use convoke_core::evidence::Evidence;
use convoke_core::rule::command_line;
use serde_json::{Map, Value};

pub use paths::resolve;

/// Argument names for a file.
const PATH_FIELDS: [&str; 7] =
    ["file_path", "notebook_path", "path", "filePath", "absolute_path", "abs_path", "target_file"];
/// Argument names for the working directory of a command.
const FOLDER_FIELDS: [&str; 6] =
    ["cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path"];
/// Arguments that do not change what a command does.
const IDLE_FIELDS: [&str; 8] = [
    "call_id",
    "description",
    "justification",
    "parsed_cmd",
    "reason",
    "timeout",
    "timeout_ms",
    "turn_id",
];
/// Argument names for the text before and after a change.
const EDIT_FIELDS: [(&str, &str); 4] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
];
/// Argument names for the whole text of a file.
const CONTENT_FIELDS: [&str; 4] = ["content", "contents", "file_text", "new_source"];
/// Shells that some agents start for every command, with the command as the last of three words.
const SHELLS: [&str; 9] = [
    "bash",
    "sh",
    "zsh",
    "/bin/bash",
    "/bin/sh",
    "/bin/zsh",
    "/usr/bin/bash",
    "/usr/bin/sh",
    "/usr/bin/zsh",
];
/// Tools that run a command, for agents that do not name the kind of their tools.
const SHELL_TOOLS: [&str; 6] =
    ["Bash", "bash", "shell", "run_shell_command", "run_terminal_cmd", "local_shell"];
/// The prefix of tools of MCP servers: `mcp__server__tool`.
const MCP_PREFIX: &str = "mcp__";

/// A tool call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool's name, if the agent names it.
    pub tool: Option<&'a str>,
    /// The kind of tool, as in ACP.
    pub kind: Option<&'a str>,
    /// The arguments.
    pub args: &'a Value,
    /// The changes that the agent announces separately.
    pub diffs: &'a [Diff],
}

/// The kind of one of Claude's tools, as in ACP.
pub fn kind_of(tool: &str) -> &'static str {
    match tool {
        "Read" | "NotebookRead" => "read",
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => "edit",
        "Bash" | "BashOutput" | "KillShell" | "TaskStop" => "execute",
        "Glob" | "Grep" | "WebSearch" | "ToolSearch" => "search",
        "WebFetch" => "fetch",
        "Task" | "Agent" | "TodoWrite" => "think",
        "EnterPlanMode" | "ExitPlanMode" => "switch_mode",
        _ => "other",
    }
}

/// The evidence of a call; `None` if it has neither arguments nor changes.
pub fn of_call(call: Call<'_>) -> Option<Evidence> {
    let parsed = as_object(call.args);
    let call = Call { args: parsed.as_ref().unwrap_or(call.args), ..call };
    let of_tool = match call.tool.and_then(of_mcp) {
        Some((server, tool)) => Some((Some(server), tool)),
        None => known_evidence(call)
            .is_none()
            .then(|| (None, call.tool.or(call.kind).unwrap_or("other"))),
    };
    let evidence = match of_tool {
        Some(_) if call.args.is_null() && call.diffs.is_empty() => return None,
        Some((server, tool)) => Evidence::Tool {
            server: server.map(str::to_owned),
            tool: tool.to_owned(),
            args: call.args.clone(),
            omitted_bytes: 0,
        },
        None => known_evidence(call)?,
    };
    Some(evidence.bounded())
}

/// The arguments as an object; some agents send them as a JSON string.
fn as_object(args: &Value) -> Option<Value> {
    serde_json::from_str(args.as_str()?).ok().filter(Value::is_object)
}

fn of_mcp(tool: &str) -> Option<(&str, &str)> {
    let (server, tool) = tool.strip_prefix(MCP_PREFIX)?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

/// The evidence of a call with a known shape of arguments.
fn known_evidence(call: Call<'_>) -> Option<Evidence> {
    let known = call.tool.map(kind_of).filter(|kind| *kind != "other");
    let is_shell = call.tool.is_some_and(|tool| SHELL_TOOLS.contains(&tool));
    match known.or(call.kind).unwrap_or("other") {
        "execute" => of_command(call.args),
        "other" if is_shell || call.tool.is_none() => of_command(call.args),
        "edit" => of_changes(call),
        "read" => of_read(call.args),
        "fetch" => {
            let url = call.args.get("url")?.as_str()?.to_owned();
            Some(Evidence::Fetch { url, omitted_bytes: 0 })
        }
        _ => None,
    }
}

fn of_command(args: &Value) -> Option<Evidence> {
    let args = args.as_object()?;
    let command = match args.get("command")? {
        Value::String(command) => command.clone(),
        Value::Array(words) => of_words(words)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let folder = FOLDER_FIELDS.iter().find(|field| args.get(**field).is_some_and(Value::is_string));
    let is_idle = |name: &str, value: &Value| {
        name == "command"
            || IDLE_FIELDS.contains(&name)
            || folder.is_some_and(|folder| *folder == name)
            || matches!(value, Value::Null | Value::Bool(false))
    };
    let further = args.iter().filter(|(name, value)| !is_idle(name, value));
    let further: Map<String, Value> =
        further.map(|(name, value)| (name.clone(), value.clone())).collect();
    Some(Evidence::Command {
        command,
        working_directory: folder.and_then(|folder| args.get(*folder)?.as_str()).map(str::to_owned),
        arguments: (!further.is_empty()).then_some(Value::Object(further)),
        omitted_bytes: 0,
    })
}

/// A program and its arguments as a line; for a shell with a script, the script.
fn of_words(words: &[Value]) -> Option<String> {
    let words: Vec<String> =
        words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    match words.as_slice() {
        [] => None,
        [shell, flag, script]
            if SHELLS.contains(&shell.as_str()) && ["-c", "-lc"].contains(&flag.as_str()) =>
        {
            Some(script.clone())
        }
        words => Some(command_line(words)),
    }
}

fn of_changes(call: Call<'_>) -> Option<Evidence> {
    let named = PATH_FIELDS.iter().find_map(|field| call.args.get(field)?.as_str());
    let diffs =
        if call.diffs.is_empty() { planned(named?, call.args)? } else { call.diffs.to_vec() };
    // The shown change must match the arguments.
    let is_same = |path: &str, named: &str| {
        let ends = |whole: &str, end: &str| {
            whole
                .strip_suffix(end.trim_start_matches("./"))
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        ends(path, named) || ends(named, path)
    };
    let fits = named.is_none_or(|named| diffs.iter().any(|diff| is_same(&diff.path, named)));
    fits.then_some(Evidence::Changes { diffs, omitted_bytes: 0 })
}

/// The changes that arguments announce.
fn planned(path: &str, args: &Value) -> Option<Vec<Diff>> {
    let edit = |change: &Value| {
        let texts = EDIT_FIELDS
            .iter()
            .find_map(|(old, new)| Some((change.get(old)?.as_str()?, change.get(new)?.as_str()?)));
        let (old, new) = texts?;
        let old_text = Some(old).filter(|old| !old.is_empty()).map(str::to_owned);
        Some(Diff { path: path.to_owned(), old_text, new_text: new.to_owned() })
    };
    if let Some(edits) = args.get("edits").and_then(Value::as_array) {
        return edits.iter().map(edit).collect();
    }
    if let Some(diff) = edit(args) {
        return Some(vec![diff]);
    }
    let content = CONTENT_FIELDS.iter().find_map(|field| args.get(field)?.as_str())?;
    Some(vec![Diff { path: path.to_owned(), old_text: None, new_text: content.to_owned() }])
}

fn of_read(args: &Value) -> Option<Evidence> {
    let one = PATH_FIELDS.iter().find_map(|field| args.get(field)?.as_str());
    let many = args.get("paths").and_then(Value::as_array);
    let paths: Vec<String> = match (one, many) {
        (Some(path), None) => vec![path.to_owned()],
        (None, Some(paths)) => {
            paths.iter().map(|path| path.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        (Some(_), Some(_)) | (None, None) => return None,
    };
    // Patterns may match more than one file.
    let is_plain = |path: &String| !path.is_empty() && !path.contains(['*', '?', '[', '{']);
    (!paths.is_empty() && paths.iter().all(is_plain))
        .then_some(Evidence::Read { paths, omitted_bytes: 0 })
}

#[cfg(test)]
mod tests;
