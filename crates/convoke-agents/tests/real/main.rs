//! The drivers against real agents, which talk to a model of ours and to nobody else.
//!
//! `./test --real-agents` installs them and says where they are; nothing else builds or runs this.

#[cfg(test)]
mod agents;
#[cfg(test)]
#[path = "../it/running.rs"]
mod running;
#[cfg(test)]
mod stories;
