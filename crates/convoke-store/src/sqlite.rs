//! One file with SQLite: its connections, its one writer, and the watch over its files.

pub mod backup;
pub(crate) mod copy;
pub(crate) mod guard;
pub(crate) mod open;
pub(crate) mod readers;
pub(crate) mod writer;
