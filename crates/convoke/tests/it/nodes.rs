//! Several daemons on one PostgreSQL database, through the command line.

use std::fs;

use convoke_testkit::postgres::{self, Database};
use convoke_testkit::wait::until;

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;

/// A machine among others.
pub(crate) fn node(database: &Database, name: &str) -> Scene {
    node_at(&database.url, name)
}

/// The same with another way to the server.
pub(crate) fn node_at(url: &str, name: &str) -> Scene {
    let scene = Scene::on(Convoke::new());
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = {url:?}\n[node]\nname = {name:?}\n"
    );
    fs::write(scene.machine.home().join("config.toml"), config).unwrap();
    scene
}

pub(crate) fn kill(scene: &Scene) {
    let pid = i32::try_from(scene.pid()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn n3_n4_a_session_of_another_node_is_prompted_watched_and_answered_from_here() {
    let database = postgres::database();
    let (here, there) = (node(&database, "laptop"), node(&database, "workstation"));
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = there.session();
    let list = here.run("node list");
    assert!(list.contains("workstation") && list.contains("this one"), "{list}");
    // One list, and the same session in it.
    let listed = here.machine.json("session list --json");
    assert_eq!(listed["sessions"][0]["id"], session.as_str(), "{listed}");
    for list in ["session list", "project list"] {
        let list = here.run(list);
        assert!(list.contains("NODE") && list.contains("workstation"), "{list}");
    }
    // A prompt, and what comes of it, from the other machine.
    let mut watch = here.start(&["session", "watch", &session, "--json"]);
    let told = here.say(&session, "hello from afar");
    assert!(told.contains("You said: **hello from afar**"), "{told}");
    watch.until(|line| line.contains("hello from afar"));
    // A permission is in every inbox, and is given from the other machine.
    let sent = here.run_args(&["session", "send", &session, "/write notes.txt from afar"]);
    assert!(sent.starts_with("exit 0"), "{sent}");
    watch.until(|line| line.contains(r#""status":"pending""#));
    let item = here.machine.json("inbox list --json")["items"][0].clone();
    let id = item["id"].as_str().unwrap().to_owned();
    let allowed = here.run_args(&["inbox", "allow", &id]);
    assert!(allowed.starts_with("exit 0"), "{allowed}");
    watch.until(|line| line.contains("turn_ended") || line.contains("end_turn"));
    assert_eq!(fs::read_to_string(there.web().join("notes.txt")).unwrap().trim(), "from afar");
    // Other commands, and a new session in the other machine's folder.
    assert!(here.run_args(&["session", "rename", &session, "renamed"]).starts_with("exit 0"));
    let shown = there.machine.json(&format!("session show {session} --json"));
    assert_eq!(shown["title"], "renamed");
    let second = here.machine.json("session new --project web --agent demo --json");
    assert_eq!(there.machine.json("session list --json")["total"], 2, "{second}");
    let found = here.run("search afar");
    assert!(found.contains("hello from afar") || found.contains("afar"), "{found}");
}

#[test]
fn n3_a_prompt_waits_for_a_node_that_is_away_and_other_commands_are_refused() {
    let database = postgres::database();
    let (here, there) = (node(&database, "laptop"), node(&database, "workstation"));
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = there.session();
    here.run("node list");
    kill(&there);
    database
        .execute(
            "UPDATE nodes SET lease_until = now() - interval '1 minute' WHERE name = 'workstation'",
        )
        .unwrap();
    let refused = here.run_args(&["session", "rename", &session, "x"]);
    assert!(refused.contains("workstation has been away"), "{refused}");
    let queued = here.run_args(&["session", "send", &session, "when you are back"]);
    assert!(queued.contains("workstation is away"), "{queued}");
    // Any command starts the daemon again.
    let mut watch = there.start(&["session", "watch", &session, "--after", "0", "--json"]);
    watch.until(|line| line.contains("You said: **when you are back**"));
    let prompts = database.value("SELECT count(*) FROM messages WHERE role = 'user'");
    assert_eq!(prompts.as_deref(), Some("1"), "it is carried out once");
}

#[test]
fn n3_k7_the_name_of_a_machine_does_not_drive_the_terminal_of_another_one() {
    let database = postgres::database();
    let (here, there) = (node(&database, "laptop"), node(&database, "workstation"));
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = there.session();
    here.run("node list");
    kill(&there);
    let hostile = r"UPDATE nodes SET name = E'work\x1b[2Jstation',
        lease_until = now() - interval '1 minute' WHERE name = 'workstation'";
    database.execute(hostile).unwrap();
    let queued = here.run_args(&["session", "send", &session, "when you are back"]);
    assert!(queued.contains("work\u{fffd}[2Jstation is away"), "{queued:?}");
}

#[test]
fn n3_k1_a_node_changes_no_settings_and_adds_no_projects_for_another_one() {
    let database = postgres::database();
    let there = node(&database, "workstation");
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let config = fs::read(there.machine.home().join("config.toml")).unwrap();
    let requests = [
        r#"{"kind":"request","method":"PATCH","uri":"/api/config","body":"{\"changes\":{\"notify.command\":[\"true\"]}}"}"#,
        r#"{"kind":"request","method":"GET","uri":"/api/sessionsX/../config","body":""}"#,
        r#"{"kind":"request","method":"POST","uri":"/api/repos","body":"{\"path\":\"FOLDER\"}"}"#,
        r#"{"kind":"request","method":"POST","uri":"/api/teams/reload#/cancel","body":""}"#,
        r#"{"kind":"frame","frame":{"type":"project:add","path":"FOLDER"}}"#,
        r#"{"kind":"frame","frame":{"type":"config:set","changes":{}}}"#,
        r#"{"kind":"frame","frame":{"type":"folder:complete","path":"/"}}"#,
    ];
    let folder = there.web().parent().unwrap().join("other");
    fs::create_dir(&folder).unwrap();
    for request in requests {
        let request = request.replace("FOLDER", folder.to_str().unwrap());
        let post = format!(
            "INSERT INTO node_commands (node, asker, request) SELECT id, id, '{request}' FROM nodes"
        );
        database.execute(&post).unwrap();
    }
    let open = "SELECT count(*) FROM node_commands WHERE finished_at IS NULL";
    until("all are answered", || database.value(open).as_deref() == Some("0"));
    let refused = "SELECT count(*) FROM node_commands WHERE response LIKE '%\"status\":403%'";
    assert_eq!(database.value(refused).as_deref(), Some("7"));
    assert_eq!(database.value("SELECT count(*) FROM projects").as_deref(), Some("1"));
    assert_eq!(fs::read(there.machine.home().join("config.toml")).unwrap(), config);
}

#[test]
fn n2_a_second_home_with_the_same_name_is_refused() {
    let database = postgres::database();
    let (first, second) = (node(&database, "laptop"), node(&database, "laptop"));
    assert!(first.run("project add web").starts_with("exit 0"), "the daemon starts");
    let refused = second.run("serve");
    assert!(refused.contains("another node is called laptop"), "{refused}");
    assert!(refused.contains("node.name"), "{refused}");
}

#[test]
fn n6_a_history_is_copied_to_a_server_and_goes_on_there() {
    let database = postgres::database();
    let scene = Scene::new();
    assert!(scene.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = scene.session();
    scene.say(&session, "remember the walnut");
    let file = scene.machine.home().join("convoke.db");
    let (file, url) = (file.to_str().unwrap(), database.url.as_str());
    let running = scene.run_args(&["db", "copy", "--from", file, "--to", url]);
    assert!(running.contains("in use"), "{running}");
    scene.run("stop");
    let exposed = url.replacen("convoke@", "convoke:secret@", 1);
    let refused = scene.run_args(&["db", "copy", "--from", file, "--to", &exposed]);
    assert!(refused.contains("must not be in the URL") && !refused.contains("secret"), "{refused}");
    let copied = scene.run_args(&["db", "copy", "--from", file, "--to", url]);
    assert!(copied.starts_with("exit 0") && copied.contains("is equal to"), "{copied}");
    let config = format!("[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"{url}\"\n");
    fs::write(scene.machine.home().join("config.toml"), config).unwrap();
    let told = scene.say(&session, "and the hazelnut");
    assert!(told.contains("You said: **and the hazelnut**"), "{told}");
    let found = scene.machine.json("search walnut --json");
    assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
    let backup = scene.run("backup");
    assert!(backup.contains("pg_dump"), "{backup}");
}

#[test]
fn n3_a_prompt_refused_after_waiting_is_reported_in_the_log_of_its_session() {
    let database = postgres::database();
    let (here, there) = (node(&database, "laptop"), node(&database, "workstation"));
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = there.session();
    assert!(there.run_args(&["session", "complete", &session]).starts_with("exit 0"));
    here.run("node list");
    kill(&there);
    database
        .execute(
            "UPDATE nodes SET lease_until = now() - interval '1 minute' WHERE name = 'workstation'",
        )
        .unwrap();
    let queued = here.run_args(&["session", "send", &session, "one more thing"]);
    assert!(queued.contains("workstation is away"), "{queued}");
    // Any command starts the daemon again, and the sender sees what became of it.
    there.run("node list");
    let mut watch = here.start(&["session", "watch", &session, "--after", "0", "--json"]);
    let told = watch.until(|line| line.contains("prompt_refused"));
    assert!(told.contains("one more thing") && told.contains("resume it first"), "{told}");
    // One whose sender waits is refused to the sender alone.
    let refused = here.run_args(&["session", "send", &session, "and another"]);
    assert!(refused.contains("resume it first"), "{refused}");
    let notices = "SELECT count(*) FROM messages WHERE content LIKE '%prompt_refused%'";
    assert_eq!(database.value(notices).as_deref(), Some("1"));
}

#[test]
fn n3_a_command_that_is_stored_after_a_later_one_is_carried_out_too() {
    let database = postgres::database();
    let there = node(&database, "workstation");
    assert!(there.run("project add web").starts_with("exit 0"), "the daemon starts");
    let request = r#"{"kind":"request","method":"GET","uri":"/api/repos","body":""}"#;
    // Numbers are given before commits: two nodes that ask at once may be stored in the other order.
    for id in [2000, 1000] {
        let post = format!(
            "INSERT INTO node_commands (id, node, asker, request) OVERRIDING SYSTEM VALUE
             SELECT {id}, id, id, '{request}' FROM nodes"
        );
        database.execute(&post).unwrap();
        let open = "SELECT count(*) FROM node_commands WHERE finished_at IS NULL";
        until("it is answered", || database.value(open).as_deref() == Some("0"));
    }
}
