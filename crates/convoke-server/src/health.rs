//! What keeps the daemon from doing its work, in one list for `/healthz`, `/api/status` and those who show them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use convoke_api::bodies::HealthProblem;
use convoke_engine::Trouble;

use crate::app::App;

/// The way out of a lost database.
const LOST: &str =
    "restart the daemon (convoke stop, convoke serve): it puts the rescued data back in place";
/// The way out of a damaged database.
const DAMAGED: &str =
    "stop the daemon with `convoke stop`, then restore a backup with `convoke restore`";

/// Problems that were found and have not passed yet, one a subject. All clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    by_subject: Arc<Mutex<BTreeMap<&'static str, HealthProblem>>>,
}

impl Problems {
    /// Says what is wrong with a subject at the moment; `None` when nothing is.
    pub fn report(&self, subject: &'static str, problem: Option<HealthProblem>) {
        // One entry changes at a time, so a panic leaves the list whole.
        let mut list = self.by_subject.lock().unwrap_or_else(PoisonError::into_inner);
        match problem {
            Some(problem) => list.insert(subject, problem),
            None => list.remove(subject),
        };
    }

    fn list(&self) -> Vec<HealthProblem> {
        let list = self.by_subject.lock().unwrap_or_else(PoisonError::into_inner);
        list.values().cloned().collect()
    }
}

/// Everything that is wrong now; nothing when all is well.
pub(crate) fn problems(app: &App) -> Vec<HealthProblem> {
    app.engine.trouble().iter().map(database).chain(app.problems.list()).collect()
}

fn database(trouble: &Trouble) -> HealthProblem {
    let (code, text, hint) = match trouble {
        Trouble::Lost { rescued: Some(_) } => (
            "database_lost",
            "the database was deleted or replaced while the daemon was running; the stored data was rescued, and nothing more is stored",
            LOST,
        ),
        Trouble::Lost { rescued: None } => (
            "database_lost",
            "the database was deleted or replaced while the daemon was running; nothing more is stored, and the stored data is not rescued yet",
            "keep the daemon running, and free space on the disk of its home: the rescue is retried every second",
        ),
        Trouble::Damaged { .. } => (
            "database_damaged",
            "the database is damaged; what can be read is shown, and nothing more is stored",
            DAMAGED,
        ),
    };
    HealthProblem { code: code.to_owned(), text: text.to_owned(), hint: Some(hint.to_owned()) }
}

/// What to do about a store that fails, for those whose request failed with it.
pub(crate) fn store_hint(error: &convoke_engine::StoreError) -> Option<String> {
    use convoke_engine::StoreError;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest says by itself what to do")]
    match error {
        StoreError::Lost { .. } => Some(LOST.to_owned()),
        StoreError::Corrupt { .. } => Some(DAMAGED.to_owned()),
        _ => None,
    }
}
