//! Following a question's turn to its end, whether or not anybody waits for it.

use std::cmp::Ordering;

use convoke_core::content::{Content, Usage};
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::Event;
use convoke_core::turn::Stop;
use convoke_store::{PairChange, StoredPair};
use tokio::sync::{oneshot, watch};

use crate::engine::Engine;
use crate::watch::Watcher;

/// The longest answer that an asker is given whole; all of it is in the session's log.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// What is counted is what was sent to the agent; an answer belongs to its question.
const MESSAGES_OF_AN_ASK: u64 = 1;

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
    turn: Seq,
    watcher: Watcher,
    heard: watch::Sender<Heard>,
    ended: oneshot::Sender<Ended>,
) {
    let used = PairChange::Used { messages: MESSAGES_OF_AN_ASK, at: engine.shared.now() };
    // Counted while the agent works, so that nobody waits for it.
    let (end, counted) =
        tokio::join!(read_turn(turn, watcher, &heard), engine.shared.change_pair(&pair, used));
    match counted {
        Ok(pair) => {
            let fullness = engine.shared.pair_cache.note(pair.id, end.usage.as_ref());
            engine.compact_if_due(&pair, fullness);
        }
        // The pair was deleted meanwhile, or the store stops.
        Err(error) => tracing::debug!("the use of {} is not counted: {error}", pair.pair),
    }
    // Nobody may be waiting.
    ended.send(end).ok();
}

/// Reads a turn to its end.
pub(super) async fn read_turn(
    turn: Seq,
    mut watcher: Watcher,
    heard: &watch::Sender<Heard>,
) -> Ended {
    let mut reading = Reading::of(turn);
    loop {
        match watcher.next().await {
            Ok(published) => reading.hear(&published.message),
            Err(error) => return reading.ended(Some(error.to_string())),
        }
        heard.send_if_modified(|heard| {
            let is_more = heard.text.len() != reading.words.text.len();
            if is_more {
                heard.text.clone_from(&reading.words.text);
            }
            is_more
        });
        if let Some(stop) = &reading.stop {
            let error = failure(stop);
            return reading.ended(error);
        }
    }
}

/// All that is said in a turn, block after block, also when it begins with a tool.
pub(super) struct Reading {
    turn: Seq,
    words: Words,
    usage: Option<Usage>,
    /// How the turn ended, once it has.
    pub(super) stop: Option<Stop>,
}

impl Reading {
    /// Nothing is read yet of the turn that began with this prompt.
    pub(super) fn of(turn: Seq) -> Self {
        Self { turn, words: Words::default(), usage: None, stop: None }
    }

    /// What was said.
    pub(super) fn into_text(self) -> String {
        self.words.into_text()
    }

    fn ended(self, error: Option<String>) -> Ended {
        Ended { text: self.words.into_text(), error, usage: self.usage }
    }

    /// Takes in the next message after the prompt.
    pub(super) fn hear(&mut self, message: &Message) {
        match &message.content {
            Content::Text { text, partial } if message.role == Role::Agent => {
                self.words.add(text, *partial == Some(false));
            }
            Content::Notice(notice) => {
                if let Event::TurnEnded { turn, stop } = &notice.event {
                    match turn.cmp(&self.turn) {
                        Ordering::Equal => self.stop = Some(stop.clone()),
                        // What was said before belonged to another question.
                        Ordering::Less => self.words = Words::default(),
                        // One that waited behind this one was cancelled.
                        Ordering::Greater => {}
                    }
                }
            }
            Content::Usage(usage) => self.usage = Some(usage.clone()),
            Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_) => {}
        }
    }
}

/// Words in blocks, with an empty line between two of them.
#[derive(Debug, Default)]
struct Words {
    text: String,
    is_block_over: bool,
    /// Bytes that were left out at the end.
    left_out: usize,
}

impl Words {
    fn add(&mut self, piece: &str, is_last: bool) {
        if self.text.len() + piece.len() > ANSWER_BYTES_MAX {
            self.left_out += piece.len();
        } else if !piece.is_empty() {
            if self.is_block_over && !self.text.is_empty() {
                self.text.push_str("\n\n");
            }
            self.text.push_str(piece);
            self.is_block_over = false;
        }
        self.is_block_over |= is_last;
    }

    fn into_text(mut self) -> String {
        if self.left_out > 0 {
            self.text.push_str(&format!("\n[… {} bytes left out by Convoke …]", self.left_out));
        }
        self.text
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
