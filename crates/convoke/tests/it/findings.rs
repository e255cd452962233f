//! What driving real agents showed, each with an agent that follows a script.

use std::fs;
use std::path::Path;

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::{Daemon, said};

/// Waits for a request to the human, and gives it.
fn pending(daemon: &Daemon, session: &str, kind: &str) -> Value {
    let mut events = daemon.follow(session, 0);
    let asked = events.until(|message| {
        message["content"]["type"] == kind && message["content"]["status"] == "pending"
    });
    asked["content"].clone()
}

fn answer(daemon: &Daemon, asked: &Value) -> u16 {
    let path = format!("/api/inbox/{}/answer", asked["requestId"].as_str().unwrap());
    daemon.post(&path, &json!({"answers": {"0": {"selectedOption": "Blue"}}})).status
}

fn form() -> Value {
    let properties = json!({"question_0": {"type": "string", "title": "Colour", "oneOf": [
        {"const": "Red", "title": "Red"}, {"const": "Blue", "title": "Blue"}]}});
    json!({"mode": "form", "sessionId": "s1", "message": "Which colour?",
        "requestedSchema": {"type": "object", "properties": properties}})
}

fn request(method: &str, params: Value) -> Step {
    Step::Request { method: method.to_owned(), params }
}

/// The scripted agent once more, with all layers of the sandbox on.
fn confined(machine: &Convoke, settings: &str) -> String {
    let (agent, script) = (crate::serve_scene::agent(), machine.path().join("script.json"));
    format!(
        "[agents.confined]\ncommand = {agent:?}\nargs = [\"--protocol\", \"acp\", {script:?}]\n{settings}"
    )
}

/// Runs a command as the agent does.
fn command(line: &str) -> Step {
    request("terminal/create", json!({"sessionId": "s1", "command": line}))
}

/// Waits for what a command wrote into a file of the workspace.
fn written(daemon: &Daemon, name: &str) -> String {
    let file = daemon.machine.path().join("root/app").join(name);
    let text = || fs::read_to_string(&file).unwrap_or_default();
    until(name, || text().ends_with('\n'));
    text().trim().to_owned()
}

#[test]
fn l1_a_form_of_an_agent_is_answered_like_every_question() {
    let daemon = Daemon::new(&Script::new().turn([request("elicitation/create", form())]));
    let session = daemon.session();
    let prompt = daemon.prompt(&session, "ask me");
    let asked = pending(&daemon, &session, "question");
    assert_eq!(asked["questions"][0]["prompt"], "Which colour?");
    assert_eq!(answer(&daemon, &asked), 204);
    let mut events = daemon.follow(&session, 0);
    events.until(|it| it["id"] == prompt.id.as_str() && it["turn"]["status"] == "ended");
    let said = said(&daemon.messages(&session));
    assert!(
        said.contains(r#""action":"accept""#) && said.contains(r#""question_0":"Blue""#),
        "{said}"
    );
}

#[test]
fn l1_an_answer_to_a_question_that_the_agent_gave_up_becomes_the_next_turn() {
    let ask = json!({"jsonrpc": "2.0", "id": 99, "method": "elicitation/create", "params": form()});
    let daemon = Daemon::new(&Script::new().when("ask me", [Step::Send(ask), Step::say("done")]));
    let session = daemon.session();
    daemon.turn(&session, "ask me");
    let messages = daemon.messages(&session);
    let asked = messages.iter().find(|it| it["content"]["type"] == "question").unwrap();
    assert_eq!(asked["content"]["status"], "abandoned", "{messages:?}");
    assert_eq!(answer(&daemon, &asked["content"]), 204);
    let mut events = daemon.follow(&session, 0);
    let late = events.until(|message| {
        let text = message["content"]["text"].as_str().unwrap_or_default();
        message["role"] == "user" && text.contains("Blue")
    });
    assert!(late["content"]["text"].as_str().unwrap().contains("Which colour?"), "{late}");
}

#[test]
fn l1_our_own_question_tool_needs_no_permission() {
    let call = Tool::named("c1", "mcp__convoke__ask_user_questions", json!({"questions": []}));
    let ask = Ask::new(call, &[("yes", "allow_once"), ("no", "reject_once")]);
    let ask = ask.then("yes", [Step::say("allowed")]);
    let other = Tool::named("c2", "mcp__convoke__teams_ask", json!({"team": "b"}));
    let other = Ask::new(other, &[("yes", "allow_once"), ("no", "reject_once")]);
    let script = Script::new().when("question", [Step::Ask(ask)]).when("team", [Step::Ask(other)]);
    let daemon = Daemon::new(&script);
    let session = daemon.session();
    assert_eq!(said(&daemon.turn(&session, "question")), "allowed");
    daemon.prompt(&session, "team");
    assert_eq!(pending(&daemon, &session, "permission")["tool"], "mcp__convoke__teams_ask");
}

#[test]
fn l1_a_command_of_a_cancelled_turn_is_killed() {
    let script = Script::new().turn([command("echo $$ > pid.txt; exec sleep 300"), Step::Hang]);
    let daemon = Daemon::new(&script);
    let session = daemon.session();
    daemon.prompt(&session, "run it");
    let file = daemon.machine.path().join("root/app/pid.txt");
    let pid = || fs::read_to_string(&file).ok()?.trim().parse::<u32>().ok();
    until("the command runs", || pid().is_some());
    let process = format!("/proc/{}/comm", pid().unwrap());
    let sleeps = || fs::read_to_string(&process).is_ok_and(|name| name.trim() == "sleep");
    until("the command sleeps", sleeps);
    daemon.post(&format!("/api/sessions/{session}/cancel"), &json!({}));
    until("the command is gone", || !sleeps());
}

#[test]
fn l1_an_agent_reads_through_us_what_it_reads_itself_and_no_more() {
    let machine = Convoke::in_folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let read = |path: &Path| request("fs/read_text_file", json!({"sessionId": "s1", "path": path}));
    let (notes, secret) = (machine.path().join("notes.txt"), machine.path().join(".ssh/id_rsa"));
    fs::create_dir(machine.path().join(".ssh")).unwrap();
    fs::write(&notes, "words outside of the workspace").unwrap();
    fs::write(&secret, "a private key").unwrap();
    let script = Script::new()
        .when("notes", [read(&notes)])
        .when("secret", [read(&secret)])
        .when("environment", [read(Path::new("/proc/self/environ"))]);
    let config = confined(&machine, "");
    let daemon = Daemon::on(machine, &script, &config);
    let session = daemon.session_with("confined");
    assert!(said(&daemon.turn(&session, "notes")).contains("words outside of the workspace"));
    for hidden in ["secret", "environment"] {
        let before = said(&daemon.messages(&session)).len();
        let all = said(&daemon.turn(&session, hidden));
        assert_eq!(&all[before..], r#"{"error":-32602}"#, "{hidden}: {all}");
    }
}

#[test]
fn l1_a_missing_login_is_reported_with_the_ways_to_log_in() {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [
        {"id": "login", "name": "Log in with the browser", "description": "Run `scripted login`"},
        {"type": "env_var", "id": "key", "name": "Use a key", "vars": [{"name": "SCRIPTED_KEY"}]}]});
    let script = Script::new()
        .on("initialize", [Step::Answer(hello)])
        .on("session/new", [Step::fail(-32000, "Authentication required")]);
    let daemon = Daemon::new(&script);
    let body = json!({"repoId": daemon.project(), "agent": "scripted"});
    let refused = daemon.post("/api/sessions", &body);
    assert_eq!(refused.status, 502, "{refused:?}");
    insta::assert_snapshot!(refused.json()["hint"].as_str().unwrap(), @"log in first: Log in with the browser: Run `scripted login` | Use a key: set SCRIPTED_KEY");
}

#[test]
fn l1_an_agent_that_is_logged_out_says_so_when_a_session_begins() {
    let agent = crate::serve_scene::agent();
    let config = |machine: &Convoke| {
        let script = machine.path().join("script.json");
        format!(
            "[agents.mine]\nlike = \"gemini\"\ncommand = {agent:?}\nargs = [\"--protocol\", \"acp\", {script:?}]\nsandbox = \"off\"\n"
        )
    };
    let machine = Convoke::new();
    let config = config(&machine);
    let daemon = Daemon::on(machine, &Script::new(), &config);
    let session = daemon.session_with("mine");
    let messages = daemon.turn(&session, "hello");
    let notice = messages.iter().find(|it| it["content"]["event"] == "advice").unwrap();
    assert_eq!(
        notice["content"]["text"],
        "mine is not logged in: run `gemini` and choose how to log in, or set GEMINI_API_KEY."
    );
}

#[test]
fn l1_a_confined_agent_runs_package_managers_and_writes_tmp() {
    let machine = Convoke::in_folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let package = machine.path().join("root/app/dep");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("package.json"), r#"{"name": "dep", "version": "1.0.0"}"#).unwrap();
    let line = "{ npm pack ./dep && npm cache add ./dep-1.0.0.tgz && echo x > /tmp/convoke-finding; } \
                > npm.log 2>&1; echo \"$? $npm_config_cache\" > done.txt";
    let config = confined(&machine, "");
    let daemon = Daemon::on(machine, &Script::new().turn([command(line)]), &config);
    daemon.turn(&daemon.session_with("confined"), "install it");
    let done = written(&daemon, "done.txt");
    let log = fs::read_to_string(daemon.machine.path().join("root/app/npm.log")).unwrap();
    let cache = done.strip_prefix("0 ").unwrap_or_else(|| panic!("{done}: {log}"));
    let own = daemon.machine.path().join(".cache/convoke");
    assert!(Path::new(cache).starts_with(&own) && Path::new(cache).join("_cacache").exists());
    assert!(!daemon.machine.path().join(".npm").exists(), "the user's own cache is left alone");
    assert!(!Path::new("/tmp/convoke-finding").exists(), "it has a /tmp of its own");
}

#[test]
fn l1_a_file_of_the_agent_that_its_user_replaces_stays_readable() {
    let machine = Convoke::in_folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let (state, next) = (machine.path().join(".state.json"), machine.path().join(".state.new"));
    fs::write(&state, "old").unwrap();
    let script = Script::new()
        .when("before", [command("{ cat ~/.state.json; echo; } > before.txt")])
        .when("after", [command("{ cat ~/.state.json; echo; } > after.txt 2>&1")]);
    let config = confined(&machine, "writable = [\"~/.state.json\"]\n");
    let daemon = Daemon::on(machine, &script, &config);
    let session = daemon.session_with("confined");
    daemon.turn(&session, "before");
    assert_eq!(written(&daemon, "before.txt"), "old");
    fs::write(&next, "new").unwrap();
    fs::rename(&next, &state).unwrap();
    daemon.turn(&session, "after");
    assert_eq!(written(&daemon, "after.txt"), "new");
}

#[test]
fn l1_an_agent_has_seconds_to_write_down_what_it_knows_when_it_is_stopped() {
    let machine = Convoke::new();
    let (agent, script) = (crate::serve_scene::agent(), machine.path().join("script.json"));
    let line = format!(
        "'{}' --protocol acp '{}'; sleep 4; echo > ended.txt",
        agent.display(),
        script.display()
    );
    let config = format!(
        "[agents.slow]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {line:?}]\nsandbox = \"off\"\n"
    );
    let daemon = Daemon::on(machine, &Script::new(), &config);
    let session = daemon.session_with("slow");
    daemon.turn(&session, "hello");
    daemon.call("DELETE", &format!("/api/sessions/{session}"), &json!({}));
    written(&daemon, "ended.txt");
}
