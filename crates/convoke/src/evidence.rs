//! The evidence of a permission as text for people: commands as indented blocks, changes as unified
//! diffs.

use std::fmt::Write as _;
use std::time::Duration;

use convoke_core::content::Diff;
use convoke_core::evidence::Evidence;
use serde_json::Value;
use similar::TextDiff;

use crate::output::plain;

/// The indentation of evidence.
const INDENT: &str = "    ";
/// The time limit for comparing two texts; then the rest counts as changed.
const TIMEOUT: Duration = Duration::from_millis(50);

/// The evidence as indented lines, each with its line break.
pub(crate) fn text(evidence: &Evidence) -> String {
    let (mut text, omitted) = match evidence {
        Evidence::Command { command, working_directory, arguments, omitted_bytes } => {
            let mut text = block(command);
            if let Some(folder) = working_directory {
                text.push_str(&format!("in {}\n", plain(folder).replace('\n', " ")));
            }
            if let Some(arguments) = arguments {
                text.push_str(&format!("with these arguments:\n{}", json(arguments)));
            }
            (text, omitted_bytes)
        }
        Evidence::Changes { diffs, omitted_bytes } => (
            diffs.iter().map(|diff| block(&unified(diff))).collect::<Vec<_>>().join("\n"),
            omitted_bytes,
        ),
        Evidence::Read { paths, omitted_bytes } => {
            (paths.iter().map(|path| block(&format!("read {path}"))).collect(), omitted_bytes)
        }
        Evidence::Fetch { url, omitted_bytes } => (block(url), omitted_bytes),
        Evidence::Tool { server, tool, args, omitted_bytes } => {
            let of = server.as_ref().map(|server| format!(" of {server}")).unwrap_or_default();
            (format!("{}{}", block(&format!("{tool}{of}")), json(args)), omitted_bytes)
        }
    };
    if *omitted > 0 {
        // Writing into a text cannot fail.
        writeln!(text, "… {omitted} more bytes are not shown").ok();
    }
    text
}

/// Text that drives no terminal, indented.
fn block(text: &str) -> String {
    plain(text).lines().map(|line| format!("{INDENT}{line}\n")).collect()
}

/// A tool's arguments; nothing for a call without any.
fn json(value: &Value) -> String {
    if value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty) {
        return String::new();
    }
    // Values without maps of odd keys can always be written.
    block(&serde_json::to_string_pretty(value).unwrap_or_default())
}

fn unified(diff: &Diff) -> String {
    let old = diff.old_text.as_deref().unwrap_or_default();
    let from = if diff.old_text.is_some() { &*diff.path } else { "/dev/null" };
    let compared = TextDiff::configure().timeout(TIMEOUT).diff_lines(old, &diff.new_text);
    let hunks = compared.unified_diff().context_radius(3).missing_newline_hint(false).to_string();
    format!("--- {from}\n+++ {}\n{hunks}", diff.path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn p1_evidence_is_shown_as_a_block_a_diff_or_arguments() {
        let diff = |old: Option<&str>, new: &str| Diff {
            path: "a.rs".to_owned(),
            old_text: old.map(str::to_owned),
            new_text: new.to_owned(),
        };
        let all = [
            Evidence::command("cargo test \\\n  --all\u{1b}[2K".to_owned()),
            Evidence::Command {
                command: "make".to_owned(),
                working_directory: Some("/srv".to_owned()),
                arguments: Some(json!({"env": {"A": "b"}})),
                omitted_bytes: 12,
            },
            Evidence::Changes {
                diffs: vec![diff(Some("one\ntwo\n"), "one\n2\n"), diff(None, "new\n")],
                omitted_bytes: 0,
            },
            Evidence::Read { paths: vec!["a".to_owned(), "b".to_owned()], omitted_bytes: 0 },
            Evidence::Fetch { url: "https://docs.rs".to_owned(), omitted_bytes: 0 },
            Evidence::Tool {
                server: Some("github".to_owned()),
                tool: "list".to_owned(),
                args: json!({"n": 1}),
                omitted_bytes: 0,
            },
        ];
        insta::assert_snapshot!(all.iter().map(text).collect::<Vec<_>>().join("---\n"));
    }
}
