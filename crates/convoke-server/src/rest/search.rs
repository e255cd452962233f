//! Searching what was said.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::Hits;
use serde::Deserialize;
use utoipa::IntoParams;

use super::Daemon;
use crate::failure::Failure;
use crate::json;
use crate::query::{self, Query};
use crate::search::{self, SearchRequest};

/// What is searched for, and where.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchQuery {
    /// Words that must all occur; `*` after three or more letters matches the rest of a word.
    /// Words after the 32nd are ignored. The filters `agent:NAME`, `project:NAME`, `role:user|agent|system`,
    /// `since:DATE` and `until:DATE` may stand among them, and `order:best`.
    q: String,
    /// Only in this project: its id, or a unique prefix of it.
    repo_id: Option<String>,
    /// Only in this session: its id, its canonical id, or a unique prefix of its id.
    session_id: Option<String>,
    /// Only in sessions of this agent.
    #[param(pattern = "^[A-Za-z0-9_.-]+$")]
    agent: Option<String>,
    /// Only what this side said: `user`, `agent` or `system`.
    #[param(pattern = "^(user|agent|system)$")]
    role: Option<String>,
    /// Only what was said at this date or time, or later: `2026-11-15` (UTC), or RFC 3339.
    #[param(pattern = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$")]
    since: Option<String>,
    /// Only what was said before this time, or until the end of this date.
    #[param(pattern = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$")]
    until: Option<String>,
    /// Which hits come first: `newest`, by default, or `best`, which are the most relevant of the newest 10,000.
    #[param(pattern = "^(newest|best)$")]
    order: Option<String>,
    /// Only the hits that follow: `next` of the page before.
    #[serde(default, deserialize_with = "query::within::<_, 0, 9_007_199_254_740_991>")]
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    before: Option<u64>,
    /// How many at most; 20, by default.
    #[serde(default, deserialize_with = "query::within::<_, 1, 100>")]
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u64>,
}

/// Search messages
/// Newest hits first, or the most relevant.
#[utoipa::path(
    get,
    path = "/api/search",
    operation_id = "search",
    tag = "search",
    params(SearchQuery),
    responses(
        (status = 200, description = "A page of hits", body = Hits),
        (status = 404, description = "There is no such project or session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn find(
    State(app): Daemon,
    Query(what): Query<SearchQuery>,
) -> Result<Response, Failure> {
    let wanted = SearchRequest {
        text: what.q,
        project: what.repo_id,
        session: what.session_id,
        agent: what.agent,
        role: what.role,
        since: what.since,
        until: what.until,
        order: what.order,
        before: what.before,
        limit: what.limit.and_then(|limit| u32::try_from(limit).ok()),
    };
    Ok(json::ok(&search::search(&app, wanted).await?))
}
