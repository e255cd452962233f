//! Home: the sessions that need their human, in groups.

use convoke_core::request::Status;
use convoke_core::session::Attention;
use convoke_store::{Archived, SessionFilter, SessionKind, SessionOrder, Unseen, Window};

use crate::engine::Engine;
use crate::error::Result;
use crate::inbox::Item;
use crate::view::SessionView;

/// Entries of one group; the newest are shown.
const GROUP_MAX: usize = 50;
/// Sessions that are read to find the recent ones among them, which are in no other group.
const RECENT_READ: u32 = 100;

/// What waits for the human, what is in progress, and what ended, each newest first. Team sessions
/// and archived ones are left out, but for their requests.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Home {
    /// The requests that an agent or a program waits for.
    pub needs_you: Vec<Item>,
    /// Sessions with a running turn.
    pub working: Vec<SessionView>,
    /// Sessions with a turn that ended and was not seen.
    pub finished: Vec<SessionView>,
    /// Sessions with a turn that failed and was not seen.
    pub failed: Vec<SessionView>,
    /// The other sessions.
    pub recent: Vec<SessionView>,
}

/// How many sessions are in the groups of Home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Sessions with a running turn.
    pub working: u64,
    /// Sessions with a turn that ended and was not seen.
    pub finished: u64,
    /// Sessions with a turn that failed and was not seen.
    pub failed: u64,
}

impl Engine {
    /// Reads Home.
    pub async fn home(&self) -> Result<Home> {
        let mut needs_you = self.inbox().list().await?;
        needs_you.retain(|item| item.request.status() == Status::Pending);
        needs_you.reverse();
        needs_you.truncate(GROUP_MAX);
        let working = self.working().await?;
        let finished = self.unseen(Unseen::Finished).await?;
        let failed = self.unseen(Unseen::Failed).await?;
        let filter = SessionFilter {
            archived: Archived::Hidden,
            kind: Some(SessionKind::Session),
            ..SessionFilter::all()
        };
        let window = Window::first(RECENT_READ);
        let mut recent = self.sessions().list(filter, SessionOrder::Active, window).await?.sessions;
        recent.retain(is_quiet);
        recent.truncate(GROUP_MAX);
        Ok(Home { needs_you, working, finished, failed, recent })
    }

    /// Counts the sessions in the groups of Home.
    pub async fn counts(&self) -> Result<Counts> {
        let unseen = self.sessions().store.count_unseen_sessions().await?;
        let working = self.working().await?.len() as u64;
        Ok(Counts { working, finished: unseen.finished, failed: unseen.failed })
    }

    async fn working(&self) -> Result<Vec<SessionView>> {
        let sessions = self.sessions();
        let limit = u32::try_from(GROUP_MAX).unwrap_or(u32::MAX);
        let elsewhere = sessions.store.running_elsewhere(limit).await?;
        let mut working = sessions.views(elsewhere);
        working.retain(|view| view.attention() == Attention::Working);
        for id in sessions.registry.busy() {
            // It may have been erased meanwhile.
            let Some(stored) = sessions.store.session(id).await? else { continue };
            let activity = sessions.live(id).activity;
            let view = SessionView { stored, activity };
            let is_shown =
                view.stored.kind == SessionKind::Session && !view.stored.summary.archived;
            if is_shown && view.attention() == Attention::Working {
                working.push(view);
            }
        }
        working.sort_by_key(|view| std::cmp::Reverse(view.stored.summary.work.running_since));
        working.truncate(GROUP_MAX);
        Ok(working)
    }

    async fn unseen(&self, which: Unseen) -> Result<Vec<SessionView>> {
        let limit = u32::try_from(GROUP_MAX).unwrap_or(u32::MAX);
        let stored = self.sessions().store.unseen_sessions(which, limit).await?;
        let mut views = self.sessions().views(stored);
        // A session that works again, or asks, is in another group.
        views.retain(|view| match view.attention() {
            Attention::Failed | Attention::Idle | Attention::Ended => true,
            Attention::NeedsYou | Attention::Working => false,
        });
        Ok(views)
    }
}

/// Whether a session is in no other group.
fn is_quiet(view: &SessionView) -> bool {
    match view.attention() {
        Attention::Failed | Attention::Idle | Attention::Ended => !view.stored.summary.is_unseen(),
        Attention::NeedsYou | Attention::Working => false,
    }
}
