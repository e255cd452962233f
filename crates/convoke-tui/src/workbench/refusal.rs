//! Why the daemon refused a call over REST.

use convoke_api::Error;
use convoke_api::bodies::code;
use convoke_core::explain;

/// Why something cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRefusal {
    /// The message.
    pub why: String,
    /// The hint.
    pub hint: Option<String>,
    /// The files that caused it.
    pub files: Vec<String>,
    /// The problem with these files.
    pub reason: RefusalReason,
}

/// Which refusals are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// No snapshot holds the files, and the call would delete them.
    FilesNotCaptured,
    /// Any other.
    Other,
}

impl CallRefusal {
    /// The message without the files, in one line.
    pub(crate) fn line(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}{hint}", self.why)
    }
}

impl From<&Error> for CallRefusal {
    fn from(error: &Error) -> Self {
        let problem = error.problem();
        let is_not_captured = problem.is_some_and(|it| it.code == code::FILES_NOT_CAPTURED);
        Self {
            why: explain(error),
            hint: problem.and_then(|problem| problem.hint.clone()),
            files: problem.map(|problem| problem.files.clone()).unwrap_or_default(),
            reason: match is_not_captured {
                true => RefusalReason::FilesNotCaptured,
                false => RefusalReason::Other,
            },
        }
    }
}
