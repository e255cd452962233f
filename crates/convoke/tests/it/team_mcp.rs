//! The tools about teams: on standard input and output, and in the hands of agents that the daemon started.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::team_scene::Teams;

/// An agent that was not started by Convoke, with `convoke mcp` as its server of tools.
struct Agent {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Agent {
    fn start(machine: &Convoke) -> Self {
        let mut command = machine.command(&["mcp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut agent = Self { child, input, output: BufReader::new(output), calls: 0 };
        let client = json!({"name": "a test", "version": "1"});
        let hello = agent.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        assert!(hello["result"]["instructions"].as_str().unwrap().contains("teams_ask"));
        agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.calls += 1;
        let id = self.calls;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Calls a tool; tells its text, and whether it is a failure.
    #[expect(clippy::needless_pass_by_value, reason = "calls read better with the JSON in place")]
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.request("tools/call", &params);
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"] == true)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn said(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

#[test]
fn t13_any_agent_asks_teams_and_reads_their_whole_answer() {
    let script = Script::new().when("slow", [Step::say("well"), Step::Hang]);
    let teams = Teams::new(&["backend", "frontend"], &script);
    let mut agent = Agent::start(teams.machine());
    let listed = agent.request("tools/list", &json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "ask_user_questions",
            "get_answered_questions",
            "teams_ask",
            "teams_send_message",
            "teams_list",
            "teams_status",
            "teams_report",
            "teams_cancel"
        ]
    );
    let question = json!({"team": "backend", "question": "hello", "fromTeam": "frontend"});
    assert_eq!(agent.call("teams_ask", question), said("hello"));
    let message = json!({"toTeam": "backend", "message": "hi"});
    assert_eq!(agent.call("teams_send_message", message), said("hi"));
    assert_eq!(
        agent.call("teams_list", json!({})),
        said("- backend (scripted)\n- frontend (scripted)")
    );
    let (status, _) = agent.call("teams_status", json!({"team": "backend"}));
    assert!(status.starts_with("backend: 0 of 2 conversations busy"), "{status}");
    let slow = json!({"team": "backend", "question": "slow", "timeout": 300});
    let (text, is_error) = agent.call("teams_ask", slow);
    assert!(text.starts_with("[Team: backend | Status: timed_out | Session: "), "{text}");
    assert!(text.ends_with("Answer so far:\n\nwell") && !is_error, "{text}");
    let more = json!({"toTeam": "backend", "message": "more", "waitForResponse": false});
    let (text, is_error) = agent.call("teams_send_message", more);
    assert!(text.starts_with("[Team: backend | Status: queued | Session: "), "{text}");
    assert!(text.contains("One question is ahead of it.") && !is_error, "{text}");
    let (text, _) = agent.call("teams_report", json!({"team": "backend"}));
    assert!(text.starts_with("[Team: backend | Status: queued | "), "{text}");
    let (text, is_error) = agent.call("teams_cancel", json!({"team": "backend"}));
    assert!(text.starts_with("[Team: backend | Status: cancelled | ") && !is_error, "{text}");
    until("it has stopped", || {
        let (text, is_error) = {
            let mut other = Agent::start(teams.machine());
            other.call("teams_report", json!({"team": "backend"}))
        };
        is_error && text.starts_with("[Team: backend | Status: failed | ")
    });
    let (text, is_error) = agent.call("teams_ask", json!({"team": "x", "question": "y"}));
    assert!(text.starts_with("Unknown team: x") && is_error, "{text}");
    let (text, is_error) = agent.call("teams_ask", json!({"team": "backend", "q": "y"}));
    assert!(text.contains("unknown field `q`") && is_error, "{text}");
}

#[test]
fn s10_t13_a_team_whose_session_a_human_completed_refuses_questions() {
    let teams = Teams::new(&["backend"], &Script::new());
    let mut agent = Agent::start(teams.machine());
    let question = json!({"team": "backend", "question": "hello"});
    assert_eq!(agent.call("teams_ask", question.clone()), said("hello"));
    let pairs = teams.daemon.get("/api/teams/sessions").json();
    let session = pairs["sessions"][0]["sessionId"].as_str().unwrap().to_owned();
    let path = |what: &str| format!("/api/sessions/{session}/{what}");
    assert_eq!(teams.daemon.post(&path("complete"), &json!({})).status, 200);
    let refused = teams.daemon.post(&path("prompt"), &json!({"text": "hello"})).json();
    let (text, is_error) = agent.call("teams_ask", question.clone());
    assert!(is_error && text.starts_with(refused["detail"].as_str().unwrap()), "{text}");
    assert_eq!(teams.daemon.post(&path("resume"), &json!({})).status, 200);
    assert_eq!(agent.call("teams_ask", question), said("hello"));
}

#[test]
fn t13_the_daemon_is_started_when_an_agent_asks_for_teams() {
    let scene = crate::daemon_scene::Scene::new();
    let mut agent = Agent::start(&scene.machine);
    assert!(!scene.machine.home().join("run/daemon.json").exists());
    let (text, is_error) = agent.call("teams_list", json!({}));
    assert!(text.starts_with("There are no teams.") && !is_error, "{text}");
    assert!(scene.machine.home().join("run/daemon.json").exists());
}

#[test]
fn t13_a_long_wait_reports_progress_and_a_caller_that_leaves_loses_nothing() {
    let script = Script::new().when("slow", [Step::say("well"), Step::Hang]);
    let teams = Teams::new(&["backend"], &script);
    let mut agent = Agent::start(teams.machine());
    let arguments = json!({"team": "backend", "question": "slow"});
    let params =
        json!({"name": "teams_ask", "arguments": arguments, "_meta": {"progressToken": "p"}});
    agent.begin("tools/call", &params);
    let mut line = String::new();
    agent.output.read_line(&mut line).unwrap();
    let progress: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(progress["params"]["message"], "waiting for the team, 5 s so far");
    drop(agent);
    let report = teams.daemon.get("/api/teams/backend/report").json();
    assert_eq!((&report["status"], &report["response"]), (&json!("working"), &json!("well")));
}

#[test]
fn t13_t16_agents_of_teams_ask_each_other_and_never_in_a_circle() {
    let asking = || json!({"agent": "asking"});
    let teams =
        Teams::with(vec![("a", asking()), ("b", asking()), ("c", asking())], &Script::new(), "");
    let told = |question: &str| teams.ask("a", question)["response"].as_str().unwrap().to_owned();
    assert_eq!(told("ask b: hello"), "b says <hello>");
    assert_eq!(told("ask b: ask c: hello"), "b says <c says <hello>>");
    let circle = told("ask b: ask c: ask a: hello");
    assert!(
        circle.starts_with(
            "b says <c says <a fails <this ask would make a circle: external → a → b → c → a"
        ),
        "{circle}"
    );
    let myself = told("ask a: hello");
    assert!(myself.contains("a fails <this ask would make a circle: external → a → a"));
    let nobody = told("ask x: hello");
    assert_eq!(
        nobody,
        "x fails <Unknown team: x\n\nGET /api/teams lists the teams\n\nThere are: a, b, c.>"
    );
    // They spoke for their own teams, in conversations of their own.
    let sessions = teams.machine().json("team sessions --json");
    let mut pairs: Vec<String> = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!(
                "{}->{}",
                it["fromTeam"].as_str().unwrap_or("-"),
                it["toTeam"].as_str().unwrap()
            )
        })
        .collect();
    pairs.sort();
    assert_eq!(pairs, ["-->a", "-->b", "-->c", "a->b", "b->c"]);
}

/// Two agents, each of which asks the other as soon as its own turn is over.
#[test]
fn k7_agents_that_ask_after_their_turns_do_not_talk_in_circles() {
    let asking = || json!({"agent": "asking"});
    let teams = Teams::with(vec![("a", asking()), ("b", asking())], &Script::new(), "");
    assert_eq!(teams.ask("a", "pong b a")["response"], "pong b a");
    let messages = || -> Vec<Value> {
        let sessions = teams.daemon.get("/api/teams/sessions").json();
        let sessions = sessions["sessions"].as_array().unwrap().clone();
        let ids = sessions.iter().map(|it| it["sessionId"].as_str().unwrap().to_owned());
        ids.flat_map(|id| teams.daemon.messages(&id)).collect()
    };
    let circle = "a fails <this ask would make a circle: external → a → b → a";
    let afterwards = teams.machine().path().join("root/b/afterwards.txt");
    let refused =
        || std::fs::read_to_string(&afterwards).is_ok_and(|text| text.starts_with(circle));
    until("the circle is not refused", refused);
    let messages = messages();
    let prompts: Vec<&Value> = messages.iter().filter(|it| it["role"] == "user").collect();
    assert_eq!(prompts.len(), 2, "one turn each: {prompts:#?}");
    // An ask from outside begins a new chain.
    assert_eq!(teams.ask("b", "ask a: hello")["response"], "a says <hello>");
}
