//! A process that is ready before anybody asks: for the agent and in the project that were used last.

use std::sync::Arc;

use convoke_agents::driver::Start;
use convoke_core::id::{AgentName, ProjectId, SessionId};

use crate::engine::Shared;
use crate::session::start::{self, Errand};
use crate::settings::Spare;

/// A process of a session that does not exist yet. Its id is chosen, because the agent's tools are bound to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpareProcess {
    session: SessionId,
    agent: AgentName,
    project: ProjectId,
}

/// The id of the session that is prepared for this agent and project.
pub(super) fn take(shared: &Shared, agent: &AgentName, project: ProjectId) -> Option<SessionId> {
    let is_fit = |spare: &mut SpareProcess| spare.agent == *agent && spare.project == project;
    Some(shared.with_spare(|spare| spare.take_if(is_fit))?.session)
}

/// Starts a process for the next session like this one, in the background, if there is room to spare.
pub(super) fn prepare(shared: &Arc<Shared>, errand: &Errand) {
    if shared.settings.spare == Spare::None {
        return;
    }
    let session = SessionId::from_random((shared.around.random)());
    let next = SpareProcess { session, agent: errand.agent.clone(), project: errand.project };
    let before = shared.with_spare(|spare| spare.replace(next));
    let (shared, errand) =
        (Arc::clone(shared), Errand { session, key: session.to_string(), ..errand.clone() });
    tokio::spawn(async move {
        if let Some(before) = before {
            shared.pool.release(&before.session.to_string()).await;
        }
        let start = Start::New { id: SessionId::from_random((shared.around.random)()).to_string() };
        match start::launch(&shared, &errand, start).await {
            Ok(launch) => shared.pool.prepare(&session.to_string(), launch).await,
            // Whoever wants a session there is told why it cannot be had.
            Err(error) => tracing::debug!("no spare process: {error}"),
        }
    });
}
