//! Reads what other programs keep of conversations with coding agents, in Convoke's own messages.
//!
//! A `Store` is one agent's; `scan` lists its conversations without opening a file, `read` gives a conversation in
//! batches, from its beginning or from where a `Cursor` says it was left. Nothing is written but by `place_record`, and no file is opened
//! whose name is not on its agent's list; credentials are on none. What is done with the messages, and what is watched,
//! is the engine's business.

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
