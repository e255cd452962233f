//! Opens a session, and pages through its history.

use std::sync::Arc;

use convoke_api::entry::Entry;
use convoke_api::frames::ServerFrame;
use convoke_core::message::{Rev, Seq};
use convoke_engine::SessionView;

use super::{Replied, Reply, names};
use crate::app::App;
use crate::view;
use crate::ws::subscription::{Opening, Subscription};
use crate::ws::{Render, history, open_text};

/// The default number of entries in a history or a page.
const ENTRIES: u32 = 200;
/// The maximum number of entries in a history or a page, besides open ones.
const ENTRIES_MAX: u32 = 1000;

/// How a session is opened.
pub(super) struct OpenOptions {
    pub(super) after: Option<Rev>,
    pub(super) generation: Option<String>,
    pub(super) at: Option<Seq>,
    pub(super) render: Render,
    pub(super) enough: u32,
    pub(super) request_id: Option<String>,
}

pub(super) async fn open(app: Arc<App>, id: &str, options: OpenOptions) -> Replied {
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
    let entries = open_text::render_all(&app.renderer, newest.entries, options.render).await;
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

pub(super) async fn page(app: &App, id: &str, before: Seq, render: Render, enough: u32) -> Replied {
    let session = app.engine.sessions().get(app.engine.sessions().find(id).await?).await?;
    let (entries, more) = history::page(&app.engine, session.stored.id, before, enough).await?;
    let entries = open_text::render_all(&app.renderer, entries, render).await;
    let (session_id, uid) = names(&session);
    Ok(ServerFrame::SessionPage { session_id, uid, entries, more }.into())
}

/// The number of entries that a client gets, by the limit that it gave.
pub(super) fn enough(limit: Option<u32>) -> u32 {
    limit.unwrap_or(ENTRIES).clamp(1, ENTRIES_MAX)
}
