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
/// The folder must lie within the workspace root, also once links are followed.
#[utoipa::path(
    post,
    path = "/api/repos",
    operation_id = "addRepo",
    tag = "repos",
    request_body = NewRepo,
    responses(
        (status = 201, description = "The project was added", body = Repo),
        (status = 404, description = "There is no such folder"),
        (status = 409, description = "The folder is a project already"),
    )
)]
pub(super) async fn add(State(app): Daemon, Json(new): Json<NewRepo>) -> Result<Response, Failure> {
    let project = app.engine.add_project(Path::new(&new.path), new.name).await?;
    Ok(json::answer(StatusCode::CREATED, &view::repo(project)))
}

/// List the projects
#[utoipa::path(
    get,
    path = "/api/repos",
    operation_id = "listRepos",
    tag = "repos",
    responses((status = 200, description = "All projects, the first added first", body = Repos))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let projects = app.engine.projects().await?;
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
    params(("id" = String, Path, description = "Its id, or an unambiguous beginning of it")),
    responses(
        (status = 204, description = "The project was removed"),
        (status = 404, description = "There is no such project"),
        (status = 409, description = "Several ids begin so"),
    )
)]
pub(super) async fn remove(
    State(app): Daemon,
    Written(text): Written,
) -> Result<StatusCode, Failure> {
    let id = app.engine.find_project(&text).await?;
    app.engine.remove_project(id).await?;
    Ok(StatusCode::NO_CONTENT)
}
