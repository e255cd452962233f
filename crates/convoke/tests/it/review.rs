//! Comments on changed lines, from the client to the agent and back.

use std::fs;

use convoke_testkit::agent::{Script, Step};
use serde_json::{Value, json};

use crate::serve_scene::{Daemon, said};
use crate::socket_scene::Socket;

/// Two comments, on both sides of a diff.
fn review() -> Value {
    json!([
        {"path": "src/main.rs", "side": "new", "startLine": 3, "endLine": 4,
         "quote": "let a = 1;\nlet b = 2;", "comment": "Use a tuple, marigold."},
        {"path": "notes.txt", "side": "old", "startLine": 7, "endLine": 7,
         "quote": "old words", "comment": "Why was it removed?"},
    ])
}

/// What the agent is given of them.
const TEXT: &str = "Nearly there.

Review comments on the changes:

1. src/main.rs, lines 3-4
> let a = 1;
> let b = 2;

Use a tuple, marigold.

2. notes.txt, line 7 before the changes
> old words

Why was it removed?";

#[test]
fn c4_comments_on_lines_are_one_prompt_and_read_back_as_they_were_made() {
    let daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    let body = json!({"text": "Nearly there.", "review": review()});
    let messages = daemon.turn_with(&session, &body);
    let prompt = &messages[0]["content"];
    assert_eq!(
        (&prompt["text"], &prompt["review"]),
        (&json!("Nearly there."), &review()),
        "{prompt}"
    );
    assert_eq!(said(&messages), TEXT);

    let mut socket = Socket::open(&daemon);
    socket.say(&json!({"type": "session:open", "sessionId": session}));
    let history = socket.until("session:history");
    assert_eq!(history["entries"][0]["content"], "Nearly there.");
    assert_eq!(history["entries"][0]["review"], review());

    let hits = daemon.get("/api/search?q=marigold&role=user").json();
    assert_eq!(hits["hits"][0]["session"]["uid"], json!(session), "{hits}");
    let quoted = daemon.get("/api/search?q=tuple%20main.rs&role=user").json();
    assert_eq!(quoted["hits"].as_array().unwrap().len(), 1);

    let folder = daemon.machine.path().join("out");
    for form in ["markdown", "jsonl"] {
        let to = folder.join(form);
        let all = ["export", "--all", to.to_str().unwrap(), "--format", form];
        let text = daemon.machine.run_args(&all);
        assert!(text.starts_with("exit 0"), "{text}");
        let file = fs::read_dir(&to).unwrap().next().unwrap().unwrap().path();
        let written = fs::read_to_string(file).unwrap();
        match form {
            "markdown" => assert!(written.contains(TEXT), "{written}"),
            _ => assert!(written.contains(&review()[0]["comment"].to_string()), "{written}"),
        }
    }
}

#[test]
fn c4_a_review_alone_is_enough_and_names_the_session() {
    let daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    let messages = daemon.turn_with(&session, &json!({"text": "", "review": review()}));
    assert!(said(&messages).starts_with("Review comments on the changes:\n\n1. src/main.rs"));
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!(shown["title"], "Use a tuple, marigold.");
}

#[test]
fn c4_a_review_waits_in_the_queue_and_survives_a_kill() {
    let mut daemon = Daemon::new(&Script::new().when("first", [Step::Hang]));
    let session = daemon.session();
    daemon.prompt(&session, "first");
    let mut socket = Socket::open(&daemon);
    let sent = json!({"type": "session:send", "sessionId": session, "content": "Nearly there.",
        "review": review()});
    let sent = socket.ask(sent);
    assert_eq!(sent["queued"], json!(true), "{sent}");
    let state = daemon.get(&format!("/api/sessions/{session}/state")).json();
    let queue = state["state"].as_array().unwrap().iter().find(|it| it["kind"] == "queue");
    assert_eq!(queue.unwrap()["prompts"][0]["review"], review());
    socket.say(&json!({"type": "session:open", "sessionId": session}));
    let history = socket.until("session:history");
    let entries = history["entries"].as_array().unwrap();
    let waiting = entries.iter().find(|entry| entry["type"] == "queue").unwrap();
    assert_eq!(waiting["prompts"][0]["review"], review());

    daemon.kill_and_start();
    let mut events = daemon.follow(&session, 0);
    let id = sent["messageId"].clone();
    events.until(|message| message["id"] == id && message["turn"]["status"] == "ended");
    assert!(said(&daemon.messages(&session)).ends_with(TEXT));
}

#[test]
fn c4_a_review_is_in_the_transcript_of_an_agent_that_remembers_nothing() {
    let mut daemon = Daemon::new(&Script::new().capabilities(json!({"loadSession": false})));
    let session = daemon.session();
    daemon.turn_with(&session, &json!({"text": "Nearly there.", "review": review()}));
    daemon.kill_and_start();
    let messages = daemon.turn_with(&session, &json!({"text": "and now?"}));
    let quoted = json!({"role": "user", "text": TEXT}).to_string();
    assert!(said(&messages).contains(&quoted), "{messages:#?}");
}

#[test]
fn c4_a_review_that_is_not_valid_is_refused_with_its_place() {
    let daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    let refused = |review: Value| {
        let body = json!({"text": "x", "review": review});
        let refused = daemon.post(&format!("/api/sessions/{session}/prompt"), &body);
        format!("{} {}", refused.status, refused.json()["detail"].as_str().unwrap())
    };
    let with = |key: &str, value: Value| {
        let mut review = review();
        review[1][key] = value;
        refused(review)
    };
    let many = vec![review()[0].clone(); 201];
    let long: Vec<Value> = (0..100)
        .map(|_| {
            let mut comment = review()[0].clone();
            comment["quote"] = json!("x".repeat(16 << 10));
            comment
        })
        .collect();
    let all = [
        with("comment", json!(" ")),
        with("path", json!("../../etc/passwd")),
        with("path", json!("x".repeat(2000))),
        with("startLine", json!(0)),
        with("endLine", json!(6)),
        with("comment", json!("x".repeat(17 << 10))),
        with("quote", json!("x".repeat(17 << 10))),
        refused(json!(many)),
        refused(json!(long)),
        with("side", json!("left")),
        with("line", json!(7)),
    ];
    insta::assert_snapshot!(all.join("\n"));
    assert!(daemon.messages(&session).is_empty());
}

#[test]
fn c4_the_command_line_sends_a_review() {
    let daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    let machine = &daemon.machine;
    fs::write(machine.path().join("review.json"), review().to_string()).unwrap();
    let send = |args: &[&str]| machine.run_args(&[&["session", "send", &session], args].concat());
    let text = send(&["Nearly there.", "--review", "review.json", "--wait"]);
    assert!(text.contains(TEXT), "{text}");
    let text = send(&["--review", "review.json", "--wait"]);
    assert!(text.contains("--- stdout\nReview comments on the changes:"), "{text}");
    let shown = machine.run_args(&["session", "show", &session]);
    assert!(shown.contains("> Nearly there.\n> \n> Review comments on the changes:"), "{shown}");
    fs::write(machine.path().join("wrong.json"), "[{\"path\": 1}]").unwrap();
    let refused = send(&["--review", "wrong.json"]);
    assert!(
        refused.starts_with("exit 1") && refused.contains("wrong.json is not a review"),
        "{refused}"
    );
    assert!(send(&[]).starts_with("exit 2"), "text or --review");
}
