//! What clients were told: it must hold at the end, whatever happened.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a client knows of something that it wanted done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It was done.
    Done,
    /// Nobody knows.
    Unknown,
    /// It was refused.
    Refused,
}

/// Everything that clients were told.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    book: Mutex<Book>,
}

/// The pages of the ledger.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// Prompts by their text, which is never used twice.
    pub(super) prompts: BTreeMap<String, (Told, Option<Place>)>,
    /// Messages that watchers were shown: session and seq, with the id.
    pub(super) shown: BTreeMap<(String, u64), String>,
    /// Permissions that were answered, by their id, with the option.
    pub(super) verdicts: BTreeMap<String, String>,
    /// Question sets that were asked.
    pub(super) asked: Vec<String>,
    /// Question sets that were answered, with what was chosen.
    pub(super) answered: BTreeMap<String, String>,
    /// What was said in a REPL: its session and the text.
    pub(super) said: BTreeMap<String, (String, Told)>,
    /// What must not be, found while it happened.
    pub(super) findings: Vec<String>,
}

/// Where a prompt was put, as its sender was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) session: String,
    pub(super) seq: u64,
    pub(super) message_id: String,
}

impl Ledger {
    /// Opens the book.
    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        // A client that panics leaves whole entries.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what must not be.
    pub(super) fn complain(&self, finding: String) {
        self.book().findings.push(finding);
    }
}
