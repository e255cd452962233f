//! A folder of transcripts, and the few things that tests do in it.

use std::fs;
use std::path::PathBuf;

use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Id, Record, Role, Status, Transcripts, Turn, Writer, estimate};

/// So many tokens that nothing is left out.
pub(crate) const PLENTY: u64 = 1_000_000;

pub(crate) struct Folder {
    pub(crate) transcripts: Transcripts,
    /// Deleted with this.
    folder: tempfile::TempDir,
}

/// A time in a scene, in seconds.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_794_736_800_000 + seconds * 1000)
}

pub(crate) fn id(text: &str) -> Id {
    text.parse().unwrap()
}

pub(crate) fn turn(role: Role, content: &str) -> Record {
    let tokens = estimate(content);
    Record::Turn(Turn { role, content: content.to_owned(), timestamp: at(1), tokens })
}

pub(crate) fn status(status: Status) -> Record {
    Record::Status { status, timestamp: at(2) }
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let transcripts = Transcripts::new(folder.path().join("spawn/sessions"));
        Self { transcripts, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.transcripts.dir().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.transcripts.dir()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A folder above the transcripts.
    pub(crate) fn above(&self) -> PathBuf {
        self.folder.path().join("spawn")
    }

    pub(crate) fn create(&self, name: &str) -> Writer {
        self.transcripts.create(&id(name), "demo", at(0)).unwrap()
    }

    /// A closed transcript with a question and an answer.
    pub(crate) fn talk(&self, name: &str) {
        let mut writer = self.create(name);
        writer.append(&turn(Role::User, "hello")).unwrap();
        writer.append(&turn(Role::Assistant, "hi")).unwrap();
    }

    /// Puts any bytes in the place of a transcript.
    pub(crate) fn leave(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.transcripts.dir()).unwrap();
        fs::write(self.path(&format!("{name}.jsonl")), bytes).unwrap();
    }

    /// What was said in a transcript.
    pub(crate) fn said(&self, name: &str) -> Vec<String> {
        let turns = self.transcripts.turns(&id(name)).unwrap();
        turns.map(|turn| turn.unwrap().content).collect()
    }

    /// What a list says of each transcript.
    pub(crate) fn listed(&self) -> Vec<String> {
        let entries = self.transcripts.list().unwrap().entries;
        let row = |entry: &convoke_files::transcripts::Entry| {
            format!("{} {} {} {}", entry.id, entry.agent, entry.turn_count, entry.status)
        };
        entries.iter().map(row).collect()
    }
}
