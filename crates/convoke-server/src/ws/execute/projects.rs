//! Projects, and the folders and files that are completed while a user types.

use std::path::Path;

use convoke_api::frames::ServerFrame;

use super::{Replied, Reply};
use crate::app::App;
use crate::rest::repos::MATCHES;
use crate::view;

/// Matching files that are listed at most.
const MATCHES_MAX: u64 = 200;

pub(super) async fn project_list(app: &App) -> Replied {
    let projects = app.engine.projects().list().await?.into_iter().map(view::repo).collect();
    Ok(ServerFrame::ProjectList { projects, editor: app.config.editor() }.into())
}

pub(super) async fn project_add(app: &App, path: &str, name: Option<String>) -> Replied {
    let project = view::repo(app.engine.projects().add(Path::new(path), name).await?);
    Ok(ServerFrame::ProjectAdded { project }.into())
}

pub(super) async fn project_remove(app: &App, id: &str) -> Replied {
    let project_id = app.engine.projects().find(id).await?;
    app.engine.projects().remove(project_id).await?;
    Ok(ServerFrame::ProjectRemoved { project_id }.into())
}

pub(super) async fn folder_complete(app: &App, path: String) -> Reply {
    let folders = app.engine.projects().complete_folder(&path).await;
    ServerFrame::FolderCompletions { path, folders }.into()
}

pub(super) async fn file_complete(
    app: &App,
    project: &str,
    query: String,
    limit: Option<u32>,
) -> Replied {
    let project_id = app.engine.projects().find(project).await?;
    let limit = limit.map_or(MATCHES, u64::from).clamp(1, MATCHES_MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let files = app.engine.projects().files(project_id, &query, limit).await?;
    Ok(ServerFrame::FileCompletions { project_id, query, files }.into())
}
