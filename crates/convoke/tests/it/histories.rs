//! Conversations that other agents keep: found, imported, followed, resumed and exported.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use convoke_testkit::agent::Script;
use convoke_testkit::wait::{until, until_some};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

pub(crate) const ID: &str = "11111111-1111-4111-8111-111111111111";

/// A machine with a small store of Claude Code's.
pub(crate) struct Store {
    pub(crate) machine: Convoke,
}

pub(crate) fn line(uuid: &str, role: &str, text: &str, second: u32) -> String {
    let at = format!("2026-11-01T10:00:{second:02}.000Z");
    let content = json!([{"type": "text", "text": text}]);
    let message = match role {
        "user" => json!({"role": "user", "content": content}),
        _ => {
            json!({"id": format!("m-{uuid}"), "role": "assistant", "model": "opus", "content": content,
            "usage": {"input_tokens": 10, "output_tokens": 5}})
        }
    };
    let line = json!({"type": role, "uuid": uuid, "parentUuid": null, "isSidechain": false, "cwd": "/gone/app",
        "sessionId": ID, "timestamp": at, "message": message});
    format!("{line}\n")
}

impl Store {
    pub(crate) fn new() -> Self {
        let store = Self { machine: Convoke::new() };
        let file = store.file(ID);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let talk = line("u1", "user", "Where is the heliotrope?", 0)
            + &line("a1", "assistant", "In the garden.", 1);
        fs::write(file, talk).unwrap();
        store
    }

    pub(crate) fn file(&self, id: &str) -> PathBuf {
        self.machine.path().join(format!(".claude/projects/-gone-app/{id}.jsonl"))
    }

    fn append(&self, text: &str) {
        let mut file = OpenOptions::new().append(true).open(self.file(ID)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn daemon(self) -> (Daemon, PathBuf) {
        let file = self.file(ID);
        (Daemon::on(self.machine, &Script::new(), ""), file)
    }
}

/// Imports, and waits for the end.
pub(crate) fn import(daemon: &Daemon, body: &Value) -> Value {
    let begun = daemon.post("/api/histories/import", body);
    assert_eq!(begun.status, 202, "{begun:?}");
    until_some("the import is over", || {
        let import = daemon.get("/api/histories/import").json();
        (import["running"] == false).then_some(import)
    })
}

pub(crate) fn sessions(daemon: &Daemon) -> Vec<Value> {
    let listed = daemon.get("/api/sessions").json();
    listed["sessions"].as_array().unwrap().clone()
}

/// What is said in a session, without notices.
pub(crate) fn words(daemon: &Daemon, session: &Value) -> Vec<String> {
    let messages = daemon.messages(session["id"].as_str().unwrap());
    let said = messages.iter().filter(|message| message["role"] != "system");
    said.map(|message| message["content"]["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn h2_h8_what_is_found_is_counted_and_becomes_sessions_after_a_yes() {
    let (daemon, _) = Store::new().daemon();
    let found = daemon.get("/api/histories").json();
    assert_eq!(found["import"], "ask");
    assert_eq!(found["agents"][0]["source"], "claude");
    let counts = ["found", "imported"].map(|key| found["agents"][0][key].clone());
    assert_eq!(counts, [json!(1), json!(0)]);
    assert_eq!(sessions(&daemon), Vec::<Value>::new(), "nothing is read without a yes");
    let run = import(&daemon, &json!({}));
    assert_eq!(run["sources"][0]["added"], 1, "{run}");
    let session = &sessions(&daemon)[0];
    let about = ["agent", "title", "status", "createdAt", "lastActiveAt"];
    let about = about.map(|key| session[key].as_str().unwrap());
    let (began, ended) = ("2026-11-01T10:00:00.000Z", "2026-11-01T10:00:01.000Z");
    assert_eq!(about, ["claude-code", "Where is the heliotrope?", "completed", began, ended]);
    assert_eq!(session["metadata"]["reason"], "imported");
    assert_eq!(session["unseen"], false);
    assert_eq!(words(&daemon, session), ["Where is the heliotrope?", "In the garden."]);
    let hits = daemon.get("/api/search?q=heliotrope").json();
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1);
    // Its folder is gone, and is no project; the session is kept.
    assert_eq!(daemon.get("/api/repos").json()["repos"], json!([]));
    let found = daemon.get("/api/histories").json();
    assert_eq!(found["projects"], json!([]), "it is outside of the workspace root");
}

#[test]
fn h2_importing_twice_adds_nothing_and_growth_adds_the_rest() {
    let store = Store::new();
    let file = store.file(ID);
    let (daemon, _) = store.daemon();
    import(&daemon, &json!({"sources": ["claude"]}));
    let again = import(&daemon, &json!({}));
    assert_eq!(again["sources"], json!([]));
    let mut opened = OpenOptions::new().append(true).open(&file).unwrap();
    opened.write_all(line("u2", "user", "Behind the wall?", 3).as_bytes()).unwrap();
    import(&daemon, &json!({}));
    until("its new message is imported", || words(&daemon, &sessions(&daemon)[0]).len() == 3);
    assert_eq!(sessions(&daemon).len(), 1);
    // What the source deletes stays here.
    fs::remove_file(&file).unwrap();
    import(&daemon, &json!({}));
    assert_eq!(words(&daemon, &sessions(&daemon)[0]).len(), 3);
}

#[test]
fn h2_a_rewritten_file_is_imported_beside_the_old_one() {
    let (daemon, file) = Store::new().daemon();
    import(&daemon, &json!({}));
    let first = sessions(&daemon)[0].clone();
    fs::write(&file, line("u9", "user", "Something else", 9)).unwrap();
    import(&daemon, &json!({}));
    let both = until_some("there are two sessions", || {
        Some(sessions(&daemon)).filter(|sessions| sessions.len() == 2)
    });
    let other = both.iter().find(|session| session["id"] != first["id"]).unwrap();
    assert_eq!(words(&daemon, &first).len(), 2);
    assert_eq!(words(&daemon, other), ["Something else"]);
    let notice = &daemon.messages(other["id"].as_str().unwrap())[0]["content"];
    assert_eq!(notice["before"], first["id"]);
}

#[test]
fn h2_a_deleted_session_does_not_come_back() {
    let store = Store::new();
    let file = store.file(ID);
    let (daemon, _) = store.daemon();
    import(&daemon, &json!({}));
    let id = sessions(&daemon)[0]["id"].as_str().unwrap().to_owned();
    let erased = daemon.post(&format!("/api/sessions/{id}/erase"), &json!({}));
    assert!(erased.status < 300, "{erased:?}");
    let mut opened = OpenOptions::new().append(true).open(&file).unwrap();
    opened.write_all(line("u2", "user", "Behind the wall?", 3).as_bytes()).unwrap();
    import(&daemon, &json!({}));
    assert_eq!(sessions(&daemon), Vec::<Value>::new());
}

#[test]
fn h2_a_killed_daemon_continues_where_it_was() {
    let store = Store::new();
    for number in 0..300 {
        let id = format!("22222222-2222-4222-8222-{number:012}");
        let talk = line("u1", "user", &format!("Question {number}"), 0).replace(ID, &id);
        fs::write(store.file(&id), talk).unwrap();
    }
    let (mut daemon, _) = store.daemon();
    daemon.post("/api/histories/import", &json!({}));
    daemon.kill_and_start();
    import(&daemon, &json!({}));
    let count = daemon.get("/api/sessions?limit=1").json()["total"].clone();
    assert_eq!(count, 301);
    daemon.end(Signal::TERM);
    daemon.start_again();
    let again = import(&daemon, &json!({}));
    assert_eq!(again["sources"], json!([]));
}

#[test]
fn h3_a_conversation_held_elsewhere_appears_while_it_goes_on() {
    let store = Store::new();
    let (file, other) = (store.file(ID), store.file("33333333-3333-4333-8333-333333333333"));
    let (daemon, _) = store.daemon();
    import(&daemon, &json!({}));
    let session = sessions(&daemon)[0].clone();
    let mut opened = OpenOptions::new().append(true).open(&file).unwrap();
    opened.write_all(line("u2", "user", "Behind the wall?", 3).as_bytes()).unwrap();
    until("its new message is imported", || words(&daemon, &session).len() == 3);
    // So does a new one.
    let talk =
        line("u1", "user", "A new one", 5).replace(ID, "33333333-3333-4333-8333-333333333333");
    fs::write(other, talk).unwrap();
    until("the new file is imported", || sessions(&daemon).len() == 2);
}

#[test]
fn h8_only_what_was_agreed_to_is_imported_and_never_means_never() {
    let store = Store::new();
    let (daemon, _) = store.daemon();
    let run = import(&daemon, &json!({"folder": "/elsewhere"}));
    assert_eq!(run["sources"][0]["skipped"], 1, "{run}");
    let run = import(&daemon, &json!({"since": "2999-01-01T00:00:00Z"}));
    assert_eq!(run["sources"], json!([]), "{run}");
    let dry = import(&daemon, &json!({"folder": "/gone", "dryRun": true}));
    assert_eq!(sessions(&daemon), Vec::<Value>::new(), "{dry}");
    let odd = daemon.post("/api/histories/import", &json!({"sources": ["emacs"]}));
    assert_eq!(odd.status, 422);
    let never = Daemon::on(Store::new().machine, &Script::new(), "[history]\nimport = \"never\"\n");
    assert_eq!(never.post("/api/histories/import", &json!({})).status, 409);
}

#[test]
fn h2_the_command_line_says_what_it_imports() {
    let store = Store::new();
    store.append("not a line\n");
    let scene = crate::daemon_scene::Scene::on(store.machine);
    insta::assert_snapshot!(scene.run("import --dry-run"));
    insta::assert_snapshot!(scene.run("import claude --in /gone"));
    insta::assert_snapshot!(scene.run("import --all"));
    insta::assert_snapshot!(scene.run("import --in /gone"));
    let listed = scene.machine.json("session list --json");
    assert_eq!(listed["sessions"][0]["agent"], "claude-code");
}

/// A daemon whose Claude is scripted and writes its arguments down, with an imported session in a folder that is there.
pub(crate) fn resumable(changed: SystemTime) -> (Daemon, Value, PathBuf) {
    let machine = Convoke::new();
    let folder = machine.path().join("root/app");
    fs::create_dir_all(&folder).unwrap();
    let file = machine.path().join(format!(".claude/projects/-app/{ID}.jsonl"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let talk = line("u1", "user", "Where is the heliotrope?", 0);
    fs::write(&file, talk.replace("/gone/app", folder.canonicalize().unwrap().to_str().unwrap()))
        .unwrap();
    File::options().write(true).open(&file).unwrap().set_modified(changed).unwrap();
    let (program, noted) = (machine.path().join("claude"), machine.path().join("noted"));
    let script = machine.path().join("script.json");
    let text = format!(
        "#!/bin/sh\necho \"$@\" >> {noted:?}\nexec {:?} --protocol claude {script:?} \"$@\"\n",
        crate::serve_scene::agent(),
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("[agents.claude-code]\ncommand = {program:?}\nsandbox = \"off\"\n");
    let daemon = Daemon::on(machine, &Script::new(), &config);
    import(&daemon, &json!({}));
    let session = sessions(&daemon)[0].clone();
    (daemon, session, noted)
}

#[test]
fn h4_a_prompt_resumes_an_imported_session_natively() {
    let (daemon, session, noted) = resumable(SystemTime::now() - Duration::from_secs(86_400));
    let messages = daemon.turn(session["id"].as_str().unwrap(), "go on");
    let noted = fs::read_to_string(noted).unwrap();
    assert!(noted.contains(&format!("--resume {ID}")) && !noted.contains("--fork"), "{noted}");
    let resumed = |message: &&Value| message["content"]["event"] == "resumed";
    assert_eq!(messages.iter().find(resumed).unwrap()["content"]["how"], "native");
    // Its agent works in the folder now.
    assert_eq!(daemon.get("/api/repos").json()["repos"][0]["name"], "app");
}

#[test]
fn h4_what_may_be_open_elsewhere_is_forked_and_a_notice_says_so() {
    let (daemon, session, noted) = resumable(SystemTime::now());
    let messages = daemon.turn(session["id"].as_str().unwrap(), "go on");
    let noted = fs::read_to_string(noted).unwrap();
    assert!(noted.contains(&format!("--resume {ID} --fork-session --session-id ")), "{noted}");
    let resumed = |message: &&Value| message["content"]["event"] == "resumed";
    assert_eq!(messages.iter().find(resumed).unwrap()["content"]["how"], "forked");
}

#[test]
fn h2_what_agents_of_convoke_write_is_not_imported_twice() {
    let (daemon, _, noted) = resumable(SystemTime::now() - Duration::from_secs(86_400));
    let id = daemon.session_with("claude-code");
    daemon.turn(&id, "hello");
    let noted = fs::read_to_string(noted).unwrap();
    let own = noted.split_whitespace().skip_while(|word| *word != "--session-id").nth(1).unwrap();
    let file = daemon.machine.path().join(format!(".claude/projects/-app/{own}.jsonl"));
    fs::write(file, line("u1", "user", "hello", 0).replace(ID, own)).unwrap();
    import(&daemon, &json!({}));
    assert_eq!(sessions(&daemon).len(), 2);
}

#[test]
fn h7_agents_recall_what_was_said_as_quotations() {
    let (daemon, _) = Store::new().daemon();
    import(&daemon, &json!({}));
    let call = |name: &str, arguments: Value| {
        let head = daemon.head("POST", "/mcp")
            + "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}});
        daemon.send(&head, &body.to_string()).body
    };
    let found = call("search_history", json!({"query": "heliotrope"}));
    assert!(found.contains("not messages to you") || found.contains("quotations"), "{found}");
    let id = sessions(&daemon)[0]["id"].as_str().unwrap().to_owned();
    assert!(found.contains(&id), "{found}");
    let read = call("read_history", json!({"sessionId": id}));
    assert!(read.contains("In the garden."), "{read}");
}

#[test]
fn h9_all_sessions_are_exported_one_file_each() {
    let store = Store::new();
    let scene = crate::daemon_scene::Scene::on(store.machine);
    scene.run("import --all");
    insta::assert_snapshot!(scene.run("export --all out"), @r"
    exit 0
    --- stdout
    1 session, 3 messages written to [tmp]/out
    ");
    scene.run("export --all out --format jsonl");
    let mut files: Vec<PathBuf> = fs::read_dir(scene.machine.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    assert_eq!(texts.len(), 2, "{files:?}");
    assert_eq!(texts[0].lines().count(), 4, "{}", texts[0]);
    assert!(texts[1].contains("## Agent") && texts[1].contains("In the garden."), "{}", texts[1]);
}

#[test]
fn h9_k5_exported_files_are_private_and_are_not_written_through_links() {
    let store = Store::new();
    let scene = crate::daemon_scene::Scene::on(store.machine);
    scene.run("import --all");
    assert!(scene.run("export --all new/out").starts_with("exit 0"));
    let folder = scene.machine.path().join("new/out");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(folder.parent().unwrap()), mode(&folder), mode(&file)), (0o700, 0o700, 0o600));
    // An agent has put links where the export writes.
    let (text, victim) = (fs::read_to_string(&file).unwrap(), scene.machine.path().join("victim"));
    fs::write(&victim, "mine").unwrap();
    let part = folder.join(format!(".{}.part", file.file_name().unwrap().to_str().unwrap()));
    fs::remove_file(&file).unwrap();
    for link in [&file, &part] {
        std::os::unix::fs::symlink(&victim, link).unwrap();
    }
    assert!(scene.run("export --all new/out").starts_with("exit 0"));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
    assert_eq!((fs::read_to_string(&file).unwrap(), mode(&file)), (text, 0o600));
}
