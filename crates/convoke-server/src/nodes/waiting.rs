//! Prompts that are queued for a node that is away: every node shows them in the queue of their
//! session, and can withdraw them.

use axum::http::Method;
use convoke_api::bodies::{GivenAttachment, GivenComment};
use convoke_core::id::{MessageId, SessionId};
use convoke_core::prompt::Attachment;
use convoke_core::review::ReviewComment;
use convoke_core::state::{QueuedPrompt, SessionState};
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use convoke_engine::{Error, QueuePolicy, SessionView};
use serde_json::Value;

use super::{RemoteCommand, StoredCommand};
use crate::app::App;

/// A prompt that is queued for a node.
struct Waiting {
    /// The number of the command that delivers it.
    command: u64,
    prompt: QueuedPrompt,
}

/// The state of a session as clients see it, with the prompts for the session's node at the end of
/// the queue.
pub(crate) async fn with_waiting(
    app: &App,
    session: SessionId,
    mut state: Vec<SessionState>,
) -> Result<Vec<SessionState>, Error> {
    let waiting = of_session(app, session).await?;
    if waiting.is_empty() {
        return Ok(state);
    }
    let waiting = waiting.into_iter().map(|it| it.prompt);
    let queue = state.iter_mut().find_map(|state| match state {
        SessionState::Queue { prompts, .. } => Some(prompts),
        SessionState::Commands { .. }
        | SessionState::Modes { .. }
        | SessionState::Settings { .. }
        | SessionState::Usage(_) => None,
    });
    match queue {
        Some(prompts) => prompts.extend(waiting),
        None => state.push(SessionState::Queue { prompts: waiting.collect(), held: false }),
    }
    Ok(state)
}

/// Withdraws a prompt that is queued for the node of its session; `None` if it is not queued.
pub(super) async fn withdraw(
    app: &App,
    session: SessionId,
    prompt: MessageId,
) -> Result<Option<SessionView>, Error> {
    let waiting = of_session(app, session).await?;
    let Some(found) = waiting.into_iter().find(|it| it.prompt.id == prompt) else {
        return Ok(None);
    };
    // Its node has just begun to execute it, so the request is forwarded, as for any other queued
    // prompt.
    if !app.engine.nodes().withdraw(found.command).await? {
        return Ok(None);
    }
    app.engine.sessions().get(session).await.map(Some)
}

/// The prompt that a request removes from a queue.
pub(super) fn removed(method: &Method, path: &str) -> Option<MessageId> {
    let mut parts = path.split('/').skip(4);
    let (queue, prompt, more) = (parts.next(), parts.next(), parts.next());
    let is_it = method == Method::DELETE && queue == Some("queue") && more.is_none();
    prompt.filter(|_| is_it)?.parse().ok()
}

/// The prompts that are queued for the node of a session; none for a session of this node.
async fn of_session(app: &App, session: SessionId) -> Result<Vec<Waiting>, Error> {
    let nodes = app.engine.nodes();
    let Some(node) = nodes.of_session(session).await? else { return Ok(Vec::new()) };
    let waiting = nodes.waiting_prompts(session).await?;
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let name = nodes.name(node).await?.unwrap_or_default();
    let shown = |(id, at, request): (u64, Timestamp, String)| {
        let StoredCommand { command, .. } = serde_json::from_str(&request).ok()?;
        if command.queue_policy() != QueuePolicy::MayQueue {
            return None;
        }
        let (fields, by) = (command.fields(), command.by().cloned());
        Some(Waiting { command: id, prompt: prompt(&fields, by, at, name.clone())? })
    };
    let mut waiting: Vec<Waiting> = waiting.into_iter().filter_map(shown).collect();
    for attachment in waiting.iter_mut().flat_map(|it| &mut it.prompt.attachments) {
        describe(app, attachment).await;
    }
    Ok(waiting)
}

/// Looks up an attachment, as for a prompt that is sent; one that cannot be read stays as it was
/// given.
async fn describe(app: &App, attachment: &mut Attachment) {
    let stored = app.engine.sessions().attachments();
    if let Ok(blob) = stored.get(&attachment.hash, &attachment.name).await {
        attachment.size = blob.bytes.len() as u64;
        attachment.media_type = blob.media_type.to_owned();
    }
}

/// Builds the queued prompt from the fields of its request.
fn prompt(
    fields: &Value,
    by: Option<UserName>,
    timestamp: Timestamp,
    waits_for: String,
) -> Option<QueuedPrompt> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let attachments: Vec<GivenAttachment> = given(fields, "attachments");
    let attachment = |given: GivenAttachment| Attachment {
        hash: given.hash,
        name: given.name,
        media_type: given.media_type.unwrap_or_default(),
        size: given.size.unwrap_or_default(),
    };
    let review: Vec<GivenComment> = given(fields, "review");
    Some(QueuedPrompt {
        id: text("messageId")?.parse().ok()?,
        text: text("text").or_else(|| text("content")).unwrap_or_default(),
        attachments: attachments.into_iter().map(attachment).collect(),
        files: given(fields, "files"),
        review: review.into_iter().map(ReviewComment::from).collect(),
        by,
        timestamp,
        waits_for: Some(waits_for),
    })
}

/// A list among the fields; empty if it is absent.
fn given<T: serde::de::DeserializeOwned>(fields: &Value, name: &str) -> Vec<T> {
    let value = fields.get(name).cloned().unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}

impl RemoteCommand {
    /// The user who sent it; `None` for the owner of the daemon.
    fn by(&self) -> Option<&UserName> {
        match self {
            Self::Request { by, .. } | Self::Frame { by, .. } => by.as_ref(),
            Self::Question { .. } => None,
        }
    }
}
