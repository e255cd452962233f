//! From the messages of a session to the turns of a transcript: prompt, answer, prompt, answer.
//!
//! What was imported comes out as it came in. Of all else only the words are kept: thoughts, tools and notices are not part
//! of a transcript.

use std::collections::BTreeMap;

use convoke_core::content::Content;
use convoke_core::message::{Message, Role as Speaker, Seq};
use convoke_core::notice::{Event, ImportedTurn, LifecycleEvent, Notice};
use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Role, Turn, estimate};

/// What was said so far and is not a whole turn yet.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// Turns that were imported, by the places of their messages.
    imported: BTreeMap<Seq, ImportedTurn>,
    answer: Option<(String, Timestamp)>,
}

impl Spoken {
    /// Takes the next message; gives the turns that are whole by now.
    pub(super) fn hear(&mut self, message: &Message) -> Vec<Turn> {
        match &message.content {
            Content::Text { text, .. } => self.said(text, message),
            Content::Notice(Notice {
                event: Event::Lifecycle(LifecycleEvent::Imported { turns, .. }),
                ..
            }) => {
                self.imported = turns.iter().map(|turn| (turn.seq, *turn)).collect();
                Vec::new()
            }
            Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_)
            | Content::Notice(_) => Vec::new(),
        }
    }

    /// Gives what is left after the last message.
    pub(super) fn end(mut self) -> Option<Turn> {
        self.take_answer()
    }

    fn said(&mut self, text: &str, message: &Message) -> Vec<Turn> {
        let role = match message.role {
            Speaker::User => Role::User,
            Speaker::Agent | Speaker::System => Role::Assistant,
        };
        let whole = |timestamp, tokens| Turn { role, content: text.to_owned(), timestamp, tokens };
        if let Some(turn) = self.imported.remove(&message.seq) {
            return vec![whole(turn.timestamp, turn.tokens)];
        }
        match role {
            Role::Assistant => {
                self.add_answer(text, message.updated_at);
                Vec::new()
            }
            Role::User => {
                let turn = whole(message.timestamp, estimate(text));
                self.take_answer().into_iter().chain([turn]).collect()
            }
        }
    }

    /// The messages of one turn are paragraphs of its answer.
    fn add_answer(&mut self, text: &str, at: Timestamp) {
        if text.is_empty() {
            return;
        }
        let (answer, last) = self.answer.get_or_insert_with(|| (String::new(), at));
        if !answer.is_empty() && !answer.ends_with('\n') {
            answer.push_str("\n\n");
        }
        answer.push_str(text);
        *last = at;
    }

    fn take_answer(&mut self) -> Option<Turn> {
        let (content, timestamp) = self.answer.take()?;
        let tokens = estimate(&content);
        Some(Turn { role: Role::Assistant, content, timestamp, tokens })
    }
}

#[cfg(test)]
mod tests;
