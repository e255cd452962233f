//! Reads the turns of a stored session that an agent does not remember; the core formats them.

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::quote::Turn;
use convoke_core::replay;
use convoke_store::{Store, StoredSession};

use crate::error::Result;
use crate::processes::Processes;

/// The longest transcript that an agent is given. The latest turns matter most, and then the first ones.
const TRANSCRIPT_BYTES_MAX: usize = 200_000;
/// The share of it for the first turns.
const BEGINNING_BYTES_MAX: usize = 20_000;
/// The page size of reads.
const PAGE: u32 = 500;

/// The conversation before the prompt at `end`; `None` if it is empty.
pub(super) async fn transcript(
    processes: &Processes,
    session: SessionId,
    before: Option<Seq>,
) -> Result<Option<String>> {
    let store = &processes.store;
    // A new session is not stored yet.
    let Some(stored) = store.session(session).await? else { return Ok(None) };
    let end = before.unwrap_or_else(|| stored.summary.last_seq.next());
    let (recent, first) = recent(store, &stored, end).await?;
    if recent.is_empty() {
        return Ok(None);
    }
    let mut turns = Vec::new();
    if first > Seq::START.next() {
        turns = beginning(store, session, first).await?;
        if !turns.is_empty() {
            turns.push(replay::left_out());
        }
    }
    turns.extend(recent);
    Ok(replay::text(&turns, &processes.host.nonce()))
}

/// The latest turns before `end`, oldest first, and the seq where they begin.
async fn recent(store: &Store, session: &StoredSession, end: Seq) -> Result<(Vec<Turn>, Seq)> {
    let mut turns: Vec<Turn> = Vec::new();
    let (mut first, mut room) = (end, TRANSCRIPT_BYTES_MAX - BEGINNING_BYTES_MAX);
    loop {
        let page = store.messages_before(session.id, first, PAGE).await?;
        for message in page.messages.iter().rev() {
            first = message.seq;
            let Some(turn) = replay::turn(message) else { continue };
            if turn.bytes() > room {
                // Of a turn that is too long, the end is kept. Escaping takes at most six bytes for one.
                turns.push(Turn { text: end_of(&turn.text, room / 6), ..turn });
                turns.reverse();
                return Ok((turns, first));
            }
            room -= turn.bytes();
            turns.push(turn);
        }
        if !page.more {
            break;
        }
    }
    turns.reverse();
    Ok((turns, Seq::START.next()))
}

/// The first turns, up to where the latest begin.
async fn beginning(store: &Store, session: SessionId, end: Seq) -> Result<Vec<Turn>> {
    let page = store.messages(session, Seq::START, PAGE).await?;
    let (mut turns, mut bytes) = (Vec::new(), 0);
    let older = page.messages.iter().take_while(|message| message.seq < end);
    for turn in older.filter_map(replay::turn) {
        bytes += turn.bytes();
        if bytes > BEGINNING_BYTES_MAX {
            break;
        }
        turns.push(turn);
    }
    Ok(turns)
}

/// The last bytes of a text, cut at a character boundary.
fn end_of(text: &str, bytes: usize) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    format!("[…] {}", text.get(start..).unwrap_or_default())
}
