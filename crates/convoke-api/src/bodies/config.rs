//! The settings in `config.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All settings: `GET /api/config`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The file.
    pub path: String,
    /// The settings, in the order of the documentation.
    pub settings: Vec<ConfigSetting>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigSetting {
    /// Its dotted key, such as `sessions.max_active`.
    pub key: String,
    /// Its value in the file and in what overrides the file; `restart` says whether the daemon uses it already.
    pub value: Value,
    /// Its value when nothing sets it.
    pub default: Value,
    /// What sets it: `default`, the line of the file, the variable or the flag.
    pub source: String,
    /// What sort of value it takes.
    pub kind: SettingKind,
    /// The values that it accepts, where they are a fixed set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<String>>,
    /// What it is for.
    pub description: String,
    /// Whether a change takes effect only when the daemon is restarted.
    pub restart: bool,
}

/// What sort of value a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// True or false.
    Switch,
    /// A number.
    Number,
    /// A text.
    Text,
    /// One of the choices.
    Choice,
    /// A list of texts; of the choices where there are some.
    List,
}

/// Settings to change: `PATCH /api/config`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfigPatch {
    /// The new values by their dotted keys; `null` removes a setting from the file.
    pub changes: BTreeMap<String, Value>,
}
