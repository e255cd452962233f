//! The agents of the catalogue.

use convoke_core::id::AgentName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All agents: `GET /api/agents`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agents {
    /// The built-in ones and those of the configuration.
    pub agents: Vec<Agent>,
}

/// A program that works on code and talks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Its name in the catalogue.
    pub name: AgentName,
    /// What people call it.
    pub title: String,
    /// Two letters for lists.
    pub badge: String,
    /// What it speaks: `acp` or `claude`.
    pub protocol: String,
    /// Whether it can be started here.
    pub installed: bool,
    /// Where it is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it calls its version, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How to install it, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}
