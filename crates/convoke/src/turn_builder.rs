//! Converts the messages of a session into the turns of a transcript: prompt, answer, prompt,
//! answer.
//!
//! Imported turns are exported unchanged. Of all other messages only text is kept: thoughts, tools
//! and notices are not part of a transcript.

use std::collections::BTreeMap;

use convoke_core::bounds::WORDS_BYTES_MAX;
use convoke_core::content::Content;
use convoke_core::message::{Message, Role as Speaker, Seq};
use convoke_core::notice::{Event, ImportedTurn, LifecycleEvent, Notice};
use convoke_core::review;
use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Role, Turn, estimate};

/// The turn that is not whole yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnBuilder {
    /// Turns that were imported, by the places of their messages.
    imported: BTreeMap<Seq, ImportedTurn>,
    answer: Option<Answer>,
}

/// The text of an agent since the last prompt.
#[derive(Debug, Clone)]
struct Answer {
    text: String,
    /// The seq of the newest message, and its length.
    last: (Seq, usize),
    at: Timestamp,
}

impl TurnBuilder {
    /// Adds the next message, which must be complete; returns the turns that are complete by now.
    pub(crate) fn push(&mut self, message: &Message) -> Vec<Turn> {
        match &message.content {
            Content::Text { text, review, .. } => self.said(&review::words(text, review), message),
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

    /// Ends the turn; returns the answer, if there is one.
    pub(crate) fn end(&mut self) -> Option<Turn> {
        let Answer { text: content, at: timestamp, .. } = self.answer.take()?;
        let tokens = estimate(&content);
        Some(Turn { role: Role::Assistant, content, timestamp, tokens })
    }

    /// How long the answer is so far.
    pub(crate) fn bytes(&self) -> usize {
        self.answer.as_ref().map_or(0, |answer| answer.text.len())
    }

    /// Whether a message of the agent that begins with this text begins a paragraph. The messages
    /// of one turn are paragraphs of its answer, except for those that only continue a full one.
    pub(crate) fn is_paragraph(&self, seq: Seq, text: &str) -> bool {
        self.answer.as_ref().is_some_and(|answer| {
            let (last, bytes) = answer.last;
            let goes_on = seq == last.next() && bytes + text.len() > WORDS_BYTES_MAX;
            !goes_on && !answer.text.is_empty() && !answer.text.ends_with('\n')
        })
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
                self.add_answer(text, message);
                Vec::new()
            }
            Role::User => {
                let turn = whole(message.timestamp, estimate(text));
                self.end().into_iter().chain([turn]).collect()
            }
        }
    }

    fn add_answer(&mut self, text: &str, message: &Message) {
        if text.is_empty() {
            return;
        }
        let is_paragraph = self.is_paragraph(message.seq, text);
        let (last, at) = ((message.seq, text.len()), message.updated_at);
        let answer = self.answer.get_or_insert_with(|| Answer { text: String::new(), last, at });
        if is_paragraph {
            answer.text.push_str("\n\n");
        }
        answer.text.push_str(text);
        (answer.last, answer.at) = (last, at);
    }
}

#[cfg(test)]
mod tests;
