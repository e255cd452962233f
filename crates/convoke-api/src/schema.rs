//! JSON schemas of the REST bodies, made from their types, for the OpenAPI document.
//!
//! utoipa describes the routes and refers to a body by its name; `components` says what the names mean.

use convoke_core::message::Message;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::bodies::{
    Agents, Answer, Audit, Backups, BrowserLink, BrowserSessions, CancelTurn, ChosenMode,
    ChosenSetting, Compacted, Comparison, Comparisons, Config, ConfigPatch, CreatedSession,
    FileDiff, FileMatches, FinishWorktree, FinishedWorktree, Fork, Health, Histories,
    HistoryImport, Hits, Home, Import, Imported, Inbox, KeepEntry, KeptEntry, Me, MoveSession,
    MoveTargets, MovedSession, NewBackup, NewBrowserLink, NewComparison, NewHistoryImport, NewRepo,
    NewRule, NewSession, NewToken, NewUser, Nodes, Problem, Prompt, Prompted, QueuePatch,
    Rejection, Repo, Repos, Restore, Restored, Revert, RoleChange, Rule, Rules, Session,
    SessionChanges, SessionDetail, SessionPatch, Sessions, SignIn, SignedIn, StateOfSession,
    Status, StoppedAgents, StoredAttachment, TeamAnalytics, TeamAnswer, TeamCancel, TeamMessage,
    TeamQuestion, TeamReport, TeamSession, TeamSessions, TeamStats, TeamStatus, Teams, TokenMade,
    Undo, User, UserLink, Users, Worktrees,
};

/// Messages of a session. The server streams them, so that no value of this type is ever built.
#[derive(Debug, JsonSchema)]
pub struct Messages(pub Vec<Message>);

/// A session with its project and all of its messages. Streamed, too.
#[derive(Debug, JsonSchema)]
pub struct WholeSession {
    /// The session and its project.
    #[schemars(flatten)]
    pub detail: SessionDetail,
    /// The conversation, first to last.
    pub messages: Vec<Message>,
}

/// Gives each body its name in the OpenAPI document, and collects the schemas of all of them.
macro_rules! bodies {
    (requests: $($request:ident)*; responses: $($response:ident)*;) => {
        $(bodies!(name $request);)*
        $(bodies!(name $response);)*

        /// The schema of every body by its name, and of every type that one refers to.
        ///
        /// Requests are described as they are read (a field with a default may be left out), responses as they are
        /// written.
        pub fn components() -> Map<String, Value> {
            let settings =
                SchemaSettings::draft2020_12().with(|it| it.definitions_path = PATH.into());
            let mut requests = settings.clone().for_deserialize().into_generator();
            $(requests.subschema_for::<$request>();)*
            let mut responses = settings.for_serialize().into_generator();
            $(responses.subschema_for::<$response>();)*
            let mut components = requests.take_definitions(true);
            components.extend(responses.take_definitions(true));
            components
        }
    };
    (name $body:ident) => {
        impl PartialSchema for $body {
            fn schema() -> RefOr<Schema> {
                Ref::from_schema_name(Self::name()).into()
            }
        }

        impl ToSchema for $body {}
    };
}

/// Where an OpenAPI document has its schemas.
const PATH: &str = "/components/schemas";

bodies! {
    requests:
        Answer CancelTurn ChosenMode ChosenSetting ConfigPatch FinishWorktree Fork Import KeepEntry MoveSession NewBackup NewBrowserLink NewHistoryImport NewRepo NewRule
        NewComparison NewSession NewToken NewUser Prompt QueuePatch Rejection Restore Revert RoleChange SessionPatch SignIn TeamCancel TeamMessage TeamQuestion Undo;
    responses:
        Agents Audit Backups BrowserLink BrowserSessions Compacted Comparison Comparisons Config CreatedSession FileDiff FileMatches FinishedWorktree Health Histories HistoryImport
        Hits Home Imported Inbox KeptEntry Me Messages MoveTargets MovedSession Problem Prompted Repo Repos Restored Rule Rules Session SessionChanges Sessions SignedIn
        Nodes TokenMade User UserLink Users StateOfSession Status StoppedAgents StoredAttachment
        TeamAnalytics TeamAnswer TeamReport TeamSession TeamSessions TeamStats TeamStatus Teams
        WholeSession Worktrees;
}

#[cfg(test)]
pub(crate) mod tests;
