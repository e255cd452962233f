//! The start screen: navigating its list, and starting a session.

use convoke_api::frames::ClientFrame;
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::session::Attention;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Handled, comparisons, fresh, list, search, session};
use crate::list_keys::Move;
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::home::Row;
use crate::workbench::message::InFlight;
use crate::workbench::model::{Focus, Model, Sent, Tab};
use crate::workbench::{layout, view};

/// Handles a key in the list; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Handled {
    // A row has two lines.
    if let Some(to) = Move::of(key, view::list_rows(model) / 2) {
        step(model, to);
        return Handled::Yes;
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Enter | KeyCode::Right | KeyCode::Char('l'), true) => open_at_cursor(model),
        (KeyCode::Tab, true) if model.request().is_some() => model.focus = Focus::Card,
        (KeyCode::Char('n' | 'i') | KeyCode::Tab, true) => compose(model, None),
        (KeyCode::Char('/'), true) => search::begin(model),
        (KeyCode::Char('o'), true) => open_session(model),
        (KeyCode::Char('u'), true) => session::undo(model),
        (KeyCode::Char(letter @ ('r' | 'a' | 'x' | 'R' | 'F')), true) => {
            match session_at_cursor(model) {
                Some(id) => list::with_session(model, letter, id),
                None => model.refuse("Choose a session first."),
            }
        }
        _ => return Handled::No,
    }
    Handled::Yes
}

/// Moves the cursor.
pub(super) fn step(model: &mut Model, to: Move) {
    let rows = model.home_rows();
    let Some(last) = rows.len().checked_sub(1) else { return };
    let to = to.apply(model.home_position(&rows), last);
    model.home.cursor = rows.get(to).map(|(_, row)| *row);
}

/// Goes to a row of the list.
pub(super) fn choose(model: &mut Model, at: usize) {
    step(model, Move::To(at));
    open_at_cursor(model);
}

/// Begins to write a new session, in a project if one is meant.
pub(super) fn compose(model: &mut Model, project: Option<ProjectId>) {
    model.tab = Tab::Home;
    model.focus = Focus::Composer;
    if project.is_some() {
        model.home.composer.project = project;
    }
}

/// A key while the first prompt is written.
pub(super) fn press_composer(model: &mut Model, key: KeyEvent) -> Handled {
    match (key.code, key.modifiers) {
        (KeyCode::Char('p'), KeyModifiers::ALT) => fresh::choose_project(model),
        (KeyCode::Char('a'), KeyModifiers::ALT) => fresh::choose_agent(model),
        (KeyCode::Char('m'), KeyModifiers::ALT) => fresh::choose_mode_or_model(model),
        (KeyCode::Char('w'), KeyModifiers::ALT) => fresh::place::choose(model),
        (KeyCode::Char('c'), KeyModifiers::ALT) => fresh::candidates::choose(model),
        (KeyCode::Char('d'), KeyModifiers::ALT) => model.detach(),
        (KeyCode::Tab, _) if model.complete_mention() => {}
        (KeyCode::Tab | KeyCode::BackTab, _) => model.focus = Focus::List,
        (KeyCode::F(1), _) => return Handled::No,
        _ => {
            let width = layout::composer_width(model);
            match write(&mut model.home.composer.text, key, width) {
                Meaning::Written => model.look_for_mention(),
                Meaning::Accept => start(model),
                Meaning::Leave => model.focus = Focus::List,
                Meaning::PageUp => step(model, Move::UP),
                Meaning::PageDown => step(model, Move::DOWN),
            }
        }
    }
    Handled::Yes
}

/// Begins the session, with its prompt in the same step.
fn start(model: &mut Model) {
    let Some(project) = model.composer_project() else { return fresh::choose_project(model) };
    if model.home.composer.comparison.is_some() {
        return comparisons::start(model, project);
    }
    let Some(agent) = model.composer_agent().cloned() else {
        model.refuse("No agent is installed; see `convoke agent list`.");
        return;
    };
    if !agent.installed {
        let how = agent.install.map(|how| format!(": {how}")).unwrap_or_default();
        model.refuse(format!("{} is not installed{how}", agent.title));
        return;
    }
    let text = model.home.composer.text.text().trim_end().to_owned();
    let frame = ClientFrame::SessionCreate {
        project_id: project.to_string(),
        cli_type: Some(agent.cli_type.to_string()),
        model: model.composer_model().map(|choice| choice.id.clone()),
        mode: model.composer_mode().map(|choice| choice.id.clone()),
        prompt: (!text.trim().is_empty()).then(|| text.clone()),
        attachments: model.attachments_of(None),
        files: model.files_in(&text),
        worktree: model.home.composer.worktree.clone(),
    };
    if model.send(InFlight::Create(text), frame) == Sent::Yes {
        model.home.composer.text = crate::editor::Editor::default();
        model.sent_attachments(None);
        model.notify(format!("Starting {}…", agent.title));
    }
}

/// The session was created.
pub(super) fn begun(model: &mut Model, id: SessionId) {
    if model.notices.shown().is_some_and(|notice| notice.text.starts_with("Starting ")) {
        model.notices.clear();
    }
    // No two work trees have the same branch.
    if let Some(worktree) = &mut model.home.composer.worktree {
        worktree.branch = None;
    }
    // The human may have left this page meanwhile.
    if model.tab == Tab::Home && model.overlay.is_none() {
        session::open(model, id);
    }
}

/// It was not created: the prompt stays to be sent again.
pub(super) fn give_back(model: &mut Model, text: &str) {
    let since = std::mem::take(&mut model.home.composer.text);
    let draft = &mut model.home.composer.text;
    draft.paste(text);
    if !since.is_blank() {
        draft.paste("\n");
        draft.paste(since.text());
    }
}

fn open_at_cursor(model: &mut Model) {
    match model.home_row() {
        Some(Row::Request(_)) => model.focus = Focus::Card,
        Some(Row::Session(id)) => session::open(model, id),
        None => compose(model, None),
    }
}

/// The session at the cursor.
fn session_at_cursor(model: &Model) -> Option<SessionId> {
    match model.home_row()? {
        Row::Session(id) => Some(id),
        Row::Request(_) => model.request()?.item.uid,
    }
}

fn open_session(model: &mut Model) {
    match session_at_cursor(model) {
        Some(id) => session::open(model, id),
        None => model.refuse("This request does not belong to a session."),
    }
}

/// Whether a session's last turn failed.
pub(super) fn has_failed(model: &Model, id: SessionId) -> bool {
    model.list.session(id).is_some_and(|session| session.attention == Attention::Failed)
}
