//! Forwards requests for sessions and projects of other nodes to their node, which executes them as
//! if its own client had sent them, and returns the response.

mod allowed;
mod answering;
mod finishing;
mod owner;
mod rerouting;
mod teams;
mod waiting;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use convoke_api::bodies::{Problem, code};
use convoke_api::frames::{ClientFrame, FrameSubject, ServerFrame};
use convoke_core::id::MessageId;
use convoke_core::user::UserName;
use convoke_engine::{
    Beginning, CallOutcome, Error, Incoming, PlacedQuestion, QueuePolicy, SessionView, TeamQuestion,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use crate::actor::{Actor, BODY_MAX, found, with_body};
use crate::app::App;
use crate::failure::Failure;
use crate::json;
use crate::rest::moving;
use crate::{view, ws};
use allowed::is_allowed_frame;
pub(crate) use allowed::is_allowed_request;
use answering::queued;
use finishing::{add_refused_notice, finish};
use owner::{Owner, of_project, of_request, of_session};
pub(crate) use rerouting::follow;

pub(crate) use teams::{ask_elsewhere, request_elsewhere};
pub(crate) use waiting::with_waiting;

/// How often a command is retried while this daemon is not ready, and the delay.
const TRIES: u32 = 20;
const RETRY_AFTER: Duration = Duration::from_millis(500);
const UNAVAILABLE: u16 = StatusCode::SERVICE_UNAVAILABLE.as_u16();

/// A request extension for requests of another node, with the user there; no client can set it.
#[derive(Debug, Clone)]
pub(crate) struct Forwarded(pub(crate) Option<UserName>);

/// A command of one node to another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RemoteCommand {
    /// A request of REST.
    Request {
        method: String,
        uri: String,
        body: String,
        #[serde(default)]
        by: Option<UserName>,
    },
    /// A frame of a WebSocket.
    Frame {
        #[serde(deserialize_with = "read_client_frame")]
        frame: Box<ClientFrame>,
        #[serde(default)]
        by: Option<UserName>,
    },
    /// A question to a team.
    Question { question: Box<TeamQuestion> },
}

/// A command in its stored form.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCommand {
    /// Whether its sender was answered that it is queued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    queued: bool,
    #[serde(flatten)]
    command: RemoteCommand,
}

/// The result of a command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RemoteResponse {
    Response {
        status: u16,
        media: String,
        body: String,
    },
    Frames {
        #[serde(deserialize_with = "read_server_frames")]
        frames: Vec<ServerFrame>,
    },
    Problem {
        problem: Box<Problem>,
    },
    /// A question was stored in the log of its session.
    Placed {
        placed: PlacedQuestion,
    },
}

/// Leaves the frame to the crate that defines it, so that its many variants are compiled once.
fn read_client_frame<'de, D: Deserializer<'de>>(from: D) -> Result<Box<ClientFrame>, D::Error> {
    let frame = Value::deserialize(from)?;
    ClientFrame::from_value(frame).map(Box::new).map_err(D::Error::custom)
}

/// As `read_client_frame`.
fn read_server_frames<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ServerFrame>, D::Error> {
    let frames = Vec::<Value>::deserialize(from)?;
    frames
        .into_iter()
        .map(ServerFrame::from_value)
        .collect::<Result<_, _>>()
        .map_err(D::Error::custom)
}

impl RemoteCommand {
    /// Whether it may be queued for a node that is away: only prompts, whose ids make them
    /// idempotent.
    fn queue_policy(&self) -> QueuePolicy {
        let is_prompt = match self {
            Self::Request { method, uri, .. } => {
                let path = uri.split('?').next().unwrap_or_default();
                method == "POST" && path.starts_with("/api/sessions/") && path.ends_with("/prompt")
            }
            Self::Frame { frame, .. } => matches!(**frame, ClientFrame::SessionSend { .. }),
            Self::Question { .. } => false,
        };
        if is_prompt { QueuePolicy::MayQueue } else { QueuePolicy::Now }
    }

    /// Whether a node executes it for another one.
    fn is_allowed(&self) -> bool {
        match self {
            Self::Request { method, uri, .. } => is_allowed_request(method, uri),
            Self::Frame { frame, .. } => is_allowed_frame(frame),
            Self::Question { .. } => true,
        }
    }

    /// Whether it may be executed again after its node was killed: prompts and questions have ids
    /// that make them idempotent.
    fn is_repeatable(&self) -> bool {
        self.queue_policy() == QueuePolicy::MayQueue || matches!(self, Self::Question { .. })
    }

    /// Its body, or the fields of its frame.
    fn fields(&self) -> Value {
        match self {
            Self::Request { body, .. } => serde_json::from_str(body).unwrap_or_default(),
            Self::Frame { frame, .. } => serde_json::to_value(frame).unwrap_or_default(),
            Self::Question { .. } => Value::Null,
        }
    }

    /// The key by which commands are serialised: all that concern one session have the same.
    fn key(&self) -> String {
        match self {
            Self::Request { uri, .. } => {
                let id = uri.split(['/', '?']).nth(3).unwrap_or_default();
                percent_encoding::percent_decode_str(id).decode_utf8_lossy().into_owned()
            }
            Self::Frame { frame, .. } => frame.session_id().unwrap_or_default().to_owned(),
            Self::Question { question } => question.pair.to_string(),
        }
    }
}

/// Forwards a request that is for another node.
pub(crate) async fn forward(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if app.engine.nodes().own().is_none() || request.extensions().get::<Forwarded>().is_some() {
        return next.run(request).await;
    }
    match target(&app, request).await {
        Ok(Target::Here(request)) => rerouting::here_or_there(&app, *request, next).await,
        Ok(Target::There(owner, command)) => match send(&app, owner, command).await {
            Ok(response) => response.into_response(),
            Err(failure) => failure.into_response(),
        },
        Ok(Target::Done(response)) => *response,
        Err(failure) => failure.into_response(),
    }
}

enum Target {
    Here(Box<Request>),
    There(Owner, RemoteCommand),
    /// It was answered already.
    Done(Box<Response>),
}

/// Where a request is executed. Reads that only need the database are executed here.
async fn target(app: &Arc<App>, request: Request) -> Result<Target, Failure> {
    let path = request.uri().path().to_owned();
    let mut parts = path.split('/').skip(1);
    let (api, what, id, rest) = (parts.next(), parts.next(), parts.next(), parts.next());
    if api != Some("api") {
        return Ok(Target::Here(Box::new(request)));
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let node = match (what, id, rest) {
        (Some("sessions"), Some(_), None | Some("messages" | "events" | "state" | "move"))
            if is_read =>
        {
            None
        }
        (Some("sessions"), Some(id), Some("move")) => {
            // Its node hands it over; the command itself does not follow the session.
            let (request, node) = moving::executing_node(app, request, id).await?;
            let owner = node.map(Owner::node);
            return there(app, request, owner).await;
        }
        (Some("sessions"), Some(id), _) => {
            if let Some(session) = withdrawn(app, request.method(), &path, id).await? {
                let shown = json::ok(&view::session(session));
                return Ok(Target::Done(Box::new(shown)));
            }
            of_session(app, id).await?
        }
        (Some("teams"), Some(team), Some(what)) => teams::node_of(app, team, what).await?,
        (Some("repos"), Some(id), _) => of_project(app, id).await?,
        (Some("inbox"), Some(id), Some(_)) => of_request(app, id).await?,
        (Some("sessions"), None, None) if request.method() == Method::POST => {
            let (request, body) = with_body(request).await?;
            let project = body.get("repoId").and_then(Value::as_str);
            let node = match project {
                Some(project) => of_project(app, project).await?,
                None => None,
            };
            return there(app, request, node).await;
        }
        _ => None,
    };
    there(app, request, node).await
}

async fn there(app: &App, request: Request, owner: Option<Owner>) -> Result<Target, Failure> {
    let Some(owner) = owner else { return Ok(Target::Here(Box::new(request))) };
    let (request, mut body) = with_body(request).await?;
    let (method, uri) = (request.method().to_string(), request.uri().to_string());
    // An id makes the prompt idempotent.
    if uri.ends_with("/prompt")
        && let Some(fields) = body.as_object_mut()
        && !fields.contains_key("messageId")
    {
        let id = MessageId::from_random((app.random)());
        fields.insert("messageId".to_owned(), id.to_string().into());
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let by = request.extensions().get::<Actor>().and_then(|actor| actor.name.clone());
    Ok(Target::There(owner, RemoteCommand::Request { method, uri, body, by }))
}

/// The session of a queued prompt that this request withdraws.
async fn withdrawn(
    app: &App,
    method: &Method,
    path: &str,
    id: &str,
) -> Result<Option<SessionView>, Error> {
    let Some(prompt) = waiting::removed(method, path) else { return Ok(None) };
    let id = percent_encoding::percent_decode_str(id).decode_utf8_lossy();
    let Some(session) = found(app.engine.sessions().find(&id).await)? else { return Ok(None) };
    waiting::withdraw(app, session, prompt).await
}

/// Forwards a frame that is for another node; `None` if it is for this one.
pub(crate) async fn forward_frame(
    app: &App,
    frame: &ClientFrame,
    by: Option<UserName>,
) -> Result<Option<Vec<ServerFrame>>, Failure> {
    use ClientFrame as F;
    if app.engine.nodes().own().is_none() {
        return Ok(None);
    }
    if let F::SessionOpen { .. } | F::SessionPage { .. } | F::SessionClose { .. } = frame {
        return Ok(None);
    }
    let node = match frame.subject() {
        FrameSubject::Session(session) => of_session(app, session).await?,
        FrameSubject::Request(request) => of_request(app, request).await?,
        FrameSubject::Project(project) if is_allowed_frame(frame) => {
            of_project(app, project).await?
        }
        FrameSubject::Project(_) | FrameSubject::Other => None,
    };
    let Some(owner) = node else { return Ok(None) };
    if let F::QueueRemove { session_id, message_id } = frame {
        let session = app.engine.sessions().find(session_id).await?;
        if let Some(session) = waiting::withdraw(app, session, *message_id).await? {
            let session = view::session_item(session);
            return Ok(Some(vec![ServerFrame::SessionChanged { session }]));
        }
    }
    let mut frame = Box::new(frame.clone());
    if let F::SessionSend { message_id, .. } = &mut *frame {
        // An id makes the prompt idempotent.
        message_id.get_or_insert_with(|| MessageId::from_random((app.random)()));
    }
    match send(app, owner, RemoteCommand::Frame { frame, by }).await? {
        RemoteResponse::Frames { frames } => Ok(Some(frames)),
        RemoteResponse::Problem { problem } => Err(Failure::from_problem(*problem)),
        RemoteResponse::Response { .. } | RemoteResponse::Placed { .. } => {
            Err(Failure::internal("a node answered a frame with a response"))
        }
    }
}

async fn send(app: &App, owner: Owner, command: RemoteCommand) -> Result<RemoteResponse, Failure> {
    let mut stored = StoredCommand { queued: false, command };
    match rerouting::call(app, owner, &mut stored).await? {
        CallOutcome::Answered(response) => serde_json::from_str(&response)
            .map_err(|error| Failure::internal(format!("a node answered {error}"))),
        CallOutcome::Queued { node } => queued(app, &stored.command, node.name).await,
    }
}

/// Executes commands of other nodes: those of one session in order, the others concurrently.
pub(crate) async fn carry_out(app: Arc<App>, router: Router) {
    let Some(mut commands) = app.engine.commands() else { return };
    let mut running: HashMap<String, JoinHandle<()>> = HashMap::new();
    while let Some(incoming) = commands.recv().await {
        running.retain(|_, task| !task.is_finished());
        let stored = serde_json::from_str::<StoredCommand>(&incoming.command.request);
        let key = stored.as_ref().map(|stored| stored.command.key()).unwrap_or_default();
        let before = running.remove(&key);
        let (app, router) = (Arc::clone(&app), router.clone());
        let task = tokio::spawn(async move {
            if let Some(before) = before {
                // A panic was logged.
                before.await.ok();
            }
            let response = match stored {
                Ok(StoredCommand { command, queued }) if command.is_allowed() => {
                    let response = execute_with_retries(&app, &router, &incoming, &command).await;
                    // Left for the next start of this daemon, or for the node that its session has
                    // moved to.
                    let Some(response) = response else { return };
                    let is_prompt = command.queue_policy() == QueuePolicy::MayQueue;
                    if is_prompt && (queued || incoming.is_forgotten()) {
                        add_refused_notice(&app, &command, &response).await;
                    }
                    response
                }
                Ok(_) => {
                    let detail = "a node carries out only what concerns its sessions";
                    problem(Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail))
                }
                Err(error) => problem(Failure::invalid(format!("an older node? {error}"))),
            };
            finish(&app, &incoming, &response).await;
        });
        running.insert(key, task);
    }
}

/// Executes a command, with retries while this daemon is not ready. `None` for a queued prompt that
/// could not be executed before the daemon stopped, for a withdrawn one, and for a command that is
/// no longer for this node.
async fn execute_with_retries(
    app: &Arc<App>,
    router: &Router,
    incoming: &Incoming,
    command: &RemoteCommand,
) -> Option<RemoteResponse> {
    let mut tries = 0;
    loop {
        let response = execute(app, router, incoming, command).await?;
        if rerouting::is_moved_away(&response) {
            // Nothing was done here.
            if let Err(error) = incoming.pass_on().await {
                tracing::warn!("a command is not passed on: {error}");
            }
            return None;
        }
        let is_unavailable = match &response {
            RemoteResponse::Response { status, .. } => *status == UNAVAILABLE,
            RemoteResponse::Problem { problem } => problem.status == UNAVAILABLE,
            RemoteResponse::Frames { .. } | RemoteResponse::Placed { .. } => false,
        };
        tries += 1;
        let may_wait = command.queue_policy() == QueuePolicy::MayQueue;
        if !is_unavailable || !(may_wait || tries < TRIES) {
            return Some(response);
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY_AFTER) => {}
            () = app.stop.cancelled() => return (!may_wait).then_some(response),
        }
    }
}

/// Executes a command once. `None` for a withdrawn prompt, and for a command that is no longer for
/// this node.
async fn execute(
    app: &Arc<App>,
    router: &Router,
    incoming: &Incoming,
    command: &RemoteCommand,
) -> Option<RemoteResponse> {
    if incoming.command.was_begun && !command.is_repeatable() {
        let detail = "the node was restarted while it carried this out; look whether it is done";
        // Not a 4xx, which would mean that nothing was done.
        return Some(problem(Failure::new(StatusCode::BAD_GATEWAY, code::NODE_AWAY, detail)));
    }
    match incoming.begin().await {
        Ok(Beginning::Ours) => {}
        Ok(Beginning::NotOurs) => {
            incoming.put_back();
            return None;
        }
        Err(error) => return Some(problem(error.into())),
    }
    Some(match command {
        RemoteCommand::Request { method, uri, body, by } => {
            let request = Request::builder().method(&**method).uri(uri);
            let request = request.extension(Forwarded(by.clone()));
            let request = request.header(CONTENT_TYPE, "application/json");
            match request.body(Body::from(body.clone())) {
                Ok(request) => respond(router.clone(), request).await,
                Err(error) => problem(Failure::invalid(error.to_string())),
            }
        }
        RemoteCommand::Frame { frame, by } => {
            match ws::execute_frame(Arc::clone(app), (**frame).clone(), by.clone()).await {
                Ok(frames) => RemoteResponse::Frames { frames },
                Err(failure) => problem(failure),
            }
        }
        RemoteCommand::Question { question } => {
            match app.engine.teams().place_for_node((**question).clone()).await {
                Ok(placed) => RemoteResponse::Placed { placed },
                Err(error) => problem(error.into()),
            }
        }
    })
}

async fn respond(router: Router, request: Request) -> RemoteResponse {
    let Ok(response) = router.oneshot(request).await;
    let status = response.status().as_u16();
    let media = response.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
    let media = media.unwrap_or_default().to_owned();
    match to_bytes(response.into_body(), BODY_MAX).await {
        Ok(bytes) => {
            let body = String::from_utf8_lossy(&bytes).into_owned();
            RemoteResponse::Response { status, media, body }
        }
        Err(error) => problem(Failure::internal(error.to_string())),
    }
}

fn problem(failure: Failure) -> RemoteResponse {
    RemoteResponse::Problem { problem: Box::new(failure.into_problem()) }
}
