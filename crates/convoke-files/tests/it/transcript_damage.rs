//! Transcripts that a power cut, another program or an editor has damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use convoke_files::transcripts::{End, Error, Role};

use crate::transcript_scene::{Folder, PLENTY, id, turn};

const METADATA: &str = r#"{"type":"metadata","session_id":"s","agent":"demo","created_at":"2026-11-15T10:00:00.000Z","status":"active"}"#;
const HELLO: &str = r#"{"type":"turn","role":"user","content":"hello","timestamp":"2026-11-15T10:00:01.000Z","tokens":2}"#;
const HI: &str = r#"{"type":"turn","role":"assistant","content":"hi","timestamp":"2026-11-15T10:00:02.000Z","tokens":1}"#;
const SESSION: &str = r#"{"type":"agent_session","agent":"codex","agent_session_id":"c1","timestamp":"2026-11-15T10:00:02.000Z"}"#;

/// Leaves lines, each with its line break.
fn left(lines: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.leave("s", lines.concat_lines());
    folder
}

trait Concat {
    fn concat_lines(&self) -> String;
}

impl Concat for [&str] {
    fn concat_lines(&self) -> String {
        self.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// What is wrong with a transcript, without its path.
fn trouble(folder: &Folder) -> String {
    let error = folder.transcripts.open(&id("s"), PLENTY).unwrap_err();
    let path = folder.path("s.jsonl").display().to_string();
    error.to_string().replace(&path, "[file]")
}

#[test]
fn r8_a_torn_last_line_is_cut_off_wherever_it_was_torn_and_said() {
    for length in 1..HI.len() {
        let folder = left(&[METADATA, HELLO]);
        let whole = folder.text("s.jsonl");
        folder.leave("s", format!("{whole}{}", &HI[..length]));
        // Readers pass it over, and see the last turn that was saved.
        assert_eq!(folder.said("s"), ["hello"]);
        assert_eq!(folder.listed(), ["s demo 1 interrupted"]);
        let mut opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
        assert_eq!(opened.end, End::TornOff { bytes: length as u64 });
        assert_eq!(folder.text("s.jsonl"), whole);
        assert_eq!(folder.text("s.jsonl.bad"), format!("{}\n", &HI[..length]));
        opened.writer.append(&turn(Role::Assistant, "again")).unwrap();
        assert_eq!(folder.said("s"), ["hello", "again"]);
    }
}

#[test]
fn r8_other_torn_ends_are_cut_off_too() {
    let whole = [METADATA, HELLO].concat_lines();
    for end in [
        &b"\0\0\0\0"[..],
        b"\0\0\0\n",
        b"{\"type\":\"turn\",\"ro\n",
        b"{\"type\":\xff",
        b"nonsense",
    ] {
        let folder = Folder::new();
        folder.leave("s", [whole.as_bytes(), end].concat());
        let opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
        assert_eq!(opened.end, End::TornOff { bytes: end.len() as u64 }, "{end:?}");
        assert_eq!(folder.text("s.jsonl"), whole, "{end:?}");
    }
}

#[test]
fn r8_a_last_line_that_lacks_only_its_break_is_kept() {
    let folder = Folder::new();
    folder.leave("s", format!("{METADATA}\n{HELLO}\n{HI}"));
    assert_eq!(folder.said("s"), ["hello", "hi"]);
    assert_eq!(folder.listed(), ["s demo 2 interrupted"]);
    let mut opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
    assert_eq!((opened.end, opened.recall.turn_count), (End::Whole, 2));
    opened.writer.append(&turn(Role::User, "more")).unwrap();
    assert_eq!(folder.said("s"), ["hello", "hi", "more"]);
}

#[test]
fn r8_damage_is_reported_with_its_lines_and_changes_nothing() {
    let reported = |lines: &[&str]| {
        let folder = left(lines);
        let before = folder.text("s.jsonl");
        let trouble = trouble(&folder);
        assert_eq!(folder.text("s.jsonl"), before);
        assert_eq!(folder.names(), ["s.jsonl"]);
        trouble
    };
    let cut = &HELLO[..20];
    insta::assert_snapshot!(reported(&[METADATA, "garbage", HI]), @"[file] is damaged: line 2: expected value at column 1");
    insta::assert_snapshot!(reported(&[METADATA, cut, HI]), @"[file] is damaged: line 2: EOF while parsing a string at column 20");
    insta::assert_snapshot!(reported(&[METADATA, HELLO, "{\"type\":\"turn\"}"]), @"[file] is damaged: line 3: the turn has no role");
    insta::assert_snapshot!(reported(&[HELLO, HI]), @"[file] is damaged: line 1: the metadata is missing before it");
    insta::assert_snapshot!(reported(&["{", HI]), @"[file] is damaged: line 1: the metadata cannot be read: EOF while parsing an object at column 1");
    insta::assert_snapshot!(reported(&["[]", "1", "2", "3", "4"]), @"[file] is damaged: line 1: the metadata cannot be read: a list instead of an object; line 2: invalid type: integer `1`, expected an object at column 1; line 3: invalid type: integer `2`, expected an object at column 1; and 2 more lines");
    insta::assert_snapshot!(reported(&[]), @"[file] is damaged: line 1: the file is empty");
}

#[test]
fn r8_recovery_keeps_every_good_line_and_sets_the_others_aside() {
    let unknown = "{\"type\":\"mood\"}";
    let folder = left(&[METADATA, "garbage", HELLO, unknown, "{\"type\":\"turn\"}", HI]);
    let recovered = folder.transcripts.recover(&id("s")).unwrap();
    assert_eq!((recovered.kept, recovered.set_aside), (4, 2));
    assert_eq!(recovered.bad, folder.path("s.jsonl.bad"));
    assert_eq!(folder.text("s.jsonl"), [METADATA, HELLO, unknown, HI].concat_lines());
    assert_eq!(folder.text("s.jsonl.bad"), ["garbage", "{\"type\":\"turn\"}"].concat_lines());
    for name in folder.names() {
        let mode = fs::metadata(folder.path(&name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    let opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
    assert_eq!((opened.recall.turn_count, opened.end), (2, End::Whole));
    drop(opened);
    // A second time there is nothing to do, and what was set aside stays.
    assert_eq!(folder.transcripts.recover(&id("s")).unwrap().set_aside, 0);
    assert_eq!(folder.names(), ["s.jsonl", "s.jsonl.bad"]);
}

#[test]
fn r8_lost_metadata_is_made_up_for_from_what_else_is_known() {
    let recovered = |lines: &[&str]| {
        let folder = left(lines);
        folder.transcripts.recover(&id("s")).unwrap();
        let text = folder.text("s.jsonl");
        text.lines().next().unwrap().to_owned()
    };
    insta::assert_snapshot!(recovered(&[HELLO, SESSION, HI]), @r#"{"type":"metadata","session_id":"s","agent":"codex","created_at":"2026-11-15T10:00:01.000Z","status":"interrupted"}"#);
    insta::assert_snapshot!(recovered(&["{{{", HELLO]), @r#"{"type":"metadata","session_id":"s","agent":"unknown","created_at":"2026-11-15T10:00:01.000Z","status":"interrupted"}"#);
    // Even an empty file can be resumed afterwards.
    let folder = left(&[]);
    folder.transcripts.recover(&id("s")).unwrap();
    assert_eq!(folder.transcripts.open(&id("s"), PLENTY).unwrap().recall.turn_count, 0);
}

#[test]
fn r8_a_damaged_transcript_can_be_deleted_with_what_was_set_aside() {
    let folder = left(&[METADATA, "garbage", HI]);
    folder.transcripts.recover(&id("s")).unwrap();
    folder.leave("s", "garbage again\n");
    folder.transcripts.delete(&id("s")).unwrap();
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn r8_no_bytes_at_all_make_anything_panic_and_recovery_always_helps() {
    use proptest::collection::vec;
    use proptest::prelude::*;
    let line = prop_oneof![
        Just(METADATA.as_bytes().to_vec()),
        Just(HELLO.as_bytes().to_vec()),
        Just(HI.as_bytes().to_vec()),
        Just(HELLO.as_bytes()[..40].to_vec()),
        Just(Vec::new()),
        vec(any::<u8>(), 0..20),
    ];
    let breaks = prop_oneof![5 => Just(&b"\n"[..]), 1 => Just(&b""[..]), 1 => Just(&b"\r\n"[..])];
    proptest!(|(lines in vec((line, breaks), 0..8))| {
        let bytes: Vec<u8> = lines.iter().flat_map(|(line, end)| [line, *end].concat()).collect();
        let folder = Folder::new();
        folder.leave("s", &bytes);
        folder.transcripts.list().unwrap();
        if let Err(error) = folder.transcripts.open(&id("s"), PLENTY) {
            prop_assert!(matches!(error, Error::Damaged { .. }), "{}", error);
            folder.leave("s", &bytes);
            folder.transcripts.recover(&id("s")).unwrap();
            folder.transcripts.open(&id("s"), PLENTY).unwrap();
        }
    });
}

#[test]
fn links_pipes_and_folders_in_the_place_of_a_transcript_are_refused() {
    let folder = Folder::new();
    folder.talk("good");
    std::os::unix::fs::symlink(folder.path("good.jsonl"), folder.path("link.jsonl")).unwrap();
    fs::create_dir(folder.path("folder.jsonl")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe.jsonl")).status();
    assert!(made.unwrap().success());
    for name in ["link", "folder", "pipe"] {
        let error = folder.transcripts.open(&id(name), PLENTY).unwrap_err();
        assert!(error.to_string().starts_with("cannot read "), "{error}");
    }
    let listing = folder.transcripts.list().unwrap();
    assert_eq!((listing.entries.len(), listing.damaged.len()), (1, 3));
}
