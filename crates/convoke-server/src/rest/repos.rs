//! Projects.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{NewRepo, Repo, Repos};

use super::{Daemon, Written};
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::view;

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
    responses((status = 200, description = "All projects, in the order in which they were added", body = Repos))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let projects = app.engine.projects().list().await?;
    Ok(json::ok(&Repos { repos: projects.into_iter().map(view::repo).collect() }))
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
