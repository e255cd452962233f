//! Size limits of messages, and how longer ones are shortened or split.
//!
//! Every reader of a log holds at least one message in memory, so the bound on a message bounds all of them.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::content::{Content, Tool};
use crate::evidence::Evidence;
use crate::request::PermissionRecord;
use crate::review::ReviewComment;

/// The longest message but for a prompt, as JSON. A longer one keeps the head and the tail of its texts.
pub const MESSAGE_BYTES_MAX: usize = 512 << 10;
/// The longest request to a human, as JSON: lists hold many of them.
pub const REQUEST_BYTES_MAX: usize = 64 << 10;
/// The longest prompt, which is never shortened but refused.
pub const PROMPT_BYTES_MAX: usize = 1 << 20;
/// The longest piece of an answer; a longer one is split into several.
const PIECE_BYTES_MAX: usize = 64 << 10;
/// The longest run of text in one message; further text begins another message, so that both can be read alone.
pub const WORDS_BYTES_MAX: usize = 256 << 10;
/// The longest arguments of a tool call that keep their shape in a message that is too long.
const ARGS_BYTES_MAX: usize = 128 << 10;
/// The longest mark in a clipped text.
const MARK_BYTES: usize = 72;
/// Limits for strings and lists, tried one after another until a message fits.
const ATTEMPTS: [(usize, usize); 4] = [(64 << 10, 4096), (16 << 10, 512), (2 << 10, 64), (256, 16)];

/// How many bytes a value takes as JSON.
pub fn json_bytes(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // Counting cannot fail, and every message can be serialised.
    serde_json::to_writer(&mut counter, value).ok();
    counter.0
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The head and the tail of a text within a limit, with a mark between them that says how many bytes are missing.
pub fn clip(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let half = bytes_max.saturating_sub(MARK_BYTES) / 2;
    let (head, _) = text.split_at(text.floor_char_boundary(half));
    let (_, tail) = text.split_at(text.ceil_char_boundary(text.len() - half));
    let missing = text.len() - head.len() - tail.len();
    format!("{head}\n[… {missing} bytes left out by Convoke …]\n{tail}")
}

/// The beginning of a text, with `…` where it continues beyond so many characters.
pub fn beginning(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Splits a text at character boundaries into pieces no longer than one message may be.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, later) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES_MAX));
        rest = later;
        Some(piece)
    })
}

impl Content {
    /// The approximate size: text as it is, everything else as JSON.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text { text, review, .. } => {
                text.len() + review.iter().map(ReviewComment::bytes).sum::<usize>()
            }
            Self::Thinking { text, .. } => text.len(),
            Self::Tool(_)
            | Self::Plan { .. }
            | Self::Permission(_)
            | Self::Question(_)
            | Self::Notice(_) => json_bytes(self),
        }
    }

    /// The content, shortened if it exceeds the limit. The session splits text instead.
    pub fn bounded(self) -> Self {
        match self {
            Self::Text { .. } | Self::Thinking { .. } => self,
            Self::Plan { .. } | Self::Notice(_) => fit(self),
            Self::Tool(tool) if json_bytes(&tool) > MESSAGE_BYTES_MAX => {
                // Arguments have no known structure.
                fit(Self::Tool(Tool { args: fit_args(tool.args), ..tool }))
            }
            Self::Tool(_) => self,
            Self::Permission(record) if json_bytes(&record) > REQUEST_BYTES_MAX => {
                let evidence = record.evidence.map(Evidence::bounded);
                let room = REQUEST_BYTES_MAX.saturating_sub(json_bytes(&evidence));
                // Title and options are kept, since the human decides by them; proposed rules for
                // so long a call could not be read.
                let record = PermissionRecord { evidence: None, rules: Vec::new(), ..record };
                Self::Permission(PermissionRecord { evidence, ..fit_within(record, room) })
            }
            Self::Permission(_) => self,
            Self::Question(_) => fit_within(self, REQUEST_BYTES_MAX),
        }
    }
}

/// A value within the size limit: long strings keep head and tail, long lists their beginning.
pub fn fit<T: Serialize + DeserializeOwned>(value: T) -> T {
    fit_within(value, MESSAGE_BYTES_MAX)
}

fn fit_within<T: Serialize + DeserializeOwned>(value: T, bytes_max: usize) -> T {
    if json_bytes(&value) <= bytes_max {
        return value;
    }
    let Ok(whole) = serde_json::to_value(&value) else { return value };
    let attempts = ATTEMPTS.iter().map(|(texts, items)| shorten(&whole, *texts, *items));
    let mut fitting = attempts.filter(|shorter| json_bytes(shorter) <= bytes_max);
    fitting.find_map(|shorter| serde_json::from_value(shorter).ok()).unwrap_or(value)
}

/// Arguments of a tool call within the size limit.
pub fn fit_args(args: Value) -> Value {
    if json_bytes(&args) <= ARGS_BYTES_MAX {
        return args;
    }
    let shorter = shorten(&args, 16 << 10, usize::MAX);
    if json_bytes(&shorter) <= ARGS_BYTES_MAX {
        return shorter;
    }
    // Escaping at most doubles JSON, which has no control characters.
    Value::String(clip(&args.to_string(), ARGS_BYTES_MAX / 4))
}

fn shorten(value: &Value, texts: usize, items: usize) -> Value {
    match value {
        Value::String(text) => Value::String(clip(text, texts)),
        Value::Array(list) => {
            Value::Array(list.iter().take(items).map(|item| shorten(item, texts, items)).collect())
        }
        Value::Object(fields) => {
            let shorter =
                fields.iter().map(|(key, value)| (key.clone(), shorten(value, texts, items)));
            Value::Object(shorter.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests;
