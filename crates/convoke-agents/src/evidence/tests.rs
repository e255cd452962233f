//! Evidence of calls as agents make them, and what rules say about them.

mod attacks;

use serde_json::json;

use super::*;

fn named(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn of(tool: &str, kind: &str, args: &Value) -> String {
    let call = Call { tool: named(tool), kind: named(kind), args, diffs: &[] };
    serde_json::to_string(&of_call(call)).unwrap()
}

#[test]
fn p1_evidence_is_made_of_the_arguments_of_each_sort_of_tool() {
    let said = [
        of("Bash", "", &json!({"command": "ls", "description": "List", "timeout": 5})),
        of("Bash", "", &json!({"command": "ls", "run_in_background": true})),
        of("Bash", "", &json!({"command": "ls", "dangerouslyDisableSandbox": false})),
        of("", "execute", &json!({"command": ["bash", "-lc", "cargo test"], "cwd": "/srv"})),
        of("", "execute", &json!({"command": ["cargo", "test", "a b"]})),
        of("", "execute", &json!({"command": ["bash", "-lc", "a", "b"]})),
        of("", "execute", &json!("{\"command\":\"echo hi\"}")),
        of("", "execute", &json!({"cmd": "ls"})),
        of("Edit", "", &json!({"file_path": "a", "old_string": "x", "new_string": "y"})),
        of(
            "MultiEdit",
            "",
            &json!({"file_path": "a", "edits": [{"old_string": "", "new_string": "y"}]}),
        ),
        of("Write", "", &json!({"file_path": "a", "content": "c"})),
        of("NotebookEdit", "", &json!({"notebook_path": "a.ipynb", "new_source": "c"})),
        of("", "edit", &json!({"path": "a", "diff": "@@"})),
        of("Read", "", &json!({"file_path": "a"})),
        of("", "read", &json!({"paths": ["a", "b"]})),
        of("", "read", &json!({"paths": ["a/*"]})),
        of("WebFetch", "", &json!({"url": "https://docs.rs", "prompt": "p"})),
        of("mcp__github__list_issues", "", &json!({"command": "x"})),
        of("mcp__github__list_issues", "execute", &json!({"command": "x"})),
        of("WebSearch", "", &json!({"query": "q"})),
        of("", "delete", &json!({"path": "a"})),
        of("", "execute", &Value::Null),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn p1_changes_that_are_not_to_the_file_that_the_arguments_name_are_shown_as_arguments() {
    let diff =
        |path: &str| Diff { path: path.to_owned(), old_text: None, new_text: "x".to_owned() };
    for (named, shown, fits) in [
        ("/srv/src/a.rs", "src/a.rs", true),
        ("src/a.rs", "/srv/src/a.rs", true),
        ("./a.rs", "a.rs", true),
        ("/etc/passwd", "src/a.rs", false),
        ("xa.rs", "a.rs", false),
    ] {
        let (args, diffs) = (json!({"path": named}), [diff(shown)]);
        let call = Call { tool: None, kind: Some("edit"), args: &args, diffs: &diffs };
        let evidence = of_call(call).unwrap();
        assert_eq!(matches!(evidence, Evidence::Changes { .. }), fits, "{named} {shown}");
    }
}
