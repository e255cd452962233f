//! Sessions that begin with a model and a mode of their own.

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;

/// An agent with two modes and two models, which begins in `ask` and with `small`.
fn script() -> Script {
    let opened = |session: Option<&str>| {
        let mut opened = json!({
            "modes": {"currentModeId": "ask", "availableModes": [
                {"id": "ask", "name": "Ask first"}, {"id": "code", "name": "Code"}]},
            "configOptions": [{"id": "llm", "name": "Model", "category": "model", "type": "select",
                "currentValue": "small", "options": [
                    {"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]}],
        });
        if let Some(session) = session {
            opened["sessionId"] = json!(session);
        }
        Step::Answer(opened)
    };
    let model = json!({"configOptions": [{"id": "llm", "name": "Model", "category": "model",
        "type": "select", "currentValue": "large", "options": [
            {"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]}]});
    Script::new()
        .on("session/new", [opened(Some("s1"))])
        .on("session/load", [opened(None)])
        .on("session/set_config_option", [Step::Answer(model)])
}

/// The current mode and model of a session.
fn state(daemon: &Daemon, session: &str) -> (Value, Value) {
    let state = daemon.get(&format!("/api/sessions/{session}/state")).json();
    let states = state["state"].as_array().unwrap();
    let of = |kind: &str| states.iter().find(|it| it["kind"] == kind).cloned().unwrap_or_default();
    (of("modes")["current"].clone(), of("settings")["settings"][0]["current"].clone())
}

#[test]
fn l1_a_session_begins_with_the_chosen_model_and_mode() {
    let mut daemon = Daemon::new(&script());
    let body =
        json!({"repoId": daemon.project(), "agent": "scripted", "model": "Large", "mode": "code"});
    let begun = daemon.post("/api/sessions", &body);
    assert_eq!(begun.status, 201, "{begun:?}");
    let session = begun.json()["id"].as_str().unwrap().to_owned();
    daemon.turn(&session, "hello");
    assert_eq!(state(&daemon, &session), (json!("code"), json!("large")));

    // The next process begins with the agent's own defaults, and is put back.
    daemon.kill_and_start();
    daemon.turn(&session, "again");
    assert_eq!(state(&daemon, &session), (json!("code"), json!("large")));

    let plain = daemon.session();
    daemon.turn(&plain, "hello");
    assert_eq!(state(&daemon, &plain), (json!("ask"), json!("small")));
}

#[test]
fn l1_what_the_agent_does_not_offer_is_refused_and_leaves_no_session() {
    let daemon = Daemon::new(&script());
    let project = daemon.project();
    let begin = |field: &str, value: &str| {
        let mut body = json!({"repoId": project, "agent": "scripted", "prompt": "hello"});
        body[field] = json!(value);
        let refused = daemon.post("/api/sessions", &body);
        assert_eq!(refused.status, 422, "{refused:?}");
        refused.json()["detail"].as_str().unwrap().to_owned()
    };
    assert_eq!(begin("model", "huge"), "scripted offers no model huge; it offers small, large");
    assert_eq!(begin("mode", "yolo"), "scripted offers no mode yolo; it offers ask, code");
    assert_eq!(daemon.get("/api/sessions").json()["total"], 0);
}

#[test]
fn l1_an_agent_that_was_started_once_is_listed_with_its_modes_and_models() {
    let mut daemon = Daemon::new(&script());
    let listed = |daemon: &Daemon| {
        let agents = daemon.get("/api/agents").json();
        let agents = agents["agents"].as_array().unwrap().clone();
        agents.into_iter().find(|agent| agent["name"] == "scripted").unwrap()
    };
    assert_eq!(listed(&daemon)["modes"], Value::Null);
    daemon.session();
    let known = listed(&daemon);
    assert_eq!(known["modes"][1], json!({"id": "code", "name": "Code"}));
    assert_eq!((&known["mode"], &known["model"]), (&json!("ask"), &json!("small")));
    assert_eq!(known["models"][1]["id"], "large");
    // The file is written after the response.
    let file = daemon.machine.home().join("run/offers.json");
    until("the offers are written", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text.contains("large"))
    });
    daemon.kill_and_start();
    assert_eq!(listed(&daemon), known, "it is remembered");
}

#[test]
fn l1_the_command_line_chooses_model_and_mode() {
    let daemon = Daemon::new(&script());
    let folder = daemon.machine.path().join("root/app");
    let folder = folder.to_str().unwrap();
    let new = |more: &[&str]| {
        let line = ["session", "new", "--project", folder, "--agent", "scripted"];
        daemon.machine.run_args(&[&line, more].concat())
    };
    let text = new(&["--model", "large", "--mode", "nonsense"]);
    assert!(
        text.contains("error: scripted offers no mode nonsense; it offers ask, code"),
        "{text}"
    );
    let text = new(&["--model", "large", "--mode", "code", "--prompt", "hello"]);
    assert!(text.starts_with("exit 0"), "{text}");
}
