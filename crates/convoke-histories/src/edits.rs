//! What the tools of all agents have in common: their kinds, summaries of calls, changed files and
//! plans. Recognised by the names of tools and fields, which the agents copied from each other.

pub(crate) mod patch;

use convoke_core::content::{Diff, PlanPriority, PlanStatus, PlanStep};
use serde_json::Value;

use crate::json::{list, word};

/// Where tools name a file.
const PATHS: [&str; 8] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "target_file",
    "abs_path",
    "filename",
];
/// Where tools have the text before and after a change.
const CHANGES: [(&str, &str); 5] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("before", "after"),
];
/// Where tools have the whole text of a file.
const CONTENTS: [&str; 5] = ["content", "contents", "file_text", "new_source", "text"];

/// The kind of a tool, as in ACP.
pub(crate) fn kind_of(tool: &str) -> &'static str {
    let name: String = tool
        .rsplit("__")
        .next()
        .unwrap_or(tool)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    match name.as_str() {
        "read" | "readfile" | "readmanyfiles" | "view" | "notebookread" | "readfiles" | "cat" => {
            "read"
        }
        "write" | "writefile" | "edit" | "editfile" | "multiedit" | "replace" | "strreplace"
        | "strreplaceeditor" | "searchreplace" | "create" | "createfile" | "applypatch"
        | "patch" | "notebookedit" | "editor" | "texteditor" | "strreplacefile" | "editfiles" => {
            "edit"
        }
        "bash" | "shell" | "execcommand" | "shellcommand" | "runshellcommand" | "runcommands"
        | "runcommand" | "execute" | "localshell" | "bashoutput" | "killshell" | "writestdin"
        | "executecommand" | "terminal" | "runterminalcmd" | "taskstop" => "execute",
        "grep" | "glob" | "ls" | "listdirectory" | "listfiles" | "search" | "searchfiles"
        | "searchcodebase" | "websearch" | "googlewebsearch" | "toolsearch" | "grepsearch"
        | "tree" | "find" => "search",
        "webfetch" | "fetch" | "fetchwebcontent" | "fetchurl" => "fetch",
        "task" | "agent" | "todowrite" | "updateplan" | "think" | "delegate" | "spawnagent" => {
            "think"
        }
        "enterplanmode" | "exitplanmode" | "exitspecmode" => "switch_mode",
        _ => "other",
    }
}

/// The files that a call changes, from its arguments.
pub(crate) fn diffs(tool: &str, args: &Value) -> Vec<Diff> {
    if kind_of(tool) != "edit" {
        return Vec::new();
    }
    let patch =
        ["input", "patch", "patchText", "diff"].iter().find_map(|key| args.get(key)?.as_str());
    if let Some(patch) = patch.or_else(|| args.as_str())
        && patch.contains("*** Begin Patch")
    {
        return patch::diffs(patch);
    }
    let Some(file) = path_of(args) else { return Vec::new() };
    let edits = list(args, "edits");
    if !edits.is_empty() {
        return edits.iter().filter_map(|edit| change(file, edit)).collect();
    }
    if let Some(diff) = change(file, args) {
        return vec![diff];
    }
    let text = CONTENTS.iter().find_map(|key| args.get(key)?.as_str());
    let diff =
        |text: &str| Diff { path: file.to_owned(), old_text: None, new_text: text.to_owned() };
    text.map(diff).into_iter().collect()
}

/// The file that a call names.
pub(crate) fn path_of(args: &Value) -> Option<&str> {
    PATHS.iter().find_map(|key| args.get(key)?.as_str())
}

fn change(file: &str, args: &Value) -> Option<Diff> {
    let (old, new) = CHANGES.iter().find_map(|(old, new)| {
        Some((args.get(old).and_then(Value::as_str).unwrap_or_default(), args.get(new)?.as_str()?))
    })?;
    let old_text = Some(old).filter(|old| !old.is_empty()).map(str::to_owned);
    Some(Diff { path: file.to_owned(), old_text, new_text: new.to_owned() })
}

/// The plan that a call announces, if it is a call that does so.
pub(crate) fn plan(tool: &str, args: &Value) -> Option<Vec<PlanStep>> {
    let key = match tool {
        "TodoWrite" | "todowrite" | "todo_write" | "write_todos" | "todo" | "TodoList"
        | "SetTodoList" => "todos",
        "update_plan" => "plan",
        _ => return None,
    };
    let steps: Vec<PlanStep> = list(args, key).iter().filter_map(plan_step).collect();
    Some(steps).filter(|steps| !steps.is_empty())
}

/// One step of a plan, as all agents write it.
pub(crate) fn plan_step(step: &Value) -> Option<PlanStep> {
    let content = ["content", "step", "title", "description"]
        .iter()
        .map(|key| word(step, key))
        .find(|text| !text.is_empty())?;
    let status = match word(step, "status") {
        "completed" | "done" => PlanStatus::Completed,
        "in_progress" => PlanStatus::InProgress,
        _ => PlanStatus::Pending,
    };
    let priority = match word(step, "priority") {
        "high" => Some(PlanPriority::High),
        "medium" => Some(PlanPriority::Medium),
        "low" => Some(PlanPriority::Low),
        _ => None,
    };
    Some(PlanStep { content: content.to_owned(), status, priority })
}
