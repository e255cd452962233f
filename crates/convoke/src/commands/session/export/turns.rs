//! From the messages of a log to the turns of a transcript: prompt, answer, prompt, answer.
//!
//! What was imported comes out as it came in. Of all else only the words are kept: thoughts, tools and notices are not part
//! of a transcript.

use std::collections::{BTreeMap, VecDeque};

use convoke_core::content::{Content, Usage};
use convoke_core::message::{Message, Role as Speaker, Seq};
use convoke_core::notice::{Event, ImportedTurn, Notice};
use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Role, Turn, estimate};

/// What was said so far and is not a whole turn yet.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// Turns that were imported, by the places of their messages.
    imported: BTreeMap<Seq, ImportedTurn>,
    running: Option<Seq>,
    /// Prompts that wait behind the running turn.
    queue: VecDeque<(Seq, Turn)>,
    answer: Answer,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    /// Whether the next words begin a paragraph, because something came between.
    is_paragraph: bool,
    tokens: Option<u64>,
    at: Option<Timestamp>,
}

impl Spoken {
    /// Takes the next message; gives the turns that are whole by now.
    pub(super) fn hear(&mut self, message: &Message) -> Vec<Turn> {
        match &message.content {
            Content::Text { text, .. } => self.said(text, message),
            Content::Notice(Notice { event: Event::Imported { turns, .. }, .. }) => {
                self.imported = turns.iter().map(|turn| (turn.seq, *turn)).collect();
                Vec::new()
            }
            Content::Notice(Notice { event: Event::TurnEnded { turn, .. }, .. }) => {
                self.ended(*turn)
            }
            Content::Usage(Usage { output_tokens, .. }) => {
                self.answer.tokens = output_tokens.or(self.answer.tokens);
                Vec::new()
            }
            Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_) => {
                self.answer.is_paragraph = true;
                Vec::new()
            }
            Content::Notice(_) => Vec::new(),
        }
    }

    /// Gives what is left when the log ends.
    pub(super) fn end(mut self) -> Vec<Turn> {
        let answer = self.answer.take();
        answer.into_iter().chain(self.queue.into_iter().map(|(_, turn)| turn)).collect()
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
                self.answer.add(text, message.timestamp);
                Vec::new()
            }
            Role::User => {
                let turn = whole(message.timestamp, estimate(text));
                if self.running.is_some() {
                    self.queue.push_back((message.seq, turn));
                    return Vec::new();
                }
                self.running = Some(message.seq);
                // What an agent says between turns is said before the next one.
                self.answer.take().into_iter().chain([turn]).collect()
            }
        }
    }

    fn ended(&mut self, turn: Seq) -> Vec<Turn> {
        if self.running != Some(turn) {
            let waiting = self.queue.iter().position(|(seq, _)| *seq == turn);
            let given_up = waiting.and_then(|at| self.queue.remove(at));
            return given_up.into_iter().map(|(_, turn)| turn).collect();
        }
        let answer = self.answer.take();
        let next = self.queue.pop_front();
        self.running = next.as_ref().map(|(seq, _)| *seq);
        answer.into_iter().chain(next.map(|(_, turn)| turn)).collect()
    }
}

impl Answer {
    fn add(&mut self, text: &str, at: Timestamp) {
        if text.is_empty() {
            return;
        }
        let begins = std::mem::take(&mut self.is_paragraph);
        if begins && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.at = Some(at);
    }

    /// The answer as a turn, unless nothing was said.
    fn take(&mut self) -> Option<Turn> {
        let Self { text: content, tokens, at, .. } = std::mem::take(self);
        let tokens = tokens.unwrap_or_else(|| estimate(&content));
        Some(Turn { role: Role::Assistant, content, timestamp: at?, tokens })
    }
}

#[cfg(test)]
mod tests;
