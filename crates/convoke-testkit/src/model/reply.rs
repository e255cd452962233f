//! The reply of the model, by the last line of the prompt.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::shown::Shown;
use super::tools::{Meant, meant};

/// How much of a tool's result is repeated.
const RESULT_CHARS_MAX: usize = 200;
/// Ten seconds in all: long enough to be interrupted on a slow machine.
const SLOW: Pace = Pace { pieces: 100, pause: Duration::from_millis(100) };
const AT_ONCE: Pace = Pace { pieces: 3, pause: Duration::ZERO };

/// The reply of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Text.
    Say { text: String, pace: Pace },
    /// A tool call.
    Call { id: String, name: String, args: Value, namespace: Option<String> },
}

/// How fast the text is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) pieces: usize,
    pub(super) pause: Duration,
}

impl Reply {
    /// The reply to a conversation, or the HTTP status that the prompt demands.
    pub(super) fn to(shown: &Shown) -> Result<Self, u16> {
        let turns = shown.turns;
        let line = shown.prompt.lines().last().unwrap_or_default();
        let images = match shown.images {
            0 => String::new(),
            count => format!(" images={count}"),
        };
        let echo = |pace| Self::Say { text: format!("ECHO turn={turns}{images}: {line}"), pace };
        let wish = line.split_once("[[").and_then(|(_, rest)| rest.rsplit_once("]]"));
        let Some((wish, _)) = wish else { return Ok(echo(AT_ONCE)) };
        let (verb, rest) = wish.split_once(' ').unwrap_or((wish, ""));
        Ok(match (verb, shown.results.last()) {
            ("tool" | "shell" | "write" | "ask", Some(result)) => {
                let result: String = result.chars().take(RESULT_CHARS_MAX).collect();
                Self::Say { text: format!("DONE turn={turns}: {result}"), pace: AT_ONCE }
            }
            ("tool" | "shell" | "write" | "ask", None) if !shown.tools.is_empty() => {
                match meant(verb, rest, &shown.tools, shown.hidden_ask.as_deref()) {
                    Some(Meant { name, args, namespace }) => {
                        Self::Call { id: fresh_id("call_"), name, args, namespace }
                    }
                    None => {
                        let known: Vec<&str> = shown.tools.keys().map(String::as_str).collect();
                        let text = format!("NO TOOL for {verb} among {}", known.join(" "));
                        Self::Say { text, pace: AT_ONCE }
                    }
                }
            }
            ("slow", _) => echo(SLOW),
            ("error", _) => return Err(rest.parse().unwrap_or(500)),
            _ => echo(AT_ONCE),
        })
    }
}

/// A unique id: agents take messages with one id for parts of one message.
pub(super) fn fresh_id(prefix: &str) -> String {
    static ANSWERS: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}{}", ANSWERS.fetch_add(1, Ordering::Relaxed))
}

/// Splits a text into the number of pieces of the pace.
pub(super) fn pieces(text: &str, pace: Pace) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(pace.pieces).max(1);
    let mut pieces: Vec<String> =
        letters.chunks(size).map(|piece| piece.iter().collect()).collect();
    // A short text is slow, too: the pauses are part of it.
    pieces.resize(pace.pieces, String::new());
    if pace.pause.is_zero() {
        pieces.retain(|piece| !piece.is_empty());
    } else {
        for piece in pieces.iter_mut().filter(|piece| piece.is_empty()) {
            piece.push('.');
        }
    }
    pieces
}
