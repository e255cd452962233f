//! Carrying out what a client says.

use std::path::Path;
use std::sync::Arc;

use convoke_api::frames::{AgentItem, ClientFrame, EndHow, ServerFrame};
use convoke_core::id::{RequestId, SessionId};
use convoke_core::message::Seq;
use convoke_core::session::Status;
use convoke_engine::{
    Archived, Error, Remember, SessionFilter, SessionKind, SessionOrder, SessionView, Window,
};

use super::history;
use super::subscription::{Beginning, Opening, Subscription};
use super::{Render, words};
use crate::app::App;
use crate::failure::Failure;
use crate::view::{self, Naming};

/// Entries that a history or a page has, if nothing is said.
const ENTRIES: usize = 200;
/// Entries that a history or a page has at most, but for those that wait for something.
const ENTRIES_MAX: usize = 1000;
/// Why a session that ended is resumed by itself when something is said in it.
const ENDED_BY_ITSELF: [&str; 2] = ["idle_timeout", "made_room"];

/// What comes of what a client says.
pub(super) enum Reply {
    /// These answers.
    Say(Vec<ServerFrame>),
    /// The session is followed from now on; these answers come first.
    Follow(Box<Subscription>, Vec<ServerFrame>),
    /// The session is followed no longer.
    Leave(SessionId, Box<ServerFrame>),
}

impl From<ServerFrame> for Reply {
    fn from(frame: ServerFrame) -> Self {
        Self::Say(vec![frame])
    }
}

type Replied = Result<Reply, Failure>;

/// Carries out what a client says.
#[expect(clippy::too_many_lines, reason = "one arm per frame; each arm is a single call")]
pub(super) async fn carry(
    app: Arc<App>,
    frame: ClientFrame,
    request_id: Option<String>,
) -> Replied {
    use ClientFrame as F;
    match frame {
        F::ProjectList {} => project_list(&app).await,
        F::ProjectAdd { path, name } => project_add(&app, &path, name).await,
        F::ProjectRemove { project_id } => project_remove(&app, &project_id).await,
        F::FolderComplete { path } => Ok(folder_complete(&app, path).await),
        F::AgentList {} => Ok(agent_list(&app).await),
        F::SessionList { project_id, archived } => session_list(&app, &project_id, archived).await,
        F::SessionCreate { project_id, cli_type } => {
            session_create(&app, &project_id, cli_type).await
        }
        F::SessionOpen { session_id, after, render, limit } => {
            let wish =
                Wish { after, render: Render::asked(render), enough: enough(limit), request_id };
            // A contract: the words of the original.
            open(app, &session_id, wish).await.map_err(|failure| {
                let hint = failure.told().0.to_owned();
                failure.reworded("Could not load session").hint(hint)
            })
        }
        F::SessionPage { session_id, before, render, limit } => {
            page(&app, &session_id, before, Render::asked(render), enough(limit)).await
        }
        F::SessionClose { session_id } => {
            let id = app.engine.find_session(&session_id).await?;
            Ok(Reply::Leave(id, Box::new(ServerFrame::SessionClosed { session_id })))
        }
        F::SessionSend { session_id, content } => send(&app, &session_id, content).await,
        F::SessionCancel { session_id } => {
            let id = app.engine.find_session(&session_id).await?;
            let (session_id, uid) = names(app.engine.cancel_turn(id).await?);
            Ok(ServerFrame::SessionCancelled { session_id, uid }.into())
        }
        F::SessionArchive { session_id } => archive(&app, &session_id).await,
        F::SessionUnarchive { session_id } => unarchive(&app, &session_id).await,
        F::SessionRename { session_id, title } => rename(&app, &session_id, title).await,
        F::SessionResume { session_id } => {
            let id = app.engine.find_session(&session_id).await?;
            Ok(changed(app.engine.resume(id).await?))
        }
        F::SessionEnd { session_id, how } => {
            let id = app.engine.find_session(&session_id).await?;
            Ok(changed(match how {
                EndHow::Complete => app.engine.complete(id).await?,
                EndHow::Cancel => app.engine.cancel(id).await?,
            }))
        }
        F::SessionMode { session_id, mode } => {
            let id = app.engine.find_session(&session_id).await?;
            app.engine.set_mode(id, mode).await?;
            Ok(changed(app.engine.session(id).await?))
        }
        F::SessionSetting { session_id, setting, choice } => {
            let id = app.engine.find_session(&session_id).await?;
            app.engine.set_setting(id, setting, choice).await?;
            Ok(changed(app.engine.session(id).await?))
        }
        F::PermissionAnswer { permission_id, option_id, remember } => {
            let remember = if remember == Some(true) { Remember::Yes } else { Remember::No };
            let id = request(&permission_id)?;
            app.engine.choose(&permission_id, option_id, remember).await?;
            Ok(ServerFrame::InboxSettled { id }.into())
        }
        F::QuestionAnswer { question_id, answers } => {
            let id = request(&question_id)?;
            app.engine.answer(&question_id, answers).await?;
            Ok(ServerFrame::InboxSettled { id }.into())
        }
        F::QuestionReject { question_id, reason } => {
            let id = request(&question_id)?;
            app.engine.reject(&question_id, reason).await?;
            Ok(ServerFrame::InboxSettled { id }.into())
        }
        F::InboxList {} => {
            let items = app.engine.inbox().await?.into_iter();
            let items = items.map(|item| view::inbox_item(item, Naming::Canonical)).collect();
            Ok(ServerFrame::InboxList { items }.into())
        }
        F::Ping {} => Ok(ServerFrame::Pong {}.into()),
    }
}

fn enough(limit: Option<u32>) -> usize {
    limit.map_or(ENTRIES, |limit| limit as usize).clamp(1, ENTRIES_MAX)
}

fn request(id: &str) -> Result<RequestId, Failure> {
    id.parse().map_err(|invalid| Error::Invalid(invalid).into())
}

fn names(session: SessionView) -> (String, SessionId) {
    let item = view::session_item(session);
    (item.id, item.uid)
}

fn changed(session: SessionView) -> Reply {
    ServerFrame::SessionChanged { session: view::session_item(session) }.into()
}

async fn project_list(app: &App) -> Replied {
    let projects = app.engine.projects().await?.into_iter().map(view::repo).collect();
    Ok(ServerFrame::ProjectList { projects }.into())
}

async fn project_add(app: &App, path: &str, name: Option<String>) -> Replied {
    let project = view::repo(app.engine.add_project(Path::new(path), name).await?);
    Ok(ServerFrame::ProjectAdded { project }.into())
}

async fn project_remove(app: &App, id: &str) -> Replied {
    let project_id = app.engine.find_project(id).await?;
    app.engine.remove_project(project_id).await?;
    Ok(ServerFrame::ProjectRemoved { project_id }.into())
}

async fn folder_complete(app: &App, path: String) -> Reply {
    let folders = app.engine.complete_folder(&path).await;
    ServerFrame::FolderCompletions { path, folders }.into()
}

async fn agent_list(app: &App) -> Reply {
    let engine = app.engine.clone();
    // Looks through the folders of the search path.
    let listed = tokio::task::spawn_blocking(move || engine.agents()).await.unwrap_or_default();
    let agents = listed.into_iter().map(view::agent).map(AgentItem::from).collect();
    ServerFrame::AgentList { agents }.into()
}

async fn session_list(app: &App, project: &str, archived: Option<bool>) -> Replied {
    let project_id = app.engine.find_project(project).await?;
    let filter = SessionFilter {
        project: Some(project_id),
        statuses: Vec::new(),
        archived: if archived == Some(true) { Archived::Only } else { Archived::Hidden },
        kind: Some(SessionKind::Session),
    };
    let window = Window::first(Window::LIMIT_MAX);
    let listed = app.engine.sessions(filter, SessionOrder::Active, window).await?;
    let sessions = listed.sessions.into_iter().map(view::session_item).collect();
    Ok(ServerFrame::SessionList { project_id, sessions }.into())
}

async fn session_create(app: &App, project: &str, agent: Option<String>) -> Replied {
    let project_id = app.engine.find_project(project).await?;
    let agent = agent.map(|name| name.parse()).transpose().map_err(Error::from)?;
    let session = view::session_item(app.engine.create_session(project_id, agent).await?);
    let (session_id, uid) = (session.id.clone(), session.uid);
    Ok(ServerFrame::SessionCreated { session_id, uid, project_id, session }.into())
}

/// How a session is to be opened.
struct Wish {
    after: Option<Seq>,
    render: Render,
    enough: usize,
    request_id: Option<String>,
}

async fn open(app: Arc<App>, id: &str, wish: Wish) -> Replied {
    let id = app.engine.find_session(id).await?;
    let session = app.engine.session(id).await?;
    let last = session.stored.summary.last_seq;
    // A place that the log does not reach is of another log: then all of this one is news.
    match wish.after.filter(|after| *after <= last) {
        Some(after) => reopen(app, session, after, wish).await,
        None => open_anew(app, session, wish).await,
    }
}

async fn open_anew(app: Arc<App>, session: SessionView, wish: Wish) -> Replied {
    let id = session.stored.id;
    let newest = history::newest(&app.engine, &session, wish.enough).await?;
    let watcher = app.engine.watch(id, newest.seq).await?;
    let beginning = Beginning {
        watcher,
        fold: newest.fold,
        known: newest.seq,
        opening: None,
        render: wish.render,
    };
    let mut subscription = Subscription::new(Arc::clone(&app), session, beginning);
    subscription.goes_on(&newest.entries);
    let entries = words::render_all(&app.renderer, newest.entries, wish.render).await;
    // Everybody hears of changes as they come; what is told now must not be older than that.
    let session = view::session_item(app.engine.session(id).await?);
    let (session_id, uid, seq) = (session.id.clone(), session.uid, newest.seq);
    let history = ServerFrame::SessionHistory {
        session_id: session_id.clone(),
        uid,
        seq,
        entries,
        more: newest.more,
        session,
        queue: newest.queue,
    };
    let opened = ServerFrame::SessionOpened { session_id, uid, seq };
    Ok(Reply::Follow(Box::new(subscription), vec![history, opened]))
}

async fn reopen(app: Arc<App>, session: SessionView, after: Seq, wish: Wish) -> Replied {
    let (fold, from) = history::fold_for(&app.engine, &session, after).await?;
    let watcher = app.engine.watch(session.stored.id, from).await?;
    let upto = session.stored.summary.last_seq;
    let beginning = Beginning {
        watcher,
        fold,
        known: after,
        opening: Some(Opening { request_id: wish.request_id, upto }),
        render: wish.render,
    };
    let mut subscription = Subscription::new(app, session, beginning);
    // With nothing missed there is no message by which the client would hear that it is up to date.
    let opened = if upto == after { subscription.opened() } else { None };
    let frames = opened.map(|opened| opened.frame).into_iter().collect();
    Ok(Reply::Follow(Box::new(subscription), frames))
}

async fn page(app: &App, id: &str, before: Seq, render: Render, enough: usize) -> Replied {
    let session = app.engine.session(app.engine.find_session(id).await?).await?;
    let (entries, more) = history::page(&app.engine, session.stored.id, before, enough).await?;
    let entries = words::render_all(&app.renderer, entries, render).await;
    let (session_id, uid) = names(session);
    Ok(ServerFrame::SessionPage { session_id, uid, entries, more }.into())
}

async fn send(app: &App, id: &str, content: String) -> Replied {
    let id = app.engine.find_session(id).await?;
    let mut session = app.engine.session(id).await?;
    let summary = &session.stored.summary;
    let reason = summary.reason.as_deref().unwrap_or_default();
    if summary.status == Status::Completed && ENDED_BY_ITSELF.contains(&reason) {
        session = app.engine.resume(id).await?;
    }
    let prompted = app.engine.prompt(id, content).await?;
    let (session_id, uid) = names(session);
    let (seq, queued) = (prompted.seq, prompted.queued > 0);
    Ok(ServerFrame::SessionSent { session_id, uid, seq, queued }.into())
}

async fn archive(app: &App, id: &str) -> Replied {
    let id = app.engine.find_session(id).await?;
    let (session_id, uid) = names(app.engine.archive(id).await?);
    Ok(ServerFrame::SessionArchived { session_id, uid }.into())
}

async fn unarchive(app: &App, id: &str) -> Replied {
    let id = app.engine.find_session(id).await?;
    app.news.learn(&app.engine.session(id).await?);
    let session = view::session_item(app.engine.unarchive(id).await?);
    let (session_id, uid) = (session.id.clone(), session.uid);
    Ok(ServerFrame::SessionUnarchived { session_id, uid, session }.into())
}

async fn rename(app: &App, id: &str, title: String) -> Replied {
    let id = app.engine.find_session(id).await?;
    let session = view::session_item(app.engine.rename(id, title).await?);
    let (session_id, uid, title) = (session.id, session.uid, session.title);
    Ok(ServerFrame::SessionTitleUpdated { session_id, uid, title }.into())
}
