//! Finding sessions and messages.

use convoke_api::bodies::Hit;
use convoke_api::frames::ClientFrame;
use crossterm::event::{KeyCode, KeyEvent};

use super::session;
use crate::list_keys::{PAGE, moved};
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::message::InFlight;
use crate::workbench::model::{Model, Overlay, Sent};
use crate::workbench::search::{Found, Search, State};

/// Messages that are requested at once.
const HITS: u32 = 50;

/// Begins to search.
pub(super) fn begin(model: &mut Model) {
    model.overlay = Some(Overlay::Search(Search::default()));
}

/// A key in the search; every change of the text searches at once.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let Some(Overlay::Search(search)) = &mut model.overlay else { return };
    let last = search.found(&model.list).len().saturating_sub(1);
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other keys write")]
    match key.code {
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => {
            let at = search.cursor.min(last);
            search.cursor = moved(key, at, last, PAGE).unwrap_or(at);
        }
        _ => {
            let before = search.query.text().to_owned();
            match write(&mut search.query, key, usize::MAX) {
                Meaning::Written if search.query.text() != before => ask(model),
                Meaning::Written | Meaning::PageUp | Meaning::PageDown => {}
                Meaning::Accept => open(model),
                Meaning::Leave => model.overlay = None,
            }
        }
    }
}

/// A pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    if let Some(Overlay::Search(search)) = &mut model.overlay {
        search.query.paste(&text.replace(['\n', '\r'], " "));
        ask(model);
    }
}

/// Messages were found; those for an earlier query are not wanted any more.
pub(super) fn take(model: &mut Model, query: &str, hits: Vec<Hit>, state: State) {
    if let Some(Overlay::Search(search)) = &mut model.overlay
        && search.asked() == query
    {
        (search.hits, search.state) = (hits, state);
    }
}

/// The daemon cannot search for that.
pub(super) fn fail(model: &mut Model, query: &str, why: &str) {
    if let Some(Overlay::Search(search)) = &mut model.overlay
        && search.asked() == query
    {
        search.hits.clear();
        search.state = State::Failed(why.to_owned());
    }
}

fn ask(model: &mut Model) {
    let Some(Overlay::Search(search)) = &mut model.overlay else { return };
    search.cursor = 0;
    let query = search.asked();
    if query.is_empty() {
        search.hits.clear();
        search.state = State::Idle;
        return;
    }
    search.state = State::Asked;
    let frame = ClientFrame::Search { query: query.clone(), limit: Some(HITS), before: None };
    if model.send(InFlight::Search(query.clone()), frame) == Sent::No {
        fail(model, &query, "There is no connection to the daemon.");
    }
}

/// Opens the selected result.
fn open(model: &mut Model) {
    let Some(Overlay::Search(search)) = &model.overlay else { return };
    let found = search.found(&model.list);
    let place = found.get(search.cursor).map(|found| match found {
        Found::Title(_) => (found.session(), None),
        Found::Message(hit) => (found.session(), Some(hit.seq)),
    });
    match place {
        None => {}
        Some((id, None)) => {
            model.overlay = None;
            session::open(model, id);
        }
        Some((id, Some(seq))) => {
            model.overlay = None;
            session::open_at(model, id, seq);
        }
    }
}
