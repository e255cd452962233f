//! Who is behind a question to a team, and which questions a session without a team has asked.
//!
//! All callers that belong to no team share one conversation with a team, so the pair does not say who asked.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use convoke_core::id::{MessageId, SessionId};
use convoke_core::team::Pair;
use convoke_core::user::UserName;

use super::{Caller, TeamAsk, Teams};
use crate::error::Result;

/// Questions of one session that are remembered; older ones can no longer be fetched by its agent.
const OF_SESSION_MAX: usize = 100;
/// Questions of all sessions that are remembered.
const ALL_MAX: usize = 10_000;

/// The questions of sessions without a team since the start of the daemon, oldest first.
#[derive(Debug, Default)]
pub(super) struct Askers {
    asked: Mutex<VecDeque<(SessionId, Pair, MessageId)>>,
}

impl Askers {
    fn asked(&self) -> MutexGuard<'_, VecDeque<(SessionId, Pair, MessageId)>> {
        // Each change leaves the list consistent, also after a panic.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Teams {
    /// The user in whose name a question is asked: for an agent, the one whose prompt it works on, or worked on last.
    pub(super) async fn user_behind(&self, ask: &TeamAsk) -> Result<Option<UserName>> {
        let session = match &ask.caller {
            Caller::Outside { .. } => return Ok(ask.by.clone()),
            Caller::Session(session) => *session,
        };
        let running = self.sessions.live(session).running.map(|turn| turn.id);
        let prompt = self.store.prompt(session, running).await?;
        Ok(prompt.and_then(|prompt| prompt.content.author().cloned()))
    }

    /// The id for a new question. It is remembered if a session without a team asks.
    pub(super) fn new_question(&self, caller: &Caller, pair: &Pair) -> MessageId {
        let id = MessageId::from_random((self.host.random)());
        let session = match caller {
            Caller::Session(session) if pair.from.is_none() => *session,
            Caller::Session(_) | Caller::Outside { .. } => return id,
        };
        let mut asked = self.askers.asked();
        let is_own = |(asker, ..): &(SessionId, Pair, MessageId)| *asker == session;
        if asked.iter().filter(|it| is_own(it)).count() >= OF_SESSION_MAX
            && let Some(oldest) = asked.iter().position(is_own)
        {
            asked.remove(oldest);
        }
        if asked.len() >= ALL_MAX {
            asked.pop_front();
        }
        asked.push_back((session, pair.clone(), id));
        id
    }

    /// The questions that a session without a team has asked in a conversation since the daemon started, oldest first.
    pub fn asked_by(&self, session: SessionId, pair: &Pair) -> Vec<MessageId> {
        let asked = self.askers.asked();
        let own = asked.iter().filter(|(asker, of, _)| *asker == session && of == pair);
        own.map(|(.., id)| *id).collect()
    }
}
