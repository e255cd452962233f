//! Agents that follow a script: they speak real ACP or Claude's real frames, and misbehave exactly as scripted.
//!
//! A [`Script`] is data, so that a test says what its agent does and a process can be handed it as a file. Everything
//! that an agent was ever seen doing wrong can be said with a handful of [`Step`]s:
//!
//! | what the agent does | the script |
//! |---|---|
//! | hangs while it starts | `on("initialize", [Step::Hang])`, or `"session/new"` |
//! | speaks another version | `on("initialize", [Step::Answer(json!({"protocolVersion": 2}))])` |
//! | wants a login | `on("session/new", [Step::fail(-32000, "log in first")])` |
//! | replays after its answer | `on("session/load", [Step::Answer(Value::Null), Step::say("old words")])` |
//! | does not know a session | `on("session/load", [Step::fail(-32002, "not found")])` |
//! | names a tool late | `Step::Call(Tool::bare("t"))`, and more of it in [`Step::Update`] |
//! | never ends a tool | [`Step::Call`] without a later [`Step::Update`] |
//! | takes a question back | [`Step::AskInVain`] |
//! | sends usage, commands, modes, or an unknown update | [`Step::Tell`] |
//! | claims success | `Step::Answer(json!({"stopReason": "end_turn"}))` alone, or [`Step::Fail`] of Claude |
//! | crashes in the middle | [`Step::Exit`] or [`Step::Die`] between other steps |
//! | says more after its answer | steps after [`Step::Answer`] |
//! | does not stop | [`Script::ignoring`] |

#![expect(
    clippy::indexing_slicing,
    reason = "a missing field of JSON reads as null, and only ours is written to"
)]

mod acp;
mod claude;
mod dialect;
mod manners;
mod player;
mod process;
mod script;
mod tool_server;

pub use manners::CLAUDE_MANNERS;
pub use player::{Ending, serve};
pub use process::main;
pub use script::{Ask, Choice, Ignored, Protocol, Script, Step, Tool, Turn};
pub use tool_server::serve_tools;

#[cfg(test)]
mod tests;
