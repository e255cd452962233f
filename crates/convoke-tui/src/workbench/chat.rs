//! The open session: a window on its entries, and the visible part of it.
//!
//! Entries are laid out when they are shown, and their lines are cached until the entry or the
//! width changes.

mod beside;
mod scroll;

use std::collections::{HashMap, HashSet};

use convoke_api::Cursor;
use convoke_api::entry::{Entries, Entry, EntryBody, Older};
use convoke_core::content::Usage;
use convoke_core::id::SessionId;
use convoke_core::message::{Rev, Seq};
use convoke_core::state::OfferedCommand;
use ratatui::layout::Size;
use ratatui::text::Line;

use super::paint::{self, Fold};
use crate::palette::Palette;
pub(crate) use beside::{Beside, Run};
use scroll::Anchor;
pub(crate) use scroll::Shown;

/// Entries in the window; others are requested again when needed.
pub(crate) const WINDOW: usize = 400;
/// Entries that are requested at once.
pub(crate) const PAGE: u32 = 100;
/// The distance from the end of the window at which more entries are requested.
const MARGIN: usize = 20;
/// The seq of the queue entry: after everything.
const QUEUE: Seq = Seq::new(u64::MAX);

/// The open session.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) id: SessionId,
    pub(crate) phase: Phase,
    entries: Entries,
    /// The layouts of entries, by seq.
    views: HashMap<Seq, EntryView>,
    /// The relations of each entry to the others, by index.
    beside: Vec<Beside>,
    /// The first calls of runs that are not shown in one line.
    open_runs: HashSet<Seq>,
    /// The page that was requested and has not arrived.
    paging: Option<MissingEntries>,
    /// Where the page after the window must end, because a longer one was too large to begin where the window ends.
    page_end: Option<Seq>,
    /// The seq of the entry at the cursor, while the human reads.
    cursor: Option<Seq>,
    anchor: Anchor,
    /// The seq of a search result, until it is loaded.
    aim: Option<Seq>,
    room: Size,
    palette: Palette,
    shown: Vec<Shown>,
}

/// The loading state of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    Opening,
    Open,
    /// It cannot be followed, and why.
    Failed(String),
}

/// Entries that are not in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingEntries {
    /// Those before a seq, where the window begins.
    Before(Seq),
    /// Those that follow the window, up to a seq.
    Upto(Seq),
    /// The newest.
    Newest,
}

/// How an entry is shown.
#[derive(Debug)]
struct EntryView {
    fold: Fold,
    cached: Option<CachedLines>,
}

/// The lines of an entry as it was at a revision.
#[derive(Debug)]
struct CachedLines {
    rev: Rev,
    beside: Beside,
    width: u16,
    lines: Vec<Line<'static>>,
}

impl Chat {
    /// A session that was just requested.
    pub(crate) fn new(id: SessionId, palette: Palette) -> Self {
        Self {
            id,
            phase: Phase::Opening,
            entries: Entries::new(),
            views: HashMap::new(),
            beside: Vec::new(),
            open_runs: HashSet::new(),
            paging: None,
            page_end: None,
            cursor: None,
            anchor: Anchor::End,
            aim: None,
            room: Size::ZERO,
            palette,
            shown: Vec::new(),
        }
    }

    /// The known entries of the session.
    pub(crate) const fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Replaces everything by a history. The human stays at the entry that they read, if it is in there.
    pub(crate) fn replace(&mut self, entries: Vec<Entry>, cursor: Cursor, older: Older) {
        self.entries.replace(entries, cursor, older);
        self.phase = Phase::Open;
        (self.paging, self.page_end) = (None, None);
        self.forget_views();
        // The revisions may be of another generation.
        self.views.values_mut().for_each(|view| view.cached = None);
        self.cursor = self.cursor.filter(|place| self.has(*place));
        if let Anchor::Top { place, .. } = self.anchor
            && !self.has(place)
        {
            self.anchor = Anchor::End;
        }
    }

    /// Records that a history that was opened at a message ends before the session does; it is
    /// scrolled to that message.
    pub(crate) fn end_at(&mut self, newest: Option<Seq>) {
        if let Some(newest) = newest {
            self.entries.end_before(newest);
        }
        if let Some(aim) = self.aim.take() {
            self.go_to(aim);
        }
    }

    /// Remembers a message that is to be shown.
    pub(crate) const fn aim_at(&mut self, seq: Seq) {
        self.aim = Some(seq);
    }

    /// Everything up to a cursor is here.
    pub(crate) fn opened(&mut self, cursor: Cursor) {
        self.phase = Phase::Open;
        self.entries.opened(cursor);
    }

    /// Inserts or replaces an entry.
    pub(crate) fn upsert(&mut self, entry: Entry) {
        self.entries.upsert(entry);
        self.forget_oldest();
    }

    /// Appends text to an entry.
    pub(crate) fn append(&mut self, entry_id: &str, content: &str, rev: Rev) {
        self.entries.append(entry_id, content, rev);
    }

    /// Records a revision that changed no entry.
    pub(crate) fn reach(&mut self, rev: Rev) {
        self.entries.reach(rev);
    }

    /// Adds the requested page.
    pub(crate) fn take_page(&mut self, entries: Vec<Entry>, older: Older) {
        match self.paging.take() {
            Some(MissingEntries::Before(_)) => {
                self.entries.prepend(entries, older);
                self.entries.drop_newest(WINDOW);
                self.forget_views();
            }
            Some(MissingEntries::Upto(upto)) => self.extend(entries, upto),
            // The window is another one since.
            other @ (Some(MissingEntries::Newest) | None) => self.paging = other,
        }
    }

    fn extend(&mut self, entries: Vec<Entry>, upto: Seq) {
        let Some((last, _)) = self.entries.missing_after() else { return };
        // A page has the newest entries before a seq, as many as fit, so there may be a gap before
        // them.
        self.page_end = match entries.first() {
            Some(first) if first.seq > last.next() => Some(Seq::new(first.seq.get() - 1)),
            Some(_) | None => {
                self.entries.extend(entries, upto);
                None
            }
        };
        self.forget_oldest();
    }

    /// Records that entries were requested.
    pub(crate) const fn ask_for(&mut self, wanted: MissingEntries) {
        self.paging = Some(wanted);
    }

    /// Records that the requested entries will not arrive.
    pub(crate) const fn stop_paging(&mut self) {
        self.paging = None;
    }

    /// The commands that the agent offers.
    pub(crate) fn commands(&self) -> &[OfferedCommand] {
        let commands = self.entries.state().iter().find_map(|entry| {
            let EntryBody::Commands { commands } = &entry.body else { return None };
            Some(commands.as_slice())
        });
        commands.unwrap_or_default()
    }

    /// The usage of the conversation so far.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.entries.state().iter().find_map(|entry| {
            let EntryBody::Usage(usage) = &entry.body else { return None };
            Some(usage)
        })
    }

    /// Drops the oldest entries of a window that is too long, except for visible ones.
    fn forget_oldest(&mut self) {
        // A requested page ends where the window begins.
        if self.paging.is_some() {
            return;
        }
        let window = self.entries.window();
        let surplus = window.len().saturating_sub(WINDOW);
        let count = surplus.min(self.first_needed().saturating_sub(window.start));
        if count > 0 {
            self.entries.drop_oldest(count);
            self.forget_views();
        }
    }

    /// Drops the layouts of entries that are not in the window.
    fn forget_views(&mut self) {
        let entries = &self.entries;
        self.views.retain(|place, _| entries.position(*place).is_some() || *place == QUEUE);
    }

    /// The page to request so that the human can keep scrolling.
    pub(crate) fn wanted(&self) -> Option<MissingEntries> {
        if self.paging.is_some() || self.phase != Phase::Open {
            return None;
        }
        if let Some(before) = self.entries.before()
            && self.first_needed() < self.entries.window().start + MARGIN
        {
            return Some(MissingEntries::Before(before));
        }
        let (last, newest) = self.entries.missing_after()?;
        let shown = self.shown.last().map_or(0, |shown| shown.block);
        if shown + MARGIN < self.len() {
            return None;
        }
        let upto = self.page_end.unwrap_or_else(|| last.plus(u64::from(PAGE)));
        Some(MissingEntries::Upto(upto.min(newest)))
    }

    /// The number of entries in the window, including the queue if it is shown.
    pub(crate) fn len(&self) -> usize {
        self.entries.conversation().len() + usize::from(self.queue().is_some())
    }

    /// The entry at an index; the last one may be the queue.
    pub(crate) fn entry(&self, at: usize) -> Option<&Entry> {
        let conversation = self.entries.conversation();
        conversation.get(at).or_else(|| self.queue().filter(|_| at == conversation.len()))
    }

    /// The prompts that wait, if there are any and the window ends where the conversation does.
    fn queue(&self) -> Option<&Entry> {
        if self.entries.queue().is_empty() || !self.entries.is_at_end() {
            return None;
        }
        let state = self.entries.state();
        state.iter().find(|entry| matches!(entry.body, EntryBody::Queue { .. }))
    }

    /// The seq of the entry at an index, which does not change when entries before it are added or
    /// dropped.
    fn place(&self, at: usize) -> Seq {
        self.entries.conversation().get(at).map_or(QUEUE, |entry| entry.seq)
    }

    /// The index of the entry with this seq, or of the next one.
    fn index(&self, place: Seq) -> usize {
        let at = self.entries.conversation().partition_point(|entry| entry.seq < place);
        at.min(self.len().saturating_sub(1))
    }

    fn has(&self, place: Seq) -> bool {
        self.entries.position(place).is_some() || (place == QUEUE && self.queue().is_some())
    }

    /// The index of the entry that the human is at.
    pub(crate) fn cursor(&self) -> Option<usize> {
        self.cursor.map(|place| self.index(place))
    }

    /// Expands or collapses an entry.
    pub(crate) fn toggle(&mut self, at: usize) {
        if let Beside::Run(_) = self.beside(at) {
            self.open_runs.insert(self.place(at));
        } else if self.entry(at).is_some_and(paint::is_foldable) {
            let view = self.views.entry(self.place(at)).or_insert(EntryView::FOLDED);
            *view = EntryView { fold: view.fold.toggled(), cached: None };
        }
    }

    /// Folds everything, or unfolds everything if nothing is unfolded.
    pub(crate) fn toggle_all(&mut self) {
        let is_any_unfolded = self.views.values().any(|view| view.fold == Fold::Unfolded);
        let fold = if is_any_unfolded || !self.open_runs.is_empty() {
            self.open_runs.clear();
            Fold::Folded
        } else {
            let runs = (0..self.len()).filter(|at| matches!(self.beside(*at), Beside::Run(_)));
            self.open_runs = runs.map(|at| self.place(at)).collect();
            Fold::Unfolded
        };
        for entry in self.entries.conversation().iter().filter(|entry| paint::is_foldable(entry)) {
            self.views.insert(entry.seq, EntryView { fold, cached: None });
        }
    }

    /// The relation of the entry at an index to the others.
    fn beside(&self, at: usize) -> Beside {
        self.beside.get(at).copied().unwrap_or_default()
    }

    /// The lines of an entry at the width that there is, laid out unless they are.
    fn lay_out(&mut self, at: usize) -> &[Line<'static>] {
        let (width, palette, place) = (self.room.width, self.palette, self.place(at));
        let beside = self.beside(at);
        let Some(entry) = self.entry(at) else { return &[] };
        let view = self.views.get(&place);
        let is_cached = view.and_then(|view| view.cached.as_ref()).is_some_and(|cached| {
            cached.width == width && cached.rev == entry.rev && cached.beside == beside
        });
        if !is_cached {
            let fold = view.map_or(Fold::Folded, |view| view.fold);
            let lines = paint::lines(entry, beside, fold, usize::from(width), palette);
            let cached = Some(CachedLines { rev: entry.rev, beside, width, lines });
            self.views.insert(place, EntryView { fold, cached });
        }
        let cached = self.views.get(&place).and_then(|view| view.cached.as_ref());
        cached.map(|cached| cached.lines.as_slice()).unwrap_or_default()
    }
}

impl EntryView {
    const FOLDED: Self = Self { fold: Fold::Folded, cached: None };
}
