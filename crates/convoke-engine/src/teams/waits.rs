//! Agents that wait for the answer of a team. An agent may not wait for itself through others, on
//! one node or several.

use std::sync::Arc;
use std::time::Duration;

use convoke_core::id::NodeId;
use convoke_core::team::Pair;
use convoke_store::BegunWait;

use super::Teams;
use super::ask::{Caller, TeamAsk, Wait};
use super::chain::{WaitGuard, Waiter};
use crate::error::{Error, Result};
use crate::sessions::Sessions;

/// How long to wait before the end of a wait is recorded again that could not be.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// An agent that waits; dropped when the wait ends.
#[derive(Debug)]
pub(super) struct Waiting<'a> {
    _here: WaitGuard<'a>,
    shared: Option<SharedWait>,
}

impl Waiting<'_> {
    /// Ends the wait for all nodes, before the agent gets its answer: what it asks next would else meet its own wait.
    pub(super) async fn end(self) {
        if let Some(mut shared) = self.shared
            && shared.sessions.store.end_wait(shared.id).await.is_ok()
        {
            shared.has_ended = true;
        }
    }
}

/// The record of the wait in the database, for other nodes.
#[derive(Debug)]
struct SharedWait {
    sessions: Arc<Sessions>,
    id: u64,
    has_ended: bool,
}

impl Drop for SharedWait {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let (sessions, id) = (Arc::clone(&self.sessions), self.id);
        tokio::spawn(async move {
            // A wait that is left would make circles of later asks, until this node is started again.
            while let Err(error) = sessions.store.end_wait(id).await {
                tracing::warn!("the end of a wait for a team cannot be recorded: {error}");
                tokio::select! {
                    () = tokio::time::sleep(RETRY_DELAY) => {}
                    () = sessions.registry.stopped() => return,
                }
            }
        });
    }
}

impl Teams {
    /// Registers that an agent waits for a team of a node while it holds a process, unless that would deadlock.
    pub(super) async fn begin_wait(
        &self,
        ask: &TeamAsk,
        pair: &Pair,
        node: Option<NodeId>,
    ) -> Result<Option<Waiting<'_>>> {
        let (Caller::Session(session), Wait::ForEver) = (&ask.caller, ask.wait) else {
            return Ok(None);
        };
        let of = self.sessions.pair_of(*session).await?.map(|(pair, _)| pair);
        let waiter = Waiter { of: of.clone(), for_pair: pair.clone() };
        let max = self.sessions.settings.pool.processes_max;
        let here = self.sessions.chains.begin_wait(waiter, max)?;
        let shared = match (of, self.store.node(), node) {
            (Some(of), Some(own), Some(node)) => Some(self.share_wait(own, &of, node, pair).await?),
            // A wait within this node, or by an agent that no other agent can wait for.
            _ => None,
        };
        Ok(Some(Waiting { _here: here, shared }))
    }

    async fn share_wait(
        &self,
        own: NodeId,
        of: &Pair,
        node: NodeId,
        for_pair: &Pair,
    ) -> Result<SharedWait> {
        // Teams of the same name on two nodes are two teams.
        let names = (format!("{own} {of}"), format!("{node} {for_pair}"));
        match self.store.begin_wait(names.0, names.1).await? {
            BegunWait::Waits(id) => {
                Ok(SharedWait { sessions: Arc::clone(&self.sessions), id, has_ended: false })
            }
            BegunWait::Circle(pairs) => {
                let pair = |name: &str| name.split_once(' ').map_or(name, |it| it.1).to_owned();
                let names: Vec<String> = pairs.iter().map(|name| pair(name)).collect();
                Err(Error::AskLoop { chain: format!("{of} → {}", names.join(" → ")) })
            }
        }
    }
}
