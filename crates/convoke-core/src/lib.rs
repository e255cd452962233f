//! What Convoke decides, and nothing else: ids, messages, the four state machines and the rules of the domain.
//!
//! Everything here is a pure function of its arguments. There is no I/O, no clock and no randomness; the callers (the
//! engine, the REPL) bring those, carry out the effects and store the messages.

pub mod bounds;
pub mod call;
pub mod compaction;
pub mod content;
pub mod count;
pub mod direction;
pub mod evidence;
mod explain;
pub mod files;
pub mod id;
mod invalid;
pub mod message;
pub mod notice;
pub mod process;
pub mod prompt;
pub mod question;
pub mod quote;
pub mod replay;
pub mod request;
pub mod review;
pub mod rule;
pub mod session;
pub mod state;
pub mod team;
pub mod time;
pub mod title;
pub mod turn;
pub mod update;
pub mod user;

pub use explain::explain;
pub use invalid::{Invalid, InvalidKind};
