//! The SQLite backend: connections, the writer thread, and the checks of the database's files.

pub mod backup;
pub(crate) mod copy;
pub(crate) mod guard;
pub(crate) mod open;
pub(crate) mod readers;
pub(crate) mod writer;
