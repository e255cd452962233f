//! Notifications for the user, derived from the changes that the engine announces.

use std::collections::HashSet;
use std::sync::Arc;

use convoke_core::id::{ProjectId, RequestId};
use convoke_core::session::{Activity, Attention};
use convoke_core::title::UNTITLED;
use convoke_engine::{Change, SessionChange, SessionKind, SessionView};
use serde::Serialize;
use tokio::sync::{broadcast, mpsc};

use crate::app::App;
use crate::view::{self, Naming};

/// Notifications that are buffered for a slow receiver; further ones are dropped and logged.
const QUEUE_MAX: usize = 64;

/// An event that the user is notified of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// What happened: `needs_you`, `finished` or `failed`.
    pub event: &'static str,
    /// The session; `None` for questions of other programs.
    pub session_id: Option<String>,
    /// The title of the session, or who asks.
    pub title: String,
    /// The name of the project.
    pub project: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// What is asked, the last line of the answer, or why the turn failed.
    pub text: String,
    /// The page of the session.
    pub url: String,
}

/// Follows the engine until the daemon stops.
pub(crate) fn start(app: &Arc<App>) -> mpsc::Receiver<Notification> {
    let (to, notifications) = mpsc::channel(QUEUE_MAX);
    let changes = app.engine.follow();
    let mut task = NotificationTask { app: Arc::clone(app), to, known: HashSet::new() };
    tokio::spawn(async move {
        let stop = task.app.stop.clone();
        tokio::select! {
            () = task.run(changes) => {}
            () = stop.cancelled() => {}
        }
    });
    notifications
}

struct NotificationTask {
    app: Arc<App>,
    to: mpsc::Sender<Notification>,
    /// The requests that were in the inbox when it was last read.
    known: HashSet<RequestId>,
}

impl NotificationTask {
    async fn run(&mut self, mut changes: broadcast::Receiver<Change>) {
        // An earlier daemon has notified of the requests that are pending now.
        self.new_requests().await;
        loop {
            let notifications = match changes.recv().await {
                Ok(Change::Inbox { .. }) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.new_requests().await
                }
                Ok(Change::SessionChanged(change)) => {
                    self.ended(&change).await.into_iter().collect()
                }
                Ok(
                    Change::SessionCreated(_)
                    | Change::SessionErased(_)
                    | Change::ProjectAdded(_)
                    | Change::ProjectRemoved(_)
                    | Change::ChangesUpdated { .. }
                    | Change::Rules
                    | Change::Comparison { .. }
                    | Change::Histories(_)
                    | Change::Agent { .. },
                ) => Vec::new(),
                Err(broadcast::error::RecvError::Closed) => return,
            };
            for notification in notifications {
                if self.to.try_send(notification).is_err() {
                    tracing::warn!("a notification is dropped: the command for them is too slow");
                }
            }
        }
    }

    /// Notifications of new requests in the inbox.
    async fn new_requests(&mut self) -> Vec<Notification> {
        let items = match self.app.engine.inbox().list().await {
            Ok(items) => items,
            Err(error) => {
                tracing::warn!("cannot read the inbox for notifications: {error}");
                return Vec::new();
            }
        };
        let before = std::mem::take(&mut self.known);
        self.known = items.iter().map(|item| item.request.id()).collect();
        let new = items.into_iter().filter(|item| !before.contains(&item.request.id()));
        new.map(|item| {
            let title = item.session.as_ref().map(title);
            let item = view::inbox_item(item, Naming::Canonical);
            Notification {
                event: "needs_you",
                title: title.or(item.asked_by).unwrap_or_else(|| "Question".to_owned()),
                project: item.project,
                agent: item.agent.map(|agent| agent.to_string()),
                text: item.title,
                url: self.url(item.uid.map(|uid| uid.to_string()).as_deref()),
                session_id: item.session_id,
            }
        })
        .collect()
    }

    /// Notification of the end of a turn, unless another turn follows.
    async fn ended(&self, change: &SessionChange) -> Option<Notification> {
        let SessionChange { before, now } = change;
        let [was, work] = [before, now].map(|view| &view.stored.summary.work);
        let is_new = work.ended_rev > was.ended_rev && now.stored.summary.is_unseen();
        if !is_new || now.activity != Activity::Idle || now.stored.kind != SessionKind::Session {
            return None;
        }
        let (event, text) = match now.attention() {
            Attention::Failed => ("failed", work.failure.as_ref().map(|failure| &failure.detail)),
            Attention::Idle | Attention::Ended | Attention::Working | Attention::NeedsYou => {
                ("finished", work.last_line.as_ref())
            }
        };
        let (session_id, uid) = view::names(&now.stored);
        Some(Notification {
            event,
            session_id: Some(session_id),
            title: title(now),
            project: self.project(now.stored.project_id).await,
            agent: Some(now.stored.agent.to_string()),
            text: text.cloned().unwrap_or_default(),
            url: self.url(Some(&uid.to_string())),
        })
    }

    async fn project(&self, id: ProjectId) -> Option<String> {
        // Without the name the notification is still useful.
        self.app.engine.projects().get(id).await.ok().map(|project| project.name)
    }

    fn url(&self, session: Option<&str>) -> String {
        let base = &self.app.identity.shared_url;
        session.map_or_else(|| format!("{base}/"), |uid| format!("{base}/s/{uid}"))
    }
}

fn title(view: &SessionView) -> String {
    view.stored.summary.title.clone().unwrap_or_else(|| UNTITLED.to_owned())
}
