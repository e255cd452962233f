//! Where a part of a log can be folded on its own.

use convoke_core::content::Content;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::Event;

/// The first of these messages from which on a fold gives the entries that a fold of the whole log gives; `None` when
/// there is none, and older messages are needed.
///
/// The messages follow each other, oldest first, and end with the log's newest, or right before another boundary.
/// `running` is the turn that is running now, if they are the log's newest. A boundary is the first message of all, or
/// a prompt that came while no turn was running or waiting.
pub fn boundary(messages: &[Message], running: Option<Seq>) -> Option<usize> {
    let mut earliest_turn = running;
    let mut found = None;
    for (index, message) in messages.iter().enumerate().rev() {
        match &message.content {
            Content::Notice(notice) => {
                if let Event::TurnEnded { turn, .. } = notice.event {
                    earliest_turn = Some(earliest_turn.map_or(turn, |earliest| earliest.min(turn)));
                }
            }
            Content::Text { .. } if message.role == Role::User => {
                // Every turn that ended after this prompt also began with it or after it.
                if earliest_turn.is_none_or(|turn| turn >= message.seq) {
                    found = Some(index);
                }
            }
            Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_)
            | Content::Usage(_) => {}
        }
        if message.seq == Seq::START.next() {
            found = Some(index);
        }
    }
    found
}
