//! What the open session changed: the files, the diff of one of them, and what is asked about it.
//!
//! A diff is asked for when its file is opened, and its rows are cut into lines for the screen when they are shown.

mod call;
mod diff;

use convoke_api::bodies::{ChangedFile, FileDiff, SessionChanges};
use convoke_core::id::SessionId;
use convoke_core::message::Seq;

use crate::editor::Editor;
use crate::picture::Way;
pub(crate) use call::perform;
pub use call::{Call, Returned};
pub(crate) use diff::{DiffRow, OpenDiff};

/// What the open session changed.
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
    /// What was asked of the daemon that changes something, and has no answer yet.
    pub(crate) under_way: Option<Call>,
}

/// Something that the daemon is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Loaded<T> {
    /// It has not come.
    Asked,
    Here(T),
    /// It cannot be had, and why.
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

/// What the keys are for.
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

/// Something that is asked in place of the diff.
#[derive(Debug)]
pub(crate) enum Dialog {
    /// Whose changes?
    Turns { cursor: usize },
    /// What about these lines?
    Comment { of: Commented, text: Editor },
    /// The comments that are not sent.
    Comments { cursor: usize },
    /// What is restored to before this turn?
    Restore { turn: Seq },
    /// Is it meant?
    Confirm(Call),
    /// The daemon refused because of these files. Is it meant nevertheless?
    Refused { call: Call, why: String, files: Vec<String> },
    /// Files that were left alone, and why.
    Blocked { files: Vec<String> },
}

/// What a comment is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Commented {
    /// These rows of the open diff, the first and the last.
    Rows(usize, usize),
    /// The lines of a comment that is edited, by its index.
    Comment(usize),
}

impl Changes {
    /// What a session changed, which was just asked for.
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

    /// The turns that have checkpoints.
    pub(crate) fn turns(&self) -> &[Seq] {
        self.listed.here().map(|listed| listed.turns.as_slice()).unwrap_or_default()
    }

    /// The file that the human is at.
    pub(crate) fn file(&self) -> Option<&ChangedFile> {
        self.files().get(self.cursor)
    }

    /// The diff that is open, if it has come.
    pub(crate) fn diff(&self) -> Option<&OpenDiff> {
        self.open.as_ref().and_then(|open| open.diff.here())
    }

    pub(crate) fn diff_mut(&mut self) -> Option<&mut OpenDiff> {
        match &mut self.open.as_mut()?.diff {
            Loaded::Here(diff) => Some(diff),
            Loaded::Asked | Loaded::Failed(_) => None,
        }
    }

    /// Takes the list; the human stays at the file that they are at, if it is still there.
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

    /// Takes a diff that was asked for; the human stays at the line that they are at.
    pub(crate) fn take_diff(&mut self, path: &str, diff: FileDiff) {
        let Some(open) = self.open.as_mut().filter(|open| open.path == path) else { return };
        let mut fresh = OpenDiff::new(diff);
        if let Loaded::Here(before) = &open.diff {
            fresh.stay_at(before);
        }
        open.diff = Loaded::Here(fresh);
    }

    /// What was asked for cannot be had.
    pub(crate) fn fail(&mut self, path: Option<&str>, why: String) {
        match (path, &mut self.open) {
            (None, _) => self.listed = Loaded::Failed(why),
            (Some(path), Some(open)) if open.path == path => open.diff = Loaded::Failed(why),
            (Some(_), _) => {}
        }
    }

    /// The turn before the one that is shown, or after it; `None` is the whole session, which stands after the last.
    pub(crate) fn turn_beside(&self, way: Way) -> Option<Seq> {
        let turns = self.turns();
        let at = self.turn.map_or(turns.len(), |turn| turns.partition_point(|it| *it < turn));
        match way {
            Way::Down if at >= turns.len() => turns.first().copied(),
            Way::Down => turns.get(at + 1).copied(),
            Way::Up => at.checked_sub(1).and_then(|at| turns.get(at)).copied(),
        }
    }
}
