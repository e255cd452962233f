//! What sessions want of their human, and what the human has seen: over REST, on sockets, and on the command line.

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use crate::serve_scene::Daemon;
use crate::socket_scene::Socket;

fn script() -> Script {
    Script::new()
        .when("answer", [Step::say("Working on it.\n\nAll **done**.")])
        .when("slow", [Step::say("working"), Step::Hang])
        .when(
            "ask",
            [Step::Ask(Ask::new(Tool::named("1", "shell", json!({})), &[("yes", "allow_once")]))],
        )
        .when("crash", [Step::Exit(3)])
}

fn shown(daemon: &Daemon, session: &str) -> Value {
    let sessions = daemon.get("/api/sessions").json();
    let sessions = sessions["sessions"].as_array().unwrap();
    sessions.iter().find(|shown| shown["id"] == session).unwrap().clone()
}

/// The groups of Home, each by the ids of its sessions; needs_you by the sessions that ask.
fn home(daemon: &Daemon) -> Value {
    let home = daemon.get("/api/home").json();
    let ids = |group: &str, id: &str| -> Vec<Value> {
        home[group].as_array().unwrap().iter().map(|item| item[id].clone()).collect()
    };
    json!({
        "needsYou": ids("needsYou", "uid"),
        "working": ids("working", "id"),
        "finished": ids("finished", "id"),
        "failed": ids("failed", "id"),
        "recent": ids("recent", "id"),
    })
}

fn groups(group: &str, session: &str) -> Value {
    let mut groups =
        json!({"needsYou": [], "working": [], "finished": [], "failed": [], "recent": []});
    groups[group] = json!([session]);
    groups
}

#[test]
fn p3_p4_a_finished_turn_is_unseen_until_one_window_has_seen_it_and_all_agree() {
    let mut daemon = Daemon::new(&script());
    let session = daemon.session();
    let (mut one, mut other) = (Socket::open(&daemon), Socket::open(&daemon));
    assert_eq!(home(&daemon), groups("recent", &session));
    daemon.prompt(&session, "answer");
    for socket in [&mut one, &mut other] {
        let ended = socket.until_session(&session, |it| it["unseen"] == true);
        assert_eq!((&ended["attention"], &ended["activity"]), (&json!("idle"), &json!("idle")));
        assert_eq!(ended["lastLine"], "All done.");
    }
    assert_eq!(home(&daemon), groups("finished", &session));
    let list = daemon.machine.run("session list");
    assert!(list.contains("  unseen     scripted"), "{list}");
    let status = daemon.machine.run("status");
    assert!(status.contains("1 active, 1 finished and not seen\n"), "{status}");

    let seen = one.ask(json!({"type": "session:seen", "sessionId": session}));
    assert_eq!((&seen["type"], &seen["uid"]), (&json!("session:seen"), &json!(session)));
    other.until_session(&session, |it| it["unseen"] == false);
    assert_eq!(shown(&daemon, &session)["unseen"], false);
    assert_eq!(home(&daemon), groups("recent", &session));
    daemon.kill_and_start();
    assert_eq!(shown(&daemon, &session)["unseen"], false, "it is stored");
}

#[test]
fn p3_p4_a_turn_of_a_killed_daemon_has_failed_and_is_unseen() {
    let mut daemon = Daemon::new(&script());
    let session = daemon.session();
    let mut socket = Socket::open(&daemon);
    daemon.prompt(&session, "slow");
    let working = socket.until_session(&session, |it| it["attention"] == "working");
    assert!(working["runningSince"].is_string(), "{working}");
    assert_eq!(home(&daemon), groups("working", &session));
    daemon.kill_and_start();
    let failed = shown(&daemon, &session);
    assert_eq!((&failed["attention"], &failed["unseen"]), (&json!("failed"), &json!(true)));
    assert_eq!(failed["failure"]["why"], "interrupted");
    assert_eq!(failed.get("runningSince"), None);
    assert_eq!(home(&daemon), groups("failed", &session));
    let status = daemon.machine.run("status");
    assert!(status.contains("1 failed and not seen\n"), "{status}");

    let seen = daemon.post(&format!("/api/sessions/{session}/seen"), &json!({}));
    assert_eq!((seen.status, &*seen.body), (204, ""));
    let failed = shown(&daemon, &session);
    assert_eq!((&failed["attention"], &failed["unseen"]), (&json!("failed"), &json!(false)));
    assert_eq!(home(&daemon), groups("recent", &session));
    assert_eq!(daemon.post("/api/sessions/ffffffff/seen", &json!({})).status, 404);
}

#[test]
fn p3_a_crash_is_shown_with_its_reason_and_the_next_prompt_clears_it() {
    let daemon = Daemon::new(&script());
    let session = daemon.session();
    daemon.turn(&session, "crash");
    let failed = shown(&daemon, &session);
    assert_eq!(failed["failure"]["why"], "process_exited");
    assert!(failed["failure"]["detail"].as_str().unwrap().contains('3'), "{failed}");
    assert_eq!(home(&daemon), groups("failed", &session));
    let mut socket = Socket::open(&daemon);
    daemon.prompt(&session, "slow");
    let working = socket.until_session(&session, |it| it["attention"] == "working");
    assert_eq!((&working["unseen"], working.get("failure")), (&json!(false), None));
    // A turn that the human cancels has nothing to show that they do not know.
    daemon.post(&format!("/api/sessions/{session}/cancel"), &json!({}));
    let stopped = socket.until_session(&session, |it| it["attention"] == "idle");
    assert_eq!(stopped["unseen"], false);
}

#[test]
fn p3_a_session_that_asks_needs_you() {
    let daemon = Daemon::new(&script());
    let session = daemon.session();
    let mut socket = Socket::open(&daemon);
    daemon.prompt(&session, "ask");
    socket.until_session(&session, |it| it["attention"] == "needs_you");
    assert_eq!(home(&daemon), groups("needsYou", &session));
    let listed = socket.ask(json!({"type": "home:list"}));
    assert_eq!(listed["type"], "home:list");
    let item = &listed["needsYou"][0];
    assert_eq!((&item["uid"], &item["kind"]), (&json!(session), &json!("permission")));
    let list = daemon.machine.run("session list");
    assert!(list.contains("  needs you  scripted"), "{list}");
    let answer = format!("/api/inbox/{}/answer", item["id"].as_str().unwrap());
    assert_eq!(daemon.post(&answer, &json!({"optionId": "yes"})).status, 204);
    socket.until_session(&session, |it| it["attention"] == "idle");
    assert_eq!(home(&daemon), groups("finished", &session));
}

#[test]
fn p3_a_session_is_created_with_its_first_prompt() {
    let daemon = Daemon::new(&script());
    let repo = daemon.project();
    let new = json!({"repoId": repo, "agent": "scripted", "prompt": "answer"});
    let created = daemon.post("/api/sessions", &new);
    assert_eq!(created.status, 201, "{created:?}");
    let created = created.json();
    assert_eq!((&created["title"], &created["prompt"]["seq"]), (&json!("answer"), &json!(1)));
    let mut socket = Socket::open(&daemon);
    let created = socket.ask(
        json!({"type": "session:create", "projectId": repo, "cliType": "scripted", "prompt": "slow"}),
    );
    assert_eq!(created["type"], "session:created", "{created}");
    assert_eq!(
        (&created["session"]["title"], &created["session"]["attention"], created.get("refused")),
        (&json!("slow"), &json!("working"), None)
    );
    // What no session accepts fails before there is one.
    let blank = daemon.post("/api/sessions", &json!({"repoId": repo, "prompt": " \n"}));
    assert_eq!((blank.status, &blank.json()["code"]), (422, &json!("empty_prompt")));
    assert_eq!(daemon.get("/api/sessions").json()["total"], 2);
}
