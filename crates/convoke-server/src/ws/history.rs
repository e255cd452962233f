//! The first entries of a session for a client, and older ones page by page. Bounded by bytes, even
//! for a long conversation or a long turn.

use convoke_api::entry::Entry;
use convoke_core::bounds::json_bytes;
use convoke_core::id::SessionId;
use convoke_core::message::{Rev, Seq};
use convoke_engine::{Engine, Result};

/// The maximum page size of reads.
const PAGE: u32 = 500;
/// The maximum size of the entries in one frame, except for one more entry and for open ones.
const ENTRIES_BYTES_MAX: usize = 512 << 10;

/// Entries that are shown after a requested seq.
const AFTER: u64 = 10;

/// A part of a session.
pub(super) struct Newest {
    /// The entries by seq, followed by those of state.
    pub(super) entries: Vec<Entry>,
    /// The revision of this state.
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

/// Reads the entries up to a little after a seq.
pub(super) async fn around(engine: &Engine, id: SessionId, at: Seq, enough: u32) -> Result<Newest> {
    // The open entries and the state at a revision; the page below may have newer ones.
    let snapshot = engine.sessions().snapshot(id, 0, 0).await?;
    let last = engine.sessions().get(id).await?.stored.summary.last_seq;
    let mut end = at.plus(AFTER).min(last).next();
    let (mut entries, mut more) = page(engine, id, end, enough).await?;
    if entries.first().is_some_and(|first| first.seq > at) {
        // The entries after it alone exceed the limit.
        end = at.next();
        (entries, more) = page(engine, id, end, enough).await?;
    }
    entries.extend(snapshot.state.iter().map(|(rev, state)| Entry::of_state(state, *rev)));
    Ok(Newest { entries, rev: snapshot.rev, more, newer: end <= last })
}

/// Reads the entries before a seq, and whether there are older ones.
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
