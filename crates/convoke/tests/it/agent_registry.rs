//! Agents of the ACP registry, and the fields that `agent list` prints for every agent.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use convoke_testkit::agent::Script;
use serde_json::json;

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

/// A registry with one agent.
const REGISTRY: &str = r#"{"version": "1.0.0", "agents": [{"id": "neat", "name": "Neat", "version": "4.5.6",
    "distribution": {"npx": {"package": "@neat/cli@4.5.6", "args": ["--acp"], "env": {"NEAT": "1"}}}}]}"#;

/// A program that prints its version.
fn program(machine: &Convoke, name: &str, version: &str) {
    let path = machine.path().join("bin").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\necho {version}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn with_programs() -> Convoke {
    let machine = Convoke::new();
    let path = format!("{}:/usr/bin:/bin", machine.path().join("bin").display());
    let machine = machine.env("PATH", &path);
    program(&machine, "claude", "2.1.325");
    program(&machine, "qwen", "0.24.4");
    machine
}

#[test]
fn l1_an_agent_of_the_registry_is_added_with_how_it_is_run() {
    let machine =
        Convoke::new().file("config.toml", "# mine\n[server]\nlisten = \"127.0.0.1:0\"\n");
    fs::write(machine.path().join("registry.json"), REGISTRY).unwrap();
    insta::assert_snapshot!(machine.run("agent refresh registry.json"), @r"
    exit 0
    --- stdout
    The registry lists 1 agent; stored in [tmp]/.convoke/registry.json
    ");
    insta::assert_snapshot!(machine.run("agent add neat"), @r"
    exit 0
    --- stdout
    Added Neat 4.5.6 as neat to [tmp]/.convoke/config.toml: npx --yes @neat/cli@4.5.6 --acp
    Install Node.js with npm first: there is no npx on the search path.
    A running daemon uses it after a restart: `convoke stop`
    ");
    let config = fs::read_to_string(machine.home().join("config.toml")).unwrap();
    insta::assert_snapshot!(config, @r##"
    # mine
    [server]
    listen = "127.0.0.1:0"

    [agents.neat]
    command = "npx"
    args = ["--yes", "@neat/cli@4.5.6", "--acp"]
    title = "Neat"
    env = { NEAT = "1" }
    writable = ["~/.neat", "~/.config/neat", "~/.local/share/neat"]
    "##);
    let listed = machine.json("agent list --json");
    let neat = listed["agents"].as_array().unwrap().last().unwrap();
    assert_eq!((&neat["name"], &neat["version"]), (&json!("neat"), &json!("4.5.6")));
    insta::assert_snapshot!(machine.run("agent add neat"), @"
    exit 2
    --- stderr
    error: the configuration has an agent neat already
    hint: add `--replace` to replace it
    ");
    insta::assert_snapshot!(machine.run("agent add nobody"), @r"
    exit 1
    --- stderr
    error: the registry lists no agent nobody
    hint: see `convoke agent list --registry`; `convoke agent refresh` reads a newer one
    ");
}

#[test]
fn l1_the_shipped_registry_adds_agents_and_knows_the_built_in_ones() {
    let machine = Convoke::new();
    let listed = machine.json("agent list --registry --json");
    let agents = listed["agents"].as_array().unwrap();
    let known = agents.iter().find(|agent| agent["id"] == "claude-acp").unwrap();
    assert_eq!(known["builtIn"], "claude-agent-acp");
    assert!(agents.len() >= 30);
    insta::assert_snapshot!(machine.run("agent add gemini"), @"
    exit 2
    --- stderr
    error: gemini is a built-in agent
    hint: there is nothing to add; install it with `npm install -g @google/gemini-cli`
    ");
    // A built-in one that the registry lists under another id.
    insta::assert_snapshot!(machine.run("agent add codex"), @"
    exit 2
    --- stderr
    error: codex is a built-in agent
    hint: there is nothing to add; install it with `npm install -g @agentclientprotocol/codex-acp`
    ");
    let added = machine.json("agent add codex-acp --json");
    assert_eq!(added["args"][1], "@agentclientprotocol/codex-acp@1.6.0");
    let config = fs::read_to_string(machine.home().join("config.toml")).unwrap();
    assert!(config.contains("like = \"codex\""), "{config}");
    let shown = machine.json("config show --json").to_string();
    assert!(shown.contains("agents.codex-acp.nested_sandbox"), "{shown}");
}

#[test]
fn l1_a_registry_that_is_none_changes_nothing() {
    let machine = Convoke::new();
    fs::write(machine.path().join("page.html"), "<html>").unwrap();
    insta::assert_snapshot!(machine.run("agent refresh page.html"), @"
    exit 1
    --- stderr
    error: cannot use page.html
      it is not a registry of ACP agents
      expected value at line 1 column 1
    ");
    assert!(!machine.home().join("registry.json").exists());
}

#[test]
fn l1_agents_are_listed_with_version_log_in_and_layers() {
    let machine = with_programs().env("OPENAI_API_KEY", "secret");
    let listed = machine.json("agent list --json");
    let agent = |name: &str| {
        let agents = listed["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).unwrap().clone()
    };
    assert_eq!(agent("claude-code")["version"], "2.1.325");
    assert_eq!(agent("claude-code")["login"]["state"], "logged_out");
    assert_eq!(agent("qwen")["login"]["state"], "logged_in");
    assert_eq!(agent("gemini")["version"], json!(null));
    let text = machine.run("agent list");
    assert!(text.contains("no; run `claude` and type `/login`"), "{text}");

    let daemon = Daemon::on(machine, &Script::default(), "");
    let before = daemon.get("/api/agents").json();
    let listed = daemon.get("/api/agents?versions=true").json();
    let agent = |listed: &serde_json::Value, name: &str| {
        let agents = listed["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).unwrap().clone()
    };
    let demo = agent(&listed, "demo");
    assert_eq!(agent(&before, "demo")["version"], json!(null));
    assert_eq!(demo["version"], "convoke 0.1.0");
    assert_eq!(demo["login"], json!({"state": "not_needed"}));
    assert_eq!((&demo["resume"], &demo["installed"]), (&json!("native"), &json!(true)));
    assert_eq!(agent(&listed, "gemini")["resume"], "transcript");
    assert_eq!(agent(&listed, "scripted")["layers"], json!([]), "its sandbox is off");
}
