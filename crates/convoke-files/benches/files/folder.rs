//! Folders of question sessions to measure in.

use convoke_core::id::RequestId;
use convoke_core::question::{Limits, Question};
use convoke_files::questions::{NewSet, Questions, Settings};
use convoke_testkit::bench::random::Random;
use convoke_testkit::bench::{Result, questions};
use tempfile::TempDir;

/// Sessions that may wait for an answer at once, as they are configured by default.
const SESSIONS_MAX: usize = 100;

/// A temporary folder, deleted on drop.
pub(crate) struct Folder {
    pub(crate) questions: Questions,
    random: Random,
    _folder: TempDir,
}

impl Folder {
    /// A folder with this many answered sessions.
    pub(crate) fn with_others(count: usize) -> Result<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let dir = folder.path().join("questions");
        questions::fill(&dir, count)?;
        let limits = Limits { questions_max: 5, options_max: 5 };
        let questions = Questions::new(dir, Settings { sessions_max: SESSIONS_MAX, limits });
        Ok(Self { questions, random: Random::new(77), _folder: folder })
    }

    /// An id that no session has.
    pub(crate) fn next_id(&mut self) -> RequestId {
        RequestId::from_random(self.random.bytes())
    }
}

/// What is asked.
pub(crate) fn new_set() -> Result<NewSet> {
    let questions: Vec<Question> = serde_json::from_value(questions::questions())?;
    let working_directory = Some("/home/me/project".to_owned());
    Ok(NewSet { questions, call_id: None, working_directory, asked_by: None })
}
