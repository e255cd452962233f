//! The lasting conversations of teams: listed, counted, compacted and deleted.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::{
    Compacted, CompactedHow, TeamAnalytics, TeamSession, TeamSessions, TeamStats,
};
use convoke_core::team::PairStatus;
use convoke_core::time::Timestamp;
use convoke_engine::{
    ActivityInterval, Compaction, NodeScope, PairAsker, PairFilter, SessionFile, Window,
};
use serde::{Deserialize, Deserializer, de};
use utoipa::IntoParams;

use super::teams::named;
use super::{Daemon, Written};
use crate::failure::Failure;
use crate::json;
use crate::query::{self, Query};
use crate::view::teams as view;

/// Conversations in a page, by default.
const LIMIT: u64 = 100;

/// Which conversations are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TeamSessionsQuery {
    /// Only those of this asker.
    #[param(pattern = "^[A-Za-z0-9-]+$")]
    from: Option<String>,
    /// `true`: only those of callers outside of teams.
    external: Option<bool>,
    /// Only those with this answering team.
    #[param(pattern = "^[A-Za-z0-9-]+$")]
    to: Option<String>,
    /// Only those with this status.
    #[serde(default, deserialize_with = "status")]
    #[param(
        value_type = Option<String>,
        pattern = "^(active|idle|compact_pending|compacting|archived|error|migrating)$"
    )]
    status: Option<PairStatus>,
    /// Only those created later than this.
    #[serde(default, deserialize_with = "query::parsed")]
    #[param(value_type = Option<String>, format = DateTime)]
    created_after: Option<Timestamp>,
    /// Only those used later than this.
    #[serde(default, deserialize_with = "query::parsed")]
    #[param(value_type = Option<String>, format = DateTime)]
    used_after: Option<Timestamp>,
    /// How many at most; 100, by default.
    #[serde(default, deserialize_with = "query::within::<_, 1, 10_000>")]
    #[param(minimum = 1, maximum = 10_000)]
    limit: Option<u64>,
}

fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PairStatus>, D::Error> {
    let word = String::deserialize(deserializer)?;
    let found = PairStatus::ALL.into_iter().find(|status| status.as_str() == word);
    found.map(Some).ok_or_else(|| {
        let known = PairStatus::ALL.map(PairStatus::as_str).join(", ");
        de::Error::custom(format!("`{word}` is not one of {known}"))
    })
}

/// List the conversations of teams
/// Last used first.
#[utoipa::path(
    get,
    path = "/api/teams/sessions",
    operation_id = "listTeamSessions",
    tag = "teams",
    params(TeamSessionsQuery),
    responses((status = 200, description = "A page of conversations", body = TeamSessions))
)]
pub(super) async fn list(
    State(app): Daemon,
    Query(which): Query<TeamSessionsQuery>,
) -> Result<Response, Failure> {
    let from = which.from.as_deref().map(named).transpose()?;
    let to = which.to.as_deref().map(named).transpose()?;
    let from = match (from, which.external) {
        // A pair cannot match both.
        (Some(_), Some(true)) => return Ok(json::ok(&TeamSessions { sessions: Vec::new() })),
        (Some(from), Some(false) | None) => PairAsker::Team(from),
        (None, Some(true)) => PairAsker::External,
        (None, Some(false) | None) => PairAsker::Any,
    };
    let filter = PairFilter {
        from,
        to,
        status: which.status,
        created_after: which.created_after,
        used_after: which.used_after,
        of: NodeScope::All,
    };
    let limit = u32::try_from(which.limit.unwrap_or(LIMIT)).unwrap_or(u32::MAX);
    let pairs = app.engine.teams().pairs(filter, Window::first(limit)).await?;
    Ok(json::ok(&TeamSessions { sessions: pairs.into_iter().map(view::session).collect() }))
}

/// Count the conversations of teams
#[utoipa::path(
    get,
    path = "/api/teams/stats",
    operation_id = "teamStats",
    tag = "teams",
    responses((status = 200, description = "Totals over all conversations", body = TeamStats))
)]
pub(super) async fn stats(State(app): Daemon) -> Result<Response, Failure> {
    Ok(json::ok(&view::stats(app.engine.teams().pair_stats().await?)))
}

/// Since when, and how finely.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Since {
    /// Activity since this time; 30 hours or days back, by default.
    #[serde(default, deserialize_with = "query::parsed")]
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Activity by the `hour` or by the `day`; by the day, by default.
    #[serde(default, deserialize_with = "stretch")]
    #[param(value_type = Option<String>, pattern = "^(hour|day)$")]
    stretch: Option<ActivityInterval>,
}

fn stretch<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ActivityInterval>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "hour" => Ok(Some(ActivityInterval::Hour)),
        "day" => Ok(Some(ActivityInterval::Day)),
        word => Err(de::Error::custom(format!("`{word}` is neither hour nor day"))),
    }
}

/// Show statistics of the conversations of teams
///
/// Who asks whom, when, what failed, and what it cost.
#[utoipa::path(
    get,
    path = "/api/teams/analytics",
    operation_id = "teamAnalytics",
    tag = "teams",
    params(Since),
    responses((status = 200, description = "The figures", body = TeamAnalytics))
)]
pub(super) async fn analytics(
    State(app): Daemon,
    Query(Since { since, stretch }): Query<Since>,
) -> Result<Response, Failure> {
    let analytics =
        app.engine.teams().analytics(since, stretch.unwrap_or(ActivityInterval::Day)).await?;
    Ok(json::ok(&view::analytics(analytics)))
}

/// Compact a conversation of teams
///
/// Waits for its turn to end, and then for the compaction.
#[utoipa::path(
    post,
    path = "/api/teams/sessions/{id}/compact",
    operation_id = "compactTeamSession",
    tag = "teams",
    params(("id" = String, Path, description = "Its number, or a unique prefix of its session's id")),
    responses(
        (status = 200, description = "The conversation, compacted", body = Compacted),
        (status = 404, description = "There is no such conversation"),
        (status = 409, description = "It is already being compacted, or the prefix matches several ids"),
        (status = 502, description = "Its agent did not compact it"),
    )
)]
pub(super) async fn compact(State(app): Daemon, Written(id): Written) -> Result<Response, Failure> {
    let pair = app.engine.teams().find_pair(&id).await?;
    let how = match app.engine.teams().compact_pair(pair.id).await? {
        Compaction::Own => CompactedHow::Own,
        Compaction::Successor { .. } => CompactedHow::Successor,
    };
    let session = view::session(app.engine.teams().pair(pair.id).await?);
    Ok(json::ok(&Compacted { how, session }))
}

/// What becomes of the agent's own file.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct File {
    /// `true`: also delete the agent's own file of it.
    with_file: Option<bool>,
}

/// Delete a conversation of teams
///
/// Its session ends and stays readable. The next ask starts a new one.
#[utoipa::path(
    delete,
    path = "/api/teams/sessions/{id}",
    operation_id = "deleteTeamSession",
    tag = "teams",
    params(
        ("id" = String, Path, description = "Its number, or a unique prefix of its session's id"),
        File,
    ),
    responses(
        (status = 200, description = "The conversation as it was", body = TeamSession),
        (status = 404, description = "There is no such conversation"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn delete(
    State(app): Daemon,
    Written(id): Written,
    Query(File { with_file }): Query<File>,
) -> Result<Response, Failure> {
    let pair = app.engine.teams().find_pair(&id).await?;
    let file = if with_file == Some(true) { SessionFile::Delete } else { SessionFile::Keep };
    Ok(json::ok(&view::session(app.engine.teams().delete_pair(pair.id, file).await?)))
}
