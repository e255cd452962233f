//! Pairs: found, listed, changed and deleted.

use std::path::PathBuf;
use std::sync::Arc;

use convoke_agents::catalogue::Protocol;
use convoke_agents::claude;
use convoke_core::Invalid;
use convoke_core::id::SessionId;
use convoke_core::session::{Command, EndReason};
use convoke_core::team::{Pair, PairStatus};
use convoke_store::{PairChange, PairFilter, PairId, PairStats, StoredPair, Window};

use super::Teams;
use super::thread::checked_thread;
use crate::blocking::panicked;
use crate::error::{Error, Kind, Result};
use crate::prefix::only;

/// What happens to the agent's own file of a deleted pair's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFile {
    /// It is kept.
    Keep,
    /// It is deleted.
    Delete,
}

impl Teams {
    /// Lists pairs, most recently used first.
    pub async fn pairs(&self, filter: PairFilter, window: Window) -> Result<Vec<StoredPair>> {
        // Only the pool knows which pairs are idle, so that filter is applied here.
        let wanted = filter.status;
        let is_lively = |status| matches!(status, PairStatus::Active | PairStatus::Idle);
        if !wanted.is_some_and(is_lively) {
            let pairs = self.store.pairs(filter, window).await?;
            return Ok(self.with_pool_status(pairs).await);
        }
        let filter = PairFilter { status: None, ..filter };
        let all = Window::first(Window::LIMIT_MAX);
        let pairs = self.store.pairs(filter, all).await?;
        let pairs = self.with_pool_status(pairs).await;
        let limit = usize::try_from(window.limit).unwrap_or(usize::MAX);
        let offset = usize::try_from(window.offset).unwrap_or(usize::MAX);
        let fitting = pairs.into_iter().filter(|pair| Some(pair.status) == wanted);
        Ok(fitting.skip(offset).take(limit).collect())
    }

    /// Finds a pair by its id.
    pub async fn pair(&self, id: PairId) -> Result<StoredPair> {
        let found = self.store.pair(id).await?;
        found.ok_or_else(|| Error::UnknownPair { text: id.to_string() })
    }

    /// Finds a pair by its number, or by the id of its session (Convoke's or the agent's) or a prefix of it.
    pub async fn find_pair(&self, text: &str) -> Result<StoredPair> {
        let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(number) = number
            && let Some(found) = self.store.pair(PairId::new(number)).await?
        {
            return Ok(found);
        }
        let is_id = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        if !text.contains(':') && (text.is_empty() || !text.bytes().all(is_id)) {
            return Err(Error::Invalid(Invalid::SessionId { text: text.to_owned() }));
        }
        let session = match self.sessions.find(text).await {
            Err(error) if error.kind() != Kind::NotFound => return Err(error),
            found => found.ok(),
        };
        if let Some(session) = session
            && let Some(found) = self.store.pair_in(session).await?
        {
            return Ok(found);
        }
        self.find_pair_of_agent(text).await
    }

    /// Finds a pair by the agent's own session id.
    async fn find_pair_of_agent(&self, text: &str) -> Result<StoredPair> {
        let all = Window::first(Window::LIMIT_MAX);
        let mut pairs = self.store.pairs(PairFilter::all(), all).await?;
        pairs.retain(|pair| pair.agent_session_id.as_ref().is_some_and(|id| id.starts_with(text)));
        let unknown = Error::UnknownPair { text: text.to_owned() };
        only(text, pairs, |pair| pair.session_id.to_string(), unknown)
    }

    /// Finds the pair of these teams, if it exists.
    pub async fn pair_between(&self, pair: &Pair) -> Result<Option<StoredPair>> {
        let cache = &self.cache;
        if let Some(found) = cache.get(pair).await {
            return Ok(Some(found));
        }
        checked_thread(pair.thread.as_deref())?;
        // With the lock held, the pair cannot move between the lookup and its entry in the cache.
        let _lock = cache.lock_shared(pair).await?;
        let found = self.store.pair_between(pair).await?;
        if let Some(found) = &found {
            cache.insert(found.clone()).await;
        }
        Ok(found)
    }

    /// Counts pairs and their messages. Working pairs count as active, with or without a process.
    pub async fn pair_stats(&self) -> Result<PairStats> {
        Ok(self.store.pair_stats().await?)
    }

    /// Deletes a pair. Its session ends and stays readable; the agent's own file may be deleted, too.
    pub async fn delete_pair(
        self: &Arc<Self>,
        id: PairId,
        file: SessionFile,
    ) -> Result<StoredPair> {
        let teams = Arc::clone(self);
        // In a task of its own, so that a caller that disconnects does not leave half of a pair.
        let deleting = tokio::spawn(async move { teams.delete_whole_pair(id, file).await });
        deleting.await.map_err(panicked)?
    }

    async fn delete_whole_pair(&self, id: PairId, file: SessionFile) -> Result<StoredPair> {
        let pair = self.pair(id).await?;
        let _closed = self.cache.lock_exclusive(&pair.pair).await?;
        // The pair may have moved while this waited for the lock.
        let pair = self.pair(id).await?;
        self.end_session(pair.session_id, EndReason::PairDeleted).await?;
        self.processes.pool.release(&pair.pair.to_string()).await;
        let deleted = self.store.delete_pair(id).await?;
        self.cache.invalidate(&deleted.pair).await;
        if file == SessionFile::Delete {
            self.delete_session_files(deleted.session_id).await?;
        }
        Ok(deleted)
    }

    pub(super) async fn change_pair(
        &self,
        pair: &StoredPair,
        change: PairChange,
    ) -> Result<StoredPair> {
        let changed = self.store.change_pair(pair.id, change).await;
        self.cache.invalidate(&pair.pair).await;
        Ok(changed?)
    }

    /// Completes a session and stops its process; does nothing if it has ended.
    pub(super) async fn end_session(&self, session: SessionId, reason: EndReason) -> Result<()> {
        match self.sessions.send_command(session, Command::Complete { reason }).await {
            Ok(_) | Err(Error::Ended { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Pairs with the status that the pool knows.
    pub(super) async fn with_pool_status(&self, pairs: Vec<StoredPair>) -> Vec<StoredPair> {
        let running = self.processes.pool.keys().await;
        let own = self.store.node();
        let with_status = |mut pair: StoredPair| {
            // Only the other node knows the state of its processes.
            let is_own = pair.node == own;
            if is_own
                && pair.status == PairStatus::Active
                && !running.contains(&pair.pair.to_string())
            {
                pair.status = PairStatus::Idle;
            }
            pair
        };
        pairs.into_iter().map(with_status).collect()
    }

    /// The path of Claude's file for a session; `None` for agents that store sessions elsewhere.
    pub(super) fn session_file(
        &self,
        agent: &str,
        folder: &std::path::Path,
        agent_session: &str,
    ) -> Option<PathBuf> {
        let agent = self.processes.agent(agent).ok()?;
        if agent.protocol != Protocol::Claude {
            return None;
        }
        // The agent's configured environment overrides Convoke's own.
        let variable = |name: &str| {
            let own = agent.env.get(name).map(PathBuf::from);
            let inherited = || self.host.environment.get(std::ffi::OsStr::new(name));
            own.or_else(|| inherited().map(PathBuf::from))
        };
        let settings = variable("CLAUDE_CONFIG_DIR");
        let settings = settings.or_else(|| Some(variable("HOME")?.join(".claude")))?;
        Some(claude::session_file_in(&settings, folder, agent_session))
    }

    /// Deletes all files that an agent made for a session.
    async fn delete_session_files(&self, session: SessionId) -> Result<()> {
        let Some(stored) = self.store.session(session).await? else { return Ok(()) };
        let Some(project) = self.store.project(stored.project_id).await? else { return Ok(()) };
        let all = Window::first(Window::LIMIT_MAX);
        for record in self.store.agent_session_records(session, all).await? {
            let id = record.agent_session_id;
            // It becomes part of a path, so it must be a UUID.
            if id.parse::<SessionId>().is_err() {
                tracing::warn!(session.id = %session, "the agent's id {id:?} names no file");
                continue;
            }
            let Some(path) = self.session_file(stored.agent.as_str(), &project.path, &id) else {
                continue;
            };
            match tokio::fs::remove_file(&path).await {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(Error::Io { path, source }),
            }
        }
        Ok(())
    }
}
