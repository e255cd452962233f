//! Recovery at the start of the daemon: interrupted turns are ended, and active sessions get their tasks.

use std::sync::Arc;

use convoke_core::id::SessionId;
use convoke_core::session::Status;
use convoke_store::{NodeScope, SessionFilter, SessionKind, SessionOrder, Window};

use super::Sessions;
use crate::error::{Kind, Result};
use crate::session;

/// The page size of reads.
const PAGE: u32 = 100;

impl Sessions {
    /// Ends what was interrupted when the daemon was killed, and starts the next queued prompts.
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<()> {
        let mut after: Option<SessionId> = None;
        loop {
            let page = self.store.unsettled_sessions(after, PAGE).await?;
            let Some(last) = page.last().map(|session| session.id) else { break };
            for session in page {
                self.recover_one(session.id).await?;
            }
            after = Some(last);
        }
        // Requests may be pending in sessions that are otherwise idle.
        for request in self.store.pending_requests(Window::first(Window::LIMIT_MAX)).await? {
            if let Some(session) = request.session_id
                && self.get(session).await?.stored.node == self.store.node()
            {
                self.recover_one(session).await?;
            }
        }
        Ok(())
    }

    async fn recover_one(self: &Arc<Self>, session: SessionId) -> Result<()> {
        if self.store.arrival(session).await?.is_some() {
            // Its transferred files are written first.
            return Ok(());
        }
        match session::recover(self, session).await {
            Err(error) if error.kind() != Kind::Unavailable => {
                // One failed session must not prevent the recovery of the others.
                tracing::error!(session.id = %session, "a session is left as it was: {error}");
                Ok(())
            }
            recovered => recovered,
        }
    }

    /// Starts the task of every active session, which completes it after the idle timeout.
    pub(crate) async fn start_active(self: &Arc<Self>) -> Result<()> {
        let filter = SessionFilter {
            statuses: vec![Status::Active],
            kind: Some(SessionKind::Session),
            of: NodeScope::Own,
            ..SessionFilter::all()
        };
        // All of them are listed first: one that completes at once would shift the pages.
        let mut active = Vec::new();
        let mut window = Window::first(PAGE);
        loop {
            let page = self.store.sessions(filter.clone(), SessionOrder::Created, window).await?;
            if page.sessions.is_empty() {
                break;
            }
            active.extend(page.sessions.into_iter().map(|session| session.id));
            window.offset += PAGE;
        }
        // Transferred files may take long to write, so their sessions are started without waiting.
        let arriving = self.store.arriving().await?;
        for session in active.into_iter().filter(|session| !arriving.contains(session)) {
            session::start_task(self, session).await?;
        }
        Ok(())
    }
}
