//! The reducer, and how messages are shown.

mod frames;
mod shown;
mod window;

use super::*;

/// An id that ends with a number.
fn id(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Words of the agent's at a place.
fn words(seq: u64, rev: u64, content: &str) -> Entry {
    Entry {
        entry_id: id(seq),
        seq: Seq::new(seq),
        rev: Rev::new(rev),
        timestamp: Timestamp::from_millis(1_794_736_800_000),
        body: EntryBody::Assistant(Words {
            content: content.to_owned(),
            html: None,
            partial: false,
        }),
    }
}
