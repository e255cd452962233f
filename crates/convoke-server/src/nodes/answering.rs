//! Turns the response of another node into the response for the own client.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use convoke_api::bodies::Prompted;
use convoke_api::frames::ServerFrame;
use convoke_engine::Error;
use serde_json::Value;

use super::{RemoteCommand, RemoteResponse};
use crate::app::App;
use crate::failure::Failure;
use crate::view;

/// The response for a prompt that is queued for a node that is away.
pub(super) async fn queued(
    app: &App,
    command: &RemoteCommand,
    node: String,
) -> Result<RemoteResponse, Failure> {
    let fields = command.fields();
    let message_id = fields.get("messageId").and_then(Value::as_str);
    let message_id = message_id.unwrap_or_default().parse().map_err(Error::from)?;
    let session = app.engine.sessions().named(&command.key()).await?;
    let (session_id, uid) = view::names(&session.stored);
    Ok(match command {
        RemoteCommand::Request { .. } => {
            let (rev, waits_for) = (session.stored.summary.rev, Some(node));
            let prompted =
                Prompted { accepted: true, message_id, seq: None, queued: true, rev, waits_for };
            let body = serde_json::to_string(&prompted).unwrap_or_default();
            let media = "application/json".to_owned();
            RemoteResponse::Response { status: StatusCode::ACCEPTED.as_u16(), media, body }
        }
        RemoteCommand::Frame { .. } => {
            let (seq, queued, waits_for) = (None, true, Some(node));
            let sent =
                ServerFrame::SessionSent { session_id, uid, message_id, seq, queued, waits_for };
            RemoteResponse::Frames { frames: vec![sent] }
        }
        // Questions are never queued.
        RemoteCommand::Question { .. } => {
            return Err(Failure::internal("a question waits for a node"));
        }
    })
}

impl RemoteResponse {
    pub(super) fn into_response(self) -> Response {
        match self {
            Self::Response { status, media, body } => {
                let mut response = Response::new(Body::from(body));
                *response.status_mut() =
                    StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
                if let Ok(media) = HeaderValue::from_str(&media) {
                    response.headers_mut().insert(CONTENT_TYPE, media);
                }
                response
            }
            Self::Problem { problem } => Failure::from_problem(*problem).into_response(),
            Self::Frames { .. } | Self::Placed { .. } => {
                Failure::internal("a node answered a request with frames").into_response()
            }
        }
    }
}
