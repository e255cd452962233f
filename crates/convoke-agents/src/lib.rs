//! The border to agent programs: which ones there are, where they are installed, and how they can be confined.
//!
//! Nothing here reads the environment; the search path and the user's folders are handed in.

mod acp;
pub mod catalogue;
pub mod claude;
pub mod commands;
pub mod connections;
pub mod demo;
pub mod driver;
mod enclosure;
mod error;
pub mod evidence;
#[cfg(fuzzing)]
#[path = "../../../fuzz/doors/agents.rs"]
pub mod fuzzing;
pub mod launch;
pub mod leftovers;
pub mod line_codec;
mod lines;
pub mod pool;
mod process;
pub mod resume;
pub mod sandbox;
#[cfg(test)]
mod scratch;
pub mod temp;
mod tool_servers;

pub use error::{Error, Result};
