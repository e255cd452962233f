//! The choices for the next session: its project or folder, and its agent.

pub(super) mod candidates;
pub(super) mod place;

use convoke_api::frames::ClientFrame;
use convoke_core::id::ProjectId;
use crossterm::event::{KeyCode, KeyEvent};

use crate::editor::Editor;
use crate::list_keys::moved_or_numbered;
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::message::InFlight;
use crate::workbench::model::{Model, NewSession, Overlay};

/// Shows the projects to choose from.
pub(super) fn choose_project(model: &mut Model) {
    if model.list.projects.is_empty() {
        ask_for_folder(model);
        return;
    }
    let here = model.composer_project();
    let cursor = model.list.projects.iter().position(|project| Some(project.id) == here);
    show(model, NewSession::Project { cursor: cursor.unwrap_or_default() });
}

/// Shows the agents to choose from; installed ones come first.
pub(super) fn choose_agent(model: &mut Model) {
    let here = model.composer_agent().map(|agent| agent.cli_type.clone());
    let offered = model.agents_offered();
    let cursor = offered.iter().position(|agent| Some(&agent.cli_type) == here.as_ref());
    show(model, NewSession::Agent { cursor: cursor.unwrap_or_default() });
}

/// Shows the modes and models to choose from.
pub(super) fn choose_mode_or_model(model: &mut Model) {
    let offers = model.composer_offers();
    if offers.is_empty() {
        model.refuse("Modes and models are known once the agent has been started.");
        return;
    }
    let cursor = offers.iter().position(|offer| offer.is_current).unwrap_or_default();
    show(model, NewSession::Choices { cursor });
}

/// A key while a project or an agent is chosen.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let Some(Overlay::New(new)) = &model.overlay else { return };
    match *new {
        NewSession::Place { cursor } => place::press(model, cursor, key),
        NewSession::Branch { .. } => place::press_branch(model, key),
        NewSession::Candidates { .. } => candidates::press(model, key),
        NewSession::Test { .. } => candidates::press_test(model, key),
        NewSession::Project { cursor } => press_project(model, cursor, key),
        NewSession::Folder { .. } => press_folder(model, key),
        NewSession::Agent { cursor } => press_agent(model, cursor, key),
        NewSession::Choices { cursor } => press_choices(model, cursor, key),
    }
}

/// A pasted text: a path, a branch or a command.
pub(super) fn paste(model: &mut Model, text: &str) {
    let Some(Overlay::New(new)) = &mut model.overlay else { return };
    match new {
        NewSession::Folder { path, found } => {
            path.paste(text.trim());
            found.clear();
        }
        NewSession::Branch { name: field } | NewSession::Test { line: field } => {
            field.paste(&text.trim().replace(['\n', '\r'], " "));
        }
        NewSession::Project { .. }
        | NewSession::Agent { .. }
        | NewSession::Choices { .. }
        | NewSession::Place { .. }
        | NewSession::Candidates { .. } => {}
    }
}

/// Handles the completions of a folder's path.
pub(super) fn complete(model: &mut Model, asked: &str, folders: Vec<String>) {
    let user_folder = model.user_folder.clone();
    let Some(Overlay::New(NewSession::Folder { path, found })) = &mut model.overlay else { return };
    if whole(path.text(), user_folder.as_deref()) != asked {
        return;
    }
    let common = common_start(&folders);
    if common.len() > asked.len() {
        let mut longer = Editor::default();
        longer.paste(&common);
        *path = longer;
    }
    if folders.len() == 1 {
        path.paste("/");
    }
    *found = if folders.len() > 1 { folders } else { Vec::new() };
}

/// A project was chosen.
pub(super) fn chosen(model: &mut Model, project: ProjectId) {
    model.overlay = None;
    model.home.composer.project = Some(project);
}

fn show(model: &mut Model, new: NewSession) {
    model.overlay = Some(Overlay::New(new));
}

fn press_project(model: &mut Model, cursor: usize, key: KeyEvent) {
    let last = model.list.projects.len();
    let cursor = match (key.code, is_plain(key)) {
        (KeyCode::Enter, _) => {
            match model.list.projects.get(cursor).map(|project| project.id) {
                Some(project) => chosen(model, project),
                None => ask_for_folder(model),
            }
            return;
        }
        (KeyCode::Esc | KeyCode::Char('q'), true) => {
            model.overlay = None;
            return;
        }
        _ => moved_or_numbered(key, cursor, last),
    };
    show(model, NewSession::Project { cursor });
}

fn press_agent(model: &mut Model, cursor: usize, key: KeyEvent) {
    let last = model.agents.len().saturating_sub(1);
    match (key.code, is_plain(key)) {
        (KeyCode::Enter, _) => {
            let offered = model.agents_offered();
            let Some(agent) = offered.get(cursor).map(|agent| (*agent).clone()) else { return };
            if agent.installed {
                model.overlay = None;
                model.home.composer.agent = Some(agent.cli_type);
            } else {
                let how = agent.install.map(|how| format!(": {how}")).unwrap_or_default();
                model.refuse(format!("{} is not installed{how}", agent.title));
            }
        }
        (KeyCode::Esc | KeyCode::Left | KeyCode::Char('q'), true) => model.overlay = None,
        _ => show(model, NewSession::Agent { cursor: moved_or_numbered(key, cursor, last) }),
    }
}

fn press_choices(model: &mut Model, cursor: usize, key: KeyEvent) {
    let offers = model.composer_offers();
    let last = offers.len().saturating_sub(1);
    match (key.code, is_plain(key)) {
        (KeyCode::Enter, _) => {
            let Some(offer) = offers.get(cursor) else { return };
            let (is_mode, choice) = (offer.setting.is_none(), offer.choice.clone());
            let Some(agent) = model.composer_agent().map(|agent| agent.cli_type.clone()) else {
                return;
            };
            let composer = &mut model.home.composer;
            let chosen = if is_mode { &mut composer.mode } else { &mut composer.model };
            *chosen = Some((agent, choice));
            model.overlay = None;
        }
        (KeyCode::Esc | KeyCode::Left | KeyCode::Char('q'), true) => model.overlay = None,
        _ => show(model, NewSession::Choices { cursor: moved_or_numbered(key, cursor, last) }),
    }
}

fn ask_for_folder(model: &mut Model) {
    let mut path = Editor::default();
    path.paste(&model.folder);
    show(model, NewSession::Folder { path, found: Vec::new() });
}

fn press_folder(model: &mut Model, key: KeyEvent) {
    let user_folder = model.user_folder.clone();
    let width = usize::from(model.size.width);
    let Some(Overlay::New(NewSession::Folder { path, found })) = &mut model.overlay else { return };
    if key.code == KeyCode::Tab {
        let path = whole(path.text(), user_folder.as_deref());
        model.send(InFlight::Complete, ClientFrame::FolderComplete { path });
        return;
    }
    match write(path, key, width) {
        Meaning::Written => found.clear(),
        Meaning::Accept => {
            let path = whole(path.text(), user_folder.as_deref());
            add_project(model, &path);
        }
        Meaning::Leave if model.list.projects.is_empty() => model.overlay = None,
        Meaning::Leave => choose_project(model),
        Meaning::PageUp | Meaning::PageDown => {}
    }
}

/// Adds a folder as a project, unless it is one.
fn add_project(model: &mut Model, path: &str) {
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    match model.list.projects.iter().find(|project| project.path == path) {
        Some(project) => {
            let id = project.id;
            chosen(model, id);
        }
        None => {
            let frame = ClientFrame::ProjectAdd { path: path.to_owned(), name: None };
            model.send(InFlight::AddProject, frame);
        }
    }
}

/// A path without `~`.
fn whole(path: &str, user_folder: Option<&str>) -> String {
    let path = path.trim();
    match (path.strip_prefix('~'), user_folder) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{home}{rest}")
        }
        _ => path.to_owned(),
    }
}

/// The common prefix of all texts.
fn common_start(texts: &[String]) -> String {
    let Some((first, others)) = texts.split_first() else { return String::new() };
    let mut common = first.as_str();
    for other in others {
        let same = common.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
        let end = same.map_or(common.len().min(other.len()), |((at, _), _)| at);
        common = common.get(..end).unwrap_or_default();
    }
    common.to_owned()
}
