//! Agents that wait for the answer of a team. An agent may not wait for itself through others, on
//! one node or several.

use convoke_core::id::NodeId;
use convoke_core::team::Pair;
use convoke_store::Store;

use super::Teams;
use super::ask::{Caller, TeamAsk, Wait};
use super::chain::{WaitGuard, Waiter};
use crate::error::{Error, Result};

/// An agent that waits; dropped when the wait ends.
#[derive(Debug)]
pub(super) struct Waiting<'a> {
    _here: WaitGuard<'a>,
    _shared: Option<SharedWait>,
}

/// The record of the wait in the database, for other nodes.
#[derive(Debug)]
struct SharedWait {
    store: Store,
    id: u64,
}

impl Drop for SharedWait {
    fn drop(&mut self) {
        let (store, id) = (self.store.clone(), self.id);
        tokio::spawn(async move {
            // If the database cannot be reached, the next start of this node removes the record.
            if let Err(error) = store.end_wait(id).await {
                tracing::warn!("the end of a wait for a team cannot be recorded: {error}");
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
        Ok(Some(Waiting { _here: here, _shared: shared }))
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
            Some(id) => Ok(SharedWait { store: self.store.clone(), id }),
            None => Err(Error::AskLoop { chain: format!("{of} → {for_pair} → … → {of}") }),
        }
    }
}
