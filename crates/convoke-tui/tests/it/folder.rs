//! A folder of questions, and what others do in it.

use std::fs;

use convoke_core::id::RequestId;
use convoke_core::question::Limits;
use convoke_core::time::Timestamp;
use convoke_files::questions::{NewSet, Questions, Settings, Verdict};
use serde_json::{Value, json};

pub(crate) struct Folder {
    pub(crate) questions: Questions,
    /// Deleted with the folder.
    _root: tempfile::TempDir,
}

impl Folder {
    /// A folder without questions; it does not even exist.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let limits = Limits { questions_max: 5, options_max: 5 };
        let settings = Settings { sessions_max: 100, limits };
        Self {
            questions: Questions::new(root.path().join("home/questions"), settings),
            _root: root,
        }
    }

    /// Asks what the JSON says; a higher number is asked later.
    pub(crate) fn ask(&self, number: u8, questions: Value) -> RequestId {
        let id = RequestId::from_random([number; 16]);
        let new = NewSet {
            questions: serde_json::from_value(questions).unwrap(),
            call_id: Some("call-7".to_owned()),
            working_directory: Some("/srv/shop".to_owned()),
            asked_by: Some("a test".to_owned()),
        };
        let at = Timestamp::from_millis(1_794_739_500_000 + i64::from(number));
        self.questions.create(id, new, at).unwrap();
        id
    }

    /// One question about tea.
    pub(crate) fn ask_for_tea(&self) -> RequestId {
        let options = json!([{"label": "Yes"}, {"label": "No"}]);
        self.ask(5, json!([{"prompt": "Would you like tea?", "title": "Tea", "options": options}]))
    }

    pub(crate) fn answer(&self, id: RequestId, label: &str) {
        let at = Timestamp::from_millis(1_794_739_600_000);
        let answers = json!([{"questionIndex": 0, "selectedOption": label, "timestamp": at}]);
        let verdict = Verdict::Answer(serde_json::from_value(answers).unwrap());
        self.questions.settle(id, verdict, at).unwrap();
    }

    pub(crate) fn json(&self, id: RequestId, name: &str) -> Value {
        let path = self.questions.folder(id).join(name);
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }
}
