//! Adds messages that another program appended to the session's conversation, together with the
//! cursor of the reader.
//!
//! The agent processes that Convoke starts append to the same file. Their messages are stored
//! already, so that their lines are only marked as read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::session::{Change, Summary};
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_store::Window;

use super::task::{Process, Task};
use crate::error::Result;
use crate::histories::live::IMPORTED;
use crate::histories::{GrownItem, HistoryGrowth};

/// The newest messages that an item may replace. Agents replace only what they wrote last.
const WINDOW: u32 = 20_000;
/// How many ids are cached before the oldest are evicted, which takes a pass over all.
const REMEMBERED_MAX: usize = 28_000;

/// How many sessions are cached; a full cache is cleared.
const OWN_MAX: usize = 10_000;

/// Up to when Convoke's own processes wrote the conversations of sessions that have grown since. It
/// is the time of the last change that was not growth.
#[derive(Debug, Default)]
pub(crate) struct OwnTimes(Mutex<HashMap<SessionId, (Rev, Timestamp)>>);

impl OwnTimes {
    /// The time of the last change of a session that was not growth, as far as that is known.
    fn get(&self, session: SessionId, summary: &Summary) -> Timestamp {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match times.get(&session) {
            Some((rev, until)) if *rev == summary.rev => *until,
            Some(_) | None => summary.updated_at,
        }
    }

    /// Records that the session has grown to this revision.
    fn keep(&self, session: SessionId, rev: Rev, until: Timestamp) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() >= OWN_MAX {
            times.clear();
        }
        times.insert(session, (rev, until));
    }
}

impl Task {
    /// Adds new items and replaces changed ones; returns how many changed.
    pub(super) async fn grow(&mut self, growth: HistoryGrowth) -> Result<u64> {
        let HistoryGrowth { items, mark, title, usage, active_at } = growth;
        if self.has_process().await {
            self.shared.store.mark_history(mark).await?;
            return Ok(0);
        }
        let own_until = self.own_until().await?;
        // Put back after the commit; if that fails, the ids are read again. Messages from other
        // sources need no entry: no item of the file has their ids.
        let mut known = match self.grown.take() {
            Some(known) => known,
            None => self.shared.store.message_ids(self.id, WINDOW).await?.into_iter().collect(),
        };
        let mut uncommitted = self.uncommitted();
        let mut begun: Vec<(MessageId, Seq)> = Vec::new();
        let mut changed = 0;
        for GrownItem { draft, at } in items {
            let id = draft.id;
            let place = id.and_then(|id| known.get(&id).copied());
            // What a process flushed when it exited was said before the session ended.
            let is_own = own_until.is_some_and(|until| at.unwrap_or(active_at) < until);
            if is_own && place.is_none() {
                continue;
            }
            let at = at.unwrap_or(uncommitted.session.summary().updated_at);
            let change = match place {
                None => Change::Begin(draft),
                Some(seq) => {
                    let Some(message) = self.shared.store.message(self.id, seq).await? else {
                        continue;
                    };
                    if message.content == draft.content {
                        continue;
                    }
                    uncommitted.open.reopen(message);
                    Change::Replace { seq, content: draft.content }
                }
            };
            self.change(&mut uncommitted, change, at);
            changed += 1;
            if place.is_none() {
                let last = uncommitted.session.summary().last_seq;
                begun.extend(id.map(|id| (id, last)));
            }
        }
        if changed == 0 && own_until.is_some() {
            self.grown = Some(known);
            self.shared.store.mark_history(mark).await?;
            return Ok(0);
        }
        if let Some(usage) = usage {
            let at = uncommitted.session.summary().updated_at;
            self.change(&mut uncommitted, Change::State(SessionState::Usage(usage)), at);
        }
        let at = uncommitted.session.summary().updated_at;
        self.change(&mut uncommitted, Change::Described { title, active_at }, at);
        uncommitted.mark = Some(mark);
        let effects = self.commit(uncommitted).await?;
        if let Some(until) = own_until {
            self.shared.own_times.keep(self.id, self.session.summary().rev, until);
        }
        known.extend(begun);
        if known.len() > REMEMBERED_MAX {
            let oldest = self.session.summary().last_seq.get().saturating_sub(u64::from(WINDOW));
            known.retain(|_, seq| seq.get() > oldest);
        }
        self.grown = Some(known);
        self.carry_out(effects).await;
        Ok(changed)
    }

    /// Whether a process of Convoke's may be writing the conversation.
    async fn has_process(&self) -> bool {
        !matches!(self.process, Process::None)
            || self.session.is_under_way()
            || self.shared.processes.pool.keys().await.contains(&self.key)
    }

    /// Up to when processes of Convoke's may have written the conversation; `None` if there was
    /// none.
    async fn own_until(&self) -> Result<Option<Timestamp>> {
        let summary = self.session.summary();
        let was_prompted = summary.work.seen_rev.max(summary.work.ended_rev) > Rev::START;
        // Sessions from before these revisions were counted have an agent session id of another
        // origin.
        let is_driven = was_prompted || {
            let newest = Window::first(1);
            let records = self.shared.store.agent_session_records(self.id, newest).await?;
            records.first().is_some_and(|record| record.why != IMPORTED)
        };
        Ok(is_driven.then(|| self.shared.own_times.get(self.id, summary)))
    }
}
