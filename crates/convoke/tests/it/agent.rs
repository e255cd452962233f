//! `convoke agent`, and the demo agent that is always there.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::ask::machine;
use crate::convoke::Convoke;

#[test]
fn l1_agents_are_listed_with_their_version_or_the_way_to_install_them() {
    let machine = Convoke::new();
    let listed = machine.json("agent list --json");
    let names: Vec<&str> = listed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names.join(" "),
        "claude-code codex gemini opencode goose qwen copilot cline kimi vibe claude-agent-acp cursor-agent droid demo"
    );
    assert_eq!(listed["agents"][0]["path"], Value::Null);
    assert_eq!(listed["agents"][0]["install"], "npm install -g @anthropic-ai/claude-code");
    let demo = &listed["agents"][13];
    assert_eq!((&demo["badge"], &demo["version"]), (&json!("DM"), &json!("convoke 0.1.0")));
}

#[test]
fn the_demo_agent_answers_on_a_fresh_machine() {
    let checked = Convoke::new().json("agent check demo --json");
    assert_eq!(checked["introducedAs"], "Demo 0.1.0");
    assert_eq!(
        checked["abilities"],
        json!({"load": true, "resume": false, "list": false, "close": false})
    );
}

#[test]
fn an_agent_that_cannot_be_checked_is_explained() {
    let machine = Convoke::new()
        .file("config.toml", "[agents.broken]\ncommand = \"/bin/false\"\nsandbox = \"off\"\n");
    insta::assert_snapshot!(machine.run("agent check nobody"), @"
    exit 1
    --- stderr
    error: there is no agent called nobody
    hint: see `convoke agent list`
    ");
    insta::assert_snapshot!(machine.run("agent check codex"), @"
    exit 1
    --- stderr
    error: the agent codex is not installed: there is no codex-acp on the search path
    hint: install it with `npm install -g @agentclientprotocol/codex-acp`
    ");
    insta::assert_snapshot!(machine.run("agent check broken"), @"
    exit 1
    --- stderr
    error: the agent ended before it was ready: exit code 1
    ");
}

/// The demo agent as a process, and its client.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Client {
    fn start(machine: &Convoke) -> Self {
        let mut child = machine
            .command(&["demo-agent"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn call(&mut self, id: u32, method: &str, params: &Value) -> Value {
        self.send(id, method, params);
        self.until(|message| message["id"] == id)
    }

    fn send(&mut self, id: u32, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.input, "{message}").unwrap();
    }

    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_it(&message) {
                return message;
            }
        }
    }
}

#[test]
fn q19_the_demo_agent_asks_its_human_through_mcp() {
    let machine = machine();
    let mut client = Client::start(&machine);
    client.call(0, "initialize", &json!({"protocolVersion": 1}));
    let server = json!({
        "name": "convoke", "command": env!("CARGO_BIN_EXE_convoke"), "args": ["mcp"],
        "env": [{"name": "HOME", "value": machine.path()}],
    });
    let opened =
        client.call(1, "session/new", &json!({"cwd": machine.path(), "mcpServers": [server]}));
    let session = &opened["result"]["sessionId"];
    client.send(
        2,
        "session/prompt",
        &json!({"sessionId": session, "prompt": [{"type": "text", "text": "ask"}]}),
    );
    let id = loop {
        let listed = machine.json("questions list --status pending --json");
        if let Some(asked) = listed["sessions"].get(0) {
            break asked["sessionId"].as_str().unwrap().to_owned();
        }
    };
    let answers = json!({"0": {"selectedOption": "Stop"}}).to_string();
    machine.run_args(&["questions", "answer", &id, "--answers", &answers]);
    let done = client.until(|message| {
        message["params"]["update"]["toolCallId"] == "ask-human"
            && message["params"]["update"]["status"] == "completed"
    });
    let text = done["params"]["update"]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("→ Stop — It has shown enough"), "{text}");
    let ended = client.until(|message| message["id"] == 2);
    assert_eq!(ended["result"]["stopReason"], "end_turn");
}
