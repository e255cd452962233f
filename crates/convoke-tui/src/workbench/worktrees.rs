//! Calls to the daemon about work trees and comparisons, over REST.

use std::time::Duration;

use convoke_api::bodies::{
    Comparison, FinishWorktree, FinishedWorktree, KeepEntry, KeptEntry, NewComparison, Session,
    WorktreeState, Worktrees,
};
use convoke_api::{Client, Result};
use convoke_core::id::SessionId;
use tokio::time::sleep;

use super::message::Message;
use super::refusal::CallRefusal;

/// How long to wait before comparisons that are not done are read again; the daemon announces no test results.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A call about work trees and comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeCall {
    /// Is the work tree of a session there?
    Look {
        /// The session.
        id: SessionId,
    },
    /// Finish the work tree of a session.
    Finish {
        /// The session.
        id: SessionId,
        /// How.
        finish: FinishWorktree,
    },
    /// Restore a removed or missing work tree.
    Restore {
        /// The session.
        id: SessionId,
    },
    /// List the comparisons.
    Comparisons {
        /// At once, or after a pause.
        delay: CallDelay,
    },
    /// Give one prompt to several agents.
    Compare(NewComparison),
    /// Keep one session of a comparison, and discard the others.
    Keep {
        /// The comparison.
        comparison: String,
        /// The session, and what becomes of its work tree.
        keep: KeepEntry,
    },
}

/// When a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallDelay {
    /// At once.
    Now,
    /// After a delay, since the result changes by itself.
    Later,
}

/// The result of a call.
#[derive(Debug)]
pub enum WorktreeReturned {
    /// Whether the work tree exists; `None` if the session has none.
    State(Option<WorktreeState>),
    /// What became of the work tree.
    Finished(FinishedWorktree),
    /// The session whose work tree was restored.
    Restored(Session),
    /// All comparisons.
    Comparisons(Vec<Comparison>),
    /// The comparison that began.
    Compared(Comparison),
    /// The result for the session that was kept, and the comparison.
    Kept(KeptEntry),
}

/// Performs a call.
pub(crate) async fn perform(client: Client, call: WorktreeCall) -> Message {
    let returned = returned(&client, &call).await;
    let returned = returned.map(Box::new).map_err(|error| CallRefusal::from(&error));
    Message::WorktreeCalled { call, returned }
}

async fn returned(client: &Client, call: &WorktreeCall) -> Result<WorktreeReturned> {
    Ok(match call {
        WorktreeCall::Look { id } => {
            let Worktrees { worktrees } = client.worktrees().await?;
            let found = worktrees.into_iter().find(|listed| listed.session_id == *id);
            WorktreeReturned::State(found.map(|listed| listed.state))
        }
        WorktreeCall::Finish { id, finish } => {
            WorktreeReturned::Finished(client.finish(&id.to_string(), finish).await?)
        }
        WorktreeCall::Restore { id } => {
            WorktreeReturned::Restored(client.restore_worktree(&id.to_string()).await?)
        }
        WorktreeCall::Comparisons { delay } => {
            if *delay == CallDelay::Later {
                sleep(POLL_INTERVAL).await;
            }
            WorktreeReturned::Comparisons(client.comparisons().await?.comparisons)
        }
        WorktreeCall::Compare(new) => {
            WorktreeReturned::Compared(client.begin_comparison(new).await?)
        }
        WorktreeCall::Keep { comparison, keep } => {
            WorktreeReturned::Kept(client.keep_entry(comparison, keep).await?)
        }
    })
}
