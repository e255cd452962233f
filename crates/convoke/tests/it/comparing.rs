//! One prompt for several agents, each in a work tree of its own.

use std::fs;

use serde_json::{Value, json};

use crate::worktree_scene::{app, daemon, git};

#[test]
fn c8_agents_are_compared_by_changes_time_and_test_and_one_is_kept() {
    let daemon = daemon();
    let app = app(&daemon);
    let body = json!({
        "repoId": daemon.project(),
        "prompt": "echo $PPID > answer.txt; [ -e ../first ] || { mkdir ../first 2>&1; echo one > one.txt; }",
        "entries": [{"agent": "shell"}, {"agent": "shell"}, {"agent": "missing"}],
        "test": "test -e answer.txt && echo fine",
    });
    let begun = daemon.post("/api/comparisons", &body);
    assert_eq!(begun.status, 201, "{begun:?}");
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    let comparison: Value = loop {
        let now = daemon.get(&format!("/api/comparisons/{id}")).json();
        if now["done"] == true {
            break now;
        }
        std::thread::yield_now();
    };
    let entries = comparison["entries"].as_array().unwrap();
    for entry in &entries[..2] {
        assert_eq!(entry["state"], "ended", "{entry}");
        assert_eq!(
            (&entry["test"]["exitCode"], &entry["test"]["output"]),
            (&json!(0), &json!("fine\n"))
        );
        assert!(entry["durationMs"].is_u64() && entry["session"]["worktree"]["path"].is_string());
    }
    assert_eq!(entries[2]["state"], "failed", "{comparison}");
    assert!(entries[2]["error"].as_str().unwrap().contains("missing"), "{comparison}");
    let session = |number: usize| entries[number]["session"]["id"].as_str().unwrap();
    // By the command line: the first is merged, the second discarded and restorable.
    let said = daemon.machine.run_args(&["compare", "--keep", session(0), "--how", "merge"]);
    assert!(said.contains("kept") && said.contains("discarded"), "{said}");
    assert!(app.join("answer.txt").exists());
    assert_eq!(git(&app, &["branch", "--format=%(refname:short)"]), "main");
    let restored = daemon.post(&format!("/api/worktrees/{}/restore", session(1)), &json!({}));
    assert_eq!(restored.status, 200, "{restored:?}");
    let path = restored.json()["worktree"]["path"].as_str().unwrap().to_owned();
    assert!(fs::exists(format!("{path}/answer.txt")).unwrap());
    assert_eq!(daemon.get("/api/comparisons").json()["comparisons"][0]["kept"], session(0));
}

#[test]
fn c8_the_command_line_waits_for_all_and_prints_a_table() {
    let daemon = daemon();
    let project = daemon.project();
    let said = daemon.machine.run_args(&[
        "compare",
        "echo a > a.txt",
        "--agents",
        "shell,shell",
        "--test",
        "exit 3",
        "--project",
        project.as_str().unwrap(),
    ]);
    assert_eq!(said.matches(" shell ended, 1 files +1 -0").count(), 2, "{said}");
    assert_eq!(said.matches("test failed with exit code 3").count(), 2, "{said}");
}
