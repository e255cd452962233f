//! The responses that clients got: what they promise must hold at the end, after any fault.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// What a client knows about the result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ack {
    /// It was done.
    Done,
    /// Unknown.
    Unknown,
    /// It was refused.
    Refused,
}

/// All responses that clients got.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    records: Mutex<LedgerRecords>,
}

/// The records of the ledger.
#[derive(Debug, Default)]
pub(super) struct LedgerRecords {
    /// Prompts by their text, which is never used twice.
    pub(super) prompts: BTreeMap<String, Prompt>,
    /// Messages as watchers saw them last, with their session.
    pub(super) shown: Vec<(String, Value)>,
    /// Permissions that were answered, by their id, with the option.
    pub(super) verdicts: BTreeMap<String, String>,
    /// Titles that were set, with their session.
    pub(super) renames: BTreeMap<String, (String, Ack)>,
    /// Question sets that were asked.
    pub(super) asked: Vec<String>,
    /// Question sets that were answered, with the choice.
    pub(super) answered: BTreeMap<String, String>,
    /// Prompts in a REPL: the session and the text.
    pub(super) said: BTreeMap<String, (String, Ack)>,
    /// Violations that were found during the run.
    pub(super) findings: Vec<String>,
}

/// A prompt, and its result as far as its sender knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) ack: Ack,
    /// Where it was put; known when it was acknowledged.
    pub(super) place: Option<PromptPosition>,
    /// How it was changed while it waited in the queue.
    pub(super) change: Option<(QueueChange, Ack)>,
}

/// The position of a prompt in its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PromptPosition {
    pub(super) session: String,
    pub(super) message_id: String,
    /// Absent when the prompt waited in the queue.
    pub(super) seq: Option<u64>,
}

/// A change of a prompt that waits in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QueueChange {
    /// It was edited to this text.
    Edit(String),
    /// It is not sent.
    Remove,
    /// It is sent next, and the running turn is stopped for it.
    Send,
}

impl Prompt {
    /// A prompt that did not wait, or was not changed while it did.
    pub(super) const fn unchanged(ack: Ack, place: Option<PromptPosition>) -> Self {
        Self { ack, place, change: None }
    }
}

impl Ledger {
    /// Locks the records.
    pub(super) fn records(&self) -> MutexGuard<'_, LedgerRecords> {
        // A client that panics leaves whole entries.
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a violation.
    pub(super) fn complain(&self, finding: String) {
        self.records().findings.push(finding);
    }
}
