//! All transcripts at a glance.

use std::fs;

use convoke_files::transcripts::{AgentSession, Record, Role, Status};

use crate::transcript_scene::{Folder, PLENTY, at, id, status, turn};

#[test]
fn r4_transcripts_are_listed_newest_first_with_agent_turns_and_status() {
    let folder = Folder::new();
    for (name, agent, seconds, turns) in
        [("old", "demo", 1, 2), ("new", "codex", 3, 0), ("middle", "qa-test", 2, 5)]
    {
        let mut writer = folder.transcripts.create(&id(name), agent, at(seconds)).unwrap();
        (0..turns).for_each(|_| writer.append(&turn(Role::User, "x")).unwrap());
        writer.append(&status(Status::Completed)).unwrap();
    }
    let expected = ["new codex 0 completed", "middle qa-test 5 completed", "old demo 2 completed"];
    assert_eq!(folder.listed(), expected);
    let created: Vec<_> =
        folder.transcripts.list().unwrap().entries.iter().map(|entry| entry.created_at).collect();
    assert_eq!(created, [at(3), at(2), at(1)]);
}

#[test]
fn r4_the_agent_that_one_talked_with_last_is_shown() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    writer.append(&Record::Agent { agent: "codex".to_owned(), timestamp: at(1) }).unwrap();
    assert_eq!(folder.listed(), ["s codex 0 active"]);
    let (agent, agent_session_id) = ("gemini".to_owned(), "g".to_owned());
    let session = AgentSession { agent, agent_session_id, timestamp: at(1) };
    writer.append(&Record::AgentSession(session)).unwrap();
    assert_eq!(folder.listed(), ["s gemini 0 active"]);
}

#[test]
fn r4_one_that_cannot_be_read_hides_no_other() {
    let folder = Folder::new();
    folder.talk("good");
    folder.leave("garbage", "no metadata\n");
    folder.leave("empty", "");
    folder.leave("long", folder.text("good.jsonl"));
    let long = fs::File::options().write(true).open(folder.path("long.jsonl")).unwrap();
    long.set_len(65 << 20).unwrap();
    std::os::unix::fs::symlink("good.jsonl", folder.path("link.jsonl")).unwrap();
    fs::write(folder.path("notes.txt"), "not ours").unwrap();
    fs::write(folder.path(".hidden.jsonl"), "not ours").unwrap();
    let listing = folder.transcripts.list().unwrap();
    assert_eq!(listing.entries.len(), 1);
    let damaged: Vec<String> = listing
        .damaged
        .iter()
        .map(|damage| {
            let cause = std::error::Error::source(&damage.error).unwrap();
            format!("{}: {cause}", damage.id)
        })
        .collect();
    assert_eq!(
        damaged,
        [
            "empty: its first line is not the metadata of a session",
            "garbage: its first line is not the metadata of a session",
            "link: it is not a regular file",
            "long: line 4 exceeds the maximum length"
        ]
    );
}

#[test]
fn r4_long_lines_and_many_transcripts_are_counted_right() {
    let folder = Folder::new();
    let mut writer = folder.create("long");
    for length in [1, 65_000, 65_536, 131_072, 300_000] {
        writer.append(&turn(Role::User, &"x".repeat(length))).unwrap();
    }
    drop(writer);
    let text = folder.text("long.jsonl");
    for number in 0..300 {
        folder.leave(&format!("copy-{number}"), &text);
    }
    let listed = folder.transcripts.list().unwrap().entries;
    assert_eq!(listed.len(), 301);
    assert!(listed.iter().all(|entry| entry.turn_count == 5), "{listed:?}");
}

#[test]
fn r10_a_session_is_active_while_it_is_open_and_then_completed_or_interrupted() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    assert_eq!(folder.listed(), ["s demo 0 active"]);
    writer.append(&status(Status::Completed)).unwrap();
    drop(writer);
    assert_eq!(folder.listed(), ["s demo 0 completed"]);
    let mut opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
    opened.writer.append(&status(Status::Active)).unwrap();
    assert_eq!(folder.listed(), ["s demo 0 active"]);
    // Left without a word, as by a kill.
    drop(opened);
    assert_eq!(folder.listed(), ["s demo 0 interrupted"]);
}

#[test]
fn r10_a_dead_ones_lock_does_not_make_a_session_active() {
    let folder = Folder::new();
    folder.talk("s");
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    fs::write(folder.path("s.jsonl.lock"), pid.to_string()).unwrap();
    assert_eq!(folder.listed(), ["s demo 2 interrupted"]);
    // Looking takes nothing away: only the next writer clears the lock.
    assert!(folder.path("s.jsonl.lock").exists());
    drop(folder.transcripts.open(&id("s"), PLENTY).unwrap());
    assert!(!folder.path("s.jsonl.lock").exists());
}
