//! What the agent offers: its commands, models and modes, and the chosen ones.

use convoke_core::bounds::beginning;
use convoke_core::state::{OfferedChoice, OfferedCommand, OfferedSetting, SessionState};
use serde_json::Value;

use super::{Conversation, list, word};

/// The only setting.
pub(super) const MODEL: &str = "model";
/// How much of a command's description is kept; some are manuals for the model.
const DESCRIPTION_CHARS_MAX: usize = 200;
/// The modes that every version supports, with their texts for people. The dangerous one is refused
/// unless `claude` was started with it.
const MODES: [(&str, &str, &str); 4] = [
    ("default", "Default", "Asks before it changes or runs anything"),
    ("acceptEdits", "Accept edits", "Edits files in the workspace without asking"),
    ("plan", "Plan", "Reads and plans, and changes nothing"),
    ("dontAsk", "Don't ask", "Does what is allowed already, and refuses the rest without asking"),
];

/// What the agent offers, once it has reported it.
#[derive(Debug, Default)]
pub(super) struct Offer {
    initialize_outcome: Option<InitializeOutcome>,
    models: Vec<Model>,
    /// The id of the chosen model.
    model: String,
    mode: String,
}

/// The response to the `initialize` request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::claude) enum InitializeOutcome {
    /// It is ready.
    Ready {
        /// Its version, if it reports one.
        version: Option<String>,
    },
    /// It refused.
    Refused {
        /// The error.
        error: String,
    },
}

#[derive(Debug)]
struct Model {
    choice: OfferedChoice,
    full_name: String,
}

impl Offer {
    pub(super) fn refuse(&mut self, error: &str) {
        self.initialize_outcome = Some(InitializeOutcome::Refused { error: error.to_owned() });
    }
}

impl Conversation {
    /// The response to the `initialize` request, once it has arrived.
    pub(in crate::claude) fn initialize_outcome(&self) -> Option<&InitializeOutcome> {
        self.offer.initialize_outcome.as_ref()
    }

    pub(super) fn handle_initialized(&mut self, answer: &Value) {
        let version = answer["claude_code_version"].as_str().map(str::to_owned);
        self.offer.initialize_outcome = Some(InitializeOutcome::Ready { version });
        let commands: Vec<_> = list(answer, "commands").iter().filter_map(command).collect();
        if !commands.is_empty() {
            self.offer(SessionState::Commands { commands });
        }
        self.offer.models = list(answer, "models").iter().filter_map(model).collect();
        if let Some(first) = self.offer.models.first() {
            self.offer.model.clone_from(&first.choice.id);
        }
        self.notice_settings();
        let mode = Some(word(answer, "current_permission_mode")).filter(|mode| !mode.is_empty());
        mode.unwrap_or("default").clone_into(&mut self.offer.mode);
        self.notice_modes(known_modes(&self.offer.mode));
    }

    pub(super) fn enter_mode(&mut self, mode: &str) {
        // Several frames report one change, and the first mode is reported with the offers.
        let is_news = self.offer.initialize_outcome.is_some() && self.offer.mode != mode;
        if !mode.is_empty() && is_news {
            mode.clone_into(&mut self.offer.mode);
            self.notice_modes(Vec::new());
        }
    }

    /// Records the model that was requested.
    pub(super) fn choose_model(&mut self, id: &str) {
        if self.offer.model != id {
            id.clone_into(&mut self.offer.model);
            self.notice_settings();
        }
    }

    /// Records the model that the agent reports, by its full name.
    pub(super) fn record_reported_model(&mut self, full_name: &str) {
        if full_name.is_empty() {
            return;
        }
        let stands_for_it = |model: &&Model| model.full_name == full_name;
        let mut fitting = self.offer.models.iter().filter(stands_for_it).peekable();
        let known = fitting.peek().map_or(full_name, |model| &model.choice.id).to_owned();
        // Several ids can name one model; the chosen id stays the current one.
        if !fitting.any(|model| model.choice.id == self.offer.model) {
            self.choose_model(&known);
        }
    }

    /// The modes and settings that the agent offers now.
    pub(in crate::claude) fn offers(&self) -> Vec<SessionState> {
        let current = self.offer.mode.clone();
        let modes = SessionState::Modes { available: known_modes(&current), current };
        self.settings().into_iter().chain([modes]).collect()
    }

    fn notice_settings(&mut self) {
        if let Some(settings) = self.settings() {
            self.offer(settings);
        }
    }

    fn settings(&self) -> Option<SessionState> {
        if self.offer.models.is_empty() {
            return None;
        }
        let choices = self.offer.models.iter().map(|model| model.choice.clone()).collect();
        let setting = OfferedSetting {
            id: MODEL.to_owned(),
            name: "Model".to_owned(),
            category: Some(MODEL.to_owned()),
            current: self.offer.model.clone(),
            choices,
        };
        Some(SessionState::Settings { settings: vec![setting] })
    }

    fn notice_modes(&mut self, available: Vec<OfferedChoice>) {
        self.offer(SessionState::Modes { current: self.offer.mode.clone(), available });
    }
}

/// The available modes, including the current one even if it is not offered.
fn known_modes(current: &str) -> Vec<OfferedChoice> {
    let offered = MODES.iter().map(|(id, name, meaning)| OfferedChoice {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        description: Some((*meaning).to_owned()),
    });
    let special = Some(current).filter(|id| MODES.iter().all(|(known, ..)| known != id));
    offered.chain(special.map(unnamed)).collect()
}

fn unnamed(id: &str) -> OfferedChoice {
    OfferedChoice { id: id.to_owned(), name: id.to_owned(), description: None }
}

fn command(offered: &Value) -> Option<OfferedCommand> {
    // Names with this prefix are for other programs of the same vendor.
    let name = offered["name"].as_str().filter(|name| !name.starts_with("__"))?;
    let description = beginning(word(offered, "description"), DESCRIPTION_CHARS_MAX);
    let hint = offered["argumentHint"].as_str().filter(|hint| !hint.is_empty());
    Some(OfferedCommand { name: name.to_owned(), description, hint: hint.map(str::to_owned) })
}

fn model(offered: &Value) -> Option<Model> {
    let id = offered["value"].as_str()?;
    let choice = OfferedChoice {
        id: id.to_owned(),
        name: offered["displayName"].as_str().unwrap_or(id).to_owned(),
        description: offered["description"].as_str().map(str::to_owned),
    };
    let full_name = offered["resolvedModel"].as_str().unwrap_or(id).to_owned();
    Some(Model { choice, full_name })
}
