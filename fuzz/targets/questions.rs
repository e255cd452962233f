//! The three files of a question session with arbitrary content: `request.json`, `status.json` and
//! `answers.json`, with a line of `%%` between them. An empty one does not exist.
#![no_main]

use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_core::question::Limits;
use convoke_core::time::Timestamp;
use convoke_files::questions::{
    AnswersFile, Questions, RequestFile, Settings, Status, StatusFile, Verdict, Which,
};
use convoke_fuzz::{comes_back, empty, folder, write};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|files: &str| {
    let mut parts = files.split("\n%%\n").map(str::as_bytes);
    let [request, status, answers] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let are_whole = [
        request.is_empty() || comes_back::<RequestFile>(request).is_some(),
        status.is_empty() || comes_back::<StatusFile>(status).is_some(),
        answers.is_empty() || comes_back::<AnswersFile>(answers).is_some(),
    ];
    // A damaged file is read again after a pause, since it may be being written; so most inputs
    // with one are skipped here.
    if are_whole != [true; 3] && files.len() % 256 != 0 {
        return;
    }
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(folder).path();
    let id: RequestId = "6f1c2f9e-8a34-4b53-9d0a-2f1f6f1c2f9e".parse().expect("an id");
    let limits = Limits { questions_max: 5, options_max: 5 };
    let questions = Questions::new(folder.to_owned(), Settings { sessions_max: 10, limits });
    fs::create_dir_all(questions.folder(id)).expect("a folder");
    let names = ["request.json", "status.json", "answers.json"];
    for (name, part) in names.into_iter().zip([request, status, answers]) {
        if !part.is_empty() {
            write(&questions.folder(id), name, part);
        }
    }
    look_and_settle(&questions, id);
    empty(folder);
});

fn look_and_settle(questions: &Questions, id: RequestId) {
    let now = Timestamp::from_millis(1_800_000_000_000);
    let issues = questions.validate(id).expect("damage is told in sentences");
    questions.list().expect("damage does not hide the rest");
    // Damage is an error like any other.
    questions.entry(id).ok();
    questions.outcome_now(id, None).ok();
    let before = questions.show(id).ok().map(|set| set.status.status);
    let rejected = questions.settle(id, Verdict::Reject { reason: Some("no".to_owned()) }, now);
    if rejected.is_ok() {
        assert_ne!(before, Some(Status::Completed), "an answered session was rejected");
        // Damaged questions can be rejected, and are as damaged afterwards.
        match questions.show(id) {
            Ok(after) => assert_eq!(after.status.status, Status::Rejected, "{issues:?}"),
            Err(error) => assert_eq!(before, None, "what was settled can be shown: {error}"),
        }
    } else if issues.is_empty() {
        assert!(
            matches!(before, Some(Status::Completed | Status::Rejected)),
            "a whole session that is {before:?} cannot be rejected"
        );
    }
    questions
        .clean(Which::All, Duration::from_secs(1), now)
        .expect("one session does not stop a clean-up");
}
