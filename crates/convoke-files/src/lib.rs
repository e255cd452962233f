//! The file system as meeting place: programs that know nothing of each other meet in a folder.
//!
//! Atomic writes, locks that survive their holders' deaths, and being woken by changes; on top of them the
//! question sessions of `questions`. There is no daemon here and no database.

pub mod atomic;
mod error;
pub mod lock;
pub mod questions;
mod read;
pub mod watch;

pub use error::{Error, Result};
