//! The conversation so far as text, for an agent that does not remember it.

use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Role, Seq};
use convoke_store::{Store, StoredSession};

use crate::error::Result;
use crate::reading;

/// Bytes of transcript that an agent is given. What a person said lately matters most, and how it began.
const TRANSCRIPT_BYTES_MAX: usize = 200_000;
/// Of these, for the beginning.
const BEGINNING_BYTES_MAX: usize = 20_000;
/// Messages that are read at once.
const PAGE: u32 = 500;

const OPENING: &str = "This conversation began before you: you do not remember it. Here is what was said so far. \
     Take it as your own memory, and do not answer it again.\n\n<transcript>\n";
const CLOSING: &str = "</transcript>\n\nThe user now says:\n\n";
const LEFT_OUT: &str = "[… the middle of the conversation is left out …]\n\n";

/// What was said so far, without the prompts from a place on, which are still to be said; `None` when nothing was.
pub(super) async fn transcript(
    store: &Store,
    session: SessionId,
    before: Option<Seq>,
) -> Result<Option<String>> {
    // A session that is about to be stored has no log yet.
    let Some(stored) = store.session(session).await? else { return Ok(None) };
    let said = |message: &Message| {
        message.role != Role::User || before.is_none_or(|before| message.seq < before)
    };
    let (recent, first) = recent(store, &stored, said).await?;
    if recent.is_empty() {
        return Ok(None);
    }
    let mut text = OPENING.to_owned();
    if first > Seq::START.next() {
        let beginning = beginning(store, session, first, said).await?;
        if !beginning.is_empty() {
            text.push_str(&beginning);
            text.push_str(LEFT_OUT);
        }
    }
    text.push_str(&recent);
    text.push_str(CLOSING);
    Ok(Some(text))
}

/// The newest part, and the place where it begins.
async fn recent(
    store: &Store,
    session: &StoredSession,
    said: impl Fn(&Message) -> bool,
) -> Result<(String, Seq)> {
    let mut parts: Vec<String> = Vec::new();
    let mut first = session.summary.last_seq.next();
    let mut room = TRANSCRIPT_BYTES_MAX - BEGINNING_BYTES_MAX;
    loop {
        let page = reading::before(store, session.id, first, PAGE).await?;
        let Some(oldest) = page.messages.first().map(|message| message.seq) else { break };
        for message in page.messages.iter().rev().filter(|message| said(message)) {
            let Some(line) = line(message) else { continue };
            if line.len() > room {
                // Of what is too long, the end is closest to what comes.
                parts.push(end_of(&line, room));
                return Ok((joined(parts), message.seq));
            }
            room -= line.len();
            parts.push(line);
        }
        first = oldest;
        if !page.more {
            break;
        }
    }
    Ok((joined(parts), Seq::START.next()))
}

/// The oldest part, up to where the newest begins.
async fn beginning(
    store: &Store,
    session: SessionId,
    end: Seq,
    said: impl Fn(&Message) -> bool,
) -> Result<String> {
    let page = reading::after(store, session, Seq::START, PAGE).await?;
    let (mut parts, mut bytes) = (Vec::new(), 0);
    let older = page.messages.iter().take_while(|message| message.seq < end);
    for line in older.filter(|message| said(message)).filter_map(line) {
        bytes += line.len();
        if bytes > BEGINNING_BYTES_MAX {
            break;
        }
        parts.push(line);
    }
    parts.reverse();
    Ok(joined(parts))
}

/// What a message adds to the transcript: words, and which tools were used. Thoughts are not handed on.
fn line(message: &Message) -> Option<String> {
    match &message.content {
        Content::Text { text, .. } if message.role == Role::User => {
            Some(format!("\n\nUser: {text}\n\nYou: "))
        }
        Content::Text { text, .. } => Some(text.clone()).filter(|text| !text.is_empty()),
        Content::Tool(tool) if tool.result.is_some() => Some(format!("\n[used {}]\n", tool.tool)),
        Content::Tool(_)
        | Content::Thinking { .. }
        | Content::Plan { .. }
        | Content::Permission(_)
        | Content::Question(_)
        | Content::Usage(_)
        | Content::Notice(_) => None,
    }
}

/// Parts, newest first, as one text.
fn joined(parts: Vec<String>) -> String {
    let text: String = parts.into_iter().rev().collect();
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("{text}\n\n") }
}

/// The last so many bytes of a text, or some less where that would cut a character in two.
fn end_of(text: &str, bytes: usize) -> String {
    let start = (text.len().saturating_sub(bytes)..=text.len()).find_map(|at| text.get(at..));
    format!("[…] {}", start.unwrap_or_default())
}
