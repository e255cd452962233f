//! What several daemons on one PostgreSQL database share, through their interfaces.

use std::fs;
use std::time::Instant;

use convoke_testkit::agent::Script;
use convoke_testkit::postgres::{self, Database, Notifications, Proxy};
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::nodes::{kill, node, node_at};
use crate::serve_scene::{Daemon, PNG, takes_images};
use crate::socket_scene::Socket;

/// A machine among others, whose agent follows a script.
fn daemon(url: &str, name: &str, script: &Script) -> Daemon {
    let config = format!("[store]\nurl = {url:?}\n[node]\nname = {name:?}\n");
    Daemon::with(script, &config)
}

pub(crate) fn away(database: &Database, name: &str) {
    let over =
        format!("UPDATE nodes SET lease_until = now() - interval '1 minute' WHERE name = '{name}'");
    database.execute(&over).unwrap();
}

fn blob_file(daemon: &Daemon, hash: &str) -> std::path::PathBuf {
    daemon.machine.home().join("blobs").join(&hash[..2]).join(hash)
}

#[test]
fn n4_a_watcher_goes_on_although_notifications_are_lost() {
    let database = postgres::database();
    let proxy = Proxy::start(&database.url, Notifications::AreLost).unwrap();
    let (here, there) = (node_at(&proxy.url, "laptop"), node(&database, "workstation"));
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = there.session();
    let mut watch = here.start(&["session", "watch", &session, "--after", "0", "--json"]);
    for word in ["first", "second"] {
        there.say(&session, word);
        watch.until(|line| line.contains(&format!("You said: **{word}**")));
    }
    // Also a command finds its response.
    let told = here.say(&session, "and back");
    assert!(told.contains("You said: **and back**"), "{told}");
    // A session that is erased there is no longer watched here.
    there.run_args(&["session", "complete", &session]);
    let erased = there.run_args(&["session", "delete", &session, "--yes"]);
    assert!(erased.starts_with("exit 0"), "{erased}");
    watch.child.wait().unwrap();
}

#[test]
fn n9_announced_sessions_are_read_in_batches_and_only_for_clients() {
    let database = postgres::database();
    let proxy = Proxy::start(&database.url, Notifications::Arrive).unwrap();
    let there = node(&database, "workstation");
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = there.session();
    let here = daemon(&proxy.url, "laptop", &Script::new());
    let batches = || proxy.executed("agent_sessions AS s WHERE id = ANY");
    let single = || proxy.executed("agent_sessions AS s WHERE id = $1");
    let lists = || proxy.executed("FROM nodes");
    let before = (batches(), single(), lists());
    for _ in 0..3 {
        there.say(&session, "nobody at the laptop looks at this");
    }
    // Sent after all of that on the same channel.
    there.machine.json("node list --json");
    assert_eq!((batches(), single(), lists()), before, "no client is connected");
    // A client that connects sees what was announced before.
    let (begun, mut socket) = (Instant::now(), Socket::open(&here));
    socket.until_session(&session, |_| true);
    for word in ["one", "two"] {
        there.say(&session, word);
        let count: u64 = there.count(&session).parse().unwrap();
        socket.until_session(&session, |shown| shown["messageCount"] == count);
    }
    let read = batches() - before.0;
    let most = usize::try_from(begun.elapsed().as_millis() / 100).unwrap() + 1;
    assert!((1..=most).contains(&read), "{read} reads, and at most {most} in that time");
    assert_eq!(single(), before.1, "none is read by itself");
}

#[test]
fn n4_l3_an_attachment_reaches_the_agent_of_another_node_and_every_page() {
    let database = postgres::database();
    let here = daemon(&database.url, "laptop", &Script::new());
    let mut there = daemon(&database.url, "workstation", &takes_images());
    let session = there.session();
    let stored = here.upload("shot.png", PNG).json();
    let hash = stored["hash"].as_str().unwrap().to_owned();
    // More than one piece.
    let long: Vec<u8> = (0..700_000_u32).map(|n| b'a' + u8::try_from(n % 26).unwrap()).collect();
    let text = here.upload("long.txt", &long).json();
    let prompted = here.post(
        &format!("/api/sessions/{session}/prompt"),
        &json!({"text": "look", "attachments": [stored, text]}),
    );
    assert_eq!(prompted.status, 202, "{prompted:?}");
    let id = prompted.json()["messageId"].clone();
    let mut events = here.follow(&session, 0);
    events.until(|message| message["id"] == id && message["turn"]["status"] == "ended");
    let messages = here.messages(&session);
    assert_eq!(messages[0]["content"]["attachments"], json!([stored, text]));
    let said: Vec<&Value> = messages.iter().filter(|message| message["role"] == "agent").collect();
    assert!(json!(said).to_string().contains("[image image/png of 16 base64]"), "{said:?}");
    // The page of a third machine shows it, and so does one whose copy is gone.
    let third = daemon(&database.url, "server", &Script::new());
    fs::remove_file(blob_file(&there, &hash)).unwrap();
    for page in [&here, &there, &third] {
        let read = page.get(&format!("/api/blobs/{hash}?name=shot.png"));
        assert_eq!((read.status, read.header("content-type")), (200, Some("image/png")));
        let read = page.get(&format!("/api/blobs/{}", text["hash"].as_str().unwrap()));
        assert_eq!(read.body.len(), long.len());
    }
    assert_eq!(third.get(&format!("/api/blobs/{}", "0".repeat(64))).status, 404);
    // What waits for a node that is away is kept, and what nothing refers to is removed.
    let waits = here.upload("waits.txt", b"for a node that is away").json();
    here.upload("unused.txt", b"nothing refers to this");
    there.end(rustix::process::Signal::KILL);
    away(&database, "workstation");
    let queued = here.post(
        &format!("/api/sessions/{session}/prompt"),
        &json!({"text": "later", "attachments": [waits]}),
    );
    assert_eq!(queued.json()["waitsFor"], "workstation", "{queued:?}");
    database.execute("UPDATE blobs SET used_at = now() - interval '2 days'").unwrap();
    let cleaner = daemon(&database.url, "cleaner", &Script::new());
    until("the unused one is removed", || {
        database.value("SELECT count(*) FROM blobs").as_deref() == Some("3")
    });
    drop(cleaner);
    there.start_again();
    events.until(|message| message["content"]["text"] == "later");
}

#[test]
fn n6_l3_attachments_are_copied_with_their_database() {
    let database = postgres::database();
    let mut daemon = Daemon::new(&takes_images());
    let session = daemon.session();
    let stored = daemon.upload("shot.png", PNG).json();
    let hash = stored["hash"].as_str().unwrap().to_owned();
    let body = json!({"text": "look", "attachments": [stored]});
    let prompted = daemon.post(&format!("/api/sessions/{session}/prompt"), &body);
    let id = prompted.json()["messageId"].clone();
    daemon
        .follow(&session, 0)
        .until(|message| message["id"] == id && message["turn"]["status"] == "ended");
    daemon.end(rustix::process::Signal::TERM);
    let machine = &daemon.machine;
    let (file, other) = (machine.home().join("convoke.db"), machine.path().join("copy/convoke.db"));
    fs::create_dir(machine.path().join("copy")).unwrap();
    let (file, other) = (file.to_str().unwrap(), other.to_str().unwrap());
    let copied = machine.run_args(&["db", "copy", "--from", file, "--to", &database.url]);
    assert!(copied.starts_with("exit 0") && copied.contains("attachments"), "{copied}");
    let copied = machine.run_args(&["db", "copy", "--from", &database.url, "--to", other]);
    assert!(copied.starts_with("exit 0"), "{copied}");
    let path = machine.path().join("copy/blobs").join(&hash[..2]).join(&hash);
    assert_eq!(fs::read(path).unwrap(), PNG);
}

/// The texts of the prompts that wait, and for whom.
fn queue(daemon: &Daemon, session: &str) -> Vec<(Value, Value)> {
    let state = daemon.get(&format!("/api/sessions/{session}/state")).json();
    let state = state["state"].as_array().unwrap().clone();
    let queue = state.into_iter().find(|state| state["kind"] == "queue").unwrap_or_default();
    let prompts = queue["prompts"].as_array().cloned().unwrap_or_default();
    prompts.iter().map(|prompt| (prompt["text"].clone(), prompt["waitsFor"].clone())).collect()
}

#[test]
fn n3_a_prompt_that_waits_for_a_node_is_shown_on_every_node_and_can_be_removed() {
    let database = postgres::database();
    let here = daemon(&database.url, "laptop", &Script::new());
    let third = daemon(&database.url, "server", &Script::new());
    let mut there = daemon(&database.url, "workstation", &Script::new());
    let session = there.session();
    let mut page = Socket::open(&third);
    page.say(&json!({"type": "session:open", "sessionId": session}));
    page.until("session:opened");
    there.end(rustix::process::Signal::KILL);
    away(&database, "workstation");
    let send = |text: &str| {
        let prompted =
            here.post(&format!("/api/sessions/{session}/prompt"), &json!({"text": text})).json();
        assert_eq!(prompted["waitsFor"], "workstation", "{prompted}");
        prompted["messageId"].as_str().unwrap().to_owned()
    };
    let [first, second, _] = ["first", "second", "third"].map(send);
    let waits = |text: &str| (json!(text), json!("workstation"));
    for node in [&here, &third] {
        assert_eq!(queue(node, &session), ["first", "second", "third"].map(waits));
    }
    // An open page is sent the queue, and so is one that is opened later.
    let shows = |frame: &Value, text: &str| {
        let prompts = frame["entry"]["prompts"].as_array();
        prompts.is_some_and(|prompts| prompts.iter().any(|it| it["content"] == text))
    };
    page.until_frame(|frame| shows(frame, "third"));
    let mut later = Socket::open(&here);
    later.say(&json!({"type": "session:open", "sessionId": session}));
    let shown = later.until_frame(|frame| shows(frame, "third"));
    assert_eq!(shown["entry"]["prompts"][0]["waitsFor"], "workstation", "{shown}");
    let list = here.machine.run(&format!("session queue list {session}"));
    assert!(list.contains("WAITS FOR") && list.contains("workstation"), "{list}");
    // One is removed through REST, one through the page of another node.
    let head = third.head("DELETE", &format!("/api/sessions/{session}/queue/{first}"));
    let removed = third.send(&head, "");
    assert_eq!(removed.status, 200, "{removed:?}");
    let removed =
        page.ask(json!({"type": "queue:remove", "sessionId": session, "messageId": second}));
    assert_eq!(removed["type"], "session:changed", "{removed}");
    later.until_frame(|frame| shows(frame, "third") && !shows(frame, "second"));
    // What else is wished for needs the node.
    let head = third.head("POST", &format!("/api/sessions/{session}/queue/{first}/send"));
    assert_eq!(third.send(&head, "").status, 503);
    // Back again, it sends what was left, once, and shows it as waiting no more.
    there.start_again();
    let mut events = here.follow(&session, 0);
    events.until(|message| message["turn"]["status"] == "ended");
    let messages = here.messages(&session);
    let prompts = messages.iter().filter(|message| message["role"] == "user");
    let prompts: Vec<&Value> = prompts.map(|message| &message["content"]["text"]).collect();
    assert_eq!(prompts, ["third"]);
    later.until_frame(|frame| frame["entry"]["prompts"] == json!([]));
    assert_eq!(queue(&third, &session), []);
    assert!(!json!(messages).to_string().contains("prompt_refused"), "nothing was refused");
}

#[test]
fn n4_p3_home_shows_what_other_nodes_work_on_and_which_of_their_sessions_need_an_answer() {
    let database = postgres::database();
    let there = node(&database, "workstation");
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = there.session();
    let here = daemon(&database.url, "laptop", &Script::new());
    let groups = || {
        let home = here.get("/api/home").json();
        let count = |group: &str| home[group].as_array().map_or(0, Vec::len);
        (count("needsYou"), count("working"), count("recent"))
    };
    let attention = || here.get("/api/sessions").json()["sessions"][0]["attention"].clone();
    assert_eq!((groups(), attention()), ((0, 0, 1), json!("idle")));
    // A turn that waits for its human.
    there.run_args(&["session", "send", &session, "/write notes.txt from afar"]);
    until("the request is seen here", || groups() == (1, 0, 0) && attention() == "needs_you");
    there.run_args(&["session", "cancel", "--turn", &session]);
    // A turn that lasts.
    there.run_args(&["session", "send", &session, "/long 10000000"]);
    until("the turn is seen here", || groups() == (0, 1, 0) && attention() == "working");
    kill(&there);
    away(&database, "workstation");
    assert_eq!(groups().1, 0, "a machine that is away works on nothing");
}

/// Its path would name another folder here.
#[test]
fn n3_a_comparison_in_a_project_of_another_node_is_refused_with_the_name_of_the_node() {
    let database = postgres::database();
    let here = daemon(&database.url, "laptop", &Script::new());
    let there = daemon(&database.url, "workstation", &Script::new());
    let project = there.project();
    let entries = json!([{"agent": "scripted"}]);
    let body = json!({"repoId": project, "prompt": "hello", "entries": entries});
    let refused = here.post("/api/comparisons", &body);
    assert_eq!(refused.status, 409, "{refused:?}");
    let problem = refused.json();
    assert_eq!(problem["detail"], "the project app is on workstation");
    assert_eq!(problem["hint"], "do this on workstation");
    let at = "2026-01-01T00:00:00Z";
    let turn = json!({"role": "user", "content": "hi", "timestamp": at, "tokens": 2});
    let import = json!({"repoId": project, "transcript": "t", "agent": "scripted", "createdAt": at,
        "turns": [turn]});
    assert_eq!(here.post("/api/imports", &import).status, 409);
    assert_eq!(here.get("/api/sessions").json()["total"], 0);
}
