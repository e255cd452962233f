//! Executes the frames of a client.

mod opening;
mod projects;
mod requests;
mod sessions;

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::StatusCode;
use convoke_api::bodies::{self, ConfigPatch, Hits, NewRule, code};
use convoke_api::frames::{AgentItem, ClientFrame, ServerFrame};
use convoke_core::id::SessionId;
use convoke_core::prompt::Prompt;
use convoke_core::user::UserName;
use convoke_engine::{Choices, Error, NewPrompt, NewSession, Remember, SessionView};

use super::Render;
use super::subscription::Subscription;
use crate::access;
use crate::actor::{Login, Subject};
use crate::app::App;
use crate::config::OpenedFile;
use crate::failure::Failure;
use crate::nodes::{self, follow};
use crate::search::{self, SearchRequest};
use crate::view::{self, Naming};
use opening::OpenOptions;
use projects::{file_complete, folder_complete, project_add, project_list, project_remove};

/// The maximum number of hits in one frame.
const HITS_MAX: u32 = 100;

/// The human at the other end of a socket.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) login: Login,
    pub(super) peer: IpAddr,
}

/// The result of a frame.
pub(super) enum Reply {
    /// These responses.
    Send(Vec<ServerFrame>),
    /// The session is followed from now on, after these responses.
    Follow(Box<Subscription>, Vec<ServerFrame>),
    /// The session is no longer followed.
    Leave(SessionId, Box<ServerFrame>),
}

impl From<ServerFrame> for Reply {
    fn from(frame: ServerFrame) -> Self {
        Self::Send(vec![frame])
    }
}

type Replied = Result<Reply, Failure>;

/// Executes a frame of another node's client.
pub(crate) async fn execute_frame(
    app: Arc<App>,
    frame: ClientFrame,
    by: Option<UserName>,
) -> Result<Vec<ServerFrame>, Failure> {
    match execute_here(app, frame, None, by).await? {
        Reply::Send(frames) => Ok(frames),
        Reply::Follow(..) | Reply::Leave(..) => {
            Err(Failure::invalid("a session is followed from its own node only"))
        }
    }
}

/// Executes a frame here or on the node that it is for, if the client's role allows it.
pub(super) async fn execute(
    app: Arc<App>,
    frame: ClientFrame,
    request_id: Option<String>,
    client: Client,
) -> Replied {
    let actor = app.actor(&client.login, client.peer).await?.ok_or_else(signed_out)?;
    let rule = access::of_frame(&frame);
    let about = if rule.action.is_some() || actor.has_project_roles() {
        Subject::of_frame(&app, &frame).await?
    } else {
        Subject::default()
    };
    actor.check(rule, about.project)?;
    let by = actor.name.clone();
    let reply = match nodes::forward_frame(&app, &frame, by.clone()).await? {
        Some(frames) => Reply::Send(frames),
        None => match execute_here(Arc::clone(&app), frame.clone(), request_id, by.clone()).await {
            Err(it) if it.is_moved_away() => Reply::Send(follow(&app, &frame, by, it).await?),
            carried => carried?,
        },
    };
    if let Some(action) = rule.action {
        app.record(actor, action, about);
    }
    Ok(reply)
}

fn signed_out() -> Failure {
    let detail = "this device is not signed in any more";
    Failure::new(StatusCode::UNAUTHORIZED, code::UNAUTHORIZED, detail)
}

/// Executes a frame here.
#[expect(clippy::too_many_lines, reason = "one arm per frame; each arm is a single call")]
async fn execute_here(
    app: Arc<App>,
    frame: ClientFrame,
    request_id: Option<String>,
    by: Option<UserName>,
) -> Replied {
    use ClientFrame as F;
    match frame {
        F::ProjectList {} => project_list(&app).await,
        F::ProjectAdd { path, name } => project_add(&app, &path, name).await,
        F::ProjectRemove { project_id } => project_remove(&app, &project_id).await,
        F::FolderComplete { path } => Ok(folder_complete(&app, path).await),
        F::FileComplete { project_id, query, limit } => {
            file_complete(&app, &project_id, query, limit).await
        }
        F::FileOpen { path, line, column } => {
            let path = app.engine.projects().file(path.into()).await?;
            app.config.open(OpenedFile { path: path.clone(), line, column }).await?;
            Ok(ServerFrame::FileOpened { path: path.display().to_string() }.into())
        }
        F::AgentList {} => agent_list(&app).await,
        F::SessionList { project_id, archived } => {
            sessions::list(&app, &project_id, archived).await
        }
        F::SessionCreate {
            project_id,
            cli_type,
            model,
            mode,
            prompt,
            attachments,
            files,
            worktree,
        } => {
            let text = prompt.or_else(|| (!attachments.is_empty()).then(String::new));
            let prompt = text.map(|text| Prompt { by, ..bodies::prompt(text, attachments, files) });
            let prompt = prompt.map(NewPrompt::from);
            let project = app.engine.projects().find(&project_id).await?;
            let agent = cli_type.map(|name| name.parse()).transpose().map_err(Error::from)?;
            let worktree = view::worktrees::wanted(worktree);
            let choices = Choices { model, mode };
            sessions::create(&app, NewSession { project, agent, choices, worktree }, prompt).await
        }
        F::SessionOpen { session_id, after, generation, at, render, limit } => {
            let (render, enough) = (Render::asked(render), opening::enough(limit));
            let options = OpenOptions { after, generation, at, render, enough, request_id };
            // A contract: the text of the original program.
            opening::open(app, &session_id, options).await.map_err(|failure| {
                let hint = failure.message().0.to_owned();
                failure.with_detail("Could not load session").hint(hint)
            })
        }
        F::SessionPage { session_id, before, render, limit } => {
            let (render, enough) = (Render::asked(render), opening::enough(limit));
            opening::page(&app, &session_id, before, render, enough).await
        }
        F::SessionClose { session_id } => {
            let id = app.engine.sessions().find(&session_id).await?;
            Ok(Reply::Leave(id, Box::new(ServerFrame::SessionClosed { session_id })))
        }
        F::SessionSend { session_id, content, attachments, files, review, message_id } => {
            let mut prompt = bodies::prompt(content, attachments, files);
            prompt.review = review.into_iter().map(Into::into).collect();
            prompt.by = by;
            sessions::send(&app, &session_id, NewPrompt { prompt, id: message_id }).await
        }
        F::QueueEdit { session_id, message_id, content } => {
            sessions::edit_queued(&app, &session_id, message_id, content, by).await
        }
        F::QueueRemove { session_id, message_id } => {
            sessions::remove_queued(&app, &session_id, message_id).await
        }
        F::QueueMove { session_id, message_id, to } => {
            sessions::move_queued(&app, &session_id, message_id, to).await
        }
        F::QueueSend { session_id, message_id } => {
            sessions::send_queued(&app, &session_id, message_id).await
        }
        F::SessionCancel { session_id, queue } => {
            sessions::cancel_turn(&app, &session_id, queue.unwrap_or_default()).await
        }
        F::SessionSeen { session_id } => sessions::see(&app, &session_id).await,
        F::SessionErase { session_id } => sessions::erase(&app, &session_id).await,
        F::SessionArchive { session_id } => sessions::archive(&app, &session_id).await,
        F::SessionUnarchive { session_id } => sessions::unarchive(&app, &session_id).await,
        F::SessionRename { session_id, title } => sessions::rename(&app, &session_id, title).await,
        F::SessionResume { session_id } => sessions::resume(&app, &session_id, by).await,
        F::SessionEnd { session_id, how } => sessions::end(&app, &session_id, how).await,
        F::SessionMode { session_id, mode } => sessions::set_mode(&app, &session_id, mode).await,
        F::SessionSetting { session_id, setting, choice } => {
            sessions::set_setting(&app, &session_id, setting, choice).await
        }
        F::PermissionAnswer { permission_id, option_id, rule, remember } => {
            let first = (remember == Some(true)).then_some(0);
            let remember = rule.or(first).map_or(Remember::No, Remember::Rule);
            requests::choose(&app, &permission_id, option_id, remember, by).await
        }
        F::RuleList {} => requests::list_rules(&app).await,
        F::RuleAdd { effect, matcher, project_id, agent } => {
            let new = NewRule { effect, matcher, repo_id: project_id, agent };
            requests::add_rule(&app, new).await
        }
        F::RuleRemove { rule_id } => requests::remove_rule(&app, &rule_id).await,
        F::QuestionAnswer { question_id, answers } => {
            requests::answer(&app, &question_id, answers, by).await
        }
        F::QuestionReject { question_id, reason } => {
            requests::reject(&app, &question_id, reason, by).await
        }
        F::InboxList {} => requests::list(&app).await,
        F::HomeList {} => home_list(&app).await,
        F::Search { query, limit, before } => find(&app, query, limit, before).await,
        F::ConfigGet {} => Ok(ServerFrame::Config(app.config.read().await?).into()),
        F::ConfigSet { changes } => {
            Ok(ServerFrame::Config(app.config.change(ConfigPatch { changes }).await?).into())
        }
        F::Ping {} => Ok(ServerFrame::Pong {}.into()),
    }
}

fn names(session: &SessionView) -> (String, SessionId) {
    view::names(&session.stored)
}

async fn agent_list(app: &App) -> Replied {
    let listed = app.engine.agents().await?;
    let agents = listed.into_iter().map(view::agent).map(AgentItem::from).collect();
    Ok(ServerFrame::AgentList { agents }.into())
}

async fn home_list(app: &App) -> Replied {
    let home = app.engine.home().await?;
    let sessions = |group: Vec<SessionView>| group.into_iter().map(view::session_item).collect();
    let items = home.needs_you.into_iter().map(|item| view::inbox_item(item, Naming::Canonical));
    Ok(ServerFrame::HomeList {
        needs_you: items.collect(),
        working: sessions(home.working),
        finished: sessions(home.finished),
        failed: sessions(home.failed),
        recent: sessions(home.recent),
    }
    .into())
}

async fn find(app: &App, query: String, limit: Option<u32>, before: Option<u64>) -> Replied {
    let limit = limit.map(|limit| limit.clamp(1, HITS_MAX));
    let wanted = SearchRequest { text: query.clone(), limit, before, ..SearchRequest::default() };
    let Hits { hits, next, incomplete } = search::search(app, wanted).await?;
    Ok(ServerFrame::SearchHits { query, hits, next, incomplete }.into())
}
