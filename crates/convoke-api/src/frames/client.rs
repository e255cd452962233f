//! Frames from a client to the server.

use std::collections::BTreeMap;

use convoke_core::id::MessageId;
use convoke_core::message::{Rev, Seq};
use convoke_core::question::GivenAnswers;
use convoke_core::rule::{Effect, Matcher};
use convoke_core::session::QueueChoice;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use super::Envelope;
use crate::bodies::{GivenAttachment, GivenComment, NewWorktree};

/// A frame from a client, tagged by `type`. A session is named by its canonical id or its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ClientFrame {
    /// Wants all projects.
    #[serde(rename = "project:list")]
    ProjectList {},
    /// Adds a project.
    #[serde(rename = "project:add")]
    ProjectAdd {
        /// Its folder.
        path: String,
        /// What to call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Removes a project; its sessions stay readable.
    #[serde(rename = "project:remove")]
    ProjectRemove {
        /// Which one.
        project_id: String,
    },
    /// Wants the folders whose paths begin so.
    #[serde(rename = "folder:complete")]
    FolderComplete {
        /// The beginning of a path.
        path: String,
    },
    /// Wants the files and folders of a project that match some letters.
    #[serde(rename = "file:complete")]
    FileComplete {
        /// Of which project.
        project_id: String,
        /// The letters.
        query: String,
        /// How many at most; 20, by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Opens a file in the user's editor, with the command of the settings.
    #[serde(rename = "file:open")]
    FileOpen {
        /// Its path, absolute.
        path: String,
        /// The line; the first, by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// The column; the first, by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        column: Option<u32>,
    },
    /// Wants all agents.
    #[serde(rename = "agent:list")]
    AgentList {},
    /// Wants the sessions of a project.
    #[serde(rename = "session:list")]
    SessionList {
        /// Which one.
        project_id: String,
        /// Whether only archived ones are wanted, or only the others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
    },
    /// Begins a session.
    #[serde(rename = "session:create")]
    SessionCreate {
        /// In which project.
        project_id: String,
        /// With which agent; by default the configured one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cli_type: Option<String>,
        /// The model that the agent is to use, by its id or name; by default the agent's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The mode that the agent is to be in, by its id or name; by default the agent's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// The first prompt, which is sent in the same step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        /// Files that were uploaded, to go with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<GivenAttachment>,
        /// Files and folders of the project that the words mention, relative to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        /// A work tree that the session is to have for itself; by default it works in the project's folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<NewWorktree>,
    },
    /// Wants to see a session, and to follow it.
    #[serde(rename = "session:open")]
    SessionOpen {
        /// Which one.
        session_id: String,
        /// The revision up to which the client has everything; it gets what changed after.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Rev>,
        /// What that revision belongs to; with another one than the daemon's the client gets everything anew.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        generation: Option<String>,
        /// The place of a message that the entries are to end a little after, instead of at the newest one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Seq>,
        /// Whether entries are to carry `html`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        render: Option<bool>,
        /// How many entries are enough to begin with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Wants older entries.
    #[serde(rename = "session:page")]
    SessionPage {
        /// Of which session.
        session_id: String,
        /// Older than the entry that began here.
        before: Seq,
        /// Whether entries are to carry `html`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        render: Option<bool>,
        /// How many are enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Follows a session no longer.
    #[serde(rename = "session:close")]
    SessionClose {
        /// Which one.
        session_id: String,
    },
    /// Says something to the agent.
    #[serde(rename = "session:send")]
    SessionSend {
        /// In which session.
        session_id: String,
        /// The words.
        content: String,
        /// Files that were uploaded, to go with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<GivenAttachment>,
        /// Files and folders of the project that the words mention, relative to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        /// Comments on lines of changed files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        review: Vec<GivenComment>,
        /// The id of the message that it becomes, made by the client; the same one is accepted once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
    },
    /// Changes a prompt that waits.
    #[serde(rename = "queue:edit")]
    QueueEdit {
        /// In which session.
        session_id: String,
        /// Which prompt.
        message_id: MessageId,
        /// The words.
        content: String,
    },
    /// Removes a prompt that waits.
    #[serde(rename = "queue:remove")]
    QueueRemove {
        /// In which session.
        session_id: String,
        /// Which prompt.
        message_id: MessageId,
    },
    /// Moves a prompt that waits to another place in the queue.
    #[serde(rename = "queue:move")]
    QueueMove {
        /// In which session.
        session_id: String,
        /// Which prompt.
        message_id: MessageId,
        /// Its new place, counted from 0; beyond the end is the end.
        to: u32,
    },
    /// Sends a prompt that waits next, and stops the running turn for it.
    #[serde(rename = "queue:send")]
    QueueSend {
        /// In which session.
        session_id: String,
        /// Which prompt.
        message_id: MessageId,
    },
    /// Stops the running turn.
    #[serde(rename = "session:cancel")]
    SessionCancel {
        /// Of which session.
        session_id: String,
        /// What becomes of the prompts that wait; by default the next one is sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<QueueChoice>,
    },
    /// Its human has looked at a session.
    #[serde(rename = "session:seen")]
    SessionSeen {
        /// Which one.
        session_id: String,
    },
    /// Deletes a session with its messages.
    #[serde(rename = "session:erase")]
    SessionErase {
        /// Which one.
        session_id: String,
    },
    /// Hides a session from lists.
    #[serde(rename = "session:archive")]
    SessionArchive {
        /// Which one.
        session_id: String,
    },
    /// Shows a session in lists again.
    #[serde(rename = "session:unarchive")]
    SessionUnarchive {
        /// Which one.
        session_id: String,
    },
    /// Gives a session another title.
    #[serde(rename = "session:rename")]
    SessionRename {
        /// Which one.
        session_id: String,
        /// What to call it.
        title: String,
    },
    /// Lets an ended session accept prompts again.
    #[serde(rename = "session:resume")]
    SessionResume {
        /// Which one.
        session_id: String,
    },
    /// Ends a session.
    #[serde(rename = "session:end")]
    SessionEnd {
        /// Which one.
        session_id: String,
        /// Well, or for good.
        how: EndHow,
    },
    /// Puts the agent into another of its modes.
    #[serde(rename = "session:mode")]
    SessionMode {
        /// In which session.
        session_id: String,
        /// The mode's id.
        mode: String,
    },
    /// Chooses another value of one of the agent's settings.
    #[serde(rename = "session:setting")]
    SessionSetting {
        /// In which session.
        session_id: String,
        /// The setting's id.
        setting: String,
        /// The id of the value.
        choice: String,
    },
    /// Answers a permission.
    #[serde(rename = "permission:answer")]
    PermissionAnswer {
        /// Which one.
        permission_id: String,
        /// The option that is chosen.
        option_id: String,
        /// The rule that the answer makes, of those that the permission offers, counted from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<usize>,
        /// The same as `rule: 0`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<bool>,
    },
    /// Wants all rules.
    #[serde(rename = "rule:list")]
    RuleList {},
    /// Makes a rule.
    #[serde(rename = "rule:add")]
    RuleAdd {
        /// What it does.
        effect: Effect,
        /// What it is about.
        matcher: Matcher,
        /// The project that it holds in; everywhere without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_id: Option<String>,
        /// The agent that it holds for; all without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// Revokes a rule.
    #[serde(rename = "rule:remove")]
    RuleRemove {
        /// Which one.
        rule_id: String,
    },
    /// Answers questions.
    #[serde(rename = "question:answer")]
    QuestionAnswer {
        /// Which set.
        question_id: String,
        /// The answers, by the number of their question.
        #[serde(deserialize_with = "numbered")]
        answers: GivenAnswers,
    },
    /// Will not answer questions, or a permission.
    #[serde(rename = "question:reject")]
    QuestionReject {
        /// Which of them.
        question_id: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Wants all that waits for the human.
    #[serde(rename = "inbox:list")]
    InboxList {},
    /// Lists what waits for the human, what is running, and what ended.
    #[serde(rename = "home:list")]
    HomeList {},
    /// Searches what was said.
    #[serde(rename = "search")]
    Search {
        /// Words and filters, such as `roof agent:codex since:2026-11-01`; with `order:best`, the most relevant hits of the
        /// newest 10,000 come first.
        query: String,
        /// How many hits at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// Only the hits that follow: `next` of the hits before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
    },
    /// Wants all settings.
    #[serde(rename = "config:get")]
    ConfigGet {},
    /// Changes settings in `config.toml`.
    #[serde(rename = "config:set")]
    ConfigSet {
        /// The new values by their dotted keys; `null` removes a setting from the file.
        changes: BTreeMap<String, Value>,
    },
    /// Keeps the connection alive.
    #[serde(rename = "ping")]
    Ping {},
}

/// Parses answers keyed by number: JSON keys are strings, and serde does not convert them inside of a tagged enum.
fn numbered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GivenAnswers, D::Error> {
    let answers = Value::deserialize(deserializer)?;
    serde_json::from_value(answers).map_err(de::Error::custom)
}

/// How a session is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndHow {
    /// Well; it can be resumed.
    Complete,
    /// For good.
    Cancel,
}

/// Why a client frame is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is not even JSON.
    #[error("not JSON: {fault}")]
    NotJson {
        /// What is wrong with it.
        fault: String,
    },
    /// It is JSON, and not an object with a `type`.
    #[error("a message is a JSON object with a `type`")]
    NotAMessage,
    /// Its id cannot be carried by an answer.
    #[error("`requestId` must be a string")]
    RequestId,
    /// There is no such message.
    #[error("unknown message type: {kind}")]
    UnknownType {
        /// What it calls itself.
        kind: String,
    },
    /// A field is missing, unknown, or of another type.
    #[error("{kind}: {fault}")]
    Fields {
        /// What it calls itself.
        kind: String,
        /// What is wrong with it.
        fault: String,
    },
}

impl ClientFrame {
    /// Every type of message.
    pub const TYPES: [&str; 39] = [
        "project:list",
        "project:add",
        "project:remove",
        "folder:complete",
        "file:complete",
        "file:open",
        "agent:list",
        "session:list",
        "session:create",
        "session:open",
        "session:page",
        "session:close",
        "session:send",
        "queue:edit",
        "queue:remove",
        "queue:move",
        "queue:send",
        "session:cancel",
        "session:seen",
        "session:erase",
        "session:archive",
        "session:unarchive",
        "session:rename",
        "session:resume",
        "session:end",
        "session:mode",
        "session:setting",
        "permission:answer",
        "rule:list",
        "rule:add",
        "rule:remove",
        "question:answer",
        "question:reject",
        "inbox:list",
        "home:list",
        "search",
        "config:get",
        "config:set",
        "ping",
    ];

    /// Parses a client frame; keeps `requestId` even if the rest is invalid.
    pub fn read(text: &str) -> Envelope<Result<Self, Malformed>> {
        let value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                return Envelope::push(Err(Malformed::NotJson { fault: error.to_string() }));
            }
        };
        let Value::Object(mut fields) = value else {
            return Envelope::push(Err(Malformed::NotAMessage));
        };
        match fields.remove("requestId") {
            None | Some(Value::Null) => Envelope::push(Self::of(fields)),
            Some(Value::String(id)) => Envelope { request_id: Some(id), frame: Self::of(fields) },
            Some(_) => Envelope::push(Err(Malformed::RequestId)),
        }
    }

    /// Parses a frame that another daemon has read.
    pub fn from_value(frame: Value) -> serde_json::Result<Self> {
        serde_json::from_value(frame)
    }

    fn of(fields: Map<String, Value>) -> Result<Self, Malformed> {
        let Some(Value::String(kind)) = fields.get("type") else {
            return Err(Malformed::NotAMessage);
        };
        let kind = kind.clone();
        if !Self::TYPES.contains(&kind.as_str()) {
            return Err(Malformed::UnknownType { kind });
        }
        Self::from_value(Value::Object(fields))
            .map_err(|error| Malformed::Fields { kind, fault: error.to_string() })
    }
}
