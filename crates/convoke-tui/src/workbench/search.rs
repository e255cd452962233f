//! Search: sessions by title, and messages by text.

use convoke_api::bodies::Hit;
use convoke_api::frames::SessionItem;
use convoke_core::id::SessionId;

use super::list::List;
use crate::editor::Editor;

/// Titles that are listed before the messages.
const TITLES_MAX: usize = 8;
/// The index knows the beginnings of words from this length on.
const PREFIX_MIN: usize = 3;
/// Filters that only messages can take_request.
const OF_MESSAGES: [&str; 3] = ["role:", "since:", "until:"];

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
    /// As `Answered`; hits may be missing, because the search index is still being filled.
    Incomplete,
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
    /// The query for the daemon. The last word may not be complete, and matches all words that begin with it.
    pub(crate) fn asked(&self) -> String {
        let text = self.query.text();
        let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_word = last.chars().count() >= PREFIX_MIN && last.chars().all(char::is_alphanumeric);
        let is_quoted = text.matches('"').count() % 2 == 1;
        let text = text.trim();
        if is_word && !is_quoted { format!("{text}*") } else { text.to_owned() }
    }

    /// All that was found: titles, then messages.
    pub(crate) fn found<'a>(&'a self, list: &'a List) -> Vec<Found<'a>> {
        let query = self.query.text().to_lowercase();
        let is_found = |session: &&SessionItem| {
            !session.archived && query.split_whitespace().all(|word| fits(word, session, list))
        };
        let titles = list.listed().filter(is_found).take(TITLES_MAX).map(Found::Title);
        titles.chain(self.hits.iter().map(Found::Message)).collect()
    }
}

/// Whether a session fits a word or a filter of a query.
fn fits(word: &str, session: &SessionItem, list: &List) -> bool {
    if OF_MESSAGES.iter().any(|filter| word.starts_with(filter)) {
        return false;
    }
    if let Some(agent) = word.strip_prefix("agent:") {
        return session.cli_type.as_str().contains(agent);
    }
    if let Some(name) = word.strip_prefix("project:") {
        let project = list.project(session.project_id);
        return project.is_some_and(|project| project.name.to_lowercase().contains(name));
    }
    word.starts_with("order:") || session.title.to_lowercase().contains(word)
}
