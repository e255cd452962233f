//! Starts an agent in its own session of a conversation, or in a new one if that no longer exists.

use convoke_core::id::SessionId;

use crate::driver::{Random, Start};
use crate::error::{Error, Result};

/// Ids that are tried for a new session; that even one is taken is next to impossible.
const IDS_MAX: usize = 3;

/// The session of its own that an agent was started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The one that it knows.
    Resumed,
    /// A new one.
    New,
}

/// Starts an agent in its own session, if there is one; in a new one otherwise, or if resuming fails with an error that
/// `is_forgotten` accepts.
pub async fn resume_or_begin<T, F: Future<Output = Result<T>>>(
    agent_session: Option<String>,
    random: Random,
    is_forgotten: fn(&Error) -> bool,
    mut start: impl FnMut(Start) -> F,
) -> Result<(T, Begun)> {
    if let Some(agent_session) = agent_session {
        match start(Start::Resume { agent_session }).await {
            Err(error) if is_forgotten(&error) => {
                tracing::info!("the agent does not resume its session: {error}");
            }
            outcome => return outcome.map(|started| (started, Begun::Resumed)),
        }
    }
    for _ in 1..IDS_MAX {
        match start(new(random)).await {
            // A session of the agent has this id already.
            Err(Error::IdTaken { .. }) => {}
            outcome => return outcome.map(|started| (started, Begun::New)),
        }
    }
    Ok((start(new(random)).await?, Begun::New))
}

fn new(random: Random) -> Start {
    Start::New { id: SessionId::from_random(random()).to_string() }
}
