//! A transcript with arbitrary content: it is listed, read and repaired, and then continued.
#![no_main]

use std::sync::OnceLock;

use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Id, Record, Role, Transcripts, Turn};
use convoke_fuzz::{empty, folder, write};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|file: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(folder).path();
    let transcripts = Transcripts::new(folder.to_owned());
    let id: Id = "one".parse().expect("an id");
    write(folder, "one.jsonl", file);
    read_and_go_on(&transcripts, &id);
    empty(folder);
});

fn read_and_go_on(transcripts: &Transcripts, id: &Id) {
    transcripts.list().expect("damage does not hide the rest");
    let turns = || transcripts.turns(id).expect("it is there").flatten().count();
    let before = turns();
    // Damage is an error like any other.
    transcripts.recall(id, 100).ok();
    if let Ok(opened) = transcripts.open(id, 100) {
        assert_eq!(turns(), before, "taking it up lost or made a turn");
        go_on(opened.writer);
        assert_eq!(turns(), before + 1);
    } else if transcripts.recover(id).is_ok() {
        assert_eq!(turns(), before, "mending it lost or made a turn");
        let opened = transcripts.open(id, 100).expect("a recovered transcript opens");
        go_on(opened.writer);
        assert_eq!(turns(), before + 1);
    }
}

fn go_on(mut writer: convoke_files::transcripts::Writer) {
    let turn = Turn {
        role: Role::User,
        content: "and now?\n".to_owned(),
        timestamp: Timestamp::from_millis(0),
        tokens: 3,
    };
    writer.append(&Record::Turn(turn)).expect("a turn can be added");
}
