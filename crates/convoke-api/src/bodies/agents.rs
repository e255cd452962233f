//! The agents of the catalogue.

use convoke_core::id::AgentName;
use convoke_core::state::OfferedChoice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All agents: `GET /api/agents`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agents {
    /// The built-in ones and those of the configuration.
    pub agents: Vec<Agent>,
}

/// Whether the user has logged in at an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentLogin {
    /// As far as it shows.
    pub state: AgentLoginState,
    /// How to log in, for people, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Whether a key or a log-in of an agent is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentLoginState {
    /// It is; whether it is still valid, only the agent can say.
    LoggedIn,
    /// It is not.
    LoggedOut,
    /// It does not show from outside.
    Unknown,
    /// None is needed.
    NotNeeded,
}

impl AgentLoginState {
    /// The word for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LoggedIn => "logged in",
            Self::LoggedOut => "logged out",
            Self::Unknown => "unknown",
            Self::NotNeeded => "not needed",
        }
    }
}

/// A layer of the sandbox that does not confine an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingLayer {
    /// Which one.
    pub layer: String,
    /// Why not.
    pub why: String,
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
    /// Whether the user has logged in at it, as far as that shows without asking it.
    pub login: AgentLogin,
    /// How a new process continues a session: `native` by the agent's own memory where it has one, or `transcript`.
    pub resume: String,
    /// The layers of the sandbox that confine it here: `bwrap`, `landlock`, `seccomp`; none when its sandbox is off.
    pub layers: Vec<String>,
    /// The layers that should confine it and do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_layers: Vec<MissingLayer>,
    /// The modes that it offered when it was last started; none as long as it never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<OfferedChoice>,
    /// The mode that it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The models that it offered when it was last started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<OfferedChoice>,
    /// The model that it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How to install it, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}
