//! Conversations that Convoke and another program both write: nothing is there twice, and nothing is lost.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use convoke_testkit::postgres;
use convoke_testkit::wait::{until, until_some};
use serde_json::{Value, json};

use crate::histories::{ID, Store, import, line, resumable, sessions, words};
use crate::moving::{clones, move_to};
use crate::serve_scene::Daemon;

fn append(file: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(file).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// The file of the conversation that `resumable` imports.
fn file_of(daemon: &Daemon) -> PathBuf {
    daemon.machine.path().join(format!(".claude/projects/-app/{ID}.jsonl"))
}

fn long_ago() -> SystemTime {
    SystemTime::now() - Duration::from_secs(86_400)
}

/// A line that is written after everything else.
fn latest(uuid: &str, text: &str) -> String {
    line(uuid, "user", text, 9).replace("2026-11-01T10:00:09", "2999-11-01T10:00:09")
}

fn path_of(session: &Value, action: &str) -> String {
    format!("/api/sessions/{}/{action}", session["id"].as_str().unwrap())
}

#[test]
fn h2_what_an_agent_of_convoke_flushes_when_it_ends_is_not_added_again() {
    let (daemon, session, _) = resumable(long_ago());
    daemon.turn(session["id"].as_str().unwrap(), "go on");
    let ended = daemon.post(&path_of(&session, "complete"), &json!({}));
    assert!(ended.status < 300, "{ended:?}");
    let before = words(&daemon, &session);
    append(&file_of(&daemon), &line("u2", "user", "go on", 2));
    import(&daemon, &json!({}));
    // A line that came after the end is read after the one before it, and added.
    append(&file_of(&daemon), &latest("u3", "in the terminal"));
    import(&daemon, &json!({}));
    let after = until_some("the terminal's words are stored", || {
        Some(words(&daemon, &session)).filter(|it| it.len() > before.len())
    });
    assert_eq!(after, [before, vec!["in the terminal".to_owned()]].concat());
}

#[test]
fn h3_what_is_said_elsewhere_is_added_to_a_session_that_was_reopened_and_has_no_process() {
    let (daemon, session, _) = resumable(long_ago());
    let reopened = daemon.post(&path_of(&session, "resume"), &json!({}));
    assert!(reopened.status < 300, "{reopened:?}");
    append(&file_of(&daemon), &line("u2", "user", "in the terminal", 2));
    import(&daemon, &json!({}));
    let said = until_some("both are stored", || {
        Some(words(&daemon, &session)).filter(|words| words.len() == 2)
    });
    assert_eq!(said, ["Where is the heliotrope?", "in the terminal"]);
}

#[test]
fn h7_a_message_of_the_future_is_as_old_as_its_import() {
    let store = Store::new();
    let dates = [("u1", "1901-01-01T00:00:00"), ("u2", "9999-06-01T00:00:00")];
    let talk = dates.map(|(uuid, date)| {
        line(uuid, "user", "heliotrope", 9).replace("2026-11-01T10:00:09", date)
    });
    fs::write(store.file(ID), talk.concat()).unwrap();
    let (daemon, _) = store.daemon();
    import(&daemon, &json!({}));
    let session = &sessions(&daemon)[0];
    assert_eq!(session["createdAt"], "1970-01-01T00:00:00.000Z");
    assert!(session["lastActiveAt"].as_str().unwrap().starts_with("20"), "{session}");
    // What is said later is newer, also for a search.
    let id = daemon.session();
    daemon.turn(&id, "heliotrope");
    let hits = daemon.get("/api/search?q=heliotrope").json();
    let hits = hits["hits"].as_array().unwrap();
    let newest = hits.iter().find(|hit| hit["role"] == "user").unwrap();
    assert_eq!(newest["sessionId"], id.as_str(), "{hits:?}");
}

#[test]
fn h2_n8_the_file_of_a_session_that_was_moved_away_does_not_end_an_import() {
    let database = postgres::database();
    let (here, _there) = clones(&database);
    let folder = here.machine.path().join(".claude/projects/-web");
    fs::create_dir_all(&folder).unwrap();
    let web = here.web().canonicalize().unwrap();
    let said = |uuid: &str, text: &str| {
        line(uuid, "user", text, 1).replace("/gone/app", web.to_str().unwrap())
    };
    let file = folder.join(format!("{ID}.jsonl"));
    fs::write(&file, said("u1", "about the walnut")).unwrap();
    here.run("import --all");
    let listed = here.machine.json("session list --json");
    let session = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    let moved = move_to(&here, &session, "workstation");
    assert!(moved.contains("Moved from laptop to workstation."), "{moved}");
    append(&file, &said("u2", "about the hazelnut"));
    for number in 0..5 {
        let id = format!("22222222-2222-4222-8222-{number:012}");
        let talk = said("u1", &format!("almond {number}")).replace(ID, &id);
        fs::write(folder.join(format!("{id}.jsonl")), talk).unwrap();
    }
    let imported = here.run("import --all");
    assert!(imported.starts_with("exit 0"), "{imported}");
    let count = |pattern: &str| {
        let sql = format!("SELECT count(*) FROM messages WHERE content LIKE '%{pattern}%'");
        database.value(&sql).unwrap()
    };
    until("all are stored", || count("almond") == "5");
    assert_eq!(count("hazelnut"), "0");
}
