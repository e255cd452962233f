//! Applies the team settings: checks each team, then prepares all of them concurrently.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_core::Invalid;
use convoke_core::team::{Pair, PairStatus, TeamName, check_path_shape};
use convoke_store::{PairChange, PairFilter, StoredPair, Window};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{Team, TeamSettings, Teams};
use crate::blocking::{blocking, panicked};
use crate::error::{Error, Result};
use crate::projects::resolve;
use crate::session::start::{ProcessSpec, REMADE};

/// Progress of applying the team settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamProgress {
    /// The team that is ready now.
    pub team: TeamName,
    /// How many teams are ready.
    pub ready: usize,
    /// How many teams there are.
    pub total: usize,
}

impl Teams {
    /// Applies the settings: checks each team, and creates its pair for external callers. If one team fails, none is
    /// changed.
    pub async fn open(
        self: &Arc<Self>,
        settings: TeamSettings,
        on_progress: impl Fn(TeamProgress) + Send + Sync,
    ) -> Result<()> {
        let mut teams = Vec::new();
        for team in settings.teams {
            let root = self.sessions.settings.workspace_root.clone();
            let team = blocking(move || team.checked(root)).await??;
            self.processes.agent(team.agent.as_str()).map_err(|_| Invalid::Team {
                team: team.name.to_string(),
                reason: format!("there is no agent called {}", team.agent),
            })?;
            teams.push(team);
        }
        let configured = TeamSettings { teams: teams.clone(), ..settings };
        let before = self.configured.send_replace(Arc::new(configured));
        // Cached pairs may not match the new settings.
        self.cache.clear();
        if let Err(error) = self.prepare_all(teams.clone(), on_progress).await {
            self.configured.send_replace(before);
            self.cache.clear();
            return Err(error);
        }
        self.share(&teams).await?;
        // Only after nothing can fail any more: otherwise running questions continue.
        self.stop_changed(&before.teams, &teams).await?;
        self.reset_interrupted().await
    }

    /// Creates the external pair of each team, concurrently within the limit of processes.
    async fn prepare_all(
        self: &Arc<Self>,
        teams: Vec<Team>,
        on_progress: impl Fn(TeamProgress) + Send + Sync,
    ) -> Result<()> {
        let total = teams.len();
        let room = Arc::new(Semaphore::new(self.sessions.settings.pool.processes_max));
        let mut preparing = JoinSet::new();
        for team in teams {
            let (own, room) = (Arc::clone(self), Arc::clone(&room));
            preparing.spawn(async move {
                // The semaphore is never closed.
                let _place = room.acquire().await.map_err(|_| Error::Stopping)?;
                own.prepare(&team).await?;
                Ok::<_, Error>(team.name)
            });
        }
        let mut ready = 0;
        while let Some(prepared) = preparing.join_next().await {
            let team = prepared.map_err(panicked)??;
            ready += 1;
            on_progress(TeamProgress { team, ready, total });
        }
        Ok(())
    }

    /// Makes sure that a team has its external pair. If the agent's own file is gone, the agent creates a new session
    /// under a new id.
    async fn prepare(&self, team: &Team) -> Result<()> {
        let pair = Pair { from: None, to: team.name.clone(), thread: None };
        let found = self.get_or_create_pair(&pair).await?;
        let known = found.agent_session_id.as_deref();
        let file =
            known.and_then(|known| self.session_file(team.agent.as_str(), &team.path, known));
        let Some(file) = file else { return Ok(()) };
        // A file that cannot be checked is assumed to exist.
        if tokio::fs::try_exists(&file).await.unwrap_or(true) {
            return Ok(());
        }
        tracing::warn!("the session file {} is gone; {pair} gets a new one", file.display());
        self.remake(team, &found).await
    }

    async fn remake(&self, team: &Team, pair: &StoredPair) -> Result<()> {
        let spec = self.process_spec(team, pair.pair.to_string()).await?;
        let spec = ProcessSpec { session: pair.session_id, ..spec };
        let made = self.make_agent_session(team, &spec).await?;
        self.begin_made(&spec, made, REMADE).await?;
        self.cache.invalidate(&pair.pair).await;
        Ok(())
    }

    /// Stops the processes of teams that were removed or would now be started differently: a process that was trusted
    /// must not continue when it no longer is.
    async fn stop_changed(&self, before: &[Team], now: &[Team]) -> Result<()> {
        let launched = |team: &Team| (team.path.clone(), team.agent.clone(), team.permissions);
        let is_same = |team: &&Team| {
            let other = now.iter().find(|other| other.name == team.name);
            other.is_some_and(|other| launched(other) == launched(team))
        };
        let running = self.processes.pool.keys().await;
        for team in before.iter().filter(|team| !is_same(team)) {
            let filter = PairFilter { to: Some(team.name.clone()), ..PairFilter::own() };
            for pair in self.store.pairs(filter, Window::first(Window::LIMIT_MAX)).await? {
                let key = pair.pair.to_string();
                if running.contains(&key) {
                    tracing::info!("{key} is stopped, since its team is configured differently");
                    self.processes.pool.release(&key).await;
                }
            }
        }
        Ok(())
    }

    /// Resets pairs whose compaction was interrupted with an earlier daemon.
    async fn reset_interrupted(&self) -> Result<()> {
        for status in [PairStatus::CompactPending, PairStatus::Compacting, PairStatus::Migrating] {
            let filter = PairFilter { status: Some(status), ..PairFilter::own() };
            for pair in self.store.pairs(filter, Window::first(Window::LIMIT_MAX)).await? {
                if !self.attempts.is_running(pair.id) {
                    let active = PairChange::Status { status: PairStatus::Active, error: None };
                    self.change_pair(&pair, active).await?;
                }
            }
        }
        Ok(())
    }
}

impl Team {
    /// Resolves the symbolic links of the team's folder, and checks that it is usable and inside the workspace root,
    /// as every project is.
    pub fn checked(self, root: PathBuf) -> Result<Self> {
        check_path_shape(&self.name, &self.path)?;
        let wrong = |reason| Error::Invalid(Invalid::Team { team: self.name.to_string(), reason });
        let fault = |reason: &str| wrong(format!("{reason}: {}", self.path.display()));
        let path = std::fs::canonicalize(&self.path).map_err(|error| {
            let is_gone = error.kind() == std::io::ErrorKind::NotFound;
            let reason = if is_gone {
                "Project path does not exist"
            } else {
                "Project path is not readable"
            };
            fault(reason)
        })?;
        if !path.is_dir() {
            return Err(fault("Project path is not a directory"));
        }
        if std::fs::read_dir(&path).is_err() {
            return Err(fault("Project path is not readable"));
        }
        if has_link(&self.path) {
            tracing::warn!(
                target: "security",
                "the path of team {} leads over a link to {}", self.name, path.display()
            );
        }
        let path = resolve(path, root)
            .map_err(|error| wrong(format!("{error} (sessions.workspace_root)")))?;
        Ok(Self { path, ..self })
    }
}

fn has_link(path: &Path) -> bool {
    path.ancestors().any(Path::is_symlink)
}
