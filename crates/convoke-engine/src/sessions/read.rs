//! Reads sessions: find, list, search, watch. Involves no agent, and starts no task.

use std::sync::Arc;

use convoke_core::id::{CanonicalId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::state::SessionState;
use convoke_core::team::Pair;
use convoke_core::time::Timestamp;
use convoke_store::{
    HitPage, HitPlace, MessagePage, SearchQuery, SessionFilter, SessionOrder, SessionPiece,
    Snapshot, StoredSession, UpdatePage, Window,
};
use tokio::sync::mpsc;

use super::Sessions;
use crate::error::{Error, Result};
use crate::nodes::remote_view;
use crate::prefix::{PREFIX_MIN, only};
use crate::teams::Team;
use crate::view::{Live, SessionView, Version};
use crate::watch::Watcher;

/// Candidates that an ambiguity error lists.
const CANDIDATES_MAX: u32 = 10;

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The sessions of the page.
    pub sessions: Vec<SessionView>,
    /// How many there are on all pages.
    pub total: u64,
}

/// A long list that is read piece by piece, from one snapshot.
#[derive(Debug)]
pub struct ListPieces {
    sessions: Arc<Sessions>,
    pieces: mpsc::Receiver<convoke_store::Result<SessionPiece>>,
}

/// A piece of a list.
#[derive(Debug)]
pub enum ListPiece {
    /// Some sessions.
    Sessions(Vec<SessionView>),
    /// The end: how many there are on all pages.
    Total(u64),
}

impl ListPieces {
    /// The next piece. `Total` is the last one.
    pub async fn next(&mut self) -> Result<ListPiece> {
        match self.pieces.recv().await.ok_or(Error::Stopping)?? {
            SessionPiece::Sessions(stored) => Ok(ListPiece::Sessions(self.sessions.views(stored))),
            SessionPiece::Total(total) => Ok(ListPiece::Total(total)),
        }
    }
}

impl Sessions {
    /// The session of an agent process's key.
    pub fn of_token(&self, token: &str) -> Option<SessionId> {
        self.host.mcp.as_ref()?.keys.session(token)
    }

    /// The id of the session that a text names.
    pub async fn find(&self, text: &str) -> Result<SessionId> {
        Ok(self.found(text).await?.id)
    }

    /// The session with this id, canonical id or unique prefix of an id, without its messages.
    pub async fn named(&self, text: &str) -> Result<SessionView> {
        let stored = self.found(text).await?;
        Ok(self.view_of(stored))
    }

    async fn found(&self, text: &str) -> Result<StoredSession> {
        let unknown = || Error::UnknownSession { text: text.to_owned() };
        if let Ok(id) = text.parse::<SessionId>() {
            return self.store.session(id).await?.ok_or_else(unknown);
        }
        if text.contains(':') {
            let id: CanonicalId = text.parse()?;
            return self.store.session_by_canonical_id(&id).await?.ok_or_else(unknown);
        }
        if text.len() < PREFIX_MIN {
            return Err(unknown());
        }
        let found = self.store.sessions_by_prefix(text, CANDIDATES_MAX).await?;
        only(text, found, |found| found.id.to_string(), unknown())
    }

    /// A session without its messages.
    pub async fn get(&self, id: SessionId) -> Result<SessionView> {
        let stored = self.store.session(id).await?;
        let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
        Ok(self.view_of(stored))
    }

    fn view_of(&self, stored: StoredSession) -> SessionView {
        if stored.node != self.store.node() {
            return remote_view(stored);
        }
        let activity = self.registry.live(stored.id).activity;
        SessionView { stored, activity }
    }

    /// The version of stored and displayed data; it changes with every change of a session or project.
    pub fn version(&self) -> Version {
        Version { stored: self.store.age(), shown: self.registry.age() }
    }

    /// Lists sessions, newest first.
    pub async fn list(
        &self,
        filter: SessionFilter,
        order: SessionOrder,
        window: Window,
    ) -> Result<Listed> {
        let page = self.store.sessions(filter, order, window).await?;
        Ok(Listed { sessions: self.views(page.sessions), total: page.total })
    }

    /// Lists sessions in the same order, in pieces, so that the first can be sent while the others are read.
    pub fn list_in_pieces(
        self: &Arc<Self>,
        filter: SessionFilter,
        order: SessionOrder,
        window: Window,
        piece: usize,
    ) -> ListPieces {
        let pieces = self.store.sessions_in_pieces(filter, order, window, piece);
        ListPieces { sessions: Arc::clone(self), pieces }
    }

    pub(crate) fn views(&self, stored: Vec<StoredSession>) -> Vec<SessionView> {
        let activities = self.registry.activities(stored.iter().map(|stored| stored.id));
        let own = self.store.node();
        let view = |(stored, activity): (StoredSession, _)| match stored.node == own {
            true => SessionView { stored, activity },
            false => remote_view(stored),
        };
        stored.into_iter().zip(activities).map(view).collect()
    }

    /// The live state of a session.
    pub fn live(&self, id: SessionId) -> Live {
        self.registry.live(id)
    }

    /// Messages after a seq.
    pub async fn messages(&self, id: SessionId, after: Seq, limit: u32) -> Result<MessagePage> {
        Ok(self.store.messages(id, after, limit).await?)
    }

    /// Messages just before a seq, oldest first.
    pub async fn messages_before(
        &self,
        id: SessionId,
        before: Seq,
        limit: u32,
    ) -> Result<MessagePage> {
        Ok(self.store.messages_before(id, before, limit).await?)
    }

    /// The newest messages of a session, its open messages and its state, all at one revision.
    pub async fn snapshot(&self, id: SessionId, limit: u32, bytes_max: usize) -> Result<Snapshot> {
        Ok(self.store.snapshot(id, limit, bytes_max).await?)
    }

    /// What changed after a revision: each changed message once, whole.
    pub async fn updates_after(&self, id: SessionId, after: Rev, limit: u32) -> Result<UpdatePage> {
        Ok(self.store.updates_after(id, after, limit).await?)
    }

    /// The revision after which everything changed later than a time.
    pub async fn rev_at(&self, id: SessionId, time: Timestamp) -> Result<Rev> {
        Ok(self.store.rev_at(id, time).await?)
    }

    /// The state of a session that is not conversation.
    pub async fn state(&self, id: SessionId) -> Result<Vec<(Rev, SessionState)>> {
        Ok(self.store.session_state(id).await?)
    }

    /// The generation of all revisions. A revision of another generation is not comparable.
    pub async fn generation(&self) -> Result<u64> {
        Ok(self.store.generation().await?)
    }

    /// Searches what was said.
    pub async fn search(
        &self,
        query: SearchQuery,
        after: Option<HitPlace>,
        limit: u32,
    ) -> Result<HitPage> {
        Ok(self.store.search(query, after, limit).await?)
    }

    /// The pair that talks in a session, and the team that answers in it.
    pub(crate) async fn pair_of(&self, session: SessionId) -> Result<Option<(Pair, Option<Team>)>> {
        let Some(stored) = self.store.pair_in(session).await? else { return Ok(None) };
        let team = self.processes.teams.borrow().team(&stored.pair.to).cloned();
        Ok(Some((stored.pair, team)))
    }

    /// Follows a session from a revision on.
    pub async fn watch(&self, id: SessionId, after: Rev) -> Result<Watcher> {
        let found = self.store.session(id).await?;
        found.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
        let live = self.registry.subscribe(id);
        Ok(Watcher::new(self.store.clone(), id, after, live))
    }
}
