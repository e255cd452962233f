//! Starting an agent in its own session of a conversation, or in a new one when it does not have that any more.

use convoke_core::id::SessionId;

use crate::driver::{Random, Start};
use crate::error::{Error, Result};

/// Ids that are tried for a new session of an agent's own; that even one is taken is next to impossible.
const IDS_MAX: usize = 3;

/// Which session of its own an agent was started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The one that it knows, with the conversation in mind.
    Resumed,
    /// A new one, in which nothing was said.
    New,
}

/// Starts an agent in its own session, if there is one; in a new one otherwise, or if resuming fails in a way that
/// `is_forgotten` accepts.
pub async fn resume_or_begin<T, F: Future<Output = Result<T>>>(
    agent_session: Option<String>,
    random: Random,
    is_forgotten: fn(&Error) -> bool,
    mut start: impl FnMut(Start) -> F,
) -> Result<(T, Begun)> {
    if let Some(agent_session) = agent_session {
        match start(Start::Resume { agent_session }).await {
            Ok(started) => return Ok((started, Begun::Resumed)),
            Err(error) if is_forgotten(&error) => {
                tracing::info!("the agent does not resume its session: {error}");
            }
            Err(error) => return Err(error),
        }
    }
    let mut tries = 0;
    loop {
        tries += 1;
        let id = SessionId::from_random(random()).to_string();
        match start(Start::New { id }).await {
            // Another session has this id; a second one is as good.
            Err(Error::IdTaken { .. }) if tries < IDS_MAX => {}
            outcome => return outcome.map(|started| (started, Begun::New)),
        }
    }
}
