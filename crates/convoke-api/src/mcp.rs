//! What every MCP server of ours says alike: its tools, what they take, and the texts that agents read.
//!
//! Free of any library that speaks the protocol. The texts are a contract with agents, pinned by tests.

mod input;
pub mod teams;
pub mod text;
mod tools;

pub use input::{Approval, Approve, Ask, AskedQuestion, Fetch};
pub use tools::{APPROVE, ASK, FETCH, INSTRUCTIONS, Tool, approve, ask, fetch};
