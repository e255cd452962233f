//! Rules: what agents may do without asking, and what they may not.

use convoke_core::id::{AgentName, ProjectId, RequestId, RuleId, SessionId};
use convoke_core::rule::{Effect, Matcher};
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// What it does.
    pub effect: Effect,
    /// What it is about.
    pub matcher: Matcher,
    /// The agent that it holds for; all without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The project that it holds in; everywhere without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// That project's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The user for whose prompts it holds; for everyone's without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
    /// The whole rule in words.
    pub text: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The request whose answer made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The session of that request; it may be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// How many requests it has decided.
    pub used_count: u64,
    /// When it decided the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

/// All rules, or those that hold in a project: `GET /api/rules`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rules {
    /// The rules, the newest first.
    pub rules: Vec<Rule>,
}

/// A rule to add: `POST /api/rules`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRule {
    /// What it does.
    pub effect: Effect,
    /// What it is about.
    pub matcher: Matcher,
    /// The project that it holds in, by its id or a unique prefix of it; everywhere without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    /// The agent that it holds for; all without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}
