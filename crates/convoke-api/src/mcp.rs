//! What all of Convoke's MCP servers share: the tools, their parameters, and the texts that agents read.
//!
//! Independent of any MCP library. The texts are a contract with agents, pinned by tests.

mod input;
pub mod recall;
pub mod teams;
pub mod text;
mod tools;

pub use input::{Approval, Approve, Ask, AskedQuestion, Fetch};
pub use tools::{APPROVE, ASK, FETCH, INSTRUCTIONS, Tool, approve, ask, fetch};
