//! Who is behind a question to a team.

use convoke_core::user::UserName;

use super::{Caller, TeamAsk, Teams};
use crate::error::Result;

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
}
