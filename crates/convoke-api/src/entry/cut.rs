//! Where a part of a log can be folded on its own.

use convoke_core::content::Content;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::request::Status;

/// The first of these messages, which follow each other, before which surely no words are open; `None` when there is
/// none, and older messages are needed.
///
/// A fold that is given what was [`Unsettled`](convoke_core::session::Unsettled) there, and then the messages from it
/// on, gives the entries that a fold of the whole log gives, by the same names. What it cannot know is where a tool call
/// began that was open there: a later word about it stands where it came.
pub fn cut(messages: &[Message]) -> Option<usize> {
    let first = messages.first()?;
    if first.seq == Seq::START.next() {
        return Some(0);
    }
    messages.iter().position(closes_words).map(|at| at + 1).filter(|at| *at < messages.len())
}

/// Whether words that may have been open before a message are surely not open after it.
fn closes_words(message: &Message) -> bool {
    match &message.content {
        Content::Text { partial, .. } => message.role != Role::User && *partial != Some(true),
        Content::Thinking { partial, .. } => !partial,
        Content::Plan { .. } | Content::Tool(_) => true,
        // Asking ends a sentence; an answer may come while the agent goes on.
        Content::Permission(record) => record.state.status() == Status::Pending,
        Content::Question(record) => record.state.status() == Status::Pending,
        Content::Usage(_) | Content::Notice(_) => false,
    }
}
