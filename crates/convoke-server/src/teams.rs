//! Loading the team settings: at the start, before clients are served, and on request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::StatusCode;
use convoke_api::bodies::code;
use convoke_engine::{Engine, Error, TeamProgress, TeamSettings};
use tokio::sync::Semaphore;

use crate::failure::Failure;

/// Reads the current team settings; fails with a message for the author of the file.
pub type ReadTeams = Arc<dyn Fn() -> Result<TeamSettings, String> + Send + Sync>;

/// Why the team settings were not applied; the previous ones stay in effect.
#[derive(Debug)]
pub enum TeamLoadError {
    /// The file is invalid.
    Unreadable(String),
    /// The engine cannot apply the settings.
    Engine(Error),
}

/// Loads the team settings, and knows whether the first load is done.
pub(crate) struct TeamLoader {
    read: OnceLock<ReadTeams>,
    /// Serialises reloads.
    reload_lock: Semaphore,
    is_ready: AtomicBool,
}

impl Default for TeamLoader {
    /// Ready: a daemon without teams does not wait for any.
    fn default() -> Self {
        let is_ready = AtomicBool::new(true);
        Self { read: OnceLock::new(), reload_lock: Semaphore::new(1), is_ready }
    }
}

impl TeamLoader {
    /// Whether all clients are served, or only the agents that are being started.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// Serves only agents until `open` is done.
    pub(crate) fn set_not_ready(&self) {
        self.is_ready.store(false, Ordering::Release);
    }

    /// Loads the teams for the first time; then all clients are served.
    pub(crate) async fn open(
        &self,
        engine: &Engine,
        read: ReadTeams,
        on_progress: impl Fn(TeamProgress) + Send + Sync,
    ) -> Result<(), TeamLoadError> {
        let settings = read().map_err(TeamLoadError::Unreadable)?;
        // `open` is called once.
        self.read.set(read).ok();
        engine.teams().open(settings, on_progress).await.map_err(TeamLoadError::Engine)?;
        self.is_ready.store(true, Ordering::Release);
        Ok(())
    }

    /// Reads and applies the settings again.
    pub(crate) async fn reload(&self, engine: &Engine) -> Result<(), TeamLoadError> {
        let Some(read) = self.read.get().cloned() else { return Ok(()) };
        // The semaphore is never closed.
        let _lock =
            self.reload_lock.acquire().await.map_err(|_| TeamLoadError::Engine(Error::Stopping))?;
        let settings = tokio::task::spawn_blocking(move || read()).await;
        let settings = settings.unwrap_or_else(|error| Err(error.to_string()));
        let settings = settings.map_err(TeamLoadError::Unreadable)?;
        engine.teams().open(settings, |_| {}).await.map_err(TeamLoadError::Engine)
    }
}

impl From<TeamLoadError> for Failure {
    fn from(error: TeamLoadError) -> Self {
        match error {
            TeamLoadError::Unreadable(detail) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, code::INVALID_TEAMS, detail)
                    .hint("the earlier teams stay in use; fix the file and reload")
            }
            TeamLoadError::Engine(error) => error.into(),
        }
    }
}

/// The response to clients while the teams are being prepared.
pub(crate) fn not_ready() -> Failure {
    let detail = "the daemon is still preparing the teams";
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, code::STARTING, detail)
        .hint("try again in a few seconds")
}
