//! Following a question's turn to its end, whether or not a caller waits for it.

use convoke_core::content::{Content, Usage};
use convoke_core::id::MessageId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::state::SessionState;
use convoke_core::turn::Stop;
use convoke_core::update::{Update, append};
use convoke_store::{PairChange, StoredPair};
use tokio::sync::{oneshot, watch};

use crate::engine::Engine;
use crate::watch::Watcher;

/// The longest answer that an asker is given whole; all of it is in the session.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A question and its answer.
const MESSAGES_OF_AN_ASK: u64 = 2;

/// What has been said so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    pub(super) text: String,
}

/// What a turn came to.
#[derive(Debug)]
pub(super) struct Ended {
    /// All that was said.
    pub(super) text: String,
    /// Why it is no answer.
    pub(super) error: Option<String>,
    /// What the agent counted last.
    pub(super) usage: Option<Usage>,
}

/// Counts a turn and follows it to its end.
pub(super) async fn follow(
    engine: Engine,
    pair: StoredPair,
    prompt: MessageId,
    watcher: Watcher,
    heard: watch::Sender<Heard>,
    ended: oneshot::Sender<Ended>,
) {
    let used = PairChange::Used { messages: MESSAGES_OF_AN_ASK, at: engine.shared.now() };
    // Counted while the agent works, so that the answer does not wait for it.
    let (end, counted) =
        tokio::join!(read_turn(prompt, watcher, &heard), engine.shared.change_pair(&pair, used));
    match counted {
        Ok(pair) => {
            let fullness = engine.shared.pair_cache.note(pair.id, end.usage.as_ref());
            engine.compact_if_due(&pair, fullness);
        }
        // The pair was deleted meanwhile, or the store stops.
        Err(error) => tracing::debug!("the use of {} is not counted: {error}", pair.pair),
    }
    // The caller may have stopped waiting.
    ended.send(end).ok();
}

/// Reads a turn to its end.
pub(super) async fn read_turn(
    prompt: MessageId,
    mut watcher: Watcher,
    heard: &watch::Sender<Heard>,
) -> Ended {
    let mut reading = Reading::of(prompt);
    loop {
        match watcher.next().await {
            Ok(published) => reading.apply(&published.update),
            Err(error) => return reading.ended(Some(error.to_string())),
        }
        let text = reading.text();
        heard.send_if_modified(|heard| {
            let is_more = heard.text.len() != text.len();
            if is_more {
                heard.text = text;
            }
            is_more
        });
        if let Some(stop) = &reading.stop {
            let error = failure(stop);
            return reading.ended(error);
        }
    }
}

/// All that is said in the turn of a prompt, message after message, also when it begins with a tool.
pub(super) struct Reading {
    prompt: MessageId,
    /// The place of the prompt, once its turn has begun.
    begun: Option<Seq>,
    answers: Vec<Message>,
    usage: Option<Usage>,
    /// How the turn ended, once it has.
    pub(super) stop: Option<Stop>,
}

impl Reading {
    /// Nothing is read yet of the turn of this prompt.
    pub(super) const fn of(prompt: MessageId) -> Self {
        Self { prompt, begun: None, answers: Vec::new(), usage: None, stop: None }
    }

    /// What was said: answers with an empty line between two of them.
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

    /// Takes in the next update.
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

    /// Takes in a message as it is now.
    pub(super) fn put(&mut self, message: &Message) {
        if message.id == self.prompt {
            self.begun = Some(message.seq);
            self.stop = message.turn.as_ref().and_then(|turn| turn.stop().cloned());
            // What came before it belongs to other prompts.
            self.answers.retain(|answer| answer.seq > message.seq);
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
