//! Rules in the whole program: made by an answer, kept over a restart, applied, revoked.

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use crate::serve_scene::{Daemon, has_ended};

/// An agent that asks to run each of these commands in every turn, under a title that says something else.
fn runs(commands: &[&str]) -> Script {
    let ask = |command: &&str| {
        let args = json!({"command": command});
        let tool =
            Tool { title: Some("cargo test".to_owned()), ..Tool::named(command, "Bash", args) };
        let choices = [("yes", "allow_once"), ("no", "reject_once")];
        let ask = Ask::new(tool, &choices);
        Step::Ask(ask.then("yes", [Step::say("did it")]).then("no", [Step::say("left it")]))
    };
    let turn: Vec<Step> = commands.iter().map(ask).collect();
    Script::new().when("work", turn)
}

/// The commands that are asked about in a turn of a new session, each of them denied.
fn asked_in_a_new_session(daemon: &Daemon) -> Vec<String> {
    let session = daemon.session_with("scripted");
    daemon.prompt(&session, "work");
    let mut asked = Vec::new();
    let mut events = daemon.follow(&session, 0);
    loop {
        let next = events.until(|message| has_ended(message) || is_pending(message));
        if has_ended(&next) {
            return asked;
        }
        let content = &next["content"];
        asked.push(content["evidence"]["command"].as_str().unwrap().to_owned());
        answer(daemon, content["requestId"].as_str().unwrap(), &json!({"optionId": "no"}));
    }
}

fn is_pending(message: &Value) -> bool {
    message["content"]["type"] == "permission" && message["content"]["status"] == "pending"
}

fn answer(daemon: &Daemon, id: &str, body: &Value) {
    assert_eq!(daemon.post(&format!("/api/inbox/{id}/answer"), body).status, 204);
}

#[test]
fn p1_p2_an_always_holds_for_the_listed_command_in_later_sessions_until_it_is_revoked() {
    let hostile =
        ["cargo test && touch x", "cargo test --config x", "touch x", "cargo test $(touch x)"];
    let all = [&["cargo test"][..], &hostile[..]].concat();
    let mut daemon = Daemon::new(&runs(&all));
    let session = daemon.session_with("scripted");
    daemon.prompt(&session, "work");
    let first = daemon.follow(&session, 0).until(is_pending);
    let id = first["content"]["requestId"].as_str().unwrap().to_owned();
    // The evidence is the same in the message, in the inbox and on the command line.
    let evidence = json!({"kind": "command", "command": "cargo test"});
    assert_eq!(first["content"]["evidence"], evidence);
    let item = daemon.get("/api/inbox").json()["items"][0].clone();
    assert_eq!(item["permission"]["evidence"], evidence);
    let shown = daemon.machine.json(&format!("inbox show {id} --json"));
    assert_eq!(shown["permission"], item["permission"]);
    answer(&daemon, &id, &json!({"optionId": "yes", "rule": 0}));
    daemon.post(&format!("/api/sessions/{session}/cancel"), &json!({}));
    daemon.kill_and_start();

    assert_eq!(asked_in_a_new_session(&daemon), hostile);
    let rules = daemon.get("/api/rules").json()["rules"].clone();
    assert_eq!((rules.as_array().unwrap().len(), &rules[0]["usedCount"]), (1, &json!(1)));
    assert_eq!(rules[0]["requestId"], json!(id));
    assert_eq!(rules[0]["text"], "Allow `cargo test` in app");

    let rule = rules[0]["id"].as_str().unwrap();
    assert_eq!(daemon.call("DELETE", &format!("/api/rules/{rule}"), &json!({})).status, 204);
    assert_eq!(asked_in_a_new_session(&daemon), all);

    // A denial decides without asking, also where another rule allows.
    for (effect, more) in [("allow", true), ("deny", false)] {
        let matcher = json!({"kind": "command", "words": ["cargo", "test"], "more": more});
        let new = json!({"effect": effect, "matcher": matcher});
        assert_eq!(daemon.post("/api/rules", &new).status, 201);
    }
    assert_eq!(asked_in_a_new_session(&daemon), ["touch x"]);
}
