//! The choices for a comparison: agents, models, and a test command.

use convoke_api::bodies::{NewComparison, NewComparisonEntry};
use convoke_core::id::{AgentName, ProjectId};
use crossterm::event::{KeyCode, KeyEvent};

use super::show;
use crate::editor::Editor;
use crate::list_keys::moved_or_numbered;
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::comparisons::{CandidateDraft, ComparisonDraft};
use crate::workbench::model::{Model, NewSession, Overlay};

/// The fewest that can be compared.
const CANDIDATES_MIN: usize = 2;

/// Shows the agents to compare; the one that was chosen for a session is among them.
pub(in crate::workbench::update) fn choose(model: &mut Model) {
    let agent = model.composer_agent().filter(|agent| agent.installed);
    let agent = agent.map(|agent| agent.cli_type.clone());
    let Some(agent) = agent else {
        model.refuse("No agent is installed; see `convoke agent list`.");
        return;
    };
    model.home.composer.comparison.get_or_insert_with(|| ComparisonDraft {
        candidates: vec![CandidateDraft { agent, model: None }],
        test: None,
    });
    show(model, NewSession::Candidates { cursor: 0, unfolded: None });
}

pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let Some(Overlay::New(NewSession::Candidates { cursor, unfolded })) = &model.overlay else {
        return;
    };
    let (cursor, unfolded) = (*cursor, unfolded.clone());
    let candidates = model.candidates_offered(unfolded.as_ref());
    let here = candidates.get(cursor).cloned();
    match (key.code, is_plain(key)) {
        (KeyCode::Char(' '), true) => {
            if let (Some(draft), Some(candidate)) = (&mut model.home.composer.comparison, here) {
                draft.toggle(candidate);
            }
        }
        (KeyCode::Right | KeyCode::Char('l'), true) => {
            unfold(model, here.map(|candidate| candidate.agent));
        }
        (KeyCode::Left | KeyCode::Char('h'), true) => unfold(model, None),
        (KeyCode::Char('t'), true) => ask_for_test(model),
        (KeyCode::Char('x'), true) => {
            model.overlay = None;
            model.home.composer.comparison = None;
        }
        (KeyCode::Enter, _) => done(model),
        (KeyCode::Esc | KeyCode::Char('q'), true) => leave(model),
        _ => {
            let cursor = moved_or_numbered(key, cursor, candidates.len().saturating_sub(1));
            show(model, NewSession::Candidates { cursor, unfolded });
        }
    }
}

/// Shows the models of an agent, or none; the cursor stays at its agent.
fn unfold(model: &mut Model, unfolded: Option<AgentName>) {
    let Some(Overlay::New(NewSession::Candidates { cursor, unfolded: before })) = &model.overlay
    else {
        return;
    };
    let before = model.candidates_offered(before.as_ref());
    let agent = before.get(*cursor).map(|candidate| candidate.agent.clone());
    let after = model.candidates_offered(unfolded.as_ref());
    let at = after.iter().position(|candidate| Some(&candidate.agent) == agent.as_ref());
    show(model, NewSession::Candidates { cursor: at.unwrap_or_default(), unfolded });
}

fn done(model: &mut Model) {
    let count = model.home.composer.comparison.as_ref().map_or(0, |draft| draft.candidates.len());
    if count < CANDIDATES_MIN {
        model.refuse("Choose two agents or models at least: space chooses the one at the cursor.");
        return;
    }
    model.overlay = None;
}

/// Leaves; a selection that cannot be compared is dropped.
fn leave(model: &mut Model) {
    model.overlay = None;
    model.home.composer.comparison.take_if(|draft| draft.candidates.len() < CANDIDATES_MIN);
}

fn ask_for_test(model: &mut Model) {
    let mut line = Editor::default();
    let known = model.home.composer.comparison.as_ref().and_then(|draft| draft.test.as_deref());
    line.paste(known.unwrap_or_default());
    show(model, NewSession::Test { line });
}

pub(super) fn press_test(model: &mut Model, key: KeyEvent) {
    let width = usize::from(model.size.width);
    let Some(Overlay::New(NewSession::Test { line })) = &mut model.overlay else { return };
    match write(line, key, width) {
        Meaning::Written | Meaning::PageUp | Meaning::PageDown => return,
        Meaning::Leave => {}
        Meaning::Accept => {
            let line = line.text().trim().to_owned();
            if let Some(draft) = &mut model.home.composer.comparison {
                draft.test = (!line.is_empty()).then_some(line);
            }
        }
    }
    show(model, NewSession::Candidates { cursor: 0, unfolded: None });
}

/// The request for a new comparison.
pub(in crate::workbench::update) fn order(
    draft: &ComparisonDraft,
    project: ProjectId,
    prompt: &str,
) -> NewComparison {
    let entry = |candidate: &CandidateDraft| NewComparisonEntry {
        agent: candidate.agent.to_string(),
        model: candidate.model.as_ref().map(|model| model.id.clone()),
        mode: None,
    };
    NewComparison {
        repo_id: project.to_string(),
        prompt: prompt.to_owned(),
        entries: draft.candidates.iter().map(entry).collect(),
        test: draft.test.clone(),
    }
}
