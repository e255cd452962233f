//! The changes of the open session: the files, the diff of one of them, and dialogs about them.
//!
//! A diff is requested when its file is opened, and its rows are wrapped when they are shown.

mod call;
mod diff;

use convoke_api::bodies::{ChangedFile, FileDiff, SessionChanges};
use convoke_core::id::SessionId;
use convoke_core::message::Seq;

use crate::editor::Editor;
use crate::picture::Direction;
pub(crate) use call::perform;
pub use call::{Call, Returned};
pub(crate) use diff::{DiffRow, OpenDiff};

/// The changes of the open session.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) id: SessionId,
    /// The turn whose changes are shown; `None` for those of the whole session.
    pub(crate) turn: Option<Seq>,
    pub(crate) listed: Loaded<SessionChanges>,
    /// The file that the human is at.
    pub(crate) cursor: usize,
    pub(crate) pane: Pane,
    /// The file that is open, if one is.
    pub(crate) open: Option<OpenFile>,
    pub(crate) dialog: Option<Dialog>,
    /// A call to the daemon that changes something, and is not answered yet.
    pub(crate) under_way: Option<Call>,
}

/// A value that is requested from the daemon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Loaded<T> {
    /// It has not arrived.
    Asked,
    Here(T),
    /// It could not be loaded, and why.
    Failed(String),
}

impl<T> Loaded<T> {
    pub(crate) const fn here(&self) -> Option<&T> {
        match self {
            Self::Here(it) => Some(it),
            Self::Asked | Self::Failed(_) => None,
        }
    }
}

/// The pane with the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pane {
    Files,
    Diff,
}

/// The file that is open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) path: String,
    pub(crate) diff: Loaded<OpenDiff>,
}

/// A dialog in place of the diff.
#[derive(Debug)]
pub(crate) enum Dialog {
    /// Selects the turn whose changes are shown.
    Turns { cursor: usize },
    /// Writes a comment on these lines.
    Comment { of: Commented, text: Editor },
    /// The comments that are not sent.
    Comments { cursor: usize },
    /// Selects what is restored to its state before this turn.
    Restore { turn: Seq },
    /// Is it meant?
    Confirm(Call),
    /// The daemon refused because of these files. Is it meant nevertheless?
    Refused { call: Call, why: String, files: Vec<String> },
    /// Files that were left alone, and why.
    Blocked { files: Vec<String> },
}

/// The subject of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Commented {
    /// These rows of the open diff, the first and the last.
    Rows(usize, usize),
    /// The lines of a comment that is edited, by its index.
    Comment(usize),
}

impl Changes {
    /// The changes of a session, which were just requested.
    pub(crate) const fn new(id: SessionId) -> Self {
        Self {
            id,
            turn: None,
            listed: Loaded::Asked,
            cursor: 0,
            pane: Pane::Files,
            open: None,
            dialog: None,
            under_way: None,
        }
    }

    pub(crate) fn files(&self) -> &[ChangedFile] {
        self.listed.here().map(|listed| listed.files.as_slice()).unwrap_or_default()
    }

    /// The number of a turn for people; its prompt's seq until the changes are listed.
    pub(crate) fn number_of(&self, turn: Seq) -> u64 {
        let listed = self.listed.here();
        let numbered = listed.into_iter().flat_map(|it| it.turns.iter().zip(&it.numbers));
        let mut found = numbered.filter(|(listed, _)| **listed == turn);
        found.next().map_or(turn.get(), |(_, number)| *number)
    }

    /// The turns that have checkpoints.
    pub(crate) fn turns(&self) -> &[Seq] {
        self.listed.here().map(|listed| listed.turns.as_slice()).unwrap_or_default()
    }

    /// The file that the human is at.
    pub(crate) fn file(&self) -> Option<&ChangedFile> {
        self.files().get(self.cursor)
    }

    /// The open diff, if it has arrived.
    pub(crate) fn diff(&self) -> Option<&OpenDiff> {
        self.open.as_ref().and_then(|open| open.diff.here())
    }

    pub(crate) fn diff_mut(&mut self) -> Option<&mut OpenDiff> {
        match &mut self.open.as_mut()?.diff {
            Loaded::Here(diff) => Some(diff),
            Loaded::Asked | Loaded::Failed(_) => None,
        }
    }

    /// Replaces the list; the cursor stays at its file if that still exists.
    pub(crate) fn take_list(&mut self, listed: SessionChanges) {
        let path = self.file().map(|file| file.path.clone());
        let at = path.and_then(|path| listed.files.iter().position(|file| file.path == path));
        self.cursor = at.unwrap_or(self.cursor).min(listed.files.len().saturating_sub(1));
        self.listed = Loaded::Here(listed);
        let is_gone = |open: &OpenFile| self.files().iter().all(|file| file.path != open.path);
        if self.open.as_ref().is_some_and(is_gone) {
            self.open = None;
            self.pane = Pane::Files;
        }
    }

    /// Replaces the requested diff; the cursor stays at its line.
    pub(crate) fn take_diff(&mut self, path: &str, diff: FileDiff) {
        let Some(open) = self.open.as_mut().filter(|open| open.path == path) else { return };
        let mut fresh = OpenDiff::new(diff);
        if let Loaded::Here(before) = &open.diff {
            fresh.stay_at(before);
        }
        open.diff = Loaded::Here(fresh);
    }

    /// Records that a request failed.
    pub(crate) fn fail(&mut self, path: Option<&str>, why: String) {
        match (path, &mut self.open) {
            (None, _) => self.listed = Loaded::Failed(why),
            (Some(path), Some(open)) if open.path == path => open.diff = Loaded::Failed(why),
            (Some(_), _) => {}
        }
    }

    /// The turn before or after the one that is shown; `None` is the whole session, which follows
    /// the last.
    pub(crate) fn turn_beside(&self, direction: Direction) -> Option<Seq> {
        let turns = self.turns();
        let at = self.turn.map_or(turns.len(), |turn| turns.partition_point(|it| *it < turn));
        match direction {
            Direction::Down if at >= turns.len() => turns.first().copied(),
            Direction::Down => turns.get(at + 1).copied(),
            Direction::Up => at.checked_sub(1).and_then(|at| turns.get(at)).copied(),
        }
    }
}
