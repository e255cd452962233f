//! Files that independent programs share: exchange through folders, without a daemon or a database.
//!
//! Atomic writes, locks that survive the death of their holder, reserved disk space, and file
//! watches; on top of them the question sessions of `questions`, the conversations of `transcripts`
//! and the attachments of `blobs`. `index` finds the files of a project, and `mention` those that a
//! text names.

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
