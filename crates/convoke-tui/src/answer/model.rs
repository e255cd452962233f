//! All that the screen shows. Changed by `update` alone.

use std::collections::HashSet;

use convoke_core::id::RequestId;
use convoke_core::time::Timestamp;
use ratatui::layout::Size;

use crate::Colour;
use crate::answer::message::Damaged;
use crate::card::Card;
use crate::notice::{NoticeKind, Notices};
use crate::palette::Palette;

/// The state of the screen and of the human's drafts.
#[derive(Debug)]
pub(crate) struct Model {
    /// The folder in which questions are waited for.
    pub(crate) folder: String,
    /// The user's own folder, which is shown as `~`.
    pub(crate) user_folder: Option<String>,
    pub(crate) palette: Palette,
    pub(crate) size: Size,
    pub(crate) now: Timestamp,
    /// Requests whose asker waits, then the others; oldest first.
    pub(crate) sets: Vec<Waiting>,
    pub(crate) daemon: Daemon,
    /// Whether the daemon's list has arrived once; requests in the first one ring no bell.
    pub(crate) is_listed: bool,
    pub(crate) damaged: Vec<Damaged>,
    /// Settled requests; a listing that began before may still contain them.
    pub(crate) settled: HashSet<RequestId>,
    /// The open request; one of `sets` whenever there are any.
    pub(crate) open: Option<RequestId>,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) notices: Notices,
    /// Whether the human was asked to confirm leaving.
    pub(crate) is_leaving: bool,
}

/// Something that waits for the human.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) source: Source,
    pub(crate) card: Card,
}

impl Waiting {
    pub(crate) const fn id(&self) -> RequestId {
        self.card.asked().id
    }
}

/// Where a request comes from, and its answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The folder of questions.
    File,
    /// An agent in a session of the daemon's.
    Daemon,
}

/// Whether requests of agents can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Daemon {
    Linked,
    Unlinked,
}

/// An overlay over the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlay {
    /// The keys, from a line on.
    Help { scroll: usize },
    /// All sets, with one to go to.
    List { cursor: usize },
}

impl Model {
    /// An empty screen, whose size is not known yet.
    pub(crate) fn new(
        folder: String,
        user_folder: Option<String>,
        colour: Colour,
        now: Timestamp,
    ) -> Self {
        Self {
            folder,
            user_folder,
            palette: Palette { colour },
            size: Size::ZERO,
            now,
            sets: Vec::new(),
            daemon: Daemon::Unlinked,
            is_listed: false,
            damaged: Vec::new(),
            settled: HashSet::new(),
            open: None,
            overlay: None,
            notices: Notices::default(),
            is_leaving: false,
        }
    }

    /// The set before the human.
    pub(crate) fn open_set(&self) -> Option<&Waiting> {
        self.sets.iter().find(|set| Some(set.id()) == self.open)
    }

    /// The set before the human, to change.
    pub(crate) fn open_set_mut(&mut self) -> Option<&mut Waiting> {
        self.sets.iter_mut().find(|set| Some(set.id()) == self.open)
    }

    /// The place of the open set in the queue.
    pub(crate) fn open_position(&self) -> Option<usize> {
        self.sets.iter().position(|set| Some(set.id()) == self.open)
    }

    /// Lines of the list of sets.
    pub(crate) fn entries(&self) -> usize {
        self.sets.len() + self.damaged.len()
    }

    /// Shows a notice.
    pub(crate) fn notify(&mut self, text: impl Into<String>) {
        self.notices.show(text, NoticeKind::News, self.now);
    }

    /// Shows a refusal.
    pub(crate) fn refuse(&mut self, text: impl Into<String>) {
        self.notices.show(text, NoticeKind::Refusal, self.now);
    }
}
