//! Tool calls in one line, made of their arguments.

use serde_json::Value;

use crate::bounds::beginning;

/// Characters of a summary.
const SUMMARY_CHARS_MAX: usize = 500;
/// The fields that say most about a call, best first, as the agents call them.
const SUMMARY_FIELDS: [&str; 13] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "skill",
    "description",
    "prompt",
    "plan",
];

/// The summary of a call in one line; `None` if its arguments have none of the known fields.
pub fn summary(args: &Value) -> Option<String> {
    let text = SUMMARY_FIELDS.iter().find_map(|field| text_of(args.get(field)?));
    let commands = || args.get("commands")?.as_array()?.iter().find_map(text_of);
    let text = text.or_else(commands)?;
    // Lines are joined visibly: a command must not hide behind its first line.
    let line = text.trim().lines().collect::<Vec<_>>().join(" ⏎ ");
    Some(beginning(&line, SUMMARY_CHARS_MAX)).filter(|summary| !summary.is_empty())
}

/// A value as text; for a list of words, without those of the shell.
fn text_of(value: &Value) -> Option<String> {
    let Some(words) = value.as_array() else { return value.as_str().map(str::to_owned) };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [] => None,
        [shell, "-c" | "-lc", command] if is_shell(shell) => Some((*command).to_owned()),
        words => Some(words.join(" ")),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_summarized_by_the_field_that_says_most() {
        let cases = [
            (json!({"description": "Runs it", "command": "cargo test\nls"}), "cargo test ⏎ ls"),
            (json!({"cmd": ["bash", "-lc", "ls | wc -l"]}), "ls | wc -l"),
            (json!({"cmd": ["/bin/sh", "-c", "ls"]}), "ls"),
            (json!({"cmd": ["ls", "-l"]}), "ls -l"),
            (json!({"cmd": ["python3", "-c", "print(1)"]}), "python3 -c print(1)"),
            (json!({"commands": [{}, "make"]}), "make"),
            (json!({"filePath": "a.rs"}), "a.rs"),
        ];
        for (args, expected) in cases {
            assert_eq!(summary(&args).as_deref(), Some(expected), "{args}");
        }
        for args in [json!({}), json!({"command": " "}), json!({"cmd": []}), json!("ls")] {
            assert_eq!(summary(&args), None, "{args}");
        }
    }
}
