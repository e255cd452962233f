//! One prompt for several agents, each in a work tree of its own.

use std::fs;

use convoke_testkit::wait;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;
use crate::socket_scene::Socket;
use crate::worktree_scene::{app, daemon, git};

/// Waits until a comparison is over, with its tests.
fn done(daemon: &Daemon, id: &str) -> Value {
    wait::until_some("the comparison is done", || {
        Some(daemon.get(&format!("/api/comparisons/{id}")).json()).filter(|it| it["done"] == true)
    })
}

/// Begins a comparison of the agent with itself, and waits until it is over.
fn compared(daemon: &Daemon, prompt: &str) -> (String, [String; 2]) {
    let entries = json!([{"agent": "shell"}, {"agent": "shell"}]);
    let body = json!({"repoId": daemon.project(), "prompt": prompt, "entries": entries});
    let begun = daemon.post("/api/comparisons", &body);
    assert_eq!(begun.status, 201, "{begun:?}");
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    let comparison = done(daemon, &id);
    let session =
        |at: usize| comparison["entries"][at]["session"]["id"].as_str().unwrap().to_owned();
    (id, [session(0), session(1)])
}

#[test]
fn a_comparison_without_agents_is_refused_and_an_empty_list_tells_how_to_start_one() {
    let daemon = daemon();
    insta::assert_snapshot!(daemon.machine.run_args(&["compare", "fix it"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --agents <AGENTS>

    Usage: convoke compare --agents <AGENTS> <PROMPT>

    For more information, try 'convoke compare --help'.
    ");
    insta::assert_snapshot!(daemon.machine.run("compare fix --agents a,b --merge"), @"
    exit 2
    --- stderr
    error: the argument '[PROMPT]' cannot be used with:
      --merge
      --squash
      --rebase
      --pr

    Usage: convoke compare --agents <AGENTS> <PROMPT>

    For more information, try 'convoke compare --help'.
    ");
    for mixed in [
        "compare --keep abcd --test true",
        "compare --list --resolve",
        "compare --keep abcd --merge --squash",
    ] {
        let said = daemon.machine.run(mixed);
        assert!(said.contains("cannot be used with"), "{said}");
    }
    insta::assert_snapshot!(daemon.machine.run("compare --list"), @"
    exit 0
    --- stdout
    No comparisons. Start one with `convoke compare PROMPT --agents AGENT,AGENT`
    ");
}

#[test]
fn c8_agents_are_checked_before_any_of_them_begins() {
    let daemon = daemon();
    let project = daemon.project();
    let project = project.as_str().unwrap();
    let compare = |agents: &str| {
        daemon.machine.run_args(&["compare", "fix it", "--agents", agents, "--project", project])
    };
    insta::assert_snapshot!(compare("shell"), @"
    exit 2
    --- stderr
    error: a comparison needs two agents or more, such as `--agents claude-code,codex`
    ");
    let told = compare("shell,nope");
    assert!(
        told.starts_with("exit 2\n--- stderr\nerror: there is no agent nope; there are "),
        "{told}"
    );
    assert_eq!(daemon.get("/api/sessions").json()["total"], 0);
}

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
    let comparison = done(&daemon, &id);
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
    let said = daemon.machine.run_args(&["compare", "--keep", session(0), "--merge"]);
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
        "echo a > a.txt; echo written",
        "--agents",
        "shell,shell",
        "--test",
        "exit 3",
        "--project",
        project.as_str().unwrap(),
    ]);
    assert_eq!(said.matches("shell  ended  1 file +1 -0").count(), 2, "{said}");
    assert_eq!(said.matches("failed with exit code 3").count(), 2, "{said}");
    assert!(said.contains("\nSESSION   AGENT  STATE  CHANGES"), "{said}");
    assert!(said.contains("Keep one, such as the first: `convoke compare --keep "), "{said}");
}

#[test]
fn c8_conflicts_of_the_one_that_is_kept_are_given_to_its_agent_and_nothing_is_discarded() {
    let daemon = daemon();
    let app = app(&daemon);
    let (id, [first, second]) = compared(&daemon, "echo theirs > notes.txt");
    fs::write(app.join("notes.txt"), "ours\n").unwrap();
    git(&app, &["commit", "-qam", "ours"]);
    let keep = |more: &Value| {
        let mut body = json!({"sessionId": first, "how": "merge", "message": "Theirs"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        daemon.post(&format!("/api/comparisons/{id}/keep"), &body).json()
    };
    let told = keep(&json!({}));
    assert_eq!(told["finished"]["outcome"], "conflicts", "{told}");
    assert_eq!(told["finished"].get("prompt"), None, "{told}");
    let said = daemon.machine.run_args(&["compare", "--keep", &first, "--merge"]);
    assert!(said.contains("1 file in conflict; nothing was kept or discarded"), "{said}");
    // The agent takes the prompt for a script, and runs the command in it.
    let said = daemon.machine.run_args(&["compare", "--keep", &first, "--merge", "--resolve"]);
    assert!(said.contains("was prompted to resolve conflicts"), "{said}");
    assert_eq!(done(&daemon, &id).get("kept"), None);
    let branches = git(&app, &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches.lines().count(), 3, "{branches}");
    // What the agent does about it.
    daemon.turn(&first, "git merge main; echo both > notes.txt; git commit -qam resolved");
    let kept = keep(&json!({}));
    assert_eq!(kept["finished"]["outcome"], "finished", "{kept}");
    assert_eq!(fs::read_to_string(app.join("notes.txt")).unwrap(), "both\n");
    let other = daemon.get(&format!("/api/sessions/{second}")).json();
    assert_eq!(other["worktree"]["removed"]["how"], "discard", "{other}");
}

#[test]
fn c8_one_that_has_files_which_no_snapshot_holds_is_discarded_by_force_alone() {
    let daemon = daemon();
    let prompt = "echo written | tee a.txt; head -c 3000000 /dev/zero > big.bin";
    let removed = |session: &str| {
        let session = daemon.get(&format!("/api/sessions/{session}")).json();
        session["worktree"]["removed"]["how"].clone()
    };
    let (_, [first, second]) = compared(&daemon, prompt);
    let said = daemon.machine.run_args(&["compare", "--keep", &first]);
    assert!(said.contains("kept") && said.contains("ended"), "{said}");
    assert!(said.contains("has files that were not captured: big.bin"), "{said}");
    assert_eq!((removed(&first), removed(&second)), (json!("keep"), Value::Null), "{said}");
    let (_, [first, second]) = compared(&daemon, prompt);
    let keep = ["compare", "--keep", &first, "--squash", "--message", "Big", "--force"];
    let said = daemon.machine.run_args(&keep);
    assert_eq!((removed(&first), removed(&second)), (json!("squash"), json!("discard")), "{said}");
    assert_eq!(git(&app(&daemon), &["log", "--format=%s", "main"]), "Big\nfirst");
}

#[test]
fn c8_sockets_are_told_when_a_comparison_and_its_tests_begin_and_end() {
    let daemon = daemon();
    let mut socket = Socket::open(&daemon);
    let entries = json!([{"agent": "shell"}]);
    let test = "until [ -e go ]; do sleep 0.1; done";
    let body = json!({"repoId": daemon.project(), "prompt": "echo a > a.txt", "entries": entries, "test": test});
    let begun = daemon.post("/api/comparisons", &body).json();
    let id = begun["id"].as_str().unwrap().to_owned();
    let mut told = || socket.until("comparison:changed");
    let entry = || daemon.get(&format!("/api/comparisons/{id}")).json()["entries"][0].clone();
    assert_eq!(told()["comparisonId"], id.as_str());
    told();
    assert_eq!(entry()["state"], "testing");
    let path = entry()["session"]["worktree"]["path"].as_str().unwrap().to_owned();
    fs::write(format!("{path}/go"), "").unwrap();
    told();
    assert_eq!(entry()["test"]["exitCode"], 0, "{}", entry());
    let body = json!({"sessionId": entry()["session"]["id"]});
    assert_eq!(daemon.post(&format!("/api/comparisons/{id}/keep"), &body).status, 200);
    told();
}
