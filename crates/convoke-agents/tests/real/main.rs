//! The drivers against real agents, which talk to a model of ours and to nobody else.
//!
//! `./test --real-agents` installs them and says where they are; nothing else builds or runs this.

mod agents;
#[path = "../it/running.rs"]
mod running;
mod stories;
