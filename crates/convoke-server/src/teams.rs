//! Taking up the teams: before anything is served, and again when somebody has changed them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::StatusCode;
use convoke_api::bodies::code;
use convoke_engine::{Engine, Error, TeamProgress, TeamSettings};
use tokio::sync::Semaphore;

use crate::failure::Failure;

/// Reads the teams as they are configured now, or tells what is wrong with them, in words for whoever wrote them.
pub type ReadTeams = Arc<dyn Fn() -> Result<TeamSettings, String> + Send + Sync>;

/// Why the teams are not taken up; those from before stay.
#[derive(Debug)]
pub enum TeamsFault {
    /// Their file does not say what it should.
    Unreadable(String),
    /// What it says cannot be done.
    Engine(Error),
}

/// Who reads the teams, and whether they are there yet.
pub(crate) struct Desk {
    read: OnceLock<ReadTeams>,
    /// Held by whoever takes teams up: one after the other.
    turn: Semaphore,
    is_ready: AtomicBool,
}

impl Default for Desk {
    /// A daemon without teams is ready.
    fn default() -> Self {
        let is_ready = AtomicBool::new(true);
        Self { read: OnceLock::new(), turn: Semaphore::new(1), is_ready }
    }
}

impl Desk {
    /// Whether everybody is served, or only the agents that are being started.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// Serves nobody but agents from now on.
    pub(crate) fn shut(&self) {
        self.is_ready.store(false, Ordering::Release);
    }

    /// Takes up the teams for the first time; then everybody is served.
    pub(crate) async fn open(
        &self,
        engine: &Engine,
        read: ReadTeams,
        told: impl Fn(TeamProgress) + Send + Sync,
    ) -> Result<(), TeamsFault> {
        let settings = read().map_err(TeamsFault::Unreadable)?;
        // Teams are opened once.
        self.read.set(read).ok();
        engine.teams().open(settings, told).await.map_err(TeamsFault::Engine)?;
        self.is_ready.store(true, Ordering::Release);
        Ok(())
    }

    /// Reads the teams again and takes them up.
    pub(crate) async fn reload(&self, engine: &Engine) -> Result<(), TeamsFault> {
        let Some(read) = self.read.get().cloned() else { return Ok(()) };
        // Nobody closes it.
        let _turn = self.turn.acquire().await.map_err(|_| TeamsFault::Engine(Error::Stopping))?;
        let settings = tokio::task::spawn_blocking(move || read()).await;
        let settings = settings.unwrap_or_else(|error| Err(error.to_string()));
        let settings = settings.map_err(TeamsFault::Unreadable)?;
        engine.teams().open(settings, |_| {}).await.map_err(TeamsFault::Engine)
    }
}

impl From<TeamsFault> for Failure {
    fn from(fault: TeamsFault) -> Self {
        match fault {
            TeamsFault::Unreadable(detail) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, code::INVALID_TEAMS, detail)
                    .hint("the earlier teams stay in use; fix the file and reload")
            }
            TeamsFault::Engine(error) => error.into(),
        }
    }
}

/// What everybody else hears while the teams are being prepared.
pub(crate) fn not_yet() -> Failure {
    let detail = "the daemon is still preparing the teams";
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, code::STARTING, detail)
        .hint("try again in a few seconds")
}
