//! The user's data: deleted or damaged under a real daemon, backed up while it writes, and restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use convoke_testkit::agent::Script;
use convoke_testkit::wait::{self, until, until_some};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

fn prompts(daemon: &Daemon, session: &str) -> Vec<String> {
    let messages = daemon.messages(session);
    let said = messages.iter().filter(|message| message["role"] == "user");
    said.map(|message| message["content"]["text"].as_str().unwrap().to_owned()).collect()
}

/// Prompts until one is refused; tells what was acknowledged, and the refusal.
fn prompt_until_refused(daemon: &Daemon, session: &str) -> (Vec<String>, Value) {
    let (mut acknowledged, start) = (Vec::new(), Instant::now());
    loop {
        let text = format!("prompt {}", acknowledged.len());
        let path = format!("/api/sessions/{session}/prompt");
        // A full queue refuses prompts until a turn ends.
        let answer = until_some("the queue has room", || {
            Some(daemon.post(&path, &json!({"text": text}))).filter(|it| it.status != 429)
        });
        match answer.status {
            202 => acknowledged.push(text),
            503 => return (acknowledged, answer.json()),
            other => panic!("{other}: {}", answer.body),
        }
        assert!(start.elapsed() < wait::LIMIT, "a deleted database was never noticed");
    }
}

#[test]
fn k8_a_database_deleted_under_the_daemon_is_refused_told_and_back_after_a_kill() {
    let mut daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    daemon.turn(&session, "before");
    assert_eq!(daemon.get("/healthz").json(), json!({"status": "ok"}));
    let home = daemon.machine.home();
    for name in ["convoke.db", "convoke.db-wal", "convoke.db-shm", "convoke.db.lock"] {
        fs::remove_file(home.join(name)).unwrap();
    }
    let (acknowledged, refusal) = prompt_until_refused(&daemon, &session);
    assert!(refusal["detail"].as_str().unwrap().contains("was deleted or replaced"), "{refusal}");
    assert!(refusal["hint"].as_str().unwrap().contains("restart the daemon"), "{refusal}");
    let health = daemon.get("/healthz");
    assert_eq!(health.status, 503);
    assert_eq!(health.json()["status"], "failing");
    assert_eq!(health.json()["problems"][0]["code"], "database_lost");
    assert!(!health.body.contains(home.to_str().unwrap()), "paths are not for strangers");
    let status = daemon.machine.run("status");
    assert!(status.contains("PROBLEM") && status.starts_with("exit 0"), "{status}");
    let doctor = daemon.machine.run("doctor");
    assert!(doctor.contains("fail  database"), "{doctor}");
    until("the rescue", || home.join("convoke.db.rescued").exists());
    daemon.kill_and_start();
    let mut expected = vec!["before".to_owned()];
    expected.extend(acknowledged);
    assert_eq!(prompts(&daemon, &session), expected, "everything acknowledged is there");
    assert_eq!(daemon.get("/healthz").status, 200);
    daemon.turn(&session, "after");
}

#[test]
fn k8_a_replaced_database_is_not_taken_for_ours() {
    let mut daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    daemon.turn(&session, "mine");
    let home = daemon.machine.home();
    // Another one that is sound, as a careless copy would be.
    let other = Convoke::new().folder("");
    assert!(other.run("db migrate").starts_with("exit 0"));
    fs::rename(other.home().join("convoke.db"), home.join("convoke.db")).unwrap();
    until("the rescue", || home.join("convoke.db.rescued").exists());
    assert_eq!(prompts(&daemon, &session), ["mine"], "what was stored can be read meanwhile");
    daemon.end(Signal::KILL);
    let refused = daemon.machine.run("serve --listen 127.0.0.1:0");
    assert!(refused.starts_with("exit 1"), "{refused}");
    assert!(refused.contains("rescued as") && refused.contains("convoke restore '"), "{refused}");
    let rescued = home.join("convoke.db.rescued");
    let restored = daemon.machine.run(&format!("restore {}", rescued.display()));
    assert!(restored.contains("restored 1 session"), "{restored}");
    daemon.start_again();
    assert_eq!(prompts(&daemon, &session), ["mine"]);
}

/// Spoils everything after the first page.
fn spoil(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    bytes[4096..].iter_mut().for_each(|byte| *byte ^= 0xa5);
    fs::write(path, bytes).unwrap();
}

#[test]
fn k8_a_damaged_database_is_not_served_and_a_backup_brings_it_back() {
    let mut daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    daemon.turn(&session, "kept");
    let backup = daemon.machine.json("backup --json");
    daemon.turn(&session, "since then");
    daemon.end(Signal::TERM);
    let (home, machine) = (daemon.machine.home(), &daemon.machine);
    spoil(&home.join("convoke.db"));
    let damaged = fs::read(home.join("convoke.db")).unwrap();
    for line in ["serve --listen 127.0.0.1:0", "db check", "doctor"] {
        let refused = machine.run(line);
        assert!(refused.starts_with("exit 1"), "{line}: {refused}");
        assert!(refused.contains("convoke.db is damaged: "), "{line}: {refused}");
        assert!(refused.contains("convoke restore"), "{line}: {refused}");
    }
    assert_eq!(fs::read(home.join("convoke.db")).unwrap(), damaged, "it is left as it is");
    let restored = machine.json(&format!("restore --json {}", backup["path"].as_str().unwrap()));
    let aside = PathBuf::from(restored["setAside"].as_str().unwrap());
    assert_eq!(fs::read(aside.join("convoke.db")).unwrap(), damaged, "it is set aside");
    daemon.start_again();
    assert_eq!(prompts(&daemon, &session), ["kept"]);
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn k8_backups_are_made_with_and_without_the_daemon_and_old_ones_go() {
    let mut daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    daemon.turn(&session, "Größe 日本");
    let to = daemon.machine.path().join("disk");
    let line = format!("backup --json --keep 2 --to {}", to.display());
    let first = daemon.machine.json(&line);
    assert_eq!((&first["sessions"], &first["removed"]), (&json!(1), &json!([])));
    daemon.machine.json(&line);
    daemon.end(Signal::TERM);
    let third = daemon.machine.json(&line);
    assert_eq!(third["removed"], json!([first["path"]]));
    assert_eq!(third["messages"].as_u64(), first["messages"].as_u64());
    let manifest = fs::read(Path::new(third["path"].as_str().unwrap()).join("manifest.json"));
    let manifest: Value = serde_json::from_slice(&manifest.unwrap()).unwrap();
    assert_eq!(manifest["entries"], json!(["convoke.db", "config.toml"]));
    let told = daemon.machine.run(&format!("backup --to {}", to.display()));
    assert!(told.contains("backed up 1 session and "), "{told}");
    assert!(!told.contains("stderr"), "nothing but the result in a pipe: {told}");
}

#[test]
fn k8_the_daemon_makes_backups_by_itself_and_only_when_something_changed() {
    let daemon = Daemon::with(&Script::new(), "[backup]\nevery = \"1s\"\nkeep = 2\n");
    let folder = daemon.machine.home().join("backups");
    let count = || fs::read_dir(&folder).map_or(0, |entries| entries.count());
    let session = daemon.session();
    daemon.turn(&session, "one");
    until("a first backup", || count() > 0);
    until("its report", || {
        let backups = daemon.get("/api/backups").json();
        backups["last"]["backup"]["sessions"] == 1 && backups["running"].is_null()
    });
    assert!(daemon.get("/api/status").json()["lastBackupAt"].is_string());
}

#[test]
fn k8_a_restore_is_refused_while_the_daemon_runs() {
    let daemon = Daemon::new(&Script::new());
    let backup = daemon.machine.json("backup --json");
    let refused = daemon.machine.run(&format!("restore {}", backup["path"].as_str().unwrap()));
    assert!(refused.starts_with("exit 1"), "{refused}");
    assert!(
        refused.contains("daemon is running")
            && refused.contains("stop the daemon first: `convoke stop`"),
        "{refused}"
    );
    let none = daemon.machine.run("restore /nowhere");
    assert!(none.starts_with("exit 1"), "{none}");
}

#[test]
fn k8_a_restore_killed_at_any_moment_leaves_the_old_or_the_new_state() {
    let mut daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    daemon.turn(&session, "in the backup");
    let backup = daemon.machine.json("backup --json")["path"].as_str().unwrap().to_owned();
    daemon.turn(&session, "since then");
    daemon.end(Signal::TERM);
    let home = daemon.machine.home();
    // Facts by which it is killed, from early to late.
    let staged = |name: &str| home.join("restore.partial").join(name);
    let facts = [
        staged(""),
        staged("convoke.db"),
        staged("config.toml"),
        home.join("restore.json"),
        home.join("set-aside"),
    ];
    for fact in facts {
        fs::remove_dir_all(home.join("set-aside")).ok();
        let mut command = daemon.machine.command(&["restore", &backup]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the moment of the kill", || fact.exists() || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        daemon.start_again();
        let said = prompts(&daemon, &session);
        let (old, new) = (["in the backup", "since then"], ["in the backup"]);
        assert!(said == old || said == new, "{}: {said:?}", fact.display());
        for left in ["restore.json", "restore.partial"] {
            assert!(!home.join(left).exists(), "{left} after {}", fact.display());
        }
        if said == new {
            daemon.turn(&session, "since then");
        }
        daemon.end(Signal::TERM);
    }
}

#[test]
fn k8_looking_at_a_database_that_a_killed_daemon_left_writes_nothing() {
    let mut daemon = Daemon::new(&Script::new());
    let session = daemon.session();
    daemon.turn(&session, "hello");
    daemon.end(Signal::KILL);
    let home = daemon.machine.home();
    let read = || ["convoke.db", "convoke.db-wal"].map(|name| fs::read(home.join(name)).unwrap());
    let before = read();
    for line in ["db status", "db check", "doctor"] {
        let told = daemon.machine.run(line);
        assert!(told.starts_with("exit 0"), "{line}: {told}");
    }
    assert_eq!(read(), before);
    daemon.start_again();
}
