//! Sessions that move to another machine.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use convoke_api::bodies::{MoveFiles as Files, MoveSession, MoveTarget, MoveTargets, MovedSession};
use convoke_core::id::{NodeId, SessionId};
use convoke_core::notice::{Event, LifecycleEvent};
use convoke_core::user::Role;
use convoke_engine::{
    Destination, Error, LeftWorktree, MoveError, MoveFiles, MoveOrder, MoveRunning, MoveSource,
    Moved, Node,
};
use serde_json::Value;

use super::{Daemon, Named, find_session};
use crate::access::{AccessRule, RoleScope};
use crate::actor::{Actor, found, with_body};
use crate::app::App;
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::view;

/// List the nodes to which a session may move
///
/// With the projects there that have the same git remote, or the reason why it may not.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/move",
    operation_id = "listMoveTargets",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 200, description = "The other nodes", body = MoveTargets),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session cannot move at all: it belongs to teams, its work tree was removed, or there are no other nodes; or the prefix matches several ids"),
    )
)]
pub(super) async fn targets(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    let targets = app.engine.moves().targets(id).await?;
    let shown = |target: convoke_engine::MoveTarget| MoveTarget {
        node: target.node.id,
        name: target.node.name,
        away: target.node.is_away,
        repos: target.fitting.into_iter().map(view::repo).collect(),
        others: target.others.into_iter().map(view::repo).collect(),
        reason: target.reason,
    };
    Ok(json::ok(&MoveTargets { targets: targets.into_iter().map(shown).collect() }))
}

/// Move a session to another node
///
/// Its log, its queued prompts, its checkpoints, its work tree and, for Claude Code and Codex, the
/// agent's own record of the conversation go along. The agent is stopped; the next prompt starts it
/// there.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/move",
    operation_id = "moveSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = MoveSession,
    responses(
        (status = 200, description = "The session belongs to the other node", body = MovedSession),
        (status = 403, description = "The role in one of the two projects does not allow it"),
        (status = 404, description = "There is no such session, node or project"),
        (status = 409, description = "A turn is running, no or several projects have the same remote, the session is there already or cannot move, its files are too large, its node is away or is not, the other node could not create its work tree and handed it back, or the prefix matches several ids"),
        (status = 503, description = "The other node is away"),
    )
)]
pub(super) async fn go(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Named(id): Named,
    Json(body): Json<MoveSession>,
) -> Result<Response, Failure> {
    let Destination { node, project } = destination(&app, &actor, id, &body).await?;
    let order = MoveOrder {
        to: node.id,
        project: project.id,
        files: match body.files {
            None | Some(Files::Auto) => MoveFiles::Auto,
            Some(Files::Restore) => MoveFiles::Restore,
            Some(Files::Checkpoint) => MoveFiles::Checkpoint,
            Some(Files::Leave) => MoveFiles::Leave,
        },
        running: if body.stop { MoveRunning::Stop } else { MoveRunning::Refuse },
        source: if body.from_away { MoveSource::Away } else { MoveSource::Running },
        by: actor.name,
    };
    let Moved { session, notice, remains } = app.engine.moves().go(id, order).await?;
    let session = view::session(session);
    let (moved, mut text) = match notice.map(|notice| (notice.event, notice.text)) {
        Some((Event::Lifecycle(LifecycleEvent::Moved(moved)), text)) => (Some(moved), text),
        Some(_) | None => (None, not_arrived(&app, &node).await?),
    };
    if let Some(LeftWorktree { path, why }) = remains {
        text.push_str(&format!(
            " The old work tree {path} remains, because {why}; the next start of the daemon there removes it."
        ));
    }
    Ok(json::ok(&MovedSession { session, moved, text }))
}

/// The text about a session that has not arrived yet.
async fn not_arrived(app: &App, node: &Node) -> Result<String, Failure> {
    let name = &node.name;
    let nodes = app.engine.nodes().list().await?;
    let is_away = nodes.iter().any(|it| it.id == node.id && it.is_away);
    Ok(if is_away {
        format!(
            "{name} has it, and is away: it arrives when {name} is back. `convoke session move --from-away` takes it \
             elsewhere with everything that goes along."
        )
    } else {
        format!("{name} has it, and has not written its files yet.")
    })
}

/// The destination of a move, if the human may create sessions there.
async fn destination(
    app: &App,
    actor: &Actor,
    id: SessionId,
    body: &MoveSession,
) -> Result<Destination, Failure> {
    let project = body.project.as_deref();
    let destination = app.engine.moves().destination(id, &body.to, project).await?;
    let (action, scope) = (Some("move session"), RoleScope::Project);
    let rule = AccessRule { role: Role::Member, action, scope };
    actor.check(rule, Some(destination.project.id))?;
    Ok(destination)
}

/// The node that executes a move: the session's own, unless that is away and the session is to be
/// taken from it. The order is checked here, where the role of the human is known, and forwarded
/// with resolved ids.
pub(crate) async fn executing_node(
    app: &Arc<App>,
    request: Request,
    id: &str,
) -> Result<(Request, Option<NodeId>), Failure> {
    let Some(id) = found(find_session(app, id).await)? else { return Ok((request, None)) };
    let Some(owner) = app.engine.nodes().of_session(id).await? else { return Ok((request, None)) };
    let (request, body) = with_body(request).await?;
    // The route reports the error.
    let Ok(mut body) = serde_json::from_value::<MoveSession>(body) else {
        return Ok((request, None));
    };
    let nodes = app.engine.nodes().list().await?;
    let owner = nodes.into_iter().find(|node| node.id == owner);
    let Some(owner) = owner else { return Ok((request, None)) };
    if body.from_away {
        return Ok((request, None));
    }
    if owner.is_away {
        return Err(Error::from(MoveError::SourceAway { node: owner.name }).into());
    }
    let actor = request.extensions().get::<Actor>().cloned();
    let actor = actor.ok_or_else(|| Failure::internal("a request without a human"))?;
    let Destination { node, project } = destination(app, &actor, id, &body).await?;
    (body.to, body.project) = (node.id.to_string(), Some(project.id.to_string()));
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let (parts, _) = request.into_parts();
    Ok((Request::from_parts(parts, body.into()), Some(owner.id)))
}

/// What is moved where, for the audit trail.
pub(crate) fn audited(title: &str, body: &Value) -> String {
    let to = body.get("to").and_then(Value::as_str).unwrap_or_default();
    format!("{title} to {to}")
}
