//! Handing a conversation over to a successor: the predecessor writes a summary, the successor begins with it.
//!
//! Questions to the pair wait meanwhile: the successor would not know of one that came after the summary.

use convoke_core::bounds::clip;
use convoke_core::id::SessionId;
use convoke_core::message::Message;
use convoke_core::notice::{Event, LifecycleEvent, Notice};
use convoke_core::quote::{self, Speaker, Turn};
use convoke_core::session::{Command, EndReason, Report};
use convoke_core::team::PairStatus;
use convoke_store::{PairChange, StoredPair};

use super::{Compaction, said};
use crate::engine::Engine;
use crate::error::{Error, Result};

/// What a predecessor is asked for.
pub(in super::super) const SUMMARISE: &str = "This conversation has grown long, and a successor will take your place. \
     Write everything that it must know, as a summary: what the other team wanted, what was decided and why, names of \
     files and interfaces, what is open. Write only the summary.";
/// How the first prompt of a successor begins, in logs of older versions, too.
pub(in super::super) const TAKE_OVER: &str =
    "You take the place of a predecessor in a lasting conversation with another team.";
/// How it goes on.
const QUOTED_BELOW: &str =
    "The predecessor's summary of it is quoted below. Answer with one word: ready.";
/// The longest summary that is quoted whole.
const SUMMARY_BYTES_MAX: usize = 200_000;

/// Lets a successor take a pair's conversation over.
pub(super) async fn hand_over(engine: &Engine, pair: &StoredPair) -> Result<Compaction> {
    let shared = &engine.shared;
    let _closed = shared.pair_cache.close(&pair.pair).await?;
    // It may have moved while those before were let through.
    let pair = &engine.pair(pair.id).await?;
    let compacting = PairChange::Standing { status: PairStatus::Compacting, error: None };
    shared.change_pair(pair, compacting).await?;
    engine.wake_session(pair.session_id).await?;
    let summary = said(engine, pair.session_id, SUMMARISE.to_owned()).await?;
    if summary.trim().is_empty() {
        let reason = "the agent wrote no summary".to_owned();
        return Err(Error::CompactionFailed { reason });
    }
    let migrating = PairChange::Standing { status: PairStatus::Migrating, error: None };
    shared.change_pair(pair, migrating).await?;
    let session = succeed(engine, pair, &summary).await?;
    Ok(Compaction::Successor { session })
}

/// Begins the session that goes on with a summary, and points the pair to it.
async fn succeed(engine: &Engine, pair: &StoredPair, summary: &str) -> Result<SessionId> {
    let shared = &engine.shared;
    let team = shared.team(&pair.pair.to)?;
    shared.pool.release(&pair.pair.to_string()).await;
    let mut errand = shared.errand_of(&team, String::new()).await?;
    let id = errand.session;
    // The pair's own key is still the predecessor's.
    errand.key = id.to_string();
    let made = shared.make_agent_session(&team, &errand).await?;
    shared.store.create_session(crate::teams::create::new_session(&errand, shared.now())).await?;
    shared.begin_made(&errand, made, "successor").await?;
    let noticed = |event| Command::Agent(Report::Noticed(Notice::new(event)));
    engine.carry(id, noticed(LifecycleEvent::Continues { session: pair.session_id })).await?;
    let summary = Turn { role: Speaker::Assistant, text: clip(summary, SUMMARY_BYTES_MAX) };
    let quoted = quote::transcript([&summary], &shared.nonce());
    said(engine, id, format!("{TAKE_OVER} {QUOTED_BELOW}\n\n{quoted}")).await?;
    // Only now that the successor knows everything does it take over.
    shared.change_pair(pair, PairChange::Moved { session_id: id }).await?;
    shared.pool.release(&id.to_string()).await;
    engine.carry(pair.session_id, noticed(LifecycleEvent::ContinuedIn { session: id })).await?;
    shared.end_session(pair.session_id, EndReason::Compacted).await?;
    engine.carry(pair.session_id, Command::Archive).await?;
    Ok(id)
}

/// The session before, where a message names one.
pub(in super::super) fn predecessor(message: &Message) -> Option<SessionId> {
    let convoke_core::content::Content::Notice(notice) = &message.content else { return None };
    let Event::Lifecycle(LifecycleEvent::Continues { session }) = &notice.event else {
        return None;
    };
    Some(*session)
}
