//! The reducer: what a reader of a session has, and how updates change it.
//!
//! The page has the same in JavaScript; recorded frames that both replay keep them alike.

use convoke_core::message::Rev;

use super::{Entry, EntryBody};

/// The entries of a session, or of the part of it that a reader has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entries {
    /// By place.
    conversation: Vec<Entry>,
    /// One of each kind, by name.
    state: Vec<Entry>,
}

impl Entries {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation, first to last.
    pub fn conversation(&self) -> &[Entry] {
        &self.conversation
    }

    /// The entries that are not part of the conversation.
    pub fn state(&self) -> &[Entry] {
        &self.state
    }

    /// The entry with this name.
    pub fn get(&self, entry_id: &str) -> Option<&Entry> {
        // What changes is nearly always among the newest.
        let mut entries = self.conversation.iter().rev().chain(&self.state);
        entries.find(|entry| entry.entry_id == entry_id)
    }

    /// Puts an entry in place of the one with its name, or where it belongs by its place. An older one changes nothing.
    pub fn upsert(&mut self, entry: Entry) {
        if !entry.is_conversation() {
            let there = self.state.iter_mut().find(|there| there.entry_id == entry.entry_id);
            match there {
                Some(there) if there.rev > entry.rev => {}
                Some(there) => *there = entry,
                None => self.state.push(entry),
            }
            return;
        }
        match self.conversation.binary_search_by_key(&entry.seq, |there| there.seq) {
            Ok(at) => {
                if let Some(there) = self.conversation.get_mut(at)
                    && there.rev <= entry.rev
                {
                    *there = entry;
                }
            }
            Err(at) => self.conversation.insert(at, entry),
        }
    }

    /// Appends words to an entry, unless it has them already or is not in this part of the list.
    pub fn append(&mut self, entry_id: &str, content: &str, rev: Rev) {
        let mut entries = self.conversation.iter_mut().rev();
        let Some(entry) = entries.find(|entry| entry.entry_id == entry_id) else { return };
        if entry.rev >= rev {
            return;
        }
        if let EntryBody::Assistant(words) | EntryBody::Thinking(words) = &mut entry.body {
            words.content.push_str(content);
            entry.rev = rev;
        }
    }
}

impl FromIterator<Entry> for Entries {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let mut list = Self::new();
        entries.into_iter().for_each(|entry| list.upsert(entry));
        list
    }
}
