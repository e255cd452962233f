//! Requests that reach a node while the session that they are about moves away from it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use convoke_api::bodies::{Problem, code};
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::user::UserName;
use convoke_engine::{CallOutcome, Delivery, Error};

use super::owner::{Owner, owner_of};
use super::{RemoteResponse, StoredCommand, Target, UNAVAILABLE, forward_frame, send, target};
use crate::actor::with_body;
use crate::app::App;
use crate::failure::{Failure, MovedAway};

/// How often a request follows a session that moves while its node is looked up.
const MOVES_MAX: u32 = 5;

/// Answers a request here. If its session has moved away meanwhile, the session's task has refused
/// it before doing anything, and it is forwarded to the new node.
pub(super) async fn here_or_there(app: &Arc<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_about_session = path.starts_with("/api/sessions/") || path.starts_with("/api/inbox/");
    if request.method() == Method::GET || !is_about_session {
        return next.run(request).await;
    }
    let (request, again) = match copied(request).await {
        Ok(copied) => copied,
        Err(failure) => return failure.into_response(),
    };
    let response = next.run(request).await;
    if response.extensions().get::<MovedAway>().is_none() {
        return response;
    }
    match target(app, again).await {
        Ok(Target::There(owner, command)) => match send(app, owner, command).await {
            Ok(response) => response.into_response(),
            Err(failure) => failure.into_response(),
        },
        Ok(Target::Done(done)) => *done,
        // The session has moved back.
        Ok(Target::Here(_)) => response,
        Err(failure) => failure.into_response(),
    }
}

/// A request, and a copy with the parts that another node needs.
async fn copied(request: Request) -> Result<(Request, Request), Failure> {
    let (request, body) = with_body(request).await?;
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let mut again = Request::new(body);
    *again.method_mut() = request.method().clone();
    *again.uri_mut() = request.uri().clone();
    *again.extensions_mut() = request.extensions().clone();
    Ok((request, again))
}

/// Sends a command to another node; if the session has moved before that, to its new node.
pub(super) async fn call(
    app: &App,
    owner: Owner,
    stored: &mut StoredCommand,
) -> Result<CallOutcome, Failure> {
    let queue_policy = stored.command.queue_policy();
    let (mut owner, mut tries) = (owner, 0);
    loop {
        let encode = |delivery: Delivery| {
            stored.queued = delivery == Delivery::Later;
            serde_json::to_string(&*stored).unwrap_or_default()
        };
        let nodes = app.engine.nodes();
        match nodes.call(owner.session, owner.node, queue_policy, encode).await {
            Err(Error::OtherNode { session }) if tries < MOVES_MAX => {
                tries += 1;
                let moved = Error::OtherNode { session };
                owner = owner_of(app, session).await?.ok_or(moved)?;
            }
            called => return Ok(called?),
        }
    }
}

/// Whether the session belongs to another node.
pub(super) fn is_moved_away(response: &RemoteResponse) -> bool {
    match response {
        RemoteResponse::Response { status, body, .. } => {
            let problem = serde_json::from_str::<Problem>(body);
            *status == UNAVAILABLE && problem.is_ok_and(|it| it.code == code::SESSION_MOVED)
        }
        RemoteResponse::Problem { problem } => problem.code == code::SESSION_MOVED,
        RemoteResponse::Frames { .. } | RemoteResponse::Placed { .. } => false,
    }
}

/// Forwards a frame to the node that its session has moved to. The session's task here has refused
/// it before doing anything.
pub(crate) async fn follow(
    app: &App,
    frame: &ClientFrame,
    by: Option<UserName>,
    moved: Failure,
) -> Result<Vec<ServerFrame>, Failure> {
    forward_frame(app, frame, by).await?.ok_or(moved)
}
