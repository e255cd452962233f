//! The reducer: a reader's copy of a session, and how the daemon's frames change it.
//!
//! The page has the same in JavaScript; both replay `fixtures/frames.json`.

use std::ops::Range;

use convoke_core::message::{Rev, Seq};

use super::{Entry, EntryBody, QueuedEntry};
use crate::Cursor;

/// The entries of a session that a reader has: a window of the conversation without gaps, the open entries that are older
/// than it, and the state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entries {
    /// By place.
    conversation: Vec<Entry>,
    /// One of each kind, in the order in which they came.
    state: Vec<Entry>,
    /// Up to where the reader has everything; `None` before the first history.
    cursor: Option<Cursor>,
    /// Where the window begins. `START` when there is nothing before it.
    first: Seq,
    /// Where the window ends; `None` when it ends where the conversation does.
    last: Option<Seq>,
    /// The newest seq that the reader knows, in the window or after it.
    newest: Seq,
}

/// Whether there are entries before some others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Older {
    /// There are.
    More,
    /// There are none.
    Nothing,
}

impl From<bool> for Older {
    fn from(more: bool) -> Self {
        if more { Self::More } else { Self::Nothing }
    }
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

    /// The prompts that wait, first to last. They are shown after the conversation.
    pub fn queue(&self) -> &[QueuedEntry] {
        let queue = self.state.iter().find_map(|entry| {
            let EntryBody::Queue { prompts, .. } = &entry.body else { return None };
            Some(prompts.as_slice())
        });
        queue.unwrap_or_default()
    }

    /// The entry with this name.
    pub fn get(&self, entry_id: &str) -> Option<&Entry> {
        // What changes is nearly always among the newest.
        let mut entries = self.conversation.iter().rev().chain(&self.state);
        entries.find(|entry| entry.entry_id == entry_id)
    }

    /// The index in the conversation of the entry at a place.
    pub fn position(&self, seq: Seq) -> Option<usize> {
        self.conversation.binary_search_by_key(&seq, |entry| entry.seq).ok()
    }

    /// Up to where the reader has everything, for `session:open`. `None` before the first history.
    pub const fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// The place before which the next older page begins, for `session:page`. `None` when there is nothing older.
    pub fn before(&self) -> Option<Seq> {
        (self.first > Seq::START).then_some(self.first)
    }

    /// The indices in the conversation of the window. What is before them is open, and older than the window.
    pub fn window(&self) -> Range<usize> {
        self.conversation.partition_point(|entry| entry.seq < self.first)..self.conversation.len()
    }

    /// Whether the window reaches to the end of the conversation.
    pub const fn is_at_end(&self) -> bool {
        self.last.is_none()
    }

    /// Where the window ends, and the newest place after it. `None` when it reaches to the end of the conversation.
    pub fn missing_after(&self) -> Option<(Seq, Seq)> {
        self.last.map(|last| (last, self.newest))
    }

    /// `session:history`: everything that the reader has is replaced.
    pub fn replace(&mut self, entries: Vec<Entry>, cursor: Cursor, older: Older) {
        *self = entries.into_iter().collect();
        self.cursor = Some(cursor);
        if older == Older::More {
            // Open entries are there however old they are; places have no gaps otherwise.
            let is_gap = |pair: &[Entry]| matches!(pair, [one, two] if one.seq.next() < two.seq);
            let last_gap = self.conversation.windows(2).rposition(is_gap);
            let first = self.conversation.get(last_gap.map_or(0, |at| at + 1));
            self.first = first.map_or(Seq::START, |entry| entry.seq);
        }
    }

    /// `session:history` with `newer`: the window ends with the last of its entries, and the conversation at a place after.
    pub fn end_before(&mut self, newest: Seq) {
        let last = self.conversation.last().map_or(Seq::START, |entry| entry.seq);
        self.newest = self.newest.max(newest);
        self.last = Some(last).filter(|last| *last < self.newest);
    }

    /// `session:page`: entries that are older than the window are put before it.
    pub fn prepend(&mut self, entries: Vec<Entry>, older: Older) {
        let first = entries.first().map_or(Seq::START, |entry| entry.seq);
        // A page that brings nothing older ends the asking.
        let is_end = older == Older::Nothing || first >= self.first;
        self.first = if is_end { Seq::START } else { first };
        entries.into_iter().for_each(|entry| self.put(entry));
    }

    /// `session:page`: entries that follow the window, up to and including a place, are put after it.
    pub fn extend(&mut self, entries: Vec<Entry>, upto: Seq) {
        self.last = self.last.map(|last| last.max(upto)).filter(|last| *last < self.newest);
        entries.into_iter().for_each(|entry| self.put(entry));
    }

    /// `session:update`: puts an entry in place of the one with its name, or where it belongs by its place. An older one
    /// changes nothing, and neither does one outside of the window that the reader does not have.
    pub fn upsert(&mut self, entry: Entry) {
        self.reach(entry.rev);
        self.put(entry);
    }

    /// Puts an entry where it belongs. The cursor stays: an entry of a page may be newer than updates that are on their way.
    fn put(&mut self, entry: Entry) {
        if !entry.is_conversation() {
            let there = self.state.iter_mut().find(|there| there.entry_id == entry.entry_id);
            match there {
                Some(there) if there.rev > entry.rev => {}
                Some(there) => *there = entry,
                None => self.state.push(entry),
            }
            return;
        }
        self.newest = self.newest.max(entry.seq);
        match self.conversation.binary_search_by_key(&entry.seq, |there| there.seq) {
            Ok(at) => {
                if let Some(there) = self.conversation.get_mut(at)
                    && there.rev <= entry.rev
                {
                    *there = entry;
                }
            }
            Err(at) => {
                if entry.seq >= self.first && self.last.is_none_or(|last| entry.seq <= last) {
                    self.conversation.insert(at, entry);
                }
            }
        }
    }

    /// `session:chunk`: appends words to an entry, unless it has them already or the reader does not have it.
    pub fn append(&mut self, entry_id: &str, content: &str, rev: Rev) {
        self.reach(rev);
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

    /// `session:opened`: the reader has everything up to this cursor.
    pub fn opened(&mut self, cursor: Cursor) {
        match &mut self.cursor {
            Some(known) if known.generation == cursor.generation => {
                known.rev = known.rev.max(cursor.rev);
            }
            known => *known = Some(cursor),
        }
    }

    /// Advances the cursor for `session:complete` and other frames with a revision that change no entry.
    pub fn reach(&mut self, rev: Rev) {
        if let Some(cursor) = &mut self.cursor {
            cursor.rev = cursor.rev.max(rev);
        }
    }

    /// Drops the oldest entries of the window, as many as `count`; those that are open stay.
    pub fn drop_oldest(&mut self, count: usize) {
        let window = self.window();
        let Some(first) = self.conversation.get(window.start + count).map(|entry| entry.seq) else {
            return;
        };
        if count > 0 {
            self.conversation.retain(|entry| entry.seq >= first || entry.is_open());
            self.first = first;
        }
    }

    /// Drops the newest entries, so that `count` are left.
    pub fn drop_newest(&mut self, count: usize) {
        if count < self.conversation.len() {
            self.conversation.truncate(count);
            self.last = Some(self.conversation.last().map_or(Seq::START, |entry| entry.seq));
        }
    }
}

impl FromIterator<Entry> for Entries {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let mut list = Self::new();
        entries.into_iter().for_each(|entry| list.put(entry));
        list
    }
}
