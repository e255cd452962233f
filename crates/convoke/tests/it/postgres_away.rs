//! A PostgreSQL server that is killed and started again under a daemon that goes on.

use std::path::Path;

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::postgres::Server;
use convoke_testkit::wait::until;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::{Answer, Daemon, has_ended, is_end_of};

/// Numbers that the agent says in the turn under which the server is killed.
const COUNT: u64 = 6_000;

fn daemon(url: &str, script: &Script) -> Daemon {
    let config = format!("[store]\nurl = \"{url}\"\n[node]\nname = \"laptop\"\n");
    Daemon::on(Convoke::new(), script, &config)
}

fn prompt(daemon: &Daemon, session: &str, text: &str, id: &str) -> Answer {
    let body = json!({"text": text, "messageId": id});
    daemon.post(&format!("/api/sessions/{session}/prompt"), &body)
}

/// What the agent said in one message.
fn numbers(messages: &[Value]) -> Vec<String> {
    let texts = messages.iter().filter(|it| it["role"] == "agent");
    let texts = texts.filter_map(|it| it["content"]["text"].as_str());
    texts.max_by_key(|text| text.len()).unwrap().split_whitespace().map(str::to_owned).collect()
}

fn prompts(messages: &[Value]) -> Vec<&str> {
    let said = messages.iter().filter(|message| message["role"] == "user");
    said.filter_map(|message| message["content"]["text"].as_str()).collect()
}

#[test]
fn n5_turns_go_on_over_a_killed_server_and_prompts_meanwhile_are_refused_with_503() {
    let mut server = Server::start(&["fsync=on"]).unwrap();
    let database = server.database();
    let script = Script::new().when("work", [Step::Count(COUNT)]).when("next", [Step::say("done")]);
    let daemon = daemon(&database.url, &script);
    let (session, idle) = (daemon.session(), daemon.session());
    let generation = |daemon: &Daemon| {
        let state = daemon.get(&format!("/api/sessions/{idle}/state"));
        (state.status == 200).then(|| state.json()["generation"].clone())
    };
    let before = generation(&daemon).unwrap();
    let turn = daemon.prompt(&session, "work");
    // Acknowledged, and waits for the end of the turn.
    let next = daemon.prompt(&session, "next");
    let mut events = daemon.follow(&session, 0);
    for _ in 0..20 {
        events.next().unwrap();
    }
    server.kill().unwrap();
    let ids = ["5c2c6d6e-0d0a-4b6e-9a55-0123456789ab", "5c2c6d6e-0d0a-4b6e-9a55-0123456789ac"];
    for (session, id) in [&session, &idle].into_iter().zip(ids) {
        let refused = prompt(&daemon, session, "meanwhile", id);
        assert_eq!(refused.status, 503, "{refused:?}");
        assert_eq!(refused.header("retry-after"), Some("5"), "{refused:?}");
        let problem = refused.json();
        assert!(problem["detail"].as_str().unwrap().contains("cannot be reached"), "{problem}");
        assert!(problem["hint"].as_str().unwrap().contains("nothing is lost"), "{problem}");
    }
    assert_eq!(daemon.get("/healthz").status, 200, "the daemon itself is there");
    server.start_again().unwrap();
    for (session, id) in [&session, &idle].into_iter().zip(ids) {
        // As a client that was told to try again does, with the same id.
        until("prompts are taken again", || {
            prompt(&daemon, session, "meanwhile", id).status == 202
        });
        assert_eq!(prompt(&daemon, session, "meanwhile", id).status, 202, "and once more");
    }
    let mut events = daemon.follow(&session, 0);
    for prompt in [&turn, &next] {
        events.until(|message| is_end_of(message, prompt));
    }
    events.until(|message| message["id"] == ids[0] && has_ended(message));
    let messages = daemon.messages(&session);
    let expected: Vec<String> = (1..=COUNT).map(|number| number.to_string()).collect();
    assert_eq!(numbers(&messages), expected, "the turn went on, with everything in it once");
    assert_eq!(prompts(&messages), ["work", "next", "meanwhile"]);
    assert_eq!(prompts(&daemon.messages(&idle)), ["meanwhile"]);
    until("a restarted server begins a new generation", || {
        generation(&daemon).is_some_and(|now| now != before)
    });
}

#[test]
fn n5_a_daemon_stops_though_its_server_is_away_in_the_middle_of_a_turn() {
    let mut server = Server::start(&["fsync=on"]).unwrap();
    let database = server.database();
    let script = Script::new().when("work", [Step::Count(COUNT)]);
    let mut daemon = daemon(&database.url, &script);
    let session = daemon.session();
    daemon.prompt(&session, "work");
    let mut events = daemon.follow(&session, 0);
    for _ in 0..20 {
        events.next().unwrap();
    }
    server.kill().unwrap();
    let (code, took) = daemon.end(Signal::TERM);
    assert_eq!(code, Some(0), "after {took:?}");
}

#[test]
fn n5_a_password_file_is_read_and_its_path_is_all_that_is_known_of_it() {
    let scene = crate::daemon_scene::Scene::new();
    let config = "[store]\nurl = \"postgres://me@127.0.0.1:1/x\"\npassword_file = \"~/none\"\n";
    std::fs::write(scene.machine.home().join("config.toml"), config).unwrap();
    let told = scene.run("db status");
    assert!(told.contains(Path::new("[tmp]/none").to_str().unwrap()), "{told}");
    assert!(told.contains("the password cannot be read"), "{told}");
}

#[test]
fn n5_a_home_is_recognized_after_its_daemon_was_stopped() {
    let server = Server::start(&[]).unwrap();
    let database = server.database();
    let scene = crate::daemon_scene::Scene::new();
    let home = scene.machine.path().join("elsewhere");
    std::fs::create_dir(&home).unwrap();
    let config = format!("[store]\nurl = \"{}\"\n", database.url);
    std::fs::write(home.join("config.toml"), config).unwrap();
    for command in ["session list", "stop", "session list", "stop", "config show"] {
        let told = scene.run(&format!("{command} --home {}", home.display()));
        assert!(told.starts_with("exit 0"), "{command}: {told}");
    }
}
