//! The kinds of errors, and which kind the errors of other crates are.

use super::Error;
use convoke_core::request;
use convoke_core::session::Refusal;

/// The kind of an error, by which callers translate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Something that was named does not exist.
    NotFound,
    /// The request is invalid.
    Invalid,
    /// The request is not allowed.
    Forbidden,
    /// The request conflicts with the current state.
    Conflict,
    /// A limit is reached; a later attempt may succeed.
    Busy,
    /// An agent failed.
    Agent,
    /// The daemon cannot do it now: it is stopping, or the disk is full.
    Unavailable,
    /// A bug in Convoke, or a failure of the machine.
    Internal,
}

pub(super) const fn refusal_kind(refusal: &Refusal) -> Kind {
    match refusal {
        Refusal::EmptyPrompt
        | Refusal::LongPrompt { .. }
        | Refusal::TooManyAttachments { .. }
        | Refusal::TooManyFiles { .. }
        | Refusal::TooManyComments { .. }
        | Refusal::Comment { .. }
        | Refusal::EmptyTitle
        | Refusal::LongTitle { .. } => Kind::Invalid,
        Refusal::QueueFull | Refusal::TooManyRequests => Kind::Busy,
        Refusal::Ended { .. }
        | Refusal::Cancelled
        | Refusal::Active
        | Refusal::NoTurn
        | Refusal::Turn(_)
        | Refusal::RepeatedRequest { .. }
        | Refusal::NotPending { .. }
        | Refusal::NotQueued { .. } => Kind::Conflict,
        Refusal::Request(refusal) => verdict_kind(refusal),
    }
}

pub(super) const fn verdict_kind(refusal: &request::Refusal) -> Kind {
    match refusal {
        request::Refusal::Settled(_) => Kind::Conflict,
        request::Refusal::Answers(_)
        | request::Refusal::UnknownOption { .. }
        | request::Refusal::WrongKind { .. } => Kind::Invalid,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "one kind for each group of errors that callers treat alike"
)]
pub(super) const fn files_kind(error: &convoke_files::Error) -> Kind {
    use convoke_files::Error as Files;
    match error {
        Files::NotFound { .. } => Kind::NotFound,
        Files::Ambiguous { .. } | Files::Settled { .. } => Kind::Conflict,
        Files::Invalid(_) | Files::Questions(_) | Files::Answers(_) | Files::TooLong { .. } => {
            Kind::Invalid
        }
        Files::TooMany { .. } => Kind::Busy,
        Files::Locked { .. } => Kind::Unavailable,
        _ => Kind::Internal,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "one kind for each group of errors that callers treat alike"
)]
pub(super) const fn store_kind(error: &convoke_store::Error) -> Kind {
    use convoke_store::Error as Store;
    match error {
        Store::UnknownSession { .. } | Store::UnknownProject { .. } => Kind::NotFound,
        Store::ProjectExists { .. } => Kind::Conflict,
        Store::Misuse { .. } => Kind::Invalid,
        Store::DiskFull { .. }
        | Store::Unreachable { .. }
        | Store::Untrusted { .. }
        | Store::ReadOnly { .. }
        | Store::Lost { .. }
        | Store::Corrupt { .. }
        | Store::Closed => Kind::Unavailable,
        _ => Kind::Internal,
    }
}

impl Error {
    /// Whether a write failed because the disk is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        if let Self::Files(convoke_files::Error::Write { source, .. }) = self {
            return matches!(source.kind(), StorageFull | QuotaExceeded);
        }
        matches!(self, Self::Store(convoke_store::Error::DiskFull { .. }))
    }

    /// Whether the server of the database cannot be reached.
    pub(crate) const fn is_server_away(&self) -> bool {
        matches!(self, Self::Store(convoke_store::Error::Unreachable { .. }))
    }

    /// Whether the store may recover: the disk is full or not writable now, or the database is lost
    /// or damaged until it is restored.
    pub(crate) const fn may_pass(&self) -> bool {
        use convoke_store::Error as Store;
        matches!(
            self,
            Self::Store(
                Store::DiskFull { .. }
                    | Store::Unreachable { .. }
                    | Store::Untrusted { .. }
                    | Store::ReadOnly { .. }
                    | Store::InUse { .. }
                    | Store::Lost { .. }
                    | Store::Corrupt { .. }
                    | Store::Denied { .. }
                    | Store::Internal { .. }
            )
        )
    }
}
