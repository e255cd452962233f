//! A folder of question sessions, and the few things that tests do in it.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime};

use convoke_core::id::RequestId;
use convoke_core::question::Limits;
use convoke_core::time::Timestamp;
use convoke_files::questions::{NewSet, Questions, Settings, Verdict};
use serde_json::{Value, json};

pub(crate) struct Scene {
    pub(crate) questions: Questions,
    count: AtomicU8,
    /// Deleted with the scene.
    _folder: tempfile::TempDir,
}

/// A time in a scene, in seconds.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_794_736_800_000 + seconds * 1000)
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with_sessions_max(100)
    }

    pub(crate) fn with_sessions_max(sessions_max: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits { questions_max: 5, options_max: 5 };
        let dir = folder.path().join("questions");
        let questions = Questions::new(dir, Settings { sessions_max, limits });
        Self { questions, count: AtomicU8::new(0), _folder: folder }
    }

    /// Asks one question with the options A and B.
    pub(crate) fn ask(&self) -> RequestId {
        self.ask_as(None)
    }

    pub(crate) fn ask_as(&self, call_id: Option<&str>) -> RequestId {
        let id = self.next_id();
        self.questions.create(id, new_set(call_id), at(0)).unwrap();
        id
    }

    pub(crate) fn next_id(&self) -> RequestId {
        RequestId::from_random([self.count.fetch_add(1, Ordering::SeqCst); 16])
    }

    pub(crate) fn path(&self, id: RequestId, name: &str) -> PathBuf {
        self.questions.folder(id).join(name)
    }

    /// Leaves a file that is no longer being written.
    pub(crate) fn leave(&self, id: RequestId, name: &str, text: &str) {
        let path = self.path(id, name);
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }

    pub(crate) fn json(&self, id: RequestId, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(id, name)).unwrap()).unwrap()
    }

    pub(crate) fn status(&self, id: RequestId) -> String {
        self.json(id, "status.json")["status"].as_str().unwrap().to_owned()
    }

    /// The names in a session's folder, sorted.
    pub(crate) fn names(&self, id: RequestId) -> Vec<String> {
        let entries = fs::read_dir(self.questions.folder(id)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Settles a session and says what came of it.
    pub(crate) fn settle(&self, id: RequestId, verdict: Verdict) -> String {
        let settled = self.questions.settle(id, verdict, at(60));
        settled.map_or_else(|error| error.to_string(), |()| self.status(id))
    }
}

pub(crate) fn new_set(call_id: Option<&str>) -> NewSet {
    let questions = json!([{
        "prompt": "Which one?", "title": "Which", "multiSelect": false,
        "options": [{"label": "A", "description": "the first"}, {"label": "B"}],
    }]);
    NewSet {
        questions: serde_json::from_value(questions).unwrap(),
        call_id: call_id.map(str::to_owned),
        working_directory: Some("/srv/app".to_owned()),
        asked_by: Some("a test".to_owned()),
    }
}

pub(crate) fn answer(label: &str) -> Verdict {
    let answers = json!([{"questionIndex": 0, "selectedOption": label, "timestamp": at(30)}]);
    Verdict::Answer(serde_json::from_value(answers).unwrap())
}

pub(crate) fn reject(reason: Option<&str>) -> Verdict {
    Verdict::Reject { reason: reason.map(str::to_owned) }
}

/// Answers as another program of the format writes them.
pub(crate) fn answers_file(id: RequestId, label: &str, call_id: Option<&str>) -> Value {
    json!({
        "answers": [{"questionIndex": 0, "selectedOption": label, "timestamp": at(30)}],
        "sessionId": id,
        "timestamp": at(30),
        "callId": call_id,
    })
}
