//! Searching what was said.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::{Fragment, Hit, Hits};
use convoke_engine::{HitPlace, SearchQuery};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, find_session};
use crate::failure::Failure;
use crate::json;
use crate::query::{self, Query};

/// Hits in a page, by default.
const LIMIT: u64 = 20;

/// What is searched for, and where.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct What {
    /// Words that must all occur; `*` after three or more letters matches the rest of a word.
    /// Words after the 32nd are ignored.
    q: String,
    /// Only in this project: its id, or a unique prefix of it.
    repo_id: Option<String>,
    /// Only in this session: its id, its canonical id, or a unique prefix of its id.
    session_id: Option<String>,
    /// Only older hits: `next` of the page before.
    #[serde(default, deserialize_with = "query::within::<_, 0, 9_007_199_254_740_991>")]
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    before: Option<u64>,
    /// How many at most; 20, by default.
    #[serde(default, deserialize_with = "query::within::<_, 1, 100>")]
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u64>,
}

/// Search messages
/// Newest hits first.
#[utoipa::path(
    get,
    path = "/api/search",
    operation_id = "search",
    tag = "search",
    params(What),
    responses(
        (status = 200, description = "A page of hits", body = Hits),
        (status = 404, description = "There is no such project or session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn search(
    State(app): Daemon,
    Query(what): Query<What>,
) -> Result<Response, Failure> {
    let project = match &what.repo_id {
        Some(text) => Some(app.engine.projects().find(text).await?),
        None => None,
    };
    let session = match &what.session_id {
        Some(text) => Some(find_session(&app, text).await?),
        None => None,
    };
    let limit = u32::try_from(what.limit.unwrap_or(LIMIT)).unwrap_or(u32::MAX);
    let query = SearchQuery { text: what.q, project, session };
    let page = app.engine.sessions().search(query, what.before.map(HitPlace::new), limit).await?;
    let hit = |hit: convoke_engine::Hit| Hit {
        session_id: hit.session_id,
        seq: hit.seq,
        timestamp: hit.timestamp,
        excerpt: hit.excerpt.into_iter().map(fragment).collect(),
    };
    let hits = page.hits.into_iter().map(hit).collect();
    Ok(json::ok(&Hits { hits, next: page.next.map(HitPlace::get) }))
}

fn fragment(fragment: convoke_engine::Fragment) -> Fragment {
    Fragment { text: fragment.text, matched: fragment.matched }
}
