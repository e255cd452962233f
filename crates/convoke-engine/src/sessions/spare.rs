//! The spare process: started ahead of time for the next new session, with the agent and project used last.

use std::sync::{Mutex, MutexGuard, PoisonError};

use convoke_agents::catalogue::Weight;
use convoke_agents::driver::Start;
use convoke_core::id::{AgentName, ProjectId, SessionId};

use crate::processes::Processes;
use crate::session::start::{self, ProcessSpec};
use crate::settings::Spare;

/// The process of a session that does not exist yet. Its id is fixed, because the agent's tools are bound to it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SpareProcess {
    session: SessionId,
    agent: AgentName,
    project: ProjectId,
}

/// The spare process, if there is one.
#[derive(Debug, Default)]
pub(crate) struct SparePlace {
    process: Mutex<Option<SpareProcess>>,
}

impl SparePlace {
    fn process(&self) -> MutexGuard<'_, Option<SpareProcess>> {
        // The value is replaced in one step, so it is consistent after a panic.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the id of the session that is prepared for this agent and project.
    pub(super) fn take(&self, agent: &AgentName, project: ProjectId) -> Option<SessionId> {
        let is_fit = |spare: &mut SpareProcess| spare.agent == *agent && spare.project == project;
        Some(self.process().take_if(is_fit)?.session)
    }

    /// Starts a process for the next session like this one, in the background, if that is enabled.
    pub(super) fn prepare(&self, processes: &Processes, spec: &ProcessSpec) {
        let weight = processes.agent(spec.agent.as_str()).map(|agent| agent.weight);
        // A second process of a heavy agent takes more memory than its quick start is worth.
        if processes.settings.spare == Spare::None || matches!(weight, Ok(Weight::Heavy)) {
            return;
        }
        let session = SessionId::from_random((processes.host.random)());
        let next = SpareProcess { session, agent: spec.agent.clone(), project: spec.project };
        let before = self.process().replace(next);
        let (processes, spec) =
            (processes.clone(), ProcessSpec { session, key: session.to_string(), ..spec.clone() });
        tokio::spawn(async move {
            if let Some(before) = before {
                processes.pool.release(&before.session.to_string()).await;
            }
            let id = SessionId::from_random((processes.host.random)()).to_string();
            match start::launch(&processes, &spec, Start::New { id }).await {
                Ok(launch) => processes.pool.prepare(&session.to_string(), launch).await,
                // The next session with this agent reports the same error.
                Err(error) => tracing::debug!("no spare process: {error}"),
            }
        });
    }
}
