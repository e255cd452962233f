//! Moves a conversation to a successor session: the predecessor writes a summary, and the successor begins with it.
//!
//! Questions to the pair wait meanwhile, since the successor would not know of one that came after the summary.

use convoke_core::bounds::clip;
use convoke_core::id::SessionId;
use convoke_core::message::Message;
use convoke_core::notice::{Event, LifecycleEvent, Notice};
use convoke_core::quote::{self, Speaker, Turn};
use convoke_core::session::{Command, EndReason, Report};
use convoke_core::team::PairStatus;
use convoke_store::{PairChange, StoredPair};

use super::Compaction;
use crate::error::{Error, Result};
use crate::teams::Teams;
use crate::teams::create::new_session;

/// What a predecessor is asked for.
pub(in super::super) const SUMMARISE: &str = "This conversation has grown long, and a successor will take your place. \
     Write everything that it must know, as a summary: what the other team wanted, what was decided and why, names of \
     files and interfaces, what is open. Write only the summary.";
/// The start of a successor's first prompt, also in logs of older versions.
pub(in super::super) const TAKE_OVER: &str =
    "You take the place of a predecessor in a lasting conversation with another team.";
/// The second part of a successor's first prompt.
const QUOTED_BELOW: &str =
    "The predecessor's summary of it is quoted below. Answer with one word: ready.";
/// The longest summary that is quoted in full.
const SUMMARY_BYTES_MAX: usize = 200_000;

impl Teams {
    /// Moves a pair's conversation to a successor session.
    pub(super) async fn hand_over(&self, pair: &StoredPair) -> Result<Compaction> {
        let _closed = self.cache.lock_exclusive(&pair.pair).await?;
        // The pair may have moved while this waited for the lock.
        let pair = &self.pair(pair.id).await?;
        let compacting = PairChange::Status { status: PairStatus::Compacting, error: None };
        self.change_pair(pair, compacting).await?;
        self.wake_session(pair.session_id).await?;
        let summary = self.said(pair.session_id, SUMMARISE.to_owned()).await?;
        if summary.trim().is_empty() {
            let reason = "the agent wrote no summary".to_owned();
            return Err(Error::CompactionFailed { reason });
        }
        let migrating = PairChange::Status { status: PairStatus::Migrating, error: None };
        self.change_pair(pair, migrating).await?;
        let session = self.succeed(pair, &summary).await?;
        Ok(Compaction::Successor { session })
    }

    /// Creates the successor session with a summary, and points the pair to it.
    async fn succeed(&self, pair: &StoredPair, summary: &str) -> Result<SessionId> {
        let team = self.team(&pair.pair.to)?;
        self.processes.pool.release(&pair.pair.to_string()).await;
        let mut spec = self.process_spec(&team, String::new()).await?;
        let id = spec.session;
        // The pair's own key still belongs to the predecessor's process.
        spec.key = id.to_string();
        let made = self.make_agent_session(&team, &spec).await?;
        self.store.create_session(new_session(&spec, self.host.now())).await?;
        self.begin_made(&spec, made, "successor").await?;
        let noticed = |event| Command::Agent(Report::Noticed(Notice::new(event)));
        self.sessions
            .send_command(id, noticed(LifecycleEvent::Continues { session: pair.session_id }))
            .await?;
        let summary = Turn { role: Speaker::Assistant, text: clip(summary, SUMMARY_BYTES_MAX) };
        let quoted = quote::transcript([&summary], &self.host.nonce());
        self.said(id, format!("{TAKE_OVER} {QUOTED_BELOW}\n\n{quoted}")).await?;
        // The pair is moved only after the successor has the summary.
        self.change_pair(pair, PairChange::Moved { session_id: id }).await?;
        self.processes.pool.release(&id.to_string()).await;
        self.sessions
            .send_command(pair.session_id, noticed(LifecycleEvent::ContinuedIn { session: id }))
            .await?;
        self.end_session(pair.session_id, EndReason::Compacted).await?;
        self.sessions.send_command(pair.session_id, Command::Archive).await?;
        Ok(id)
    }
}

/// The predecessor session that a message names.
pub(in super::super) fn predecessor(message: &Message) -> Option<SessionId> {
    let convoke_core::content::Content::Notice(notice) = &message.content else { return None };
    let Event::Lifecycle(LifecycleEvent::Continues { session }) = &notice.event else {
        return None;
    };
    Some(*session)
}
