//! Completes a command of another node after it was executed.

use convoke_api::bodies::Problem;
use convoke_engine::{Error, Incoming, Kind};
use serde_json::Value;

use super::{RETRY_AFTER, RemoteCommand, RemoteResponse};
use crate::app::App;

/// Stores the response for another node; retries while the database is away, since the sender waits
/// for it.
pub(super) async fn finish(app: &App, incoming: &Incoming, response: &RemoteResponse) {
    let response = serde_json::to_string(response).unwrap_or_default();
    while let Err(error) = incoming.finish(response.clone()).await {
        tracing::warn!("the answer to another node cannot be stored: {error}");
        if wait_to_retry(app, &error).await == Retry::No {
            return;
        }
    }
}

/// Whether a failed write is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    Yes,
    No,
}

/// Waits before a retry, if the database may recover and the daemon is not stopping.
async fn wait_to_retry(app: &App, error: &Error) -> Retry {
    if error.kind() != Kind::Unavailable {
        return Retry::No;
    }
    tokio::select! {
        () = tokio::time::sleep(RETRY_AFTER) => Retry::Yes,
        () = app.stop.cancelled() => Retry::No,
    }
}

/// Adds a notice to the session's log that a prompt was refused, because its sender does not wait
/// for the response.
pub(super) async fn add_refused_notice(
    app: &App,
    command: &RemoteCommand,
    response: &RemoteResponse,
) {
    let problem = match response {
        RemoteResponse::Response { status, body, .. } if *status >= 400 => {
            serde_json::from_str(body).ok()
        }
        RemoteResponse::Problem { problem } => Some(problem.as_ref().clone()),
        RemoteResponse::Response { .. }
        | RemoteResponse::Frames { .. }
        | RemoteResponse::Placed { .. } => return,
    };
    let why = problem.map_or_else(|| "it failed".to_owned(), |problem: Problem| problem.detail);
    let fields = command.fields();
    let prompt = fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Err(error) =
        app.engine.nodes().add_refused_notice(&command.key(), prompt, why.clone()).await
    {
        tracing::warn!(
            "a prompt that had waited was refused ({why}), and the notice about it cannot be added: {error}"
        );
    }
}
