//! The problems that `/healthz` and `/api/status` report.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use convoke_api::bodies::HealthProblem;
use convoke_engine::DatabaseFailure;

use crate::app::App;

/// The hint for a lost database.
const LOST: &str =
    "restart the daemon (`convoke stop`, `convoke serve`): it puts the rescued data back in place";
/// The hint for a damaged database.
const DAMAGED: &str =
    "stop the daemon with `convoke stop`, then restore a backup with `convoke restore`";

/// The hint for a server that cannot be reached.
const AWAY: &str = "nothing is lost: try again when the PostgreSQL server is back; `convoke doctor` tries to reach it";

/// Current problems, at most one for each subject. Clones share the list.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    by_subject: Arc<Mutex<BTreeMap<&'static str, HealthProblem>>>,
}

impl Problems {
    /// Sets or clears the problem of a subject.
    pub fn report(&self, subject: &'static str, problem: Option<HealthProblem>) {
        // Each change is one call, so the map is consistent after a panic.
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

/// All current problems; empty if the daemon is healthy.
pub(crate) fn problems(app: &App) -> Vec<HealthProblem> {
    app.engine.failure().iter().map(database).chain(app.problems.list()).collect()
}

fn database(failure: &DatabaseFailure) -> HealthProblem {
    let (code, text, hint) = match failure {
        DatabaseFailure::Lost { rescued: Some(_) } => (
            "database_lost",
            "the database was deleted or replaced while the daemon was running; the stored data was rescued, and nothing more is stored",
            LOST,
        ),
        DatabaseFailure::Lost { rescued: None } => (
            "database_lost",
            "the database was deleted or replaced while the daemon was running; nothing more is stored, and the stored data is not rescued yet",
            "keep the daemon running, and free space on the disk of its home: the rescue is retried every second",
        ),
        DatabaseFailure::Damaged { .. } => (
            "database_damaged",
            "the database is damaged; what can be read is shown, and nothing more is stored",
            DAMAGED,
        ),
    };
    HealthProblem { code: code.to_owned(), text: text.to_owned(), hint: Some(hint.to_owned()) }
}

/// Whether a database is named by a URL.
fn is_server(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with("postgres://"))
}

/// The hint for a request that failed because of the store.
pub(crate) fn store_hint(error: &convoke_engine::StoreError) -> Option<String> {
    use convoke_engine::StoreError;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest says by itself what to do")]
    match error {
        StoreError::Lost { .. } => Some(LOST.to_owned()),
        StoreError::Corrupt { .. } => Some(DAMAGED.to_owned()),
        StoreError::Unreachable { .. } => Some(AWAY.to_owned()),
        StoreError::DiskFull { path } if is_server(path) => {
            Some("free some space on the disk of the PostgreSQL server".to_owned())
        }
        StoreError::ReadOnly { path } if is_server(path) => {
            Some("the PostgreSQL server takes no writes: is it a standby now?".to_owned())
        }
        _ => None,
    }
}
