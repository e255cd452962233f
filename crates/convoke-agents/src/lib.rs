//! Drivers for agent programs: the catalogue, how agents are started and confined, their protocols,
//! and the pool of their processes.
//!
//! Nothing here reads the environment; the search path and the user's folders are parameters.

mod acp;
pub mod catalogue;
pub mod claude;
pub mod commands;
pub mod connections;
pub mod demo;
pub mod driver;
mod error;
pub mod evidence;
#[cfg(fuzzing)]
#[path = "../../../fuzz/hooks/agents.rs"]
pub mod fuzzing;
pub mod launch;
pub mod leftovers;
pub mod line_codec;
mod lines;
pub mod pool;
mod process;
mod prompt_attachment;
pub mod resume;
pub mod sandbox;
#[cfg(test)]
mod scratch;
pub mod temp;
mod tool_servers;

pub use error::{Error, Result};
