//! Sessions that are deleted for good, and queues that are moved, kept and discarded.

use convoke_testkit::agent::{Script, Step};
use serde_json::{Value, json};

use crate::serve_scene::Daemon;
use crate::socket_scene::Socket;

fn script() -> Script {
    let hangs = || [Step::say("walnut"), Step::Hang];
    Script::new().when("slow", hangs()).when("once more", hangs())
}

/// A session whose turn runs until it is stopped.
fn busy(daemon: &Daemon) -> String {
    let session = daemon.session();
    daemon.prompt(&session, "slow");
    let mut events = daemon.follow(&session, 0);
    events.until(|message| message["content"]["text"] == "walnut");
    session
}

/// The texts of the prompts that wait, and whether they are held.
fn queue(daemon: &Daemon, session: &str) -> (Vec<Value>, bool) {
    let state = daemon.get(&format!("/api/sessions/{session}/state")).json();
    let state = state["state"].as_array().unwrap();
    let queue = state.iter().find(|state| state["kind"] == "queue").cloned().unwrap_or_default();
    let prompts = queue["prompts"].as_array().cloned().unwrap_or_default();
    (prompts.iter().map(|prompt| prompt["text"].clone()).collect(), queue["held"] == true)
}

#[test]
fn p5_an_erased_session_is_gone_for_every_reader() {
    let daemon = Daemon::new(&script());
    let (session, other) = (busy(&daemon), daemon.session());
    daemon.turn(&other, "walnut, too");
    let mut socket = Socket::open(&daemon);
    socket.ask(json!({"type": "session:open", "sessionId": session}));
    let erase = format!("/api/sessions/{session}/erase");
    assert_eq!(daemon.post(&erase, &json!({})).status, 204);
    let gone = socket.until("session:erased");
    assert_eq!(gone["uid"], session.as_str());
    assert_eq!(daemon.post(&erase, &json!({})).status, 404);
    for path in ["", "/messages", "/state", "/events"] {
        assert_eq!(daemon.get(&format!("/api/sessions/{session}{path}")).status, 404, "{path}");
    }
    assert_eq!(daemon.get("/api/sessions").json()["total"], 1);
    let hits = daemon.get("/api/search?q=walnut").json();
    let found = hits["hits"].as_array().unwrap().iter();
    assert!(found.clone().all(|hit| hit["sessionId"] == other.as_str()), "{hits}");
    assert_eq!(found.count(), 2);
    // Over the socket, too; and what is left of the daemon works.
    let erased = socket.ask(json!({"type": "session:erase", "sessionId": other}));
    assert_eq!((&erased["type"], &erased["uid"]), (&json!("session:erased"), &json!(other)));
    let fresh = daemon.session();
    assert_eq!(daemon.turn(&fresh, "hello").len(), 2);
}

#[test]
fn p5_deleting_says_what_goes_and_asks() {
    let daemon = Daemon::new(&script());
    let session = busy(&daemon);
    let (screen, code) =
        daemon.machine.run_on_terminal(&format!("session delete {session}"), "n\n");
    let question = "Delete \"slow\" (";
    assert!(screen.contains(question), "{screen}");
    let lost = "for good, with 2 messages and all of its requests? Its agent is working and will be stopped. [y/N]";
    assert!(screen.replace("\n", "").contains(lost), "{screen}");
    assert_eq!(code, 4, "{screen}");
    let told = daemon.machine.run(&format!("session delete {session}"));
    assert!(
        told.starts_with("exit 2\n") && told.contains("hint: add `--yes` to confirm"),
        "{told}"
    );
    let told = daemon.machine.run(&format!("session delete {} --yes", &session[..8]));
    assert_eq!(told, format!("exit 0\n--- stdout\n{} deleted\n", &session[..8]));
    assert_eq!(daemon.get("/api/sessions").json()["total"], 0);
}

#[test]
fn p5_prompts_that_wait_are_moved_and_a_stop_keeps_or_discards_them() {
    let daemon = Daemon::new(&script());
    let session = busy(&daemon);
    let path = format!("/api/sessions/{session}");
    let prompts = ["one", "two", "three"].map(|text| daemon.prompt(&session, text).id);
    let patch = json!({"text": "three!", "position": 0});
    let moved = daemon.call("PATCH", &format!("{path}/queue/{}", prompts[2]), &patch);
    assert_eq!(moved.status, 200, "{moved:?}");
    let nothing = daemon.call("PATCH", &format!("{path}/queue/{}", prompts[2]), &json!({}));
    assert_eq!(nothing.status, 200, "nothing to change");
    assert_eq!(queue(&daemon, &session).0, ["three!", "one", "two"]);
    let mut socket = Socket::open(&daemon);
    socket.ask(json!({"type": "session:open", "sessionId": session}));
    socket
        .ask(json!({"type": "queue:move", "sessionId": session, "messageId": prompts[2], "to": 9}));
    assert_eq!(queue(&daemon, &session).0, ["one", "two", "three!"]);
    let told = daemon.machine.run(&format!("session queue move {session} {} 2", prompts[0]));
    assert!(told.starts_with("exit 0\n"), "{told}");
    assert_eq!(
        queue(&daemon, &session),
        (vec!["two".into(), "one".into(), "three!".into()], false)
    );

    // Kept: the turn ends, and nothing is sent.
    let stop = json!({"type": "session:cancel", "sessionId": session, "queue": "keep"});
    assert_eq!(socket.ask(stop)["type"], "session:cancelled");
    socket.until("session:complete");
    assert_eq!(queue(&daemon, &session), (vec!["two".into(), "one".into(), "three!".into()], true));
    let list = daemon.machine.run(&format!("session queue list {session}"));
    assert!(list.contains("They are held until the next prompt"), "{list}");
    // One of them is sent, and the others follow.
    socket.ask(json!({"type": "queue:send", "sessionId": session, "messageId": prompts[0]}));
    let mut events = daemon.follow(&session, 0);
    events.until(|message| {
        message["id"] == prompts[2].as_str() && message["turn"]["status"] == "ended"
    });
    let said: Vec<Value> = daemon
        .messages(&session)
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| message["content"]["text"].clone())
        .collect();
    assert_eq!(said, ["slow", "one", "two", "three!"]);

    // Discarded: they stay readable, and none is sent.
    daemon.prompt(&session, "once more");
    let left = daemon.prompt(&session, "left").id;
    let cancelled = daemon.post(&format!("{path}/cancel"), &json!({"queue": "discard"}));
    assert_eq!(cancelled.status, 200);
    let left = events.until(|message| message["id"] == left.as_str());
    assert_eq!(left["turn"]["stopReason"], "cancelled");
    assert_eq!(queue(&daemon, &session), (Vec::new(), false));
}

#[test]
fn p5_held_prompts_survive_a_restart_and_follow_the_next_prompt() {
    let mut daemon = Daemon::new(&script());
    let session = busy(&daemon);
    let held = daemon.prompt(&session, "later").id;
    let mut socket = Socket::open(&daemon);
    daemon.post(&format!("/api/sessions/{session}/cancel"), &json!({"queue": "keep"}));
    socket.until_session(&session, |it| it["activity"] == "idle");
    daemon.kill_and_start();
    assert_eq!(queue(&daemon, &session), (vec!["later".into()], true));
    let now = daemon.prompt(&session, "now");
    let mut events = daemon.follow(&session, 0);
    let later = events.until(|message| message["id"] == held.as_str());
    let now = &events.known[&now.id];
    assert!(now["seq"].as_u64() < later["seq"].as_u64(), "the new prompt comes first");
}
