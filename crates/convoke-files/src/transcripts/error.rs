//! Errors of transcripts.
//!
//! Separate from the crate's errors, because the code for questions has nothing to do with
//! transcripts.

use std::path::PathBuf;

use convoke_core::count::counted;

use super::{BadLine, Id};

/// What could not be done with a transcript.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a folder could not be read, written or locked.
    #[error(transparent)]
    Files(#[from] crate::Error),
    /// A text is not the name of a transcript.
    #[error("not a session id: {text:?}")]
    BadId {
        /// The text, or the beginning of a long one.
        text: String,
    },
    /// There is no such transcript.
    #[error("Session not found: {id}")]
    NotFound {
        /// What was looked for.
        id: String,
    },
    /// A prefix fits several transcripts.
    #[error("{prefix} matches several sessions: {}", list(candidates))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// What it could mean.
        candidates: Vec<Id>,
    },
    /// A new transcript must not replace an existing one.
    #[error("there is a session {id} already")]
    Exists {
        /// Which one.
        id: Id,
    },
    /// Another process writes the transcript.
    #[error("the session {id} is open in {}", holder.map_or("another program".to_owned(), |pid| format!("process {pid}")))]
    Open {
        /// Which one.
        id: Id,
        /// The holder, if known.
        holder: Option<u32>,
    },
    /// Some lines cannot be read. Nothing was changed.
    #[error("{} is damaged: {}", path.display(), listed(lines, *count))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first of them.
        lines: Vec<BadLine>,
        /// How many there are.
        count: u64,
    },
    /// The file was deleted while it was open for writing.
    #[error("{} was deleted while the session was open", path.display())]
    Deleted {
        /// The file.
        path: PathBuf,
    },
    /// The turn exceeds the maximum length of a line.
    #[error("a turn of {bytes} bytes is too long to be kept")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

/// A result of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// Damaged lines that are listed individually.
const LISTED_MAX: usize = 3;

fn listed(lines: &[BadLine], count: u64) -> String {
    let listed: Vec<String> = lines.iter().take(LISTED_MAX).map(ToString::to_string).collect();
    let rest = count.saturating_sub(listed.len() as u64);
    let text = listed.join("; ");
    if rest == 0 { text } else { format!("{text}; and {}", counted(rest, "more line")) }
}

fn list(ids: &[Id]) -> String {
    ids.iter().map(Id::as_str).collect::<Vec<_>>().join(", ")
}
