//! Starts an agent in its own stored session, or in a new one if that no longer exists.

use convoke_core::id::SessionId;

use crate::driver::{Random, Start};
use crate::error::{Error, Result};

/// Ids that are tried for a new session; even one collision is next to impossible.
const IDS_MAX: usize = 3;

/// The agent session that a process was started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The stored one.
    Resumed,
    /// A fork of the stored one.
    Forked,
    /// A new one.
    New,
}

/// What is known of the agent's stored session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PriorSession {
    /// Nothing; there is none.
    Nothing,
    /// Its id.
    Session(String),
    /// Its id, and another program may have it open, so it must not be continued itself.
    OpenElsewhere(String),
}

impl From<Option<String>> for PriorSession {
    fn from(agent_session: Option<String>) -> Self {
        agent_session.map_or(Self::Nothing, Self::Session)
    }
}

/// Starts an agent in its stored session, or in a fork of it; in a new one if there is none, or if
/// resuming fails with an error that `is_forgotten` accepts.
pub async fn resume_or_begin<T, F: Future<Output = Result<T>>>(
    prior_session: impl Into<PriorSession>,
    random: Random,
    is_forgotten: fn(&Error) -> bool,
    mut start: impl FnMut(Start) -> F,
) -> Result<(T, Begun)> {
    let first = match prior_session.into() {
        PriorSession::Nothing => None,
        PriorSession::Session(agent_session) => {
            Some((Start::Resume { agent_session }, Begun::Resumed))
        }
        PriorSession::OpenElsewhere(agent_session) => {
            let id = SessionId::from_random(random()).to_string();
            Some((Start::Fork { agent_session, id }, Begun::Forked))
        }
    };
    if let Some((how, begun)) = first {
        match start(how).await {
            Err(error) if is_forgotten(&error) => {
                tracing::info!("the agent does not resume its session: {error}");
            }
            outcome => return outcome.map(|started| (started, begun)),
        }
    }
    for _ in 1..IDS_MAX {
        match start(new(random)).await {
            // The agent has a session with this id already.
            Err(Error::IdTaken { .. }) => {}
            outcome => return outcome.map(|started| (started, Begun::New)),
        }
    }
    Ok((start(new(random)).await?, Begun::New))
}

fn new(random: Random) -> Start {
    Start::New { id: SessionId::from_random(random()).to_string() }
}
