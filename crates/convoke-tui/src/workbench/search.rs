//! Search: sessions by title, and messages by text.

use convoke_api::bodies::Hit;
use convoke_api::frames::SessionItem;
use convoke_core::id::SessionId;

use super::list::List;
use crate::editor::Editor;

/// Titles that are listed before the messages.
const TITLES_MAX: usize = 8;

/// A search in the making.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) query: Editor,
    /// The messages that the daemon found.
    pub(crate) hits: Vec<Hit>,
    /// The result, or the error.
    pub(crate) state: State,
    pub(crate) cursor: usize,
}

/// The state of the last search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// No search was requested.
    #[default]
    Idle,
    /// The result has not arrived.
    Asked,
    Answered,
    Failed(String),
}

/// Something that was found.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    Title(&'a SessionItem),
    Message(&'a Hit),
}

impl Found<'_> {
    /// Its session.
    pub(crate) const fn session(&self) -> SessionId {
        match self {
            Self::Title(session) => session.uid,
            Self::Message(hit) => hit.session.uid,
        }
    }
}

impl Search {
    /// All that was found: titles, then messages.
    pub(crate) fn found<'a>(&'a self, list: &'a List) -> Vec<Found<'a>> {
        let wanted = self.query.text().trim().to_lowercase();
        let has_title = |session: &&SessionItem| {
            !session.archived && session.title.to_lowercase().contains(&wanted)
        };
        let titles = list.listed().filter(has_title).take(TITLES_MAX).map(Found::Title);
        titles.chain(self.hits.iter().map(Found::Message)).collect()
    }
}
