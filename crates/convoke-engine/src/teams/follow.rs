//! Follows a question's turn to its end, even if no caller waits for it.

use std::sync::Arc;

use convoke_core::content::{Content, Usage};
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Role, Seq};
use convoke_core::state::SessionState;
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{Update, append};
use convoke_store::{PairChange, Store, StoredPair};
use tokio::sync::{oneshot, watch};

use super::Teams;
use crate::error::Result;
use crate::watch::Watcher;

/// The longest answer that is returned in full; the session has all of it.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The page size of reads.
const PAGE: u32 = 500;

/// Only questions are counted; an answer belongs to its question.
const MESSAGES_OF_AN_ASK: u64 = 1;

/// The answer so far.
#[derive(Debug, Clone, Default)]
pub(super) struct AnswerSoFar {
    pub(super) text: String,
}

/// A finished turn.
#[derive(Debug)]
pub(super) struct Ended {
    /// The whole answer.
    pub(super) text: String,
    /// Why it is not an answer.
    pub(super) error: Option<String>,
    /// The agent's last usage report.
    pub(super) usage: Option<Usage>,
}

/// Counts a turn and follows it to its end.
pub(super) async fn follow(
    teams: Arc<Teams>,
    pair: StoredPair,
    prompt: MessageId,
    watcher: Watcher,
    answer_so_far: watch::Sender<AnswerSoFar>,
    ended: oneshot::Sender<Ended>,
) {
    let used = PairChange::Used { messages: MESSAGES_OF_AN_ASK, at: teams.host.now() };
    // Counted concurrently, so that the answer does not wait for it.
    let (end, counted) =
        tokio::join!(read_turn(prompt, watcher, &answer_so_far), teams.change_pair(&pair, used));
    match counted {
        Ok(pair) => {
            let fullness = teams.cache.note(pair.id, end.usage.as_ref());
            teams.compact_if_due(&pair, fullness);
        }
        // The pair was deleted meanwhile, or the store is stopping.
        Err(error) => tracing::debug!("the use of {} is not counted: {error}", pair.pair),
    }
    // The caller may have stopped waiting.
    ended.send(end).ok();
}

/// Reads a turn to its end.
pub(super) async fn read_turn(
    prompt: MessageId,
    mut watcher: Watcher,
    answer_so_far: &watch::Sender<AnswerSoFar>,
) -> Ended {
    let mut reading = Reading::of(prompt);
    loop {
        match watcher.next().await {
            Ok(published) => reading.apply(&published.update),
            Err(error) => return reading.ended(Some(error.to_string())),
        }
        let text = reading.text();
        answer_so_far.send_if_modified(|answer_so_far| {
            let is_more = answer_so_far.text.len() != text.len();
            if is_more {
                answer_so_far.text = text;
            }
            is_more
        });
        let Some(stop) = &reading.stop else { continue };
        let error = failure(stop);
        if reading.may_lack_answers
            && let Err(error) = reading.read_answers(watcher.store(), watcher.session()).await
        {
            return reading.ended(Some(error.to_string()));
        }
        return reading.ended(error);
    }
}

/// Collects the answer of a prompt's turn, message by message, even if it begins with a tool call.
pub(super) struct Reading {
    prompt: MessageId,
    /// The seq of the prompt, once its turn has begun.
    begun: Option<Seq>,
    answers: Vec<Message>,
    /// Whether answers may have arrived before the prompt: reads from the store are ordered by newest change, and a
    /// prompt changes when its turn ends.
    may_lack_answers: bool,
    usage: Option<Usage>,
    /// How the turn ended, once it has.
    pub(super) stop: Option<Stop>,
}

impl Reading {
    /// Starts without any messages of this prompt's turn.
    pub(super) const fn of(prompt: MessageId) -> Self {
        Self {
            prompt,
            begun: None,
            answers: Vec::new(),
            may_lack_answers: false,
            usage: None,
            stop: None,
        }
    }

    /// The answer: the agent's messages, separated by blank lines.
    pub(super) fn text(&self) -> String {
        let (mut text, mut left_out) = (String::new(), 0);
        for message in &self.answers {
            let Content::Text { text: answer, .. } = &message.content else { continue };
            if text.len() + answer.len() > ANSWER_BYTES_MAX {
                left_out += answer.len();
            } else if !answer.is_empty() {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(answer);
            }
        }
        if left_out > 0 {
            text.push_str(&format!("\n[… {left_out} bytes left out by Convoke …]"));
        }
        text
    }

    fn ended(self, error: Option<String>) -> Ended {
        Ended { text: self.text(), error, usage: self.usage }
    }

    /// Reads all messages after the prompt from the store.
    pub(super) async fn read_answers(&mut self, store: &Store, session: SessionId) -> Result<()> {
        let Some(mut after) = self.begun else { return Ok(()) };
        loop {
            let page = store.messages(session, after, PAGE).await?;
            for message in &page.messages {
                after = message.seq;
                if message.role == Role::User {
                    return Ok(());
                }
                self.put(message);
            }
            if !page.more {
                return Ok(());
            }
        }
    }

    /// Applies the next update.
    pub(super) fn apply(&mut self, update: &Update) {
        match update {
            Update::Message(message) => self.put(message),
            Update::Delta(delta) => {
                let mut answers = self.answers.iter_mut();
                if let Some(message) = answers.find(|message| message.id == delta.id) {
                    append(&mut message.content, &delta.text);
                }
            }
            Update::State { state, .. } => {
                if let SessionState::Usage(usage) = &**state {
                    self.usage = Some(usage.clone());
                }
            }
        }
    }

    /// Applies the current state of a message.
    pub(super) fn put(&mut self, message: &Message) {
        if message.id == self.prompt {
            if self.begun.replace(message.seq).is_none() {
                self.may_lack_answers = message.turn != Some(Turn::Running);
            }
            self.stop = message.turn.as_ref().and_then(|turn| turn.stop().cloned());
            return;
        }
        let is_answer =
            message.role == Role::Agent && matches!(message.content, Content::Text { .. });
        if !is_answer || self.begun.is_none_or(|begun| message.seq < begun) {
            return;
        }
        match self.answers.iter_mut().find(|answer| answer.id == message.id) {
            Some(answer) => answer.clone_from(message),
            None => self.answers.push(message.clone()),
        }
    }
}

/// Why a turn is no answer.
pub(super) fn failure(stop: &Stop) -> Option<String> {
    match stop {
        Stop::EndTurn => None,
        Stop::Cancelled
        | Stop::Refusal
        | Stop::MaxTokens
        | Stop::MaxTurnRequests
        | Stop::Failed(_) => Some(stop.sentence()),
    }
}

#[cfg(test)]
mod tests;
