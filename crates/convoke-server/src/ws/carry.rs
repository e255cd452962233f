//! Executes the frames of a client.

mod projects;

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::StatusCode;
use convoke_api::bodies::{self, ConfigPatch, Hits, NewRule, code};
use convoke_api::entry::Entry;
use convoke_api::frames::{AgentItem, ClientFrame, EndHow, ServerFrame};
use convoke_core::id::{RequestId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::prompt::Prompt;
use convoke_core::user::UserName;
use convoke_engine::{
    Archived, Choices, Error, NewPrompt, NewSession, Remember, SessionFilter, SessionKind,
    SessionOrder, SessionView, Whose, Window,
};

use super::history;
use super::subscription::{Opening, Subscription};
use super::{Render, words};
use crate::access;
use crate::actor::{Login, Subject};
use crate::app::App;
use crate::config::OpenedFile;
use crate::failure::Failure;
use crate::nodes::{self, follow};
use crate::rest::rules;
use crate::search::{self, Wanted};
use crate::view::{self, Naming};
use projects::{file_complete, folder_complete, project_add, project_list, project_remove};

/// The default number of entries in a history or a page.
const ENTRIES: u32 = 200;
/// The maximum number of entries in a history or a page, besides open ones.
const ENTRIES_MAX: u32 = 1000;

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
    Say(Vec<ServerFrame>),
    /// The session is followed from now on, after these responses.
    Follow(Box<Subscription>, Vec<ServerFrame>),
    /// The session is no longer followed.
    Leave(SessionId, Box<ServerFrame>),
}

impl From<ServerFrame> for Reply {
    fn from(frame: ServerFrame) -> Self {
        Self::Say(vec![frame])
    }
}

type Replied = Result<Reply, Failure>;

/// Executes a frame of another node's client.
pub(crate) async fn carry_frame(
    app: Arc<App>,
    frame: ClientFrame,
    by: Option<UserName>,
) -> Result<Vec<ServerFrame>, Failure> {
    match carry_here(app, frame, None, by).await? {
        Reply::Say(frames) => Ok(frames),
        Reply::Follow(..) | Reply::Leave(..) => {
            Err(Failure::invalid("a session is followed from its own node only"))
        }
    }
}

/// Executes a frame here or on the node that it is for, if the client's role allows it.
pub(super) async fn carry(
    app: Arc<App>,
    frame: ClientFrame,
    request_id: Option<String>,
    client: Client,
) -> Replied {
    let actor = app.actor(&client.login, client.peer).await?.ok_or_else(signed_out)?;
    let need = access::of_frame(&frame);
    let about = if need.action.is_some() || actor.has_project_roles() {
        Subject::of_frame(&app, &frame).await?
    } else {
        Subject::default()
    };
    actor.check(need, about.project)?;
    let by = actor.name.clone();
    let reply = match nodes::forward_frame(&app, &frame, by.clone()).await? {
        Some(frames) => Reply::Say(frames),
        None => match carry_here(Arc::clone(&app), frame.clone(), request_id, by.clone()).await {
            Err(it) if it.is_moved_away() => Reply::Say(follow(&app, &frame, by, it).await?),
            carried => carried?,
        },
    };
    if let Some(action) = need.action {
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
async fn carry_here(
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
        F::AgentList {} => Ok(agent_list(&app).await),
        F::SessionList { project_id, archived } => session_list(&app, &project_id, archived).await,
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
            session_create(&app, NewSession { project, agent, choices, worktree }, prompt).await
        }
        F::SessionOpen { session_id, after, generation, at, render, limit } => {
            let (render, enough) = (Render::asked(render), enough(limit));
            let options = OpenOptions { after, generation, at, render, enough, request_id };
            // A contract: the text of the original program.
            open(app, &session_id, options).await.map_err(|failure| {
                let hint = failure.message().0.to_owned();
                failure.with_detail("Could not load session").hint(hint)
            })
        }
        F::SessionPage { session_id, before, render, limit } => {
            page(&app, &session_id, before, Render::asked(render), enough(limit)).await
        }
        F::SessionClose { session_id } => {
            let id = app.engine.sessions().find(&session_id).await?;
            Ok(Reply::Leave(id, Box::new(ServerFrame::SessionClosed { session_id })))
        }
        F::SessionSend { session_id, content, attachments, files, review, message_id } => {
            let mut prompt = bodies::prompt(content, attachments, files);
            prompt.review = review.into_iter().map(Into::into).collect();
            prompt.by = by;
            send(&app, &session_id, NewPrompt { prompt, id: message_id }).await
        }
        F::QueueEdit { session_id, message_id, content } => {
            let id = app.engine.sessions().find(&session_id).await?;
            Ok(changed(app.engine.sessions().edit_queued(id, message_id, content, by).await?))
        }
        F::QueueRemove { session_id, message_id } => {
            let id = app.engine.sessions().find(&session_id).await?;
            Ok(changed(app.engine.sessions().remove_queued(id, message_id).await?))
        }
        F::QueueMove { session_id, message_id, to } => {
            let id = app.engine.sessions().find(&session_id).await?;
            let to = usize::try_from(to).unwrap_or(usize::MAX);
            Ok(changed(app.engine.sessions().move_queued(id, message_id, to).await?))
        }
        F::QueueSend { session_id, message_id } => {
            let id = app.engine.sessions().find(&session_id).await?;
            Ok(changed(app.engine.sessions().send_queued(id, message_id).await?))
        }
        F::SessionCancel { session_id, queue } => {
            let id = app.engine.sessions().find(&session_id).await?;
            let cancelled =
                app.engine.sessions().cancel_turn(id, queue.unwrap_or_default()).await?;
            let (session_id, uid) = names(&cancelled);
            Ok(ServerFrame::SessionCancelled { session_id, uid }.into())
        }
        F::SessionSeen { session_id } => {
            let id = app.engine.sessions().find(&session_id).await?;
            let (session_id, uid) = names(&app.engine.sessions().see(id).await?);
            Ok(ServerFrame::SessionSeen { session_id, uid }.into())
        }
        F::SessionErase { session_id } => {
            let session = app.engine.sessions().named(&session_id).await?;
            let (session_id, uid) = names(&session);
            app.engine.sessions().erase(uid).await?;
            Ok(ServerFrame::SessionErased { session_id, uid }.into())
        }
        F::SessionArchive { session_id } => archive(&app, &session_id).await,
        F::SessionUnarchive { session_id } => unarchive(&app, &session_id).await,
        F::SessionRename { session_id, title } => rename(&app, &session_id, title).await,
        F::SessionResume { session_id } => {
            let id = app.engine.sessions().find(&session_id).await?;
            Ok(changed(app.engine.sessions().resume(id, by).await?))
        }
        F::SessionEnd { session_id, how } => {
            let id = app.engine.sessions().find(&session_id).await?;
            Ok(changed(match how {
                EndHow::Complete => app.engine.sessions().complete(id).await?,
                EndHow::Cancel => app.engine.sessions().cancel(id).await?,
            }))
        }
        F::SessionMode { session_id, mode } => {
            let id = app.engine.sessions().find(&session_id).await?;
            app.engine.sessions().set_mode(id, mode).await?;
            Ok(changed(app.engine.sessions().get(id).await?))
        }
        F::SessionSetting { session_id, setting, choice } => {
            let id = app.engine.sessions().find(&session_id).await?;
            app.engine.sessions().set_setting(id, setting, choice).await?;
            Ok(changed(app.engine.sessions().get(id).await?))
        }
        F::PermissionAnswer { permission_id, option_id, rule, remember } => {
            let first = (remember == Some(true)).then_some(0);
            let remember = rule.or(first).map_or(Remember::No, Remember::Rule);
            let id = request(&permission_id)?;
            app.engine.inbox().choose(&permission_id, option_id, remember, by).await?;
            Ok(ServerFrame::InboxSettled { id }.into())
        }
        F::RuleList {} => {
            let rules = app.engine.rules().list(None).await?;
            Ok(ServerFrame::RuleList { rules: rules.into_iter().map(view::rule).collect() }.into())
        }
        F::RuleAdd { effect, matcher, project_id, agent } => {
            let new = NewRule { effect, matcher, repo_id: project_id, agent };
            Ok(ServerFrame::RuleAdded { rule: view::rule(rules::make(&app, new).await?) }.into())
        }
        F::RuleRemove { rule_id } => {
            let rule_id = app.engine.rules().remove(&rule_id).await?;
            Ok(ServerFrame::RuleRemoved { rule_id }.into())
        }
        F::QuestionAnswer { question_id, answers } => {
            let id = request(&question_id)?;
            app.engine.inbox().answer(&question_id, answers, by).await?;
            Ok(ServerFrame::InboxSettled { id }.into())
        }
        F::QuestionReject { question_id, reason } => {
            let id = request(&question_id)?;
            app.engine.inbox().reject(&question_id, reason, by).await?;
            Ok(ServerFrame::InboxSettled { id }.into())
        }
        F::InboxList {} => {
            let items = app.engine.inbox().list().await?.into_iter();
            let items = items.map(|item| view::inbox_item(item, Naming::Canonical)).collect();
            Ok(ServerFrame::InboxList { items }.into())
        }
        F::HomeList {} => home_list(&app).await,
        F::Search { query, limit, before } => find(&app, query, limit, before).await,
        F::ConfigGet {} => Ok(ServerFrame::Config(app.config.read().await?).into()),
        F::ConfigSet { changes } => {
            Ok(ServerFrame::Config(app.config.change(ConfigPatch { changes }).await?).into())
        }
        F::Ping {} => Ok(ServerFrame::Pong {}.into()),
    }
}

fn enough(limit: Option<u32>) -> u32 {
    limit.unwrap_or(ENTRIES).clamp(1, ENTRIES_MAX)
}

fn request(id: &str) -> Result<RequestId, Failure> {
    id.parse().map_err(|invalid| Error::Invalid(invalid).into())
}

fn names(session: &SessionView) -> (String, SessionId) {
    view::names(&session.stored)
}

fn changed(session: SessionView) -> Reply {
    ServerFrame::SessionChanged { session: view::session_item(session) }.into()
}

async fn agent_list(app: &App) -> Reply {
    let engine = app.engine.clone();
    // This reads the folders of the search path.
    let listed = tokio::task::spawn_blocking(move || engine.agents()).await.unwrap_or_default();
    let agents = listed.into_iter().map(view::agent).map(AgentItem::from).collect();
    ServerFrame::AgentList { agents }.into()
}

async fn session_list(app: &App, project: &str, archived: Option<bool>) -> Replied {
    let project_id = app.engine.projects().find(project).await?;
    let filter = SessionFilter {
        project: Some(project_id),
        statuses: Vec::new(),
        archived: if archived == Some(true) { Archived::Only } else { Archived::Hidden },
        kind: Some(SessionKind::Session),
        of: Whose::Anyone,
    };
    let window = Window::first(Window::LIMIT_MAX);
    let listed = app.engine.sessions().list(filter, SessionOrder::Active, window).await?;
    let sessions = listed.sessions.into_iter().map(view::session_item).collect();
    Ok(ServerFrame::SessionList { project_id, sessions }.into())
}

async fn session_create(app: &App, beginning: NewSession, prompt: Option<NewPrompt>) -> Replied {
    let project_id = beginning.project;
    let sessions = app.engine.sessions();
    let (session, refused) = match prompt {
        Some(prompt) => {
            let created = sessions.create_with_prompt(beginning, prompt).await?;
            (created.session, created.prompted.err())
        }
        None => (sessions.begin(beginning).await?, None),
    };
    let refused = refused.map(|error| Failure::from(error).message().0.to_owned());
    let session = view::session_item(session);
    let (session_id, uid) = (session.id.clone(), session.uid);
    Ok(ServerFrame::SessionCreated { session_id, uid, project_id, session, refused }.into())
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
    let wanted = Wanted { text: query.clone(), limit, before, ..Wanted::default() };
    let Hits { hits, next, incomplete } = search::search(app, wanted).await?;
    Ok(ServerFrame::SearchHits { query, hits, next, incomplete }.into())
}

/// How a session is opened.
struct OpenOptions {
    after: Option<Rev>,
    generation: Option<String>,
    at: Option<Seq>,
    render: Render,
    enough: u32,
    request_id: Option<String>,
}

async fn open(app: Arc<App>, id: &str, options: OpenOptions) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let session = app.engine.sessions().get(id).await?;
    let generation = app.generation().await?;
    let is_same = options.generation.as_ref().is_none_or(|known| *known == generation);
    // A revision of another generation, or one above the session's, is unknown: the client gets the
    // whole history again.
    match options
        .after
        .filter(|after| options.at.is_none() && is_same && *after <= session.stored.summary.rev)
    {
        Some(after) => reopen(app, session, after, options).await,
        None => open_anew(app, session, generation, options).await,
    }
}

async fn open_anew(
    app: Arc<App>,
    session: SessionView,
    generation: String,
    options: OpenOptions,
) -> Replied {
    let id = session.stored.id;
    let newest = match options.at {
        Some(at) => history::around(&app.engine, id, at, options.enough).await?,
        None => history::newest(&app.engine, id, options.enough).await?,
    };
    let watcher = app.engine.sessions().watch(id, newest.rev).await?;
    let mut subscription =
        Subscription::new(Arc::clone(&app), session, watcher, None, options.render);
    subscription.continue_with(&newest.entries);
    let entries = words::render_all(&app.renderer, newest.entries, options.render).await;
    // Clients also receive changes as broadcasts; this response must not be older than those.
    let session = view::session_item(app.engine.sessions().get(id).await?);
    let (session_id, uid, rev) = (session.id.clone(), session.uid, newest.rev);
    let history = ServerFrame::SessionHistory {
        session_id: session_id.clone(),
        uid,
        rev,
        generation: generation.clone(),
        entries,
        more: newest.more,
        newer: newest.newer,
        session,
    };
    let opened = ServerFrame::SessionOpened { session_id, uid, rev, generation };
    Ok(Reply::Follow(Box::new(subscription), vec![history, opened]))
}

async fn reopen(app: Arc<App>, session: SessionView, after: Rev, options: OpenOptions) -> Replied {
    let watcher = app.engine.sessions().watch(session.stored.id, after).await?;
    // Rendering of answers that the client has in part continues from there; the others are sent as
    // a whole.
    let open = app.engine.sessions().snapshot(session.stored.id, 0, 0).await?.messages;
    let open: Vec<Entry> =
        open.iter().map(Entry::from).filter(|entry| entry.rev <= after).collect();
    let upto = session.stored.summary.rev;
    let opening = Some(Opening { request_id: options.request_id, upto });
    let mut subscription = Subscription::new(app, session, watcher, opening, options.render);
    subscription.continue_with(&open);
    // If nothing was missed, no update will report to the client that it is up to date.
    let opened = if upto == after { subscription.opened().await } else { None };
    let frames = opened.map(|opened| opened.frame).into_iter().collect();
    Ok(Reply::Follow(Box::new(subscription), frames))
}

async fn page(app: &App, id: &str, before: Seq, render: Render, enough: u32) -> Replied {
    let session = app.engine.sessions().get(app.engine.sessions().find(id).await?).await?;
    let (entries, more) = history::page(&app.engine, session.stored.id, before, enough).await?;
    let entries = words::render_all(&app.renderer, entries, render).await;
    let (session_id, uid) = names(&session);
    Ok(ServerFrame::SessionPage { session_id, uid, entries, more }.into())
}

async fn send(app: &App, id: &str, prompt: NewPrompt) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let prompted = app.engine.sessions().prompt(id, prompt).await?;
    let (session_id, uid) = names(&app.engine.sessions().get(id).await?);
    let (message_id, seq, queued) = (prompted.message_id, prompted.seq, prompted.queued > 0);
    let sent =
        ServerFrame::SessionSent { session_id, uid, message_id, seq, queued, waits_for: None };
    Ok(sent.into())
}

async fn archive(app: &App, id: &str) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let (session_id, uid) = names(&app.engine.sessions().archive(id).await?);
    Ok(ServerFrame::SessionArchived { session_id, uid }.into())
}

async fn unarchive(app: &App, id: &str) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let session = view::session_item(app.engine.sessions().unarchive(id).await?);
    let (session_id, uid) = (session.id.clone(), session.uid);
    Ok(ServerFrame::SessionUnarchived { session_id, uid, session }.into())
}

async fn rename(app: &App, id: &str, title: String) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let session = view::session_item(app.engine.sessions().rename(id, title).await?);
    let (session_id, uid, title) = (session.id, session.uid, session.title);
    Ok(ServerFrame::SessionTitleUpdated { session_id, uid, title }.into())
}
