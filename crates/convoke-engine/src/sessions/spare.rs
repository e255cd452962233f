//! A process that is started before a session asks for it: for the agent and in the project that were used last.

use std::sync::{Mutex, MutexGuard, PoisonError};

use convoke_agents::driver::Start;
use convoke_core::id::{AgentName, ProjectId, SessionId};

use crate::processes::Processes;
use crate::session::start::{self, ProcessSpec};
use crate::settings::Spare;

/// A process of a session that does not exist yet. Its id is chosen, because the agent's tools are bound to it.
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
        // A thread that panicked with this lock left the place whole, since it is one value.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of the session that is prepared for this agent and project.
    pub(super) fn take(&self, agent: &AgentName, project: ProjectId) -> Option<SessionId> {
        let is_fit = |spare: &mut SpareProcess| spare.agent == *agent && spare.project == project;
        Some(self.process().take_if(is_fit)?.session)
    }

    /// Starts a process for the next session like this one, in the background, if one is wanted.
    pub(super) fn prepare(&self, processes: &Processes, spec: &ProcessSpec) {
        if processes.settings.spare == Spare::None {
            return;
        }
        let session = SessionId::from_random((processes.around.random)());
        let next = SpareProcess { session, agent: spec.agent.clone(), project: spec.project };
        let before = self.process().replace(next);
        let (processes, spec) =
            (processes.clone(), ProcessSpec { session, key: session.to_string(), ..spec.clone() });
        tokio::spawn(async move {
            if let Some(before) = before {
                processes.pool.release(&before.session.to_string()).await;
            }
            let id = SessionId::from_random((processes.around.random)()).to_string();
            match start::launch(&processes, &spec, Start::New { id }).await {
                Ok(launch) => processes.pool.prepare(&session.to_string(), launch).await,
                // The next session with this agent fails with the same error.
                Err(error) => tracing::debug!("no spare process: {error}"),
            }
        });
    }
}
