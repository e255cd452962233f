//! The teams of a daemon: loaded from their file at the start, and reloaded when the file changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_core::count::counted;
use convoke_core::explain;
use convoke_engine::{TeamProgress, TeamSettings};
use convoke_files::watch::WholeFileWatcher;
use convoke_server::{ReadTeams, Reloader, Serving, TeamLoadError};
use tokio::task::AbortHandle;

use super::ServeError;
use crate::config::teams::{self, TeamsError, TeamsFile};
use crate::config::{self, Config};
use crate::output::aside_on_terminal;

/// How long a file that changes is left alone: editors write in several steps.
const SETTLE: Duration = Duration::from_millis(200);

/// Reads the teams' file.
pub(super) fn read(config: &Config) -> Result<TeamsFile, TeamsError> {
    teams::read(&config.teams_file, &config.teams)
}

/// Loads the teams, and prints the progress on a terminal.
pub(super) async fn open(serving: &Serving, config: &Config) -> anyhow::Result<()> {
    let TeamsFile { teams, .. } = read(config)?;
    match teams.teams.len() {
        0 => {}
        count => aside_on_terminal(&format!("Preparing {} …", counted(count, "team"))),
    }
    let told = |progress: TeamProgress| {
        let TeamProgress { team, ready, total } = progress;
        tracing::info!("the team {team} is ready, {ready} of {total}");
        aside_on_terminal(&format!("  {team} is ready ({ready} of {total})"));
    };
    match serving.open_teams(reader(config, teams), told).await {
        Ok(()) => Ok(()),
        Err(TeamLoadError::Engine(error)) => Err(ServeError::Team(error).into()),
        // It was read before, just now.
        Err(TeamLoadError::Unreadable(said)) => Err(anyhow::Error::msg(said)),
    }
}

/// The function that reads the teams: returns `first` the first time, and reads the file from then
/// on.
fn reader(config: &Config, first: TeamSettings) -> ReadTeams {
    let (path, limits) = (config.teams_file.clone(), limits(&config.teams));
    let first = std::sync::Mutex::new(Some(first));
    Arc::new(move || {
        // A panic leaves nothing half done here.
        let first = first.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(first) = first {
            return Ok(first);
        }
        teams::read(&path, &limits).map(|file| file.teams).map_err(|error| explain(&error))
    })
}

const fn limits(teams: &config::Teams) -> config::Teams {
    config::Teams {
        max_hops: teams.max_hops,
        max_chain_messages: teams.max_chain_messages,
        max_pair_messages_per_hour: teams.max_pair_messages_per_hour,
    }
}

/// The content of the file at some time, if it was readable.
#[derive(PartialEq, Eq)]
pub(super) struct Content(Option<Vec<u8>>);

impl Content {
    pub(super) fn of(path: &Path) -> Self {
        Self(fs::read(path).ok())
    }
}

/// The task that watches the file; stops when this is dropped.
pub(super) struct Watching(Option<AbortHandle>);

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Watching {
    /// Reloads the teams whenever their file has changed. Errors are logged.
    pub(super) fn start(reloader: Reloader, path: &Path, before: Content) -> Self {
        // The database is in the same folder as a rule, and nothing is to wake for its pages.
        let mut watcher = WholeFileWatcher::new();
        // A link may lead to a file in another folder.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut folders: Vec<&Path> = [path, &real].into_iter().filter_map(Path::parent).collect();
        folders.dedup();
        let watched = folders.into_iter().filter(|folder| match watcher.watch(folder) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!("cannot watch teams.json for changes: {error}");
                false
            }
        });
        if watched.count() == 0 {
            return Self(None);
        }
        let task = tokio::spawn(follow(watcher, reloader, path.to_owned(), before));
        Self(Some(task.abort_handle()))
    }
}

async fn follow(watcher: WholeFileWatcher, reloader: Reloader, path: PathBuf, before: Content) {
    let mut seen = before;
    loop {
        // The first check finds changes from before the watch began.
        let now = Content::of(&path);
        if now == seen {
            watcher.changed().await;
            tokio::time::sleep(SETTLE).await;
            continue;
        }
        seen = now;
        match reloader.reload().await {
            Ok(()) => tracing::info!("reloaded the teams from {}", path.display()),
            Err(fault) => {
                let said = match &fault {
                    TeamLoadError::Unreadable(said) => said.clone(),
                    TeamLoadError::Engine(error) => explain(error),
                };
                tracing::warn!("the teams were not reloaded: {said}");
            }
        }
    }
}
