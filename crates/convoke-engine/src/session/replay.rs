//! The conversation so far as quoted text, for an agent that does not remember it.

use convoke_core::bounds::{clip, json_bytes};
use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::quote::{self, Speaker, Turn};
use convoke_store::{Store, StoredSession};

use crate::engine::Shared;
use crate::error::Result;
use crate::reading;

/// Bytes of transcript that an agent is given. What a person said lately matters most, and how it began.
const TRANSCRIPT_BYTES_MAX: usize = 200_000;
/// Of these, for the beginning.
const BEGINNING_BYTES_MAX: usize = 20_000;
/// Messages that are read at once.
const PAGE: u32 = 500;

const LEFT_OUT: &str = "the middle of the conversation is left out";
const CLOSING: &str = "\nThe user now says:\n\n";

/// What was said so far, without the prompts from a place on, which are still to be said; `None` when nothing was.
pub(super) async fn transcript(
    shared: &Shared,
    session: SessionId,
    before: Option<Seq>,
) -> Result<Option<String>> {
    let store = &shared.store;
    // A session that is about to be stored has no log yet.
    let Some(stored) = store.session(session).await? else { return Ok(None) };
    let said = |message: &Message| {
        message.role != Role::User || before.is_none_or(|before| message.seq < before)
    };
    let (recent, first) = recent(store, &stored, said).await?;
    if recent.is_empty() {
        return Ok(None);
    }
    let mut turns = Vec::new();
    if first > Seq::START.next() {
        turns = beginning(store, session, first, said).await?;
        if !turns.is_empty() {
            turns.push(Turn { role: Speaker::Note, text: LEFT_OUT.to_owned() });
        }
    }
    turns.extend(recent);
    Ok(Some(quote::transcript(&turns, &shared.nonce()) + CLOSING))
}

/// The newest part, oldest turn first, and the place where it begins.
async fn recent(
    store: &Store,
    session: &StoredSession,
    said: impl Fn(&Message) -> bool,
) -> Result<(Vec<Turn>, Seq)> {
    // Both the turns and the pieces of each are gathered newest first.
    let mut turns: Vec<(Speaker, Vec<String>)> = Vec::new();
    let mut first = session.summary.last_seq.next();
    let mut room = TRANSCRIPT_BYTES_MAX - BEGINNING_BYTES_MAX;
    loop {
        let page = reading::before(store, session.id, first, PAGE).await?;
        let Some(oldest) = page.messages.first().map(|message| message.seq) else { break };
        for message in page.messages.iter().rev().filter(|message| said(message)) {
            let Some(turn) = turn(message) else { continue };
            let begun = turns.last_mut().filter(|(role, _)| goes_on(*role, turn.role));
            let bytes = if begun.is_some() { json_bytes(&turn.text) } else { turn.bytes() };
            let is_cut = bytes > room;
            // Of what is too long, the end is closest to what comes. Escaping takes at most six bytes for one.
            let text = if is_cut { end_of(&turn.text, room / 6) } else { turn.text };
            match begun {
                Some((_, pieces)) => pieces.push(text),
                None => turns.push((turn.role, vec![text])),
            }
            if is_cut {
                return Ok((in_order(turns), message.seq));
            }
            room -= bytes;
        }
        first = oldest;
        if !page.more {
            break;
        }
    }
    Ok((in_order(turns), Seq::START.next()))
}

/// The oldest part, up to where the newest begins.
async fn beginning(
    store: &Store,
    session: SessionId,
    end: Seq,
    said: impl Fn(&Message) -> bool,
) -> Result<Vec<Turn>> {
    let page = reading::after(store, session, Seq::START, PAGE).await?;
    let (mut turns, mut bytes): (Vec<Turn>, usize) = (Vec::new(), 0);
    let older = page.messages.iter().take_while(|message| message.seq < end);
    for turn in older.filter(|message| said(message)).filter_map(turn) {
        let begun = turns.last_mut().filter(|last| goes_on(last.role, turn.role));
        bytes += if begun.is_some() { json_bytes(&turn.text) } else { turn.bytes() };
        if bytes > BEGINNING_BYTES_MAX {
            break;
        }
        match begun {
            Some(last) => last.text.push_str(&turn.text),
            None => turns.push(turn),
        }
    }
    Ok(turns)
}

/// What a message adds to the transcript: words, and which tools were used. Thoughts are not handed on.
fn turn(message: &Message) -> Option<Turn> {
    let (role, text) = match &message.content {
        Content::Text { text, .. } if message.role == Role::User => (Speaker::User, text.clone()),
        Content::Text { text, .. } => (Speaker::Assistant, text.clone()),
        Content::Tool(tool) if tool.result.is_some() => (Speaker::Tool, clip(&tool.tool, 1000)),
        Content::Tool(_)
        | Content::Thinking { .. }
        | Content::Plan { .. }
        | Content::Permission(_)
        | Content::Question(_)
        | Content::Usage(_)
        | Content::Notice(_) => return None,
    };
    (!text.is_empty()).then_some(Turn { role, text })
}

/// Whether two messages beside each other are of one turn: answers come in pieces.
const fn goes_on(one: Speaker, other: Speaker) -> bool {
    matches!((one, other), (Speaker::Assistant, Speaker::Assistant))
}

fn in_order(turns: Vec<(Speaker, Vec<String>)>) -> Vec<Turn> {
    let joined = |pieces: Vec<String>| pieces.into_iter().rev().collect();
    turns.into_iter().rev().map(|(role, pieces)| Turn { role, text: joined(pieces) }).collect()
}

/// The last so many bytes of a text, or some less where that would cut a character in two.
fn end_of(text: &str, bytes: usize) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    format!("[…] {}", text.get(start..).unwrap_or_default())
}

impl Shared {
    /// A number that is used once, to mark a quotation.
    pub(crate) fn nonce(&self) -> String {
        format!("{:032x}", u128::from_be_bytes((self.around.random)()))
    }
}
