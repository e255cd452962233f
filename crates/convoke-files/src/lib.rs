//! The file system as meeting place: programs that know nothing of each other meet in a folder.
//!
//! Atomic writes, locks that survive their holders' deaths, space set aside, and being woken by changes; on top of them the
//! question sessions of `questions`, the conversations of `transcripts` and the attachments of `blobs`. There is no daemon here and no database.

pub mod atomic;
pub mod blobs;
mod error;
pub mod index;
pub mod lock;
pub mod mention;
pub mod questions;
mod read;
pub mod reserve;
pub mod transcripts;
pub mod watch;

pub use error::{Error, Result};
