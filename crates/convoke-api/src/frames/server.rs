//! Frames from the server to a client: answers, and updates that it sends on its own.

use convoke_core::files::ChangeTotals;
use convoke_core::id::{AgentName, MessageId, ProjectId, RequestId, RuleId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::turn::{Failure, Stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentItem, SessionItem};
use crate::bodies::{Config, HistoryImport, Hit, InboxItem, Repo, Rule};
use crate::entry::Entry;

/// A frame from the server, tagged by `type`. `sessionId` is canonical, `uid` the session's own id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum ServerFrame {
    /// All projects.
    #[serde(rename = "project:list")]
    ProjectList {
        /// The projects, in the order in which they were added.
        projects: Vec<Repo>,
        /// The setting `editor.open`, if there is one: how paths are opened in the user's editor.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        editor: Option<String>,
    },
    /// A project was added.
    #[serde(rename = "project:added")]
    ProjectAdded {
        /// The project.
        project: Repo,
    },
    /// A project was removed.
    #[serde(rename = "project:removed")]
    ProjectRemoved {
        /// Which one.
        project_id: ProjectId,
    },
    /// Folders whose paths begin so.
    #[serde(rename = "folder:completions")]
    FolderCompletions {
        /// What was asked for.
        path: String,
        /// Whole paths.
        folders: Vec<String>,
    },
    /// Files and folders of a project that match some letters.
    #[serde(rename = "file:completions")]
    FileCompletions {
        /// Of which project.
        project_id: ProjectId,
        /// What was asked for.
        query: String,
        /// Paths relative to the project, the best match first; a folder ends with `/`.
        files: Vec<String>,
    },
    /// The editor was started with a file.
    #[serde(rename = "file:opened")]
    FileOpened {
        /// Its path, absolute.
        path: String,
    },
    /// All agents.
    #[serde(rename = "agent:list")]
    AgentList {
        /// The agents of the catalogue.
        agents: Vec<AgentItem>,
    },
    /// How a process of an agent's fares.
    #[serde(rename = "agent:status")]
    AgentStatus {
        /// The agent.
        cli_type: AgentName,
        /// How it fares.
        status: AgentState,
        /// Its session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Its session's own id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uid: Option<SessionId>,
    },
    /// The sessions of a project, last active first.
    #[serde(rename = "session:list")]
    SessionList {
        /// The project.
        project_id: ProjectId,
        /// Its sessions.
        sessions: Vec<SessionItem>,
    },
    /// A session began.
    #[serde(rename = "session:created")]
    SessionCreated {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// Its project.
        project_id: ProjectId,
        /// The session.
        session: SessionItem,
        /// Why the first prompt was not accepted, if one was given. The session is there nevertheless.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    /// Something about a session that lists show has changed.
    #[serde(rename = "session:changed")]
    SessionChanged {
        /// The session as it is now.
        session: SessionItem,
    },
    /// The client has all of a session up to here, and gets what comes.
    #[serde(rename = "session:opened")]
    SessionOpened {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The revision up to which the client has everything.
        rev: Rev,
        /// What the revision belongs to; a revision of another generation means nothing.
        generation: String,
    },
    /// The newest entries of a session; they replace everything that the client has of it.
    #[serde(rename = "session:history")]
    SessionHistory {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The revision up to which it has everything.
        rev: Rev,
        /// What the revision belongs to.
        generation: String,
        /// The entries by place, and then those of state.
        entries: Vec<Entry>,
        /// Whether there are older ones.
        more: bool,
        /// Whether there are newer ones, since the session was opened at a place.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        newer: bool,
        /// The session.
        session: SessionItem,
    },
    /// Older entries.
    #[serde(rename = "session:page")]
    SessionPage {
        /// The session's canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The entries, first to last.
        entries: Vec<Entry>,
        /// Whether there are still older ones.
        more: bool,
    },
    /// Put the entry in place of the one with its `entryId`, or where it belongs by its place.
    #[serde(rename = "session:update")]
    SessionUpdate {
        /// The session's canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The revision of the change.
        rev: Rev,
        /// The entry.
        entry: Entry,
    },
    /// Append words to an entry.
    #[serde(rename = "session:chunk")]
    SessionChunk {
        /// The session's canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The revision of the newest words in it; an entry that has them already is left as it is.
        rev: Rev,
        /// The entry.
        entry_id: String,
        /// The words.
        content: String,
        /// The change of the rendered entry, for clients that opened the session with `render`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        html: Option<ChunkHtml>,
    },
    /// A turn has ended.
    #[serde(rename = "session:complete")]
    SessionComplete {
        /// The session's canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The revision of the change.
        rev: Rev,
        /// The entry of the turn's prompt.
        entry_id: String,
        /// How it ended, in a word.
        stop_reason: StopReason,
        /// Why it broke off, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    },
    /// A client asked to stop the running turn.
    #[serde(rename = "session:cancelled")]
    SessionCancelled {
        /// The session's canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
    },
    /// The session cannot be followed any more.
    #[serde(rename = "session:error")]
    SessionError {
        /// The session's canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// Why.
        message: String,
    },
    /// No more updates of a session come.
    #[serde(rename = "session:closed")]
    SessionClosed {
        /// The session as the client named it.
        session_id: String,
    },
    /// A prompt was taken.
    #[serde(rename = "session:sent")]
    SessionSent {
        /// The session's canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The id of its message.
        message_id: MessageId,
        /// Its place; absent as long as it waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<Seq>,
        /// Whether it waits behind a running turn.
        queued: bool,
        /// The node that it waits for, which is away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits_for: Option<String>,
    },
    /// A human has looked at a session.
    #[serde(rename = "session:seen")]
    SessionSeen {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
    },
    /// A session was deleted with its messages.
    #[serde(rename = "session:erased")]
    SessionErased {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
    },
    /// A session is hidden from lists.
    #[serde(rename = "session:archived")]
    SessionArchived {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
    },
    /// A session is shown in lists again.
    #[serde(rename = "session:unarchived")]
    SessionUnarchived {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The session.
        session: SessionItem,
    },
    /// A checkpoint of a session was made, or its files were restored: its changes are to be read again.
    #[serde(rename = "changes:updated")]
    ChangesUpdated {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The turn that ended, by the seq of its prompt; absent after a restore.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Seq>,
        /// What the session changed altogether.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<ChangeTotals>,
    },
    /// A session has another title.
    #[serde(rename = "session:title-updated")]
    SessionTitleUpdated {
        /// Its canonical id.
        session_id: String,
        /// Its own id.
        uid: SessionId,
        /// The title.
        title: String,
    },
    /// All that waits for the human.
    #[serde(rename = "inbox:list")]
    InboxList {
        /// Oldest first.
        items: Vec<InboxItem>,
    },
    /// What waits for the human, what is running, and what ended. Each group has the newest first, at most 50.
    #[serde(rename = "home:list")]
    HomeList {
        /// The requests that an agent or a program waits for.
        needs_you: Vec<InboxItem>,
        /// Sessions with a running turn.
        working: Vec<SessionItem>,
        /// Sessions with a turn that ended and was not seen.
        finished: Vec<SessionItem>,
        /// Sessions with a turn that failed and was not seen.
        failed: Vec<SessionItem>,
        /// The other sessions.
        recent: Vec<SessionItem>,
    },
    /// What was found, newest first or best first.
    #[serde(rename = "search:hits")]
    SearchHits {
        /// What was searched for.
        query: String,
        /// The hits.
        hits: Vec<Hit>,
        /// What to say as `before` for those that follow, if there are any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u64>,
        /// Whether the search index is still being filled, after an update or a large import, so that hits may be missing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        incomplete: bool,
    },
    /// All settings.
    #[serde(rename = "config")]
    Config(Config),
    /// Something waits for the human that did not, or the other way round.
    #[serde(rename = "inbox:changed")]
    InboxChanged {
        /// How much waits now.
        count: u64,
    },
    /// A request was answered or rejected.
    #[serde(rename = "inbox:settled")]
    InboxSettled {
        /// Which one.
        id: RequestId,
    },
    /// All rules.
    #[serde(rename = "rule:list")]
    RuleList {
        /// The newest first.
        rules: Vec<Rule>,
    },
    /// A rule was made.
    #[serde(rename = "rule:added")]
    RuleAdded {
        /// The rule.
        rule: Rule,
    },
    /// A rule was revoked.
    #[serde(rename = "rule:removed")]
    RuleRemoved {
        /// Which one.
        rule_id: RuleId,
    },
    /// How far an import of histories is, some times a second while it runs, and once at its end. After the end the lists
    /// of sessions are to be asked for again: imported sessions are not announced one by one.
    #[serde(rename = "history:import")]
    HistoryImport {
        /// The import.
        import: HistoryImport,
    },
    /// A rule was made or revoked by any client.
    #[serde(rename = "rule:changed")]
    RuleChanged {},
    /// A comparison began, a test of it began or ended, or one of its sessions was kept. What its sessions do comes in
    /// their own frames.
    #[serde(rename = "comparison:changed")]
    ComparisonChanged {
        /// Which one.
        comparison_id: String,
    },
    /// Something changed about teams.
    #[serde(rename = "team:changed")]
    TeamChanged {},
    /// The answer to `ping`.
    #[serde(rename = "pong")]
    Pong {},
    /// What was asked for could not be done; the socket stays open.
    #[serde(rename = "error")]
    Error {
        /// Why.
        message: String,
        /// What to do about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

/// How a process of an agent's fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It was started and has not completed the handshake.
    Starting,
    /// It takes prompts.
    Ready,
    /// It has ended.
    Exited,
}

/// How a turn ended, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The agent ended the turn.
    EndTurn,
    /// A human stopped it.
    Cancelled,
    /// The model refused.
    Refusal,
    /// The model reached its token limit.
    MaxTokens,
    /// The agent took as many steps as it may in one turn.
    MaxTurnRequests,
    /// It broke off.
    Failed,
}

impl StopReason {
    /// The word, and why the turn broke off, if it did.
    pub fn of(stop: Stop) -> (Self, Option<Failure>) {
        match stop {
            Stop::EndTurn => (Self::EndTurn, None),
            Stop::Cancelled => (Self::Cancelled, None),
            Stop::Refusal => (Self::Refusal, None),
            Stop::MaxTokens => (Self::MaxTokens, None),
            Stop::MaxTurnRequests => (Self::MaxTurnRequests, None),
            Stop::Failed(failure) => (Self::Failed, Some(failure)),
        }
    }
}

/// How a rendered entry changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChunkHtml {
    /// The entry's top-level elements from this one on are dropped.
    pub from: usize,
    /// What is appended in their place.
    pub html: String,
}
