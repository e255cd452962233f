//! Teams: projects with a name that others can ask, and the pairs that talk.

use convoke_core::id::{AgentName, MessageId, NodeId, SessionId};
use convoke_core::message::Seq;
use convoke_core::team::{AnswerStatus, PairStatus, TeamName};
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Activity, NOT_BLANK, TEAM_NAME, THREAD_NAME, whole};

/// All teams: `GET /api/teams`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Teams {
    /// By name.
    pub teams: Vec<Team>,
}

/// A project that others can ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Team {
    /// Its name.
    pub name: TeamName,
    /// Its folder.
    pub path: String,
    /// The agent that answers for it.
    pub agent: AgentName,
    /// What it is for.
    pub description: Option<String>,
    /// The colour it is shown in, such as `#E91E63`.
    pub color: Option<String>,
    /// Whether its agent acts without asking.
    pub skip_permissions: bool,
    /// How many milliseconds its sessions may take to begin, where that is not as for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_init_timeout: Option<u64>,
    /// The conversations in which it is asked.
    pub sessions: u64,
    /// How many of them have a process.
    pub processes: u64,
    /// How many of them work on something.
    pub busy: u64,
    /// Questions that wait.
    pub queued: u64,
    /// The node that has its folder, as `GET /api/nodes` lists it; absent if the database is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
}

/// A lasting conversation of two teams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamSession {
    /// Its number.
    pub id: u64,
    /// Who asks; `null` is a caller from outside.
    pub from_team: Option<TeamName>,
    /// Who answers.
    pub to_team: TeamName,
    /// A named thread beside the main conversation.
    pub thread: Option<String>,
    /// The session in which they talk.
    pub session_id: SessionId,
    /// What the agent calls it.
    pub agent_session_id: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Timestamp,
    /// Messages since it was created or last compacted.
    pub message_count: u64,
    /// Where it stands.
    pub status: PairStatus,
    /// What went wrong, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The node that has the folder of the team that answers; absent if the database is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
}

/// Some conversations, the last used first: `GET /api/teams/sessions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamSessions {
    /// The conversations.
    pub sessions: Vec<TeamSession>,
}

/// Counted over all conversations: `GET /api/teams/stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamStats {
    /// How many there are.
    pub total: u64,
    /// Those in working order, with a process or without.
    pub active: u64,
    /// Those that should be compacted.
    pub compact_pending: u64,
    /// Those kept for reference only.
    pub archived: u64,
    /// Messages of all of them since they were last compacted.
    pub total_messages: u64,
}

/// How a team stands: `GET /api/teams/:team/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamStatus {
    /// The team.
    pub team: Team,
    /// The conversations in which it is asked, the last used first.
    pub sessions: Vec<TeamSessionNow>,
}

/// A conversation, and what is running in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamSessionNow {
    /// The conversation.
    #[serde(flatten)]
    pub session: TeamSession,
    /// What it does now.
    pub activity: Activity,
    /// Questions that wait.
    pub queued: u64,
}

/// A question to a team: `POST /api/teams/:team/ask`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamQuestion {
    /// What is asked.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub question: String,
    /// The team that asks; by default the caller belongs to no team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = TEAM_NAME))]
    pub from_team: Option<String>,
    /// A named thread beside the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = THREAD_NAME))]
    pub thread: Option<String>,
    /// How many milliseconds to wait for the answer: 0, or nothing, waits as long as it takes, -1 not at all.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    #[schemars(extend("minimum" = -1, "maximum" = whole::COUNT_MAX))]
    pub timeout: Option<i64>,
}

/// A message to a team: `POST /api/teams/:team/send`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamMessage {
    /// What is said.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub message: String,
    /// The team that sends it; by default the caller belongs to no team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = TEAM_NAME))]
    pub from_team: Option<String>,
    /// A named thread beside the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = THREAD_NAME))]
    pub thread: Option<String>,
    /// Whether to wait for the answer; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for_response: Option<bool>,
    /// How many milliseconds to wait for the answer: 0, or nothing, waits as long as it takes, -1 not at all.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    #[schemars(extend("minimum" = -1, "maximum" = whole::COUNT_MAX))]
    pub timeout: Option<i64>,
}

impl From<TeamMessage> for TeamQuestion {
    fn from(message: TeamMessage) -> Self {
        let TeamMessage { message, from_team, thread, wait_for_response, timeout } = message;
        let timeout = if wait_for_response == Some(false) { Some(-1) } else { timeout };
        Self { question: message, from_team, thread, timeout }
    }
}

/// What became of a question. Only `answered` is an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamAnswer {
    /// Who was asked.
    pub team: TeamName,
    /// Who asked; `null` is a caller from outside.
    pub from_team: Option<TeamName>,
    /// In which thread.
    pub thread: Option<String>,
    /// The session in which they talk; `null` as long as it is being created.
    pub session_id: Option<SessionId>,
    /// What the agent calls it.
    pub agent_session_id: Option<String>,
    /// The answer, or the status of the question.
    pub status: AnswerStatus,
    /// The whole answer; when time was over, what there is of it.
    pub response: String,
    /// What went wrong, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long the caller waited.
    pub duration_ms: u64,
    /// When this was said.
    pub timestamp: Timestamp,
    /// The id of the question's message, with which the answer can be fetched later. Absent once the question is
    /// answered or has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Where the question is in its session; absent as long as it waits, and for what is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// How many questions are before it. Absent once the question is answered or has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<u64>,
}

/// A question of a pair's, and what has become of it by now: `GET /api/teams/:team/report`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamReport {
    /// Who was asked.
    pub team: TeamName,
    /// Who asked; `null` is a caller from outside.
    pub from_team: Option<TeamName>,
    /// In which thread.
    pub thread: Option<String>,
    /// The session in which it was asked.
    pub session_id: SessionId,
    /// What the agent calls the session of now.
    pub agent_session_id: Option<String>,
    /// The question as a message; `null` when nothing was asked yet.
    pub message_id: Option<MessageId>,
    /// Where the question is in its session; `null` as long as it waits.
    pub seq: Option<Seq>,
    /// What was asked.
    pub question: Option<String>,
    /// What has become of it.
    pub status: ReportStatus,
    /// The answer, as far as there is one.
    pub response: String,
    /// What went wrong, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many questions are before it, as long as it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<u64>,
}

/// What has become of a question by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    /// There is an answer.
    Answered,
    /// The team works on it.
    Working,
    /// It waits.
    Queued,
    /// There is no answer, and none will come.
    Failed,
    /// Nothing was asked yet.
    Unasked,
}

impl ReportStatus {
    /// The word that wires use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Working => "working",
            Self::Queued => "queued",
            Self::Failed => "failed",
            Self::Unasked => "unasked",
        }
    }
}

/// A pair whose running turn is cancelled: `POST /api/teams/:team/cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamCancel {
    /// The team that asked; by default a caller without a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = TEAM_NAME))]
    pub from_team: Option<String>,
    /// A named thread beside the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = THREAD_NAME))]
    pub thread: Option<String>,
}

/// What was stopped: of a team, or of all agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoppedAgents {
    /// Sessions in which something went on.
    pub sessions: u64,
    /// Processes.
    pub processes: u64,
}

/// A conversation that was compacted: `POST /api/teams/sessions/:id/compact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compacted {
    /// How.
    pub how: CompactedHow,
    /// The conversation as it then stands.
    pub session: TeamSession,
}

/// How a conversation was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactedHow {
    /// By the agent's own command.
    Own,
    /// By a summary for a successor session.
    Successor,
}
