//! Comparisons: listed, begun, and one candidate kept.

use convoke_api::bodies::{Comparison, NewComparison};
use convoke_core::id::{ProjectId, SessionId};
use crossterm::event::{KeyCode, KeyEvent};

use super::fresh::candidates;
use super::{Handled, finish, home, key, list, session};
use crate::editor::Editor;
use crate::list_keys::{Move, PAGE};
use crate::sheet::keys::is_plain;
use crate::workbench::changes::Loaded;
use crate::workbench::comparisons::{Candidate, Reading};
use crate::workbench::finish::{Finish, Finishing};
use crate::workbench::model::{Link, Model, Overlay, Sent, Tab};
use crate::workbench::refusal::CallRefusal;
use crate::workbench::worktrees::{CallDelay, WorktreeCall};

/// Requests the comparisons, or marks a request in progress as outdated.
pub(super) fn ask(model: &mut Model) {
    read(model, CallDelay::Now);
}

/// The same, unless they are not shown.
pub(super) fn ask_if_shown(model: &mut Model) {
    if model.tab == Tab::Compare {
        ask(model);
    }
}

fn read(model: &mut Model, delay: CallDelay) {
    if model.link != Link::Up {
        return;
    }
    model.comparisons.reading = match model.comparisons.reading {
        Reading::Idle => {
            finish::call(model, WorktreeCall::Comparisons { delay });
            Reading::Asked
        }
        Reading::Asked | Reading::Outdated => Reading::Outdated,
    };
}

/// Replaces all comparisons, and requests them again while a visible one is not done.
pub(super) fn take(model: &mut Model, all: Vec<Comparison>) {
    let goes_on = all.iter().any(|comparison| !comparison.done && comparison.kept.is_none());
    let was_outdated = model.comparisons.reading == Reading::Outdated;
    model.comparisons.reading = Reading::Idle;
    model.comparisons.all = Loaded::Here(all);
    if model.tab == Tab::Compare && was_outdated {
        read(model, CallDelay::Now);
    } else if model.tab == Tab::Compare && goes_on {
        read(model, CallDelay::Later);
    }
}

/// They cannot be read.
pub(super) fn failed(model: &mut Model, refusal: &CallRefusal) {
    model.comparisons.reading = Reading::Idle;
    match model.comparisons.all {
        Loaded::Here(_) => model.refuse(refusal.line()),
        Loaded::Asked | Loaded::Failed(_) => {
            model.comparisons.all = Loaded::Failed(refusal.line());
        }
    }
}

/// Handles a key in the list; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Handled {
    if let Some(to) = Move::of(key, PAGE) {
        step(model, to);
        return Handled::Yes;
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Char('n'), true) => {
            home::compose(model, None);
            candidates::choose(model);
        }
        (KeyCode::Char('R'), true) => ask(model),
        (KeyCode::Char('K'), true) => keep(model),
        (KeyCode::Enter | KeyCode::Right | KeyCode::Char('l'), true) => with_session(model, 'o'),
        (KeyCode::Char(letter @ ('c' | 'x' | 'F')), true) => with_session(model, letter),
        _ => return Handled::No,
    }
    Handled::Yes
}

/// Moves the cursor.
pub(super) fn step(model: &mut Model, to: Move) {
    let comparisons = &mut model.comparisons;
    let candidates = comparisons.candidates();
    let Some(last) = candidates.len().checked_sub(1) else { return };
    let to = to.apply(comparisons.position(&candidates), last);
    comparisons.cursor = candidates.get(to).cloned();
}

/// Letters for the session of the candidate at the cursor.
fn with_session(model: &mut Model, letter: char) {
    let Some((_, entry)) = model.comparisons.here() else { return };
    let id: Option<SessionId> = entry.session.as_ref().map(|session| session.id);
    match (id, letter) {
        (None, _) => model.refuse("This candidate has no session."),
        (Some(id), 'o') => session::open(model, id),
        (Some(id), letter) => list::with_session(model, letter, id),
    }
}

/// Shows the dialog that keeps the candidate at the cursor and discards the others.
fn keep(model: &mut Model) {
    let Some((comparison, entry)) = model.comparisons.here() else { return };
    let session = entry.session.as_ref();
    let own = session.and_then(|session| Some((session, session.worktree.clone()?)));
    let refusal = match (comparison.kept, own) {
        (Some(_), _) => "One candidate of this comparison was kept already.",
        (None, None) => "This candidate has no work tree that could be kept.",
        (None, Some((session, own))) => {
            let with_session = comparison.entries.iter().filter(|entry| entry.session.is_some());
            let others = with_session.count().saturating_sub(1);
            let comparison = comparison.id.clone();
            let of = Finishing::Candidate { comparison, id: session.id, others };
            let finish = Finish::new(of, own, &session.title);
            return finish::show(model, finish);
        }
    };
    model.refuse(refusal);
}

/// Begins the comparison that was drafted.
pub(super) fn start(model: &mut Model, project: ProjectId) {
    let text = model.home.composer.text.text().trim_end().to_owned();
    if text.trim().is_empty() {
        model.refuse("Write the prompt that all agents get.");
        return;
    }
    if !model.attachments_of(None).is_empty() {
        model.refuse("A comparison takes no attachments: alt-d removes them.");
        return;
    }
    let Some(draft) = &model.home.composer.comparison else { return };
    let order = candidates::order(draft, project, &text);
    let count = order.entries.len();
    if finish::call(model, WorktreeCall::Compare(order)) == Sent::Yes {
        model.home.composer.text = Editor::default();
        model.notify(format!("Starting {count} agents…"));
    }
}

/// The comparison began.
pub(super) fn begun(model: &mut Model, comparison: Comparison) {
    model.notices.clear();
    model.home.composer.comparison = None;
    model.comparisons.cursor = Some(Candidate { comparison: comparison.id.clone(), entry: 0 });
    model.comparisons.put(comparison);
    // The human may have left this page meanwhile.
    if model.tab == Tab::Home && model.overlay.is_none() {
        key::open_tab(model, Tab::Compare);
    }
}

/// It did not begin: the prompt stays to be sent again.
pub(super) fn not_begun(model: &mut Model, new: &NewComparison, refusal: CallRefusal) {
    home::give_back(model, &new.prompt);
    if model.overlay.is_none() {
        model.notices.clear();
        model.overlay = Some(Overlay::Refused { title: "The comparison was not started", refusal });
    } else {
        model.refuse(refusal.line());
    }
}
