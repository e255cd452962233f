//! Adds messages that another program appended to the session's conversation, together with the
//! cursor of the reader.

use convoke_core::id::MessageId;
use convoke_core::message::Seq;
use convoke_core::session::{Change, Status};
use convoke_core::state::SessionState;

use super::task::Task;
use crate::error::Result;
use crate::histories::{GrownItem, HistoryGrowth};

/// The newest messages that an item may replace. Agents replace only what they wrote last.
const WINDOW: u32 = 20_000;
/// How many ids are cached before the oldest are evicted, which takes a pass over all.
const REMEMBERED_MAX: usize = 28_000;

impl Task {
    /// Adds new items and replaces changed ones; returns how many changed.
    ///
    /// While Convoke drives the session, its own agent writes the file, and its messages are stored
    /// already, so only the cursor is recorded.
    pub(super) async fn grow(&mut self, growth: HistoryGrowth) -> Result<u64> {
        let HistoryGrowth { items, mark, title, usage, active_at } = growth;
        if self.session.summary().status == Status::Active {
            self.shared.store.mark_history(mark).await?;
            return Ok(0);
        }
        // Put back after the commit; if that fails, the ids are read again. Messages from other
        // sources need no entry: no item of the file has their ids.
        let mut known = match self.grown.take() {
            Some(known) => known,
            None => self.shared.store.message_ids(self.id, WINDOW).await?.into_iter().collect(),
        };
        let mut undone = self.undone();
        let mut begun: Vec<(MessageId, Seq)> = Vec::new();
        let mut changed = 0;
        for GrownItem { draft, at } in items {
            let at = at.unwrap_or(undone.session.summary().updated_at);
            let id = draft.id;
            let place = id.and_then(|id| known.get(&id).copied());
            let change = match place {
                None => Change::Begin(draft),
                Some(seq) => {
                    let Some(message) = self.shared.store.message(self.id, seq).await? else {
                        continue;
                    };
                    if message.content == draft.content {
                        continue;
                    }
                    undone.open.reopen(message);
                    Change::Replace { seq, content: draft.content }
                }
            };
            self.change(&mut undone, change, at);
            changed += 1;
            if place.is_none() {
                let last = undone.session.summary().last_seq;
                begun.extend(id.map(|id| (id, last)));
            }
        }
        if let Some(usage) = usage {
            let at = undone.session.summary().updated_at;
            self.change(&mut undone, Change::State(SessionState::Usage(usage)), at);
        }
        let at = undone.session.summary().updated_at;
        self.change(&mut undone, Change::Described { title, active_at }, at);
        undone.mark = Some(mark);
        let effects = self.commit(undone).await?;
        known.extend(begun);
        if known.len() > REMEMBERED_MAX {
            let oldest = self.session.summary().last_seq.get().saturating_sub(u64::from(WINDOW));
            known.retain(|_, seq| seq.get() > oldest);
        }
        self.grown = Some(known);
        self.carry_out(effects).await;
        Ok(changed)
    }
}
