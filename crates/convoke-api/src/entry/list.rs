//! The list that entries make, and how changes are applied to it.

use std::collections::HashMap;

use super::{Change, Entry, EntryBody, PromptState, Prompted, Standing};

/// The entries of a session, or of the part of it that was folded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entries {
    conversation: Vec<Entry>,
    /// Where in the conversation an entry is.
    places: HashMap<String, usize>,
    standing: Standing,
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
    pub const fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The entry with this name, if it is part of the conversation.
    pub fn get(&self, entry_id: &str) -> Option<&Entry> {
        self.conversation.get(*self.places.get(entry_id)?)
    }

    /// Applies what a message changed.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Upsert(entry) => self.upsert(*entry),
            Change::Append { entry_id, content } => self.append(&entry_id, &content),
            Change::Completed { .. } | Change::Cancelling { .. } => {}
        }
    }

    /// Puts an entry in place of the one with its name, or at the end; so does a prompt that leaves the queue.
    pub fn upsert(&mut self, entry: Entry) {
        let Some(entry) = self.standing.put(entry) else { return };
        if !is_queued(&entry) && self.get(&entry.entry_id).is_some_and(is_queued) {
            self.remove(&entry.entry_id);
        }
        let there = self.places.get(&entry.entry_id).and_then(|at| self.conversation.get_mut(*at));
        match there {
            Some(there) => {
                // A late word about something long closed does not know any more where it began.
                let (seq, timestamp) = if there.seq <= entry.seq {
                    (there.seq, there.timestamp)
                } else {
                    (entry.seq, entry.timestamp)
                };
                *there = Entry { seq, timestamp, ..entry };
            }
            None => {
                self.places.insert(entry.entry_id.clone(), self.conversation.len());
                self.conversation.push(entry);
            }
        }
    }

    fn remove(&mut self, entry_id: &str) {
        let Some(gone) = self.places.remove(entry_id) else { return };
        self.conversation.remove(gone);
        self.places.values_mut().filter(|at| **at > gone).for_each(|at| *at -= 1);
    }

    /// Appends words to an entry; nothing happens when it is not in this part of the list.
    pub fn append(&mut self, entry_id: &str, content: &str) {
        let place = self.places.get(entry_id).copied();
        let Some(entry) = place.and_then(|at| self.conversation.get_mut(at)) else { return };
        match &mut entry.body {
            EntryBody::Assistant(words) | EntryBody::Thinking(words) => {
                words.content.push_str(content);
            }
            EntryBody::User(_)
            | EntryBody::ToolCall(_)
            | EntryBody::Plan { .. }
            | EntryBody::Permission(_)
            | EntryBody::Question(_)
            | EntryBody::Notice(_)
            | EntryBody::Commands { .. }
            | EntryBody::Modes { .. }
            | EntryBody::Settings { .. }
            | EntryBody::Usage(_) => {}
        }
    }

    /// The conversation, and how things stand.
    pub fn into_parts(self) -> (Vec<Entry>, Standing) {
        (self.conversation, self.standing)
    }
}

impl FromIterator<Entry> for Entries {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let mut list = Self::new();
        entries.into_iter().for_each(|entry| list.upsert(entry));
        list
    }
}

const fn is_queued(entry: &Entry) -> bool {
    matches!(&entry.body, EntryBody::User(Prompted { state: PromptState::Queued, .. }))
}
