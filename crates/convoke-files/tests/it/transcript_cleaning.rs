//! Transcripts that are deleted, by name or by age.

use std::fs;
use std::time::{Duration, SystemTime};

use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Error, Role, Status};

use crate::transcript_scene::{Folder, at, id, status, turn};

const DAY: i64 = 86_400;

fn days(count: u64) -> Duration {
    Duration::from_secs(count * 86_400)
}

#[test]
fn r5_a_deleted_transcript_is_gone_from_the_folder_and_the_list() {
    let folder = Folder::new();
    folder.talk("session-123");
    folder.talk("other");
    folder.transcripts.delete(&id("session-123")).unwrap();
    assert_eq!(folder.names(), ["other.jsonl"]);
    assert_eq!(folder.listed(), ["other demo 2 interrupted"]);
    let error = folder.transcripts.delete(&id("session-123")).unwrap_err();
    assert_eq!(error.to_string(), "Session not found: session-123");
}

#[test]
fn r5_r9_an_open_transcript_is_not_deleted() {
    let folder = Folder::new();
    let writer = folder.create("s");
    let error = folder.transcripts.delete(&id("s")).unwrap_err();
    let text = format!("the session s is open in process {}", std::process::id());
    assert_eq!(error.to_string(), text);
    assert!(matches!(error, Error::Open { holder: Some(_), .. }));
    drop(writer);
    folder.transcripts.delete(&id("s")).unwrap();
}

#[test]
fn r6_old_transcripts_are_deleted_and_recent_ones_are_kept() {
    let folder = Folder::new();
    for (name, age) in [("ancient", 100), ("old", 31), ("young", 29), ("new", 0)] {
        drop(folder.transcripts.create(&id(name), "demo", at(-age * DAY)).unwrap());
    }
    // Begun long ago, and talked in yesterday (`turn` and `status` are of the scene's first moments).
    let mut writer = folder.transcripts.create(&id("loved"), "demo", at(-90 * DAY)).unwrap();
    writer.append(&turn(Role::User, "still here")).unwrap();
    writer.append(&status(Status::Completed)).unwrap();
    drop(writer);
    let cleaned = folder.transcripts.clean(days(30), at(DAY / 2)).unwrap();
    let mut deleted: Vec<String> = cleaned.deleted.iter().map(ToString::to_string).collect();
    deleted.sort();
    assert_eq!(deleted, ["ancient", "old"]);
    assert_eq!(folder.names(), ["loved.jsonl", "new.jsonl", "young.jsonl"]);
}

#[test]
fn r6_a_live_session_is_never_cleaned_however_old_it_is() {
    let folder = Folder::new();
    let writer = folder.transcripts.create(&id("live"), "demo", at(-400 * DAY)).unwrap();
    let cleaned = folder.transcripts.clean(days(30), at(0)).unwrap();
    assert_eq!((cleaned.deleted.len(), cleaned.open), (0, vec![id("live")]));
    drop(writer);
    assert_eq!(folder.transcripts.clean(days(30), at(0)).unwrap().deleted, [id("live")]);
}

#[test]
fn r6_damaged_ones_are_as_old_as_their_last_change_and_one_that_fails_stops_nothing() {
    let folder = Folder::new();
    folder.leave("damaged", "garbage\n");
    folder.leave("fresh", "garbage\n");
    drop(folder.transcripts.create(&id("old"), "demo", at(-90 * DAY)).unwrap());
    fs::create_dir(folder.path("folder.jsonl")).unwrap();
    for name in ["damaged.jsonl", "folder.jsonl"] {
        let file = fs::File::open(folder.path(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let cleaned = folder.transcripts.clean(days(30), at(0)).unwrap();
    assert_eq!((cleaned.deleted.len(), cleaned.failed.len()), (2, 1));
    assert_eq!(folder.names(), ["folder.jsonl", "fresh.jsonl"]);
}

#[test]
fn what_killed_writers_left_is_swept_when_it_is_old() {
    let folder = Folder::new();
    folder.talk("s");
    for (name, age) in [(".old.tmp", 7200), (".new.tmp", 0)] {
        fs::write(folder.path(name), "half").unwrap();
        let file = fs::File::options().write(true).open(folder.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    folder.transcripts.clean(days(30), at(0)).unwrap();
    assert_eq!(folder.names(), [".new.tmp", "s.jsonl"]);
}

#[test]
fn r6_what_cannot_be_read_to_its_end_is_as_old_as_its_last_change() {
    let folder = Folder::new();
    let old = r#"{"type":"metadata","session_id":"x","agent":"demo","created_at":"2020-01-01T00:00:00.000Z","status":"active"}"#;
    let zoneless = r#"{"type":"turn","role":"user","content":"hi","timestamp":"2026-11-15 10:00:00","tokens":1}"#;
    folder.talk("young");
    for (name, rest) in [("bad", zoneless), ("torn", "{\"type\":\"turn\",\"ro"), ("fine", "")] {
        fs::write(folder.transcripts.path(&id(name)), format!("{old}\n{rest}")).unwrap();
    }
    let cleaned = folder.transcripts.clean(days(30), now()).unwrap();
    assert_eq!(cleaned.deleted, [id("fine")]);
    assert_eq!(folder.names(), ["bad.jsonl", "torn.jsonl", "young.jsonl"]);
}

fn now() -> Timestamp {
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(i64::try_from(age.as_millis()).unwrap())
}
