//! The entries of a session that a client begins with, and older ones page by page. Bounded by bytes, however long a
//! conversation or one turn of it is.

use convoke_api::entry::Entry;
use convoke_core::bounds::json_bytes;
use convoke_core::id::SessionId;
use convoke_core::message::{Rev, Seq};
use convoke_engine::{Engine, Result};

/// Messages that are read at once at most.
const PAGE: u32 = 500;
/// Bytes of entries that one frame carries at most, but for one entry more, and for those that are open.
const ENTRIES_BYTES_MAX: usize = 512 << 10;

/// Entries after a place that are shown with it.
const AFTER: u64 = 10;

/// A part of a session.
pub(super) struct Newest {
    /// The entries by place, and then those of state.
    pub(super) entries: Vec<Entry>,
    /// The revision that it is as of.
    pub(super) rev: Rev,
    /// Whether there are older entries.
    pub(super) more: bool,
    /// Whether there are newer entries.
    pub(super) newer: bool,
}

/// Reads the newest entries of a session.
pub(super) async fn newest(engine: &Engine, id: SessionId, enough: u32) -> Result<Newest> {
    let snapshot = engine.sessions().snapshot(id, enough, ENTRIES_BYTES_MAX).await?;
    let mut entries: Vec<Entry> = snapshot.messages.iter().map(Entry::from).collect();
    entries.extend(snapshot.state.iter().map(|(rev, state)| Entry::of_state(state, *rev)));
    Ok(Newest { entries, rev: snapshot.rev, more: snapshot.more, newer: false })
}

/// Reads the entries up to a little after a place.
pub(super) async fn around(engine: &Engine, id: SessionId, at: Seq, enough: u32) -> Result<Newest> {
    // The open entries and the state, as of a revision; what the page below has of later ones is newer than that.
    let snapshot = engine.sessions().snapshot(id, 0, 0).await?;
    let last = engine.sessions().get(id).await?.stored.summary.last_seq;
    let mut end = at.plus(AFTER).min(last).next();
    let (mut entries, mut more) = page(engine, id, end, enough).await?;
    if entries.first().is_some_and(|first| first.seq > at) {
        // The entries after it alone are too many bytes.
        end = at.next();
        (entries, more) = page(engine, id, end, enough).await?;
    }
    entries.extend(snapshot.state.iter().map(|(rev, state)| Entry::of_state(state, *rev)));
    Ok(Newest { entries, rev: snapshot.rev, more, newer: end <= last })
}

/// Reads the entries before a place, and whether there are still older ones.
pub(super) async fn page(
    engine: &Engine,
    id: SessionId,
    before: Seq,
    enough: u32,
) -> Result<(Vec<Entry>, bool)> {
    let (mut entries, mut bytes, mut first) = (Vec::new(), 0, before);
    loop {
        let left = enough.saturating_sub(u32::try_from(entries.len()).unwrap_or(u32::MAX));
        let page = engine.sessions().messages_before(id, first, left.min(PAGE)).await?;
        for message in page.messages.iter().rev() {
            let entry = Entry::from(message);
            bytes += json_bytes(&entry);
            if bytes > ENTRIES_BYTES_MAX && !entries.is_empty() {
                entries.reverse();
                return Ok((entries, true));
            }
            first = message.seq;
            entries.push(entry);
        }
        let is_enough = entries.len() >= enough as usize || page.messages.is_empty();
        if !page.more || is_enough {
            entries.reverse();
            return Ok((entries, page.more));
        }
    }
}
