//! Reads the conversations that other programs store, as Convoke's own messages.
//!
//! A `Store` belongs to one agent; `scan` lists its conversations without opening a transcript, and
//! queries a database only if it has changed; `read` returns a conversation in batches, from its
//! beginning or from a `Cursor`. Only `place_record` writes, and a file is opened only if its name
//! is on its agent's list; credentials are on none. The engine decides what is stored and watched.

mod agent;
mod assembly;
mod blocks;
mod carry;
mod claude;
mod cline;
mod codex;
mod copilot;
mod database;
mod droid;
mod edits;
mod elements;
mod environment;
mod error;
mod fingerprint;
mod folder;
mod gemini;
mod goose;
mod importer;
mod item;
mod json;
mod kimi;
mod lines;
mod live;
mod opencode;
mod pattern;
mod qwen;
mod raw;
mod reader;
mod store;
mod vibe;
mod wrapped;

pub use agent::{Agent, UnknownAgent};
pub use carry::{Record, find_record, place_record};
pub use environment::Environment;
pub use error::{Error, Result};
pub use item::{Batch, BrokenLine, Identity, Item, Tally, Tokens, UnknownLine};
pub use live::{Liveness, Processes, liveness};
pub use reader::{Cursor, Reader, Reading};
pub use store::{History, Stamp, Store};
