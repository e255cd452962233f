//! Errors of files that several programs share.

use std::io;
use std::path::PathBuf;

use convoke_core::Invalid;
use convoke_core::count::counted;
use convoke_core::id::RequestId;
use convoke_core::question::{AnswerFault, QuestionFault};

use crate::questions::Status;

/// An operation that failed, with the names of its objects.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be replaced; the one before is untouched and no temporary file is left.
    #[error("cannot write {path}: {step} failed")]
    Write {
        /// The file.
        path: PathBuf,
        /// The operation.
        step: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A file or folder could not be read.
    #[error("cannot read {path}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file has invalid contents.
    #[error("{path} is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Another process holds the lock for too long.
    #[error("cannot lock {path}: held by {}", holder.map_or("another program".to_owned(), |pid| format!("process {pid}")))]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The holder, if known.
        holder: Option<u32>,
    },
    /// A folder cannot be watched for changes.
    #[error("cannot watch {path}")]
    Watch {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: notify::Error,
    },
    /// An id is not one.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// There is no such question session.
    #[error("Session not found: {id}")]
    NotFound {
        /// What was looked for.
        id: String,
    },
    /// A prefix fits several question sessions.
    #[error("{prefix} matches several sessions: {}", list(candidates))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// What it could mean.
        candidates: Vec<RequestId>,
    },
    /// The first answer has won already.
    #[error("Session {id} is already {status}")]
    Settled {
        /// Which session.
        id: RequestId,
        /// What happened to it.
        status: Status,
    },
    /// The questions cannot be asked.
    #[error(transparent)]
    Questions(#[from] QuestionFault),
    /// The answers do not fit; the session stays answerable.
    #[error(transparent)]
    Answers(#[from] AnswerFault),
    /// The file would exceed the size that is read back.
    #[error("{path} would take {bytes} bytes, and files of more than {max} are not read")]
    TooLong {
        /// The file that is not written.
        path: PathBuf,
        /// How long it would be.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// As many questions wait as are allowed.
    #[error("{} already waiting for an answer", counted(max, "question session"))]
    TooMany {
        /// How many may wait.
        max: usize,
    },
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

fn list(ids: &[RequestId]) -> String {
    ids.iter().map(RequestId::to_string).collect::<Vec<_>>().join(", ")
}
