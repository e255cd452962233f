//! The open session: a window on its entries, however long its log is, and the place in it that is shown.
//!
//! Lines are laid out where they are looked at, and kept for as long as entry and width stay the same.

mod scroll;

use convoke_api::entry::{Entry, EntryBody, Standing};
use convoke_core::content::Usage;
use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use ratatui::layout::Size;
use ratatui::text::Line;

use super::paint::{self, Fold};
use crate::palette::Palette;
use scroll::Anchor;
pub(crate) use scroll::Shown;

/// Entries that are kept; further up or down they are asked for again.
pub(crate) const WINDOW: usize = 400;
/// Entries that are asked for at once.
pub(crate) const PAGE: u32 = 100;

/// The open session.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) id: SessionId,
    pub(crate) phase: Phase,
    blocks: Vec<Block>,
    /// The newest place that was heard of.
    pub(crate) seq: Seq,
    /// Whether there are older entries than those that are kept.
    pub(crate) has_older: bool,
    /// What was let go of below the window, the newest first.
    newer: Vec<Dropped>,
    /// Entries that came while the end of the session was not kept.
    missed: usize,
    /// A page is on its way.
    pub(crate) is_paging: bool,
    /// How things stand: what the agent offers, and what it has cost so far.
    pub(crate) standing: Standing,
    /// The entry that the human is at, while they read.
    cursor: Option<usize>,
    anchor: Anchor,
    room: Size,
    palette: Palette,
    shown: Vec<Shown>,
}

/// How far the session is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    Opening,
    Open,
    /// It cannot be followed, and why.
    Failed(String),
}

/// Entries that were let go of below the window.
#[derive(Debug, Clone, Copy)]
struct Dropped {
    /// Where they begin.
    first: Seq,
    count: usize,
}

/// Whether there are entries before some others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Older {
    More,
    Nothing,
}

impl From<bool> for Older {
    fn from(more: bool) -> Self {
        if more { Self::More } else { Self::Nothing }
    }
}

/// What is to be asked for because the window ends where the human looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The entries before a place.
    Before { before: Seq, limit: u32 },
    /// The newest entries.
    Newest { limit: u32 },
}

#[derive(Debug)]
struct Block {
    entry: Entry,
    fold: Fold,
    laid: Option<Laid>,
}

#[derive(Debug)]
struct Laid {
    width: u16,
    lines: Vec<Line<'static>>,
}

impl Chat {
    /// A session that was just asked for.
    pub(crate) fn new(id: SessionId, palette: Palette) -> Self {
        Self {
            id,
            phase: Phase::Opening,
            blocks: Vec::new(),
            seq: Seq::START,
            has_older: false,
            newer: Vec::new(),
            missed: 0,
            is_paging: false,
            standing: Standing::default(),
            cursor: None,
            anchor: Anchor::End,
            room: Size::ZERO,
            palette,
            shown: Vec::new(),
        }
    }

    /// Takes the newest entries in place of everything; where the human reads stays where it is, if it is in them.
    pub(crate) fn replace(&mut self, entries: Vec<Entry>, seq: Seq, older: Older) {
        let top = self.top_entry();
        let at_cursor = self.cursor.and_then(|at| self.entry(at)).map(|it| it.entry_id.clone());
        let before = std::mem::take(&mut self.blocks);
        (self.seq, self.has_older) = (seq, older == Older::More);
        (self.missed, self.is_paging) = (0, false);
        self.newer.clear();
        self.phase = Phase::Open;
        self.standing = Standing::default();
        for entry in entries {
            let Some(entry) = self.standing.put(entry) else { continue };
            let known = before.iter().find(|block| block.entry.entry_id == entry.entry_id);
            let fold = known.map_or(Fold::Folded, |block| block.fold);
            self.put(entry, fold);
        }
        self.cursor = at_cursor.and_then(|id| self.position(&id));
        self.anchor = match top.and_then(|(id, row)| Some((self.position(&id)?, row))) {
            Some((block, row)) => Anchor::Top { block, row },
            None => Anchor::End,
        };
    }

    /// Puts an entry in place of the one with its name, or at the end if that is kept.
    pub(crate) fn upsert(&mut self, entry: Entry, seq: Seq) {
        self.seq = self.seq.max(seq);
        let Some(entry) = self.standing.put(entry) else { return };
        let place = self.position(&entry.entry_id);
        if let Some(block) = place.and_then(|at| self.blocks.get_mut(at)) {
            // Older ones are asked for by the place of the first, which may stand below where it began.
            block.entry = Entry { seq: block.entry.seq, ..entry };
            block.laid = None;
        } else if self.has_older && self.blocks.first().is_some_and(|it| entry.seq < it.entry.seq) {
            // It was let go of, and is as it is now when it is asked for again.
        } else if self.is_at_end() {
            self.put(entry, Fold::Folded);
            self.forget_oldest();
        } else {
            self.missed += 1;
        }
    }

    /// Appends words to an entry.
    pub(crate) fn append(&mut self, entry_id: &str, content: &str, seq: Seq) {
        self.seq = self.seq.max(seq);
        let Some(at) = self.position(entry_id) else { return };
        let Some(block) = self.blocks.get_mut(at) else { return };
        if let EntryBody::Assistant(words) | EntryBody::Thinking(words) = &mut block.entry.body {
            words.content.push_str(content);
            block.laid = None;
        }
    }

    /// Takes a page that was asked for, of what is older than the window or of what was let go of below it.
    pub(crate) fn take_page(&mut self, entries: Vec<Entry>, older: Older) {
        self.is_paging = false;
        let (Some(page), Some(first)) = (entries.last(), self.blocks.first()) else {
            self.has_older &= !entries.is_empty();
            return;
        };
        if page.seq < first.entry.seq {
            self.prepend(entries, older);
        } else {
            self.extend(entries);
        }
    }

    /// Puts an older page before the window. What the window has of it is newer, and stands where the page has it.
    fn prepend(&mut self, entries: Vec<Entry>, older: Older) {
        self.has_older = older == Older::More;
        let mut blocks = Vec::new();
        for entry in entries {
            blocks.push(match self.position(&entry.entry_id) {
                Some(at) => {
                    let mut block = self.blocks.remove(at);
                    block.entry.seq = entry.seq;
                    self.cursor = self.cursor.map(|cursor| cursor - usize::from(cursor > at));
                    self.anchor.close_gap(at);
                    block
                }
                None => Block::new(entry, Fold::Folded),
            });
        }
        let count = blocks.len();
        self.blocks.splice(..0, blocks);
        self.cursor = self.cursor.map(|at| at + count);
        self.anchor.shift(count);
        self.forget_newest();
    }

    fn extend(&mut self, entries: Vec<Entry>) {
        self.newer.pop();
        for entry in entries {
            if self.blocks.last().is_some_and(|last| last.entry.seq < entry.seq) {
                self.put(entry, Fold::Folded);
            }
        }
        self.forget_oldest();
    }

    fn put(&mut self, entry: Entry, fold: Fold) {
        self.blocks.push(Block::new(entry, fold));
    }

    /// What the conversation has cost so far.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.standing.entries().find_map(|entry| {
            let EntryBody::Usage(usage) = &entry.body else { return None };
            Some(usage)
        })
    }

    /// Lets go of what is above the window, unless the human reads there.
    fn forget_oldest(&mut self) {
        let surplus = self.blocks.len().saturating_sub(WINDOW);
        let count = surplus.min(self.first_needed());
        if count > 0 {
            self.blocks.drain(..count);
            self.has_older = true;
            self.cursor = self.cursor.map(|at| at.saturating_sub(count));
            self.anchor.shift_back(count);
        }
    }

    /// Lets go of what is below the window.
    fn forget_newest(&mut self) {
        if self.blocks.len() <= WINDOW {
            return;
        }
        let dropped = self.blocks.split_off(WINDOW);
        if let Some(block) = dropped.first() {
            self.newer.push(Dropped { first: block.entry.seq, count: dropped.len() });
        }
        self.cursor = self.cursor.map(|at| at.min(WINDOW - 1));
    }

    /// Whether the window reaches to the end of the session.
    pub(crate) const fn is_at_end(&self) -> bool {
        self.newer.is_empty()
    }

    /// What must be asked for so that the human can go on reading where they are.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        if self.is_paging || self.phase != Phase::Open {
            return None;
        }
        if self.has_older && self.first_needed() < MARGIN {
            let before = self.blocks.first()?.entry.seq;
            return Some(Wanted::Before { before, limit: PAGE });
        }
        let last = self.shown.last().map_or(0, |shown| shown.block);
        if self.is_at_end() || last + MARGIN < self.blocks.len() {
            return None;
        }
        let limit = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(PAGE);
        Some(match self.newer.as_slice() {
            [.., following, dropped] => {
                Wanted::Before { before: following.first, limit: limit(dropped.count) }
            }
            [dropped] => Wanted::Newest { limit: limit(dropped.count + self.missed) },
            [] => return None,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(crate) fn entry(&self, at: usize) -> Option<&Entry> {
        self.blocks.get(at).map(|block| &block.entry)
    }

    pub(crate) const fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    /// Shows all of an entry, or what it is about.
    pub(crate) fn toggle(&mut self, at: usize) {
        if let Some(block) = self.blocks.get_mut(at)
            && paint::is_foldable(&block.entry)
        {
            block.fold = block.fold.toggled();
            block.laid = None;
        }
    }

    /// Folds everything, or unfolds everything if nothing is unfolded.
    pub(crate) fn toggle_all(&mut self) {
        let is_any_unfolded = self.blocks.iter().any(|block| block.fold == Fold::Unfolded);
        let fold = if is_any_unfolded { Fold::Folded } else { Fold::Unfolded };
        for block in self.blocks.iter_mut().filter(|block| paint::is_foldable(&block.entry)) {
            block.fold = fold;
            block.laid = None;
        }
    }

    fn position(&self, entry_id: &str) -> Option<usize> {
        // What changes is mostly at the end.
        self.blocks.iter().rposition(|block| block.entry.entry_id == entry_id)
    }
}

/// So many entries before the window ends, more are asked for.
const MARGIN: usize = 20;

impl Block {
    const fn new(entry: Entry, fold: Fold) -> Self {
        Self { entry, fold, laid: None }
    }

    /// The lines at a width, laid out unless they are.
    fn lay_out(&mut self, width: u16, palette: Palette) -> &[Line<'static>] {
        let laid = self.laid.take().filter(|laid| laid.width == width);
        let laid = laid.unwrap_or_else(|| {
            let lines = paint::lines(&self.entry, self.fold, usize::from(width), palette);
            Laid { width, lines }
        });
        &self.laid.insert(laid).lines
    }
}
