//! Executes the frames that create and change sessions and their queues.

use convoke_api::frames::{EndHow, ServerFrame};
use convoke_core::id::MessageId;
use convoke_core::session::QueueChoice;
use convoke_core::user::UserName;
use convoke_engine::{
    Archived, NewPrompt, NewSession, NodeScope, SessionFilter, SessionKind, SessionOrder,
    SessionView, Window,
};

use super::{Replied, Reply, names};
use crate::app::App;
use crate::failure::Failure;
use crate::view;

pub(super) async fn list(app: &App, project: &str, archived: Option<bool>) -> Replied {
    let project_id = app.engine.projects().find(project).await?;
    let filter = SessionFilter {
        project: Some(project_id),
        statuses: Vec::new(),
        archived: if archived == Some(true) { Archived::Only } else { Archived::Hidden },
        kind: Some(SessionKind::Session),
        of: NodeScope::All,
    };
    let window = Window::first(Window::LIMIT_MAX);
    let listed = app.engine.sessions().list(filter, SessionOrder::Active, window).await?;
    let sessions = listed.sessions.into_iter().map(view::session_item).collect();
    Ok(ServerFrame::SessionList { project_id, sessions }.into())
}

pub(super) async fn create(app: &App, beginning: NewSession, prompt: Option<NewPrompt>) -> Replied {
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

pub(super) async fn send(app: &App, id: &str, prompt: NewPrompt) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let prompted = app.engine.sessions().prompt(id, prompt).await?;
    let (session_id, uid) = names(&app.engine.sessions().get(id).await?);
    let (message_id, seq, queued) = (prompted.message_id, prompted.seq, prompted.queued > 0);
    let sent =
        ServerFrame::SessionSent { session_id, uid, message_id, seq, queued, waits_for: None };
    Ok(sent.into())
}

pub(super) async fn archive(app: &App, id: &str) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let (session_id, uid) = names(&app.engine.sessions().archive(id).await?);
    Ok(ServerFrame::SessionArchived { session_id, uid }.into())
}

pub(super) async fn unarchive(app: &App, id: &str) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let session = view::session_item(app.engine.sessions().unarchive(id).await?);
    let (session_id, uid) = (session.id.clone(), session.uid);
    Ok(ServerFrame::SessionUnarchived { session_id, uid, session }.into())
}

pub(super) async fn rename(app: &App, id: &str, title: String) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let session = view::session_item(app.engine.sessions().rename(id, title).await?);
    let (session_id, uid, title) = (session.id, session.uid, session.title);
    Ok(ServerFrame::SessionTitleUpdated { session_id, uid, title }.into())
}

pub(super) async fn edit_queued(
    app: &App,
    id: &str,
    prompt: MessageId,
    text: String,
    by: Option<UserName>,
) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    Ok(changed(app.engine.sessions().edit_queued(id, prompt, text, by).await?))
}

pub(super) async fn remove_queued(app: &App, id: &str, prompt: MessageId) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    Ok(changed(app.engine.sessions().remove_queued(id, prompt).await?))
}

pub(super) async fn move_queued(app: &App, id: &str, prompt: MessageId, to: u32) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let to = usize::try_from(to).unwrap_or(usize::MAX);
    Ok(changed(app.engine.sessions().move_queued(id, prompt, to).await?))
}

pub(super) async fn send_queued(app: &App, id: &str, prompt: MessageId) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    Ok(changed(app.engine.sessions().send_queued(id, prompt).await?))
}

pub(super) async fn cancel_turn(app: &App, id: &str, queue: QueueChoice) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let (session_id, uid) = names(&app.engine.sessions().cancel_turn(id, queue).await?);
    Ok(ServerFrame::SessionCancelled { session_id, uid }.into())
}

pub(super) async fn see(app: &App, id: &str) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    let (session_id, uid) = names(&app.engine.sessions().see(id).await?);
    Ok(ServerFrame::SessionSeen { session_id, uid }.into())
}

pub(super) async fn erase(app: &App, id: &str) -> Replied {
    let (session_id, uid) = names(&app.engine.sessions().named(id).await?);
    app.engine.sessions().erase(uid).await?;
    Ok(ServerFrame::SessionErased { session_id, uid }.into())
}

pub(super) async fn resume(app: &App, id: &str, by: Option<UserName>) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    Ok(changed(app.engine.sessions().resume(id, by).await?))
}

pub(super) async fn end(app: &App, id: &str, how: EndHow) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    Ok(changed(match how {
        EndHow::Complete => app.engine.sessions().complete(id).await?,
        EndHow::Cancel => app.engine.sessions().cancel(id).await?,
    }))
}

pub(super) async fn set_mode(app: &App, id: &str, mode: String) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    app.engine.sessions().set_mode(id, mode).await?;
    Ok(changed(app.engine.sessions().get(id).await?))
}

pub(super) async fn set_setting(app: &App, id: &str, setting: String, choice: String) -> Replied {
    let id = app.engine.sessions().find(id).await?;
    app.engine.sessions().set_setting(id, setting, choice).await?;
    Ok(changed(app.engine.sessions().get(id).await?))
}

fn changed(session: SessionView) -> Reply {
    ServerFrame::SessionChanged { session: view::session_item(session) }.into()
}
