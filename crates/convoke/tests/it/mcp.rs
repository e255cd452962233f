//! `convoke mcp`, spoken to as agents do: JSON-RPC, one message a line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use convoke_testkit::wait;
use serde_json::{Value, json};

use crate::ask::{machine, question};
use crate::convoke::Convoke;

/// An agent with an MCP server of its own.
struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    calls: u32,
}

impl Agent {
    fn start(machine: &Convoke) -> Self {
        let mut child =
            machine.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut agent = Self { child, input, output, calls: 0 };
        agent.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "a test", "version": "1"},
        }}));
        let hello = agent.receive();
        assert_eq!(hello["result"]["serverInfo"], json!({"name": "convoke", "version": "0.1.0"}));
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a line that need not be a message.
    fn raw(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Begins a call, and tells its id.
    fn begin(&mut self, tool: &str, arguments: &Value) -> u32 {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {"progressToken": self.calls},
        }}));
        self.calls
    }

    /// Calls a tool; tells its text, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        self.begin(tool, arguments);
        result(&self.receive())
    }

    /// Goes away without a word.
    fn leave(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

fn result(message: &Value) -> (String, bool) {
    let result = &message["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
    (text.to_owned(), result["isError"].as_bool().unwrap())
}

fn arguments() -> Value {
    json!({"questions": serde_json::from_str::<Value>(&question()).unwrap()})
}

/// Waits until a session stands so, and tells its id.
fn wait_for(machine: &Convoke, status: &str) -> String {
    wait::until_some(&format!("a set of questions is {status}"), || {
        let listed = machine.json(&format!("questions list --status {status} --json"));
        Some(listed["sessions"].get(0)?["sessionId"].as_str().unwrap().to_owned())
    })
}

fn answer(machine: &Convoke, id: &str) {
    let answers = json!({"0": {"selectedOption": "Yes"}}).to_string();
    machine.run_args(&["questions", "answer", id, "--answers", &answers]);
}

#[test]
fn q19_an_agent_asks_its_human_and_reads_the_answer() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    agent.begin("ask_user_questions", &arguments());
    let id = wait_for(&machine, "pending");
    let shown = machine.json(&format!("questions show {id} --json"));
    assert_eq!(shown["askedBy"], "a test 1");
    assert_eq!(shown["workingDirectory"], machine.path().to_str().unwrap());
    answer(&machine, &id);
    let text = format!(
        "[Session: {} | Questions: 1]\n\nHere are the user's answers:\n\n1. Ship it?\n→ Yes — now",
        &id[..8]
    );
    assert_eq!(result(&agent.receive()), (text, false));
    assert_eq!(agent.leave(), 0);
}

#[test]
fn an_agent_that_does_not_wait_fetches_the_answer_later() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    let mut asked = arguments();
    asked["nonBlocking"] = json!(true);
    let (text, is_error) = agent.call("ask_user_questions", &asked);
    let id = wait_for(&machine, "pending");
    let short = &id[..8];
    assert!(!is_error);
    assert_eq!(
        text,
        format!(
            "[Session: {short} | Questions: 1 | Status: pending]\n\nThe questions are waiting for the user. \
             Fetch the answers with get_answered_questions and session_id \"{id}\"."
        )
    );
    let fetch = json!({"session_id": short});
    let pending = format!("[Session: {short} | Status: pending]\n\nNo answers yet.");
    assert_eq!(agent.call("get_answered_questions", &fetch), (pending, false));
    agent.begin("get_answered_questions", &json!({"session_id": id, "blocking": true}));
    answer(&machine, &id);
    let (text, is_error) = result(&agent.receive());
    assert!(text.ends_with("→ Yes — now") && !is_error, "{text}");
}

#[test]
fn q10_a_rejection_is_a_result_of_its_own() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    for (args, reason) in [
        (vec!["--reason", "ask me tomorrow"], "Rejection reason: \"ask me tomorrow\""),
        (vec![], "No reason provided."),
    ] {
        agent.begin("ask_user_questions", &arguments());
        let id = wait_for(&machine, "pending");
        let reject = [vec!["questions", "reject", &id], args].concat();
        machine.run_args(&reject);
        let text = format!(
            "[Session: {} | Status: rejected]\n\nUser rejected this question set.\n\n{reason}",
            &id[..8]
        );
        assert_eq!(result(&agent.receive()), (text.clone(), false));
        let fetched =
            agent.call("get_answered_questions", &json!({"session_id": id, "blocking": true}));
        assert_eq!(fetched, (text, false));
    }
}

#[test]
fn q11_a_time_out_is_a_result_of_its_own() {
    let machine = machine().file("config.toml", "[questions]\ntimeout_ms = 30\n");
    let mut agent = Agent::start(&machine);
    let (text, is_error) = agent.call("ask_user_questions", &arguments());
    let id = wait_for(&machine, "timed_out");
    let expected = format!(
        "[Session: {} | Status: timed_out]\n\nThe user did not answer in time. \
         The questions stay open; a late answer can still be fetched.",
        &id[..8]
    );
    assert_eq!((text, is_error), (expected, false));
    answer(&machine, &id);
    let (text, _) = agent.call("get_answered_questions", &json!({"session_id": id}));
    assert!(text.ends_with("→ Yes — now"), "{text}");
}

#[test]
fn q4_a_client_that_goes_away_abandons_its_questions_and_a_late_answer_is_kept() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    agent.begin("ask_user_questions", &arguments());
    let id = wait_for(&machine, "pending");
    assert_eq!(agent.leave(), 0);
    assert_eq!(wait_for(&machine, "abandoned"), id);
    answer(&machine, &id);
    let mut next = Agent::start(&machine);
    let (text, is_error) = next.call("get_answered_questions", &json!({"session_id": &id[..8]}));
    assert!(text.ends_with("→ Yes — now") && !is_error, "{text}");
}

#[test]
fn a_cancelled_call_abandons_its_questions_and_the_server_goes_on() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    let call = agent.begin("ask_user_questions", &arguments());
    let id = wait_for(&machine, "pending");
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    assert_eq!(wait_for(&machine, "abandoned"), id);
    let (text, _) = agent.call("get_answered_questions", &json!({"session_id": id}));
    assert!(text.contains("Status: abandoned"), "{text}");
}

#[test]
fn an_mcp_server_that_gets_sigterm_abandons_its_questions() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    agent.begin("ask_user_questions", &arguments());
    let id = wait_for(&machine, "pending");
    std::process::Command::new("kill").arg(agent.child.id().to_string()).status().unwrap();
    assert_eq!(wait_for(&machine, "abandoned"), id);
    agent.child.wait().unwrap();
}

#[test]
fn failures_are_errors_that_an_agent_can_read() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    let cases = [
        (
            "ask_user_questions",
            json!({"questions": []}),
            "At least one question is required to create a session",
        ),
        (
            "ask_user_questions",
            json!({"question": "?"}),
            "the arguments do not fit the tool's schema: unknown field `question`, expected `questions` or `nonBlocking`",
        ),
        (
            "get_answered_questions",
            json!({"session_id": "abcd1234"}),
            "Session not found: abcd1234",
        ),
        (
            "get_answered_questions",
            json!({"session_id": "../.."}),
            "Invalid session ID format: ../..",
        ),
    ];
    for (tool, arguments, text) in cases {
        assert_eq!(agent.call(tool, &arguments), (text.to_owned(), true));
    }
    agent.begin("sing", &json!({}));
    assert_eq!(agent.receive()["error"]["message"], "unknown tool: sing");
}

#[test]
fn a_line_that_is_no_message_is_answered_and_the_server_goes_on() {
    let machine = machine();
    let mut agent = Agent::start(&machine);
    let long = format!("{{\"long\": \"{}\"}}", "x".repeat(16 << 20));
    let lone_surrogate =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"\ud800"}}"#;
    let cases: [(&[u8], Value, i32); 8] = [
        (b"hello", Value::Null, -32700),
        (b"{\"jsonrpc\":", Value::Null, -32700),
        (b"\xff\xfe", Value::Null, -32700),
        (lone_surrogate.as_bytes(), Value::Null, -32700),
        (long.as_bytes(), Value::Null, -32700),
        (b"5", Value::Null, -32600),
        (b"[]", Value::Null, -32600),
        (b"{\"id\": \"a\", \"method\": 5}", json!("a"), -32600),
    ];
    for (line, id, code) in cases {
        agent.raw(line);
        let answer = agent.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
        assert!(answer.as_object().unwrap().contains_key("id"));
    }
    // Notifications of other protocols are ignored, and so are empty lines.
    agent.raw(b"\r\n\n{\"jsonrpc\": \"2.0\", \"method\": \"of/another/protocol\"}");
    let fetch = json!({"session_id": "abcd1234"});
    let (text, is_error) = agent.call("get_answered_questions", &fetch);
    assert_eq!((text.as_str(), is_error), ("Session not found: abcd1234", true));
    assert_eq!(agent.leave(), 0);
}

#[test]
fn q17_schemas_carry_the_configured_limits() {
    let machine =
        machine().file("config.toml", "[questions]\nmax_questions = 3\nmax_options = 4\n");
    let mut agent = Agent::start(&machine);
    agent.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "tools/list"}));
    let tools = agent.receive()["result"]["tools"].clone();
    let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names[..2], ["ask_user_questions", "get_answered_questions"]);
    let questions = &tools[0]["inputSchema"]["properties"]["questions"];
    assert_eq!((&questions["minItems"], &questions["maxItems"]), (&json!(1), &json!(3)));
    let options = &questions["items"]["properties"]["options"];
    assert_eq!((&options["minItems"], &options["maxItems"]), (&json!(2), &json!(4)));
}

#[test]
fn a_client_that_leaves_before_it_says_hello_wanted_nothing() {
    let output = machine().command(&["mcp"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

#[test]
fn an_uninitialized_mcp_server_ends_on_sigterm() {
    let mut child =
        machine().command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let listens = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        // The bit of SIGTERM.
        u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 14) != 0
    };
    wait::until("it listens for signals", || listens(child.id()));
    std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
