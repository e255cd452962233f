//! What is wrong with the daemon or its surroundings, in one list for `/healthz`, `/api/status` and `convoke status`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use convoke_api::bodies::HealthProblem;

use crate::app::App;

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

/// Everything that is wrong at the moment.
pub(crate) fn problems(app: &App) -> Vec<HealthProblem> {
    app.problems.list()
}
