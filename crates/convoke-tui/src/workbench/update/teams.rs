//! How teams talk.

use convoke_api::bodies::{TeamSession, TeamStats};
use crossterm::event::{KeyCode, KeyEvent};

use super::{Handled, session};
use crate::list_keys::{Move, PAGE};
use crate::sheet::keys::is_plain;
use crate::workbench::message::Effect;
use crate::workbench::model::Model;

/// Replaces all conversations; the cursor stays at its own.
pub(super) fn take(model: &mut Model, sessions: Vec<TeamSession>, stats: TeamStats) {
    let teams = &mut model.teams;
    let here = teams.sessions.get(teams.cursor).map(|session| session.id);
    let at = sessions.iter().position(|session| Some(session.id) == here);
    teams.cursor = at.unwrap_or(teams.cursor).min(sessions.len().saturating_sub(1));
    teams.sessions = sessions;
    teams.stats = Some(stats);
}

/// Handles a key in the list of conversations; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Handled {
    if let Some(to) = Move::of(key, PAGE) {
        step(model, to);
        return Handled::Yes;
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Enter | KeyCode::Right, true) => choose(model, model.teams.cursor),
        (KeyCode::Char('R'), true) => model.effects.push(Effect::FetchTeams),
        _ => return Handled::No,
    }
    Handled::Yes
}

/// Moves the cursor.
pub(super) fn step(model: &mut Model, to: Move) {
    let teams = &mut model.teams;
    teams.cursor = to.apply(teams.cursor, teams.sessions.len().saturating_sub(1));
}

/// Opens the session of a conversation.
pub(super) fn choose(model: &mut Model, at: usize) {
    model.teams.cursor = at;
    if let Some(id) = model.teams.sessions.get(at).map(|session| session.session_id) {
        session::open(model, id);
    }
}
