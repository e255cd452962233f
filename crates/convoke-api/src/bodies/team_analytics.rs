//! Figures about how teams talk: `GET /api/teams/analytics`.

use convoke_core::team::TeamName;
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TeamSession, TeamStats};

/// Everything that is known of how teams talk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamAnalytics {
    /// The start of the reported activity.
    pub since: Timestamp,
    /// Counted over all conversations.
    pub stats: TeamStats,
    /// All conversations, the last used first.
    pub sessions: Vec<TeamSession>,
    /// The messages and tokens of each interval, the newest first.
    pub activity: Vec<TeamActivity>,
    /// What it has cost.
    pub usage: Vec<TeamUsage>,
}

/// The messages and tokens of a pair in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamActivity {
    /// Who asked; `null` is a caller from outside.
    pub from_team: Option<TeamName>,
    /// Who answered.
    pub to_team: TeamName,
    /// In which thread.
    pub thread: Option<String>,
    /// When the interval began.
    pub start: Timestamp,
    /// Questions in it.
    pub prompts: u64,
    /// Turns that failed in it.
    pub failures: u64,
    /// Times that room was made in the context.
    pub compactions: u64,
}

/// What a pair has cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamUsage {
    /// The number of the conversation.
    pub id: u64,
    /// Tokens that models read, where agents say so.
    pub input_tokens: u64,
    /// Tokens that models wrote, where agents say so.
    pub output_tokens: u64,
    /// Money, by currency.
    pub cost: Vec<TeamCost>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamCost {
    /// How much.
    pub amount: f64,
    /// ISO 4217, such as `USD`.
    pub currency: String,
}
