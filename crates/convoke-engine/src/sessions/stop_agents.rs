//! Stopping all agents at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use convoke_core::session::{Command, QueueChoice};
use tokio::task::JoinSet;

use super::Sessions;
use crate::error::Result;

/// The most rounds; each one stops the agents that started something during the round before.
const ROUNDS_MAX: usize = 10;
/// How long a session may take to store the cancellation before its process is stopped anyway.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(500);

/// What was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stopped {
    /// Sessions that were not idle.
    pub sessions: usize,
    /// Processes.
    pub processes: usize,
}

impl Sessions {
    /// Cancels all running and queued turns, and stops all agent processes.
    pub async fn stop_agents(self: &Arc<Self>) -> Result<Stopped> {
        let (mut sessions, mut processes) = (HashSet::new(), HashSet::new());
        for _ in 0..ROUNDS_MAX {
            let busy = self.registry.busy();
            let keys = self.processes.pool.keys().await;
            if busy.is_empty() && keys.is_empty() {
                break;
            }
            // A session that is still stopping is found again in the next round.
            sessions.extend(busy.iter().copied());
            processes.extend(keys.iter().cloned());
            let mut stopping = JoinSet::new();
            for session in busy {
                let sessions = Arc::clone(self);
                stopping.spawn(async move {
                    let stop = Command::CancelTurn { queue: QueueChoice::Discard };
                    if let Err(error) = sessions.send_command(session, stop).await {
                        // It may have ended meanwhile.
                        tracing::debug!(session.id = %session, "nothing to stop: {error}");
                    }
                });
            }
            // A session that cannot be stored must not keep its process alive.
            tokio::time::timeout(CANCEL_TIMEOUT, stopping.join_all()).await.ok();
            let mut stopping = JoinSet::new();
            for key in keys {
                let pool = self.processes.pool.clone();
                stopping.spawn(async move { pool.release(&key).await });
            }
            stopping.join_all().await;
        }
        Ok(Stopped { sessions: sessions.len(), processes: processes.len() })
    }
}
