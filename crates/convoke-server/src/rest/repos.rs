//! Projects.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{FileMatches, NewRepo, Repo, Repos};
use convoke_engine::Archived;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, Written};
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::query::{self, Query};
use crate::view;

/// Matching files that are listed, by default.
pub(crate) const MATCHES: u64 = 20;

/// Add a project
///
/// The folder must be inside the workspace root, also after symbolic links are resolved.
#[utoipa::path(
    post,
    path = "/api/repos",
    operation_id = "addRepo",
    tag = "repos",
    request_body = NewRepo,
    responses(
        (status = 201, description = "The project was added", body = Repo),
        (status = 404, description = "There is no such folder"),
        (status = 409, description = "The folder is already a project"),
    )
)]
pub(super) async fn add(State(app): Daemon, Json(new): Json<NewRepo>) -> Result<Response, Failure> {
    let project = app.engine.projects().add(Path::new(&new.path), new.name).await?;
    Ok(json::answer(StatusCode::CREATED, &view::repo(project)))
}

/// List the projects
#[utoipa::path(
    get,
    path = "/api/repos",
    operation_id = "listRepos",
    tag = "repos",
    params(ReposQuery),
    responses((status = 200, description = "All projects, in the order in which they were added", body = Repos))
)]
pub(super) async fn list(
    State(app): Daemon,
    Query(listed): Query<ReposQuery>,
) -> Result<Response, Failure> {
    let mut projects = app.engine.projects().list().await?;
    if listed.found.unwrap_or_default() {
        let sessions = match listed.archived {
            Some(true) => Archived::Shown,
            Some(false) | None => Archived::Hidden,
        };
        projects.extend(app.engine.histories().projects(sessions).await?);
    }
    Ok(json::ok(&Repos { repos: projects.into_iter().map(view::repo).collect() }))
}

/// Which projects are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ReposQuery {
    /// Also folders that only imported sessions name, with the time at which they were found, and removed projects
    /// with sessions; at most 1000 of each.
    found: Option<bool>,
    /// With `found`: also those of which all sessions are archived.
    archived: Option<bool>,
}

/// Remove a project
///
/// Its sessions stay readable. Nothing in the folder is touched.
#[utoipa::path(
    delete,
    path = "/api/repos/{id}",
    operation_id = "removeRepo",
    tag = "repos",
    params(("id" = String, Path, description = "Its id, or a unique prefix of it")),
    responses(
        (status = 204, description = "The project was removed"),
        (status = 404, description = "There is no such project"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn remove(
    State(app): Daemon,
    Written(text): Written,
) -> Result<StatusCode, Failure> {
    let id = app.engine.projects().find(&text).await?;
    app.engine.projects().remove(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which files are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FilesQuery {
    /// Letters of their paths, in their order; without them those at the top.
    #[serde(default)]
    query: String,
    /// How many at most; 20, by default.
    #[serde(default, deserialize_with = "query::within::<_, 1, 200>")]
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u64>,
}

/// Find files and folders of a project
///
/// What git ignores is left out, and so are symbolic links.
#[utoipa::path(
    get,
    path = "/api/repos/{id}/files",
    operation_id = "findFiles",
    tag = "repos",
    params(("id" = String, Path, description = "Its id, or a unique prefix of it"), FilesQuery),
    responses(
        (status = 200, description = "The best matches", body = FileMatches),
        (status = 404, description = "There is no such project"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn files(
    State(app): Daemon,
    Written(text): Written,
    Query(wanted): Query<FilesQuery>,
) -> Result<Response, Failure> {
    let id = app.engine.projects().find(&text).await?;
    let limit = usize::try_from(wanted.limit.unwrap_or(MATCHES)).unwrap_or(usize::MAX);
    let files = app.engine.projects().files(id, &wanted.query, limit).await?;
    Ok(json::ok(&FileMatches { files }))
}
