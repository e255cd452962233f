//! What an agent offers: its modes, its settings and its commands.
//!
//! Agents repeat their offers; only changes are reported.

use std::collections::BTreeSet;

use convoke_core::state::{OfferedChoice, OfferedCommand, OfferedSetting, SessionState};
use serde_json::{Value, json};

use super::text::cut_to;

/// The maximum length of one list; people cannot choose among more.
const ENTRIES_MAX: usize = 1000;
/// The longest description; longer ones are cut.
const DESCRIPTION_BYTES_MAX: usize = 4096;
/// The id of the setting for older agents that offer a list of models.
const MODEL: &str = "model";

/// What the agent has offered so far.
#[derive(Debug, Default)]
pub(super) struct Offers {
    mode: Option<String>,
    commands: Option<SessionState>,
    settings: Option<SessionState>,
    /// The models of an agent that has no setting for them.
    models: Option<OfferedSetting>,
    /// Boolean settings, which are set with `true` and `false` instead of strings.
    switches: BTreeSet<String>,
}

impl Offers {
    /// The offers in the response to `session/new`, `session/load` or `session/resume`.
    pub(super) fn of_session(&mut self, answer: &Value) -> Vec<SessionState> {
        let mut notices = Vec::new();
        if let Some(modes) = answer.get("modes").filter(|modes| !modes.is_null()) {
            notices.extend(self.modes(modes));
        }
        self.models = answer.get("models").and_then(models);
        let options = answer.get("configOptions").cloned().unwrap_or_default();
        if self.models.is_some() || !options.is_null() {
            notices.extend(self.settings(&options));
        }
        notices
    }

    /// The modes and the current one.
    fn modes(&mut self, modes: &Value) -> Option<SessionState> {
        let current = text(modes, "currentModeId")?;
        let available = choices(modes.get("availableModes")?, "id");
        self.mode = Some(current.clone());
        Some(SessionState::Modes { current, available })
    }

    /// Records the current mode.
    pub(super) fn mode(&mut self, current: &str) -> Option<SessionState> {
        if self.mode.as_deref() == Some(current) {
            return None;
        }
        self.mode = Some(current.to_owned());
        let available = Vec::new();
        Some(SessionState::Modes { current: current.to_owned(), available })
    }

    /// All settings, from `configOptions`.
    pub(super) fn settings(&mut self, options: &Value) -> Option<SessionState> {
        let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut settings: Vec<OfferedSetting> =
            options.iter().take(ENTRIES_MAX).filter_map(setting).collect();
        self.switches = options.iter().filter(|option| is_switch(option)).filter_map(id).collect();
        let has_models = settings.iter().any(|it| it.category.as_deref() == Some(MODEL));
        settings.extend(self.models.clone().filter(|_| !has_models));
        if_changed(&mut self.settings, SessionState::Settings { settings })
    }

    /// All commands, from `available_commands_update`.
    pub(super) fn commands(&mut self, update: &Value) -> Option<SessionState> {
        let commands = update.get("availableCommands")?.as_array()?;
        let commands = commands.iter().take(ENTRIES_MAX).filter_map(command).collect();
        if_changed(&mut self.commands, SessionState::Commands { commands })
    }

    /// The method and parameters, besides the session, that change a setting.
    pub(super) fn change(&self, setting: &str, choice: &str) -> (&'static str, Value) {
        if setting == MODEL && self.models.is_some() {
            return ("session/set_model", json!({"modelId": choice}));
        }
        let params = if self.switches.contains(setting) {
            json!({"configId": setting, "type": "boolean", "value": choice == "true"})
        } else {
            json!({"configId": setting, "value": choice})
        };
        ("session/set_config_option", params)
    }

    /// Records the chosen model of an older agent, which does not report it.
    pub(super) fn model(&mut self, model: &str) -> Option<SessionState> {
        let models = self.models.as_mut()?;
        model.clone_into(&mut models.current);
        let Some(SessionState::Settings { settings }) = &mut self.settings else { return None };
        let shown = settings.iter_mut().find(|setting| setting.id == MODEL)?;
        model.clone_into(&mut shown.current);
        self.settings.clone()
    }
}

/// The offer, unless it equals the last reported one.
fn if_changed(last: &mut Option<SessionState>, offer: SessionState) -> Option<SessionState> {
    if last.as_ref() == Some(&offer) {
        return None;
    }
    *last = Some(offer.clone());
    Some(offer)
}

fn setting(option: &Value) -> Option<OfferedSetting> {
    let id = id(option)?;
    let name = text(option, "name").unwrap_or_else(|| id.clone());
    let category = text(option, "category");
    let (current, choices) = if is_switch(option) {
        let choice = |id: &str, name: &str| {
            let (id, name) = (id.to_owned(), name.to_owned());
            OfferedChoice { id, name, description: None }
        };
        let on = option.get("currentValue").and_then(Value::as_bool).unwrap_or_default();
        (on.to_string(), vec![choice("true", "On"), choice("false", "Off")])
    } else {
        let current = text(option, "currentValue").unwrap_or_default();
        (current, choices(option.get("options").unwrap_or(&Value::Null), "value"))
    };
    Some(OfferedSetting { id, name, category, current, choices })
}

fn is_switch(option: &Value) -> bool {
    option.get("type").and_then(Value::as_str) == Some("boolean")
}

fn id(option: &Value) -> Option<String> {
    text(option, "id").or_else(|| text(option, "configId"))
}

fn models(models: &Value) -> Option<OfferedSetting> {
    Some(OfferedSetting {
        id: MODEL.to_owned(),
        name: "Model".to_owned(),
        category: Some(MODEL.to_owned()),
        current: text(models, "currentModelId")?,
        choices: choices(models.get("availableModels")?, "modelId"),
    })
}

/// The entries of a list, which may be in groups.
fn choices(list: &Value, id: &str) -> Vec<OfferedChoice> {
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let grouped = entries.iter().flat_map(|entry| match entry.get("options") {
        Some(Value::Array(inside)) => inside.as_slice(),
        Some(_) | None => std::slice::from_ref(entry),
    });
    grouped.filter_map(|entry| choice(entry, id)).take(ENTRIES_MAX).collect()
}

fn choice(entry: &Value, id: &str) -> Option<OfferedChoice> {
    let id = text(entry, id)?;
    let name = text(entry, "name").unwrap_or_else(|| id.clone());
    Some(OfferedChoice { id, name, description: text(entry, "description") })
}

fn command(entry: &Value) -> Option<OfferedCommand> {
    let name = text(entry, "name")?;
    Some(OfferedCommand {
        name: name.strip_prefix('/').unwrap_or(&name).to_owned(),
        description: text(entry, "description").unwrap_or_default(),
        hint: entry.get("input").and_then(|input| text(input, "hint")),
    })
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(|text| cut_to(text, DESCRIPTION_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(notices: impl IntoIterator<Item = SessionState>) -> String {
        let lines = notices.into_iter().map(|notice| serde_json::to_string(&notice).unwrap());
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_new_session_offers_modes_and_settings() {
        let mut offers = Offers::default();
        let notices = offers.of_session(&json!({
            "sessionId": "s",
            "modes": {"currentModeId": "default", "availableModes": [
                {"id": "default", "name": "Always Ask", "description": "Asks first"},
                {"id": "plan"},
                {"name": "without an id"},
            ]},
            "configOptions": [
                {"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "b",
                 "options": [{"group": "g", "name": "Group", "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]}]},
                {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": true},
                {"name": "without an id"},
                "nonsense",
            ],
        }));
        insta::assert_snapshot!(reported(notices), @r#"
        {"kind":"modes","current":"default","available":[{"id":"default","name":"Always Ask","description":"Asks first"},{"id":"plan","name":"plan"}]}
        {"kind":"settings","settings":[{"id":"model","name":"Model","category":"model","current":"b","choices":[{"id":"a","name":"A"},{"id":"b","name":"B"}]},{"id":"fast","name":"Fast","current":"true","choices":[{"id":"true","name":"On"},{"id":"false","name":"Off"}]}]}
        "#);
        assert_eq!(
            offers.change("fast", "false").1,
            json!({"configId": "fast", "type": "boolean", "value": false})
        );
        assert_eq!(
            offers.change("model", "a"),
            ("session/set_config_option", json!({"configId": "model", "value": "a"}))
        );
    }

    #[test]
    fn an_unchanged_offer_is_not_reported_again() {
        let mut offers = Offers::default();
        let update = json!({"availableCommands": [{"name": "/compact", "description": "Compacts", "input": {"hint": "how"}}, {"name": "x"}]});
        insta::assert_snapshot!(reported(offers.commands(&update)), @r#"{"kind":"commands","commands":[{"name":"compact","description":"Compacts","hint":"how"},{"name":"x","description":""}]}"#);
        assert_eq!(offers.commands(&update), None);
        assert!(offers.mode("plan").is_some());
        assert_eq!(offers.mode("plan"), None);
    }

    #[test]
    fn an_old_list_of_models_is_a_separate_setting() {
        let mut offers = Offers::default();
        let models = json!({"currentModelId": "a", "availableModels": [{"modelId": "a", "name": "A"}, {"modelId": "b", "name": "B"}]});
        insta::assert_snapshot!(reported(offers.of_session(&json!({"modes": null, "models": models}))), @r#"{"kind":"settings","settings":[{"id":"model","name":"Model","category":"model","current":"a","choices":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}]}"#);
        assert_eq!(offers.change("model", "b"), ("session/set_model", json!({"modelId": "b"})));
        assert!(reported(offers.model("b")).contains(r#""current":"b""#));
    }
}
