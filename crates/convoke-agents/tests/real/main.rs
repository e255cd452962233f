//! The drivers against real agents, which talk to our fake model only.
//!
//! `./test --real-agents` installs them and says where they are; nothing else builds or runs this.

#[cfg(test)]
mod agents;
#[cfg(test)]
#[path = "../it/running.rs"]
mod running;
#[cfg(test)]
mod stories;
