//! The client's errors.

use std::time::Duration;

use crate::bodies::Problem;

/// The result of the client's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The daemon's address is not a valid URL.
    #[error("not the address of a daemon: {url}")]
    Address {
        /// The address.
        url: String,
    },
    /// No connection: nothing listens there, or the network failed.
    #[error("cannot connect to {url}")]
    Unreachable {
        /// The daemon's URL or socket.
        url: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The daemon did not respond in time.
    #[error("{url} did not answer within {} s", after.as_secs())]
    TimedOut {
        /// The daemon's URL or socket.
        url: String,
        /// The timeout.
        after: Duration,
    },
    /// The connection broke during a call.
    #[error("the connection to {url} was lost")]
    Broken {
        /// The daemon's URL or socket.
        url: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The daemon refused the call, and says why.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// The response is not one of this API: another server, or a daemon of another version.
    #[error("unexpected response from {url}: status {status}, {body}")]
    Unexpected {
        /// The daemon's URL or socket.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of the body.
        body: String,
    },
    /// The daemon's response cannot be parsed.
    #[error("{url} sent an invalid response")]
    Malformed {
        /// The daemon's URL or socket.
        url: String,
        /// The parser's error.
        source: serde_json::Error,
    },
}

impl Error {
    /// Whether there was no connection, so that starting the daemon, or a retry, may help.
    pub const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Broken { .. })
    }

    /// The problem that the daemon reported.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) => Some(problem),
            Self::Address { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Broken { .. }
            | Self::Unexpected { .. }
            | Self::Malformed { .. } => None,
        }
    }
}
