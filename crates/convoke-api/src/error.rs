//! What can go wrong between a client and the daemon.

use std::time::Duration;

use crate::bodies::Problem;

/// What goes wrong is one of these, or it went well.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call did not do what it is for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What should be the daemon's address is none.
    #[error("not the address of a daemon: {url}")]
    Address {
        /// What was given.
        url: String,
    },
    /// Nobody listens there, or there is no way there.
    #[error("cannot connect to {url}")]
    Unreachable {
        /// Where.
        url: String,
        /// What the system says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Somebody listens and says nothing.
    #[error("{url} did not answer within {} s", patience.as_secs())]
    TimedOut {
        /// Where.
        url: String,
        /// How long was waited.
        patience: Duration,
    },
    /// The connection broke in the middle.
    #[error("the connection to {url} was lost")]
    Broken {
        /// Where.
        url: String,
        /// What the system says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The daemon said why it would not.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// Something else than the daemon answers there, or a daemon that we do not know.
    #[error("unexpected response from {url}: status {status}, {body}")]
    Unexpected {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of what was said.
        body: String,
    },
    /// The daemon answered something that makes no sense.
    #[error("{url} sent an invalid response")]
    Malformed {
        /// Where.
        url: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl Error {
    /// Whether the daemon cannot be reached, so that starting it, or another try, may help.
    pub const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Broken { .. })
    }

    /// The problem that the daemon told of.
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
