//! Sessions that move from one machine to another, through the command line.

use std::fs;

use convoke_testkit::postgres::{self, Database};
use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;
use crate::worktree_scene::{git, repository};

const REMOTE: &str = "https://example.org/ada/web.git";

/// A machine among others, without a project.
fn machine(database: &Database, name: &str, more: &str) -> Scene {
    let scene = Scene::on(Convoke::new().env("PATH", &search_path()));
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"{}\"\n[node]\nname = \"{name}\"\n{more}",
        database.url
    );
    fs::write(scene.machine.home().join("config.toml"), config).unwrap();
    scene
}

/// Two machines with a clone of the same repository.
pub(crate) fn clones(database: &Database) -> (Scene, Scene) {
    clones_with(database, "")
}

fn clones_with(database: &Database, more: &str) -> (Scene, Scene) {
    let here = machine(database, "laptop", more);
    let there = machine(database, "workstation", more);
    repository(&here.web());
    let source = here.web().to_str().unwrap().to_owned();
    git(&there.web(), &["clone", "-q", &source, "."]);
    git(&here.web(), &["remote", "add", "origin", REMOTE]);
    git(&there.web(), &["remote", "set-url", "origin", "git@Example.org:ada/web"]);
    for scene in [&here, &there] {
        let added = scene.run("project add web");
        assert!(added.starts_with("exit 0"), "{added}");
    }
    (here, there)
}

/// Begins a session in the machine's own clone.
pub(crate) fn begin(scene: &Scene, agent: &str) -> String {
    let path = scene.web().canonicalize().unwrap();
    let line = format!("session new --project {} --agent {agent} --json", path.display());
    scene.machine.json(&line)["id"].as_str().unwrap().to_owned()
}

pub(crate) fn move_to(scene: &Scene, session: &str, args: &str) -> String {
    let mut words = vec!["session", "move", session, "--to"];
    words.extend(args.split_whitespace());
    scene.run_args(&words)
}

pub(crate) fn signal(scene: &Scene, signal: Signal) {
    let pid = i32::try_from(scene.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).unwrap();
}

pub(crate) fn make_away(database: &Database, name: &str) {
    let over =
        format!("UPDATE nodes SET lease_until = now() - interval '1 minute' WHERE name = '{name}'");
    assert_eq!(database.execute(&over).unwrap(), 1);
}

/// The name of the machine that a session belongs to.
pub(crate) fn owner(database: &Database, session: &str) -> String {
    let sql = format!(
        "SELECT n.name FROM agent_sessions AS s JOIN nodes AS n ON n.id = s.node WHERE s.id = '{session}'"
    );
    database.value(&sql).unwrap()
}

/// How many messages have such a text in them.
pub(crate) fn count(database: &Database, pattern: &str) -> String {
    let sql = format!("SELECT count(*) FROM messages WHERE content LIKE '%{pattern}%'");
    database.value(&sql).unwrap()
}

/// How many prompts have this text.
fn prompts(database: &Database, text: &str) -> String {
    let sql =
        format!("SELECT count(*) FROM messages WHERE role = 'user' AND content LIKE '%{text}%'");
    database.value(&sql).unwrap()
}

/// The agents that a machine runs, with the one that is kept ready.
fn agents(scene: &Scene) -> usize {
    fs::read_dir(scene.machine.home().join("run/agents")).map_or(0, Iterator::count)
}

#[test]
fn n8_a_session_moves_with_its_log_and_its_uncommitted_files() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    // Before the turn, whose checkpoint would hold it if it were still being written.
    fs::write(here.web().join("large.bin"), vec![7; 3 << 20]).unwrap();
    let session = begin(&here, "demo");
    here.say(&session, "remember the walnut");
    fs::write(here.web().join("notes.txt"), "changed and not committed\n").unwrap();
    fs::write(here.web().join("new.txt"), "untracked\n").unwrap();
    let running = agents(&here);
    // From either machine: the owner does it.
    let moved = move_to(&there, &session, "workstation");
    assert!(moved.contains("Moved from laptop to workstation."), "{moved}");
    assert!(moved.contains("2 written") && moved.contains("transcript"), "{moved}");
    assert!(moved.contains("Not brought along: large.bin."), "{moved}");
    assert_eq!(owner(&database, &session), "workstation");
    assert!(agents(&here) < running, "its agent is stopped");
    let notes = fs::read_to_string(there.web().join("notes.txt")).unwrap();
    assert_eq!(notes, "changed and not committed\n");
    assert_eq!(fs::read_to_string(there.web().join("new.txt")).unwrap(), "untracked\n");
    // The log is the same, and continues there, whichever node is prompted.
    let told = here.say(&session, "from the laptop");
    assert!(told.contains("from the laptop**"), "{told}");
    let told = there.say(&session, "from the workstation");
    assert!(told.contains("from the workstation**"), "{told}");
    let shown = here.machine.json(&format!("session show {session} --json"));
    let there_id = there.machine.json("project list --json")["repos"]
        .as_array()
        .unwrap()
        .iter()
        .find(|repo| repo["node"] == shown["node"])
        .unwrap()["id"]
        .clone();
    assert_eq!(shown["repoId"], there_id, "{shown}");
    assert_eq!(prompts(&database, "remember the walnut"), "1");
    let audit = here.run("audit");
    assert!(audit.contains("move session"), "{audit}");
    // And back, where the other files are: they are brought along only when that is said.
    let refused = move_to(&here, &session, "workstation");
    assert!(refused.contains("is on workstation already"), "{refused}");
    fs::write(there.web().join("notes.txt"), "edited there\n").unwrap();
    let back = move_to(&here, &session, "laptop");
    assert!(back.contains("uncommitted changes") && back.contains("undo --force"), "{back}");
    let notes = fs::read_to_string(here.web().join("notes.txt")).unwrap();
    assert_eq!(notes, "changed and not committed\n", "nothing is overwritten");
    let undone = here.run_args(&["session", "undo", &session, "--force"]);
    assert!(undone.contains("restored notes.txt"), "{undone}");
    assert_eq!(fs::read_to_string(here.web().join("notes.txt")).unwrap(), "edited there\n");
    let again = here.run_args(&["session", "undo", &session]);
    assert!(again.contains("restored notes.txt"), "{again}");
    let notes = fs::read_to_string(here.web().join("notes.txt")).unwrap();
    assert_eq!(notes, "changed and not committed\n");
}

#[test]
fn n8_a_session_finds_the_project_with_the_same_remote_or_says_what_is_missing() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    let unknown = move_to(&here, &session, "server");
    assert!(
        unknown.contains("there is no node server") && unknown.contains("workstation"),
        "{unknown}"
    );
    let same = move_to(&here, &session, "laptop");
    assert!(same.contains("is on laptop already"), "{same}");
    // Two that fit.
    let second = there.machine.path().join("web2");
    fs::create_dir(&second).unwrap();
    git(&second, &["clone", "-q", here.web().to_str().unwrap(), "."]);
    git(&second, &["remote", "set-url", "origin", "ssh://git@example.org:22/ada/web.git"]);
    there.run("project add web2");
    let several = move_to(&here, &session, "workstation");
    assert!(several.contains("several projects") && several.contains("--project"), "{several}");
    let listed = here.machine.json("project list --json");
    assert_eq!(listed["repos"].as_array().unwrap().len(), 3);
    let path = second.canonicalize().unwrap();
    let moved = move_to(&here, &session, &format!("workstation --project {}", path.display()));
    assert!(moved.starts_with("exit 0"), "{moved}");
    let told = there.say(&session, "hello");
    assert!(told.contains("hello**"), "{told}");
    // None that fits, and none that could.
    let third = machine(&database, "server", "");
    third.run("project add web");
    let none = move_to(&here, &session, "server");
    let expected =
        ["server has no project with the remote example.org/ada/web", "convoke project add"];
    assert!(expected.iter().all(|part| none.contains(part)), "{none}");
    let other = move_to(&here, &session, "server --project web");
    assert!(other.contains("not a git repository"), "{other}");
    let back = move_to(&here, &session, "laptop");
    assert!(back.contains("has no git remote") && back.contains("--project"), "{back}");
}

#[test]
fn n8_a_running_turn_refuses_a_move_or_is_stopped_for_it_and_prompts_go_along() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    here.run_args(&["session", "send", &session, "/write notes.txt from the agent"]);
    here.asked(&session, "0");
    let refused = move_to(&here, &session, "workstation");
    assert!(refused.contains("a turn is running") && refused.contains("--stop"), "{refused}");
    here.run_args(&["session", "send", &session, "the first that waits"]);
    there.run_args(&["session", "send", &session, "the second that waits"]);
    let mut watch = there.start(&["session", "watch", &session, "--after", "0", "--json"]);
    let moved = move_to(&here, &session, "workstation --stop");
    assert!(moved.starts_with("exit 0"), "{moved}");
    watch.until(|line| line.contains("the second that waits**"));
    for text in ["the first that waits", "the second that waits"] {
        assert_eq!(prompts(&database, text), "1", "{text}");
    }
    let inbox = here.machine.json("inbox list --json");
    assert_eq!(inbox["items"].as_array().unwrap().len(), 0, "{inbox}");
    assert_eq!(fs::read_to_string(there.web().join("notes.txt")).unwrap(), "old\n");
}

#[test]
fn n8_sessions_that_cannot_move_say_why_and_ended_ones_can() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    here.say(&session, "hello");
    assert!(here.run_args(&["session", "complete", &session]).starts_with("exit 0"));
    assert!(here.run_args(&["session", "archive", &session]).starts_with("exit 0"));
    let moved = move_to(&here, &session, "workstation");
    assert!(moved.contains("Moved from laptop to workstation."), "{moved}");
    let shown = there.machine.json(&format!("session show {session} --json"));
    assert_eq!((&shown["status"], &shown["archived"]), (&"completed".into(), &true.into()));
    assert!(there.run_args(&["session", "resume", &session]).starts_with("exit 0"));
    let told = there.say(&session, "again");
    assert!(told.contains("again**"), "{told}");
    assert!(there.run_args(&["session", "delete", &session, "--yes"]).starts_with("exit 0"));
    let gone = move_to(&here, &session, "laptop");
    assert!(gone.contains("there is no session"), "{gone}");
    let alone = Scene::new();
    alone.run("project add web");
    let session = alone.session();
    let refused = move_to(&alone, &session, "elsewhere");
    assert!(refused.contains("store.url"), "{refused}");
}

#[test]
fn n8_a_session_is_taken_from_a_machine_that_is_away_and_is_fenced_when_it_wakes() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    here.say(&session, "before the lid was closed");
    here.run_args(&["session", "send", &session, "/write notes.txt never"]);
    here.asked(&session, "0");
    let running = agents(&here);
    let runs = move_to(&there, &session, "workstation --from-away");
    assert!(runs.contains("laptop is running"), "{runs}");
    let pid = i32::try_from(here.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    make_away(&database, "laptop");
    let queued = there.run_args(&["session", "send", &session, "for the laptop"]);
    assert!(queued.contains("laptop is away"), "{queued}");
    let refused = move_to(&there, &session, "workstation");
    assert!(
        refused.contains("laptop, which is away") && refused.contains("--from-away"),
        "{refused}"
    );
    let moved = move_to(&there, &session, "workstation --from-away");
    assert!(moved.contains("No files were brought along: laptop was away"), "{moved}");
    // What waited for the laptop is done here, once.
    let mut watch = there.start(&["session", "watch", &session, "--after", "0", "--json"]);
    watch.until(|line| line.contains("for the laptop**"));
    assert_eq!(count(&database, "moved to another machine during the turn"), "1");
    kill_process(pid, Signal::CONT).unwrap();
    // One is kept ready for the next session.
    until("the laptop has stopped its agent", || agents(&here) < running);
    let shown = here.machine.json(&format!("session show {session} --json"));
    assert_eq!(
        shown["node"],
        there.machine.json(&format!("session show {session} --json"))["node"]
    );
    let told = here.say(&session, "from the laptop");
    assert!(told.contains("from the laptop**"), "{told}");
    for text in ["for the laptop", "from the laptop"] {
        assert_eq!(prompts(&database, text), "1", "{text}");
    }
    assert_eq!(owner(&database, &session), "workstation");
    assert_eq!(fs::read_to_string(here.web().join("notes.txt")).unwrap(), "old\n");
}

/// Holds up what changes a table, until `go_on`.
pub(crate) fn hold_up(database: &Database, when: &str) {
    let function = "CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN PERFORM pg_sleep(20); RETURN coalesce(new, old); END $$";
    database.execute(function).unwrap();
    let trigger =
        format!("CREATE TRIGGER hold_up BEFORE {when} FOR EACH ROW EXECUTE FUNCTION hold_up()");
    database.execute(&trigger).unwrap();
}

pub(crate) fn is_held_up(database: &Database) -> bool {
    let sql = "SELECT count(*) FROM pg_stat_activity
         WHERE wait_event = 'PgSleep' AND datname = current_database()";
    database.value(sql).as_deref() == Some("1")
}

pub(crate) fn go_on(database: &Database) {
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE wait_event = 'PgSleep' AND datname = current_database()";
    database.value(end);
    database.execute("DROP FUNCTION hold_up CASCADE").unwrap();
}

#[test]
fn n8_k1_a_machine_that_is_killed_before_it_gives_a_session_away_keeps_it() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    here.say(&session, "hello");
    hold_up(&database, "UPDATE OF node ON agent_sessions");
    let moving = here.start(&["session", "move", &session, "--to", "workstation"]);
    until("the transaction is under way", || is_held_up(&database));
    signal(&here, Signal::KILL);
    go_on(&database);
    drop(moving);
    assert_eq!(owner(&database, &session), "laptop");
    let told = here.say(&session, "still here");
    assert!(told.contains("still here**"), "{told}");
    let left = "SELECT count(*) FROM session_moves";
    until("what it stored is forgotten", || database.value(left).as_deref() == Some("0"));
    let moved = move_to(&there, &session, "workstation");
    assert!(moved.contains("Moved from laptop to workstation."), "{moved}");
    assert_eq!(owner(&database, &session), "workstation");
}

#[test]
fn n8_k1_a_machine_that_is_killed_while_a_session_arrives_completes_the_move_when_it_is_back() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    here.say(&session, "hello");
    fs::write(here.web().join("new.txt"), "untracked\n").unwrap();
    hold_up(&database, "DELETE ON session_moves");
    let moving = here.start(&["session", "move", &session, "--to", "workstation"]);
    until("the files are written, and not more", || is_held_up(&database));
    signal(&there, Signal::KILL);
    go_on(&database);
    assert_eq!(owner(&database, &session), "workstation");
    // Any command starts the daemon again.
    there.run("node list");
    let left = "SELECT count(*) FROM session_moves";
    until("the move is complete", || database.value(left).as_deref() == Some("0"));
    drop(moving);
    assert_eq!(count(&database, "Moved from laptop"), "1");
    assert_eq!(fs::read_to_string(there.web().join("new.txt")).unwrap(), "untracked\n");
    let told = here.say(&session, "go on");
    assert!(told.contains("go on**"), "{told}");
}

#[test]
fn n8_the_record_of_claude_code_goes_along() {
    let database = postgres::database();
    let program = env!("CARGO_BIN_EXE_convoke");
    let agent = format!(
        "[agents.claude-code]\nprotocol = \"acp\"\ncommand = \"{program}\"\nargs = [\"demo-agent\"]\n"
    );
    let (here, there) = clones_with(&database, &agent);
    let session = begin(&here, "claude-code");
    here.say(&session, "hello");
    let shown = here.machine.json(&format!("session show {session} --json"));
    let id = shown["agentSessionId"].as_str().unwrap();
    let name = |scene: &Scene| {
        let cwd = scene.web().canonicalize().unwrap();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        cwd.to_str().unwrap().chars().map(plain).collect::<String>()
    };
    let folder = |scene: &Scene| scene.machine.path().join(".claude/projects").join(name(scene));
    fs::create_dir_all(folder(&here)).unwrap();
    fs::write(folder(&here).join(format!("{id}.jsonl")), "{\"type\":\"user\"}\n").unwrap();
    fs::write(here.machine.path().join(".claude/.credentials.json"), "secret").unwrap();
    let moved = move_to(&here, &session, "workstation");
    assert!(moved.contains("The agent resumes its own session."), "{moved}");
    let placed = fs::read_to_string(folder(&there).join(format!("{id}.jsonl"))).unwrap();
    assert_eq!(placed, "{\"type\":\"user\"}\n");
    assert!(!there.machine.path().join(".claude/.credentials.json").exists());
    assert_eq!(database.value("SELECT count(*) FROM session_move_parts").as_deref(), Some("0"));
}

#[test]
fn n8_an_older_record_of_the_conversation_does_not_make_the_agent_forget() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    here.say(&session, "remember the walnut");
    // What an earlier stay there would have left.
    let state = |scene: &Scene| scene.machine.path().join(".local/state/convoke-demo");
    fs::create_dir_all(state(&there)).unwrap();
    for entry in fs::read_dir(state(&here)).unwrap().flatten() {
        fs::copy(entry.path(), state(&there).join(entry.file_name())).unwrap();
    }
    here.say(&session, "and the hazelnut");
    let moved = move_to(&here, &session, "workstation");
    assert!(moved.contains("given the transcript"), "{moved}");
    let told = there.say(&session, "what did I say?");
    assert!(told.contains("and the hazelnut") && told.contains("what did I say?**"), "{told}");
}

#[test]
fn n8_targets_name_the_fitting_projects_and_roles_hold_in_both() {
    let database = postgres::database();
    let (here, there) = clones(&database);
    let session = begin(&here, "demo");
    let ask = |scene: &Scene, token: &str, method: &str, body: &str| -> (u16, Value) {
        let status = scene.machine.json("status --json");
        let address = status["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
        http(
            address.trim_end_matches('/'),
            token,
            method,
            &format!("/api/sessions/{session}/move"),
            body,
        )
    };
    let token = fs::read_to_string(here.machine.home().join("run/token")).unwrap();
    let (status, targets) = ask(&here, token.trim(), "GET", "");
    assert_eq!(status, 200, "{targets}");
    let target = &targets["targets"][0];
    assert_eq!(
        (&target["name"], target["repos"].as_array().unwrap().len()),
        (&"workstation".into(), 1)
    );
    let project = target["repos"][0]["id"].as_str().unwrap().to_owned();
    let made = here.machine.json("user add ada --json");
    assert!(made.is_object(), "{made}");
    let token = here.machine.json("user token ada --label test --json")["token"].clone();
    let token = token.as_str().unwrap();
    here.run(&format!("user role ada viewer --project {project}"));
    let (status, refused) = ask(&here, token, "POST", r#"{"to":"workstation"}"#);
    assert_eq!(status, 403, "{refused}");
    let (status, refused) = ask(&there, token, "POST", r#"{"to":"workstation"}"#);
    assert_eq!(status, 403, "{refused}");
    here.run(&format!("user role ada member --project {project}"));
    let (status, moved) = ask(&there, token, "POST", r#"{"to":"workstation"}"#);
    assert_eq!(status, 200, "{moved}");
    let text = moved["text"].as_str().unwrap();
    assert!(text.starts_with("Moved from laptop to workstation by ada."), "{text}");
}

/// One request, and its answer.
fn http(address: &str, token: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let (start, end) = (body.find('{').unwrap_or(0), body.rfind('}').map_or(0, |at| at + 1));
    (status, serde_json::from_str(body.get(start..end).unwrap_or("{}")).unwrap_or_default())
}
