//! Errors of other crates, and refusals of sessions, as errors of the engine.

use convoke_core::session::Refusal;

use super::Error;

impl From<convoke_store::Error> for Error {
    fn from(error: convoke_store::Error) -> Self {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the rest stays the store's own")]
        match error {
            convoke_store::Error::UnknownSession { id } => {
                Self::UnknownSession { text: id.to_string() }
            }
            convoke_store::Error::UnknownProject { id } => {
                Self::UnknownProject { text: id.to_string() }
            }
            convoke_store::Error::OtherNode { id } => Self::OtherNode { session: id },
            convoke_store::Error::ProjectExists { project_path, .. } => {
                Self::ProjectExists { path: project_path }
            }
            error => Self::Store(error),
        }
    }
}

impl From<convoke_files::Error> for Error {
    fn from(error: convoke_files::Error) -> Self {
        Self::Files(error)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the rest stays the session's own words"
        )]
        match refusal {
            Refusal::QueueFull => Self::QueueFull { max: convoke_core::session::QUEUE_MAX },
            Refusal::Request(refusal) => Self::Verdict(refusal),
            refusal => Self::Refused(refusal),
        }
    }
}
