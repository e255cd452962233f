//! Backups that the daemon makes: one at a time, when they are asked for and when they are due.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use convoke_api::bodies::{Backup, BackupProgress, Backups, EndedBackup};
use convoke_core::time::Timestamp;
use convoke_engine::backup::{self, Plan, Progress};

use crate::app::App;
use crate::failure::{Failure, chain};

/// How long after its start the daemon makes no backup by itself: commands start it, and people wait for them.
const QUIET: Duration = Duration::from_secs(10 * 60);
/// How often the time of the next one is looked at: clocks are set, and machines sleep.
const LOOK: Duration = Duration::from_secs(10 * 60);

/// What is backed up, and how often.
#[derive(Debug, Clone)]
pub struct BackupSettings {
    /// What is backed up by itself, and where to.
    pub plan: Plan,
    /// How often; `None` for only when it is asked for.
    pub every: Option<Duration>,
}

/// The daemon's backups.
#[derive(Debug, Default)]
pub(crate) struct BackupDesk {
    settings: OnceLock<BackupSettings>,
    state: Mutex<Backups>,
    /// When the newest one in the configured folder was made.
    newest: Mutex<Option<Timestamp>>,
}

impl BackupDesk {
    /// How things stand.
    pub(crate) fn state(&self) -> Backups {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the newest backup in the configured folder was made.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Backups) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes note of what is in the configured folder; reads it.
    fn look(&self, settings: &BackupSettings) {
        match backup::newest(&settings.plan.folder) {
            Ok(found) => {
                let newest = found.map(|(_, manifest)| manifest.created_at);
                *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
            }
            Err(error) => tracing::warn!("cannot look for backups: {}", chain(&error)),
        }
    }
}

/// Begins a backup, and tells how things stand then.
pub(crate) fn begin(
    app: &Arc<App>,
    to: Option<PathBuf>,
    keep: Option<usize>,
) -> Result<Backups, Failure> {
    let Some(settings) = app.backups.settings.get() else {
        let detail = "the daemon is not ready to make backups yet";
        return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail));
    };
    let mut plan = settings.plan.clone();
    if let Some(folder) = to.filter(|folder| *folder != plan.folder) {
        plan.folder = folder;
        plan.keep = None;
    }
    plan.keep = keep.or(plan.keep);
    start(app, plan).ok_or_else(|| {
        Failure::new(StatusCode::CONFLICT, "conflict", "a backup is already being made")
            .hint("wait for it: GET /api/backups")
    })
}

/// Begins a backup unless one is being made.
fn start(app: &Arc<App>, plan: Plan) -> Option<Backups> {
    let begun = app.backups.change(|state| {
        if state.running.is_some() {
            return None;
        }
        state.begun += 1;
        state.running = Some(BackupProgress::default());
        Some(state.clone())
    })?;
    let (app, number) = (Arc::clone(app), begun.begun);
    // The state tells what comes of it; a daemon that stops leaves a hidden folder that the next backup removes.
    drop(tokio::task::spawn_blocking(move || {
        let ended = run(&app, &plan, number);
        app.backups.change(|state| {
            state.running = None;
            state.last = Some(ended);
        });
        if let Some(settings) = app.backups.settings.get() {
            app.backups.look(settings);
        }
    }));
    Some(begun)
}

fn run(app: &App, plan: &Plan, number: u64) -> EndedBackup {
    let told = |progress: Progress| {
        let running = BackupProgress { done_bytes: progress.done, total_bytes: progress.total };
        app.backups.change(|state| state.running = Some(running));
    };
    match backup::make(plan, app.engine.now(), told) {
        Ok(made) => {
            tracing::info!("made the backup {}", made.path.display());
            EndedBackup { number, backup: Some(shown(&made)), error: None }
        }
        Err(error) => {
            let error = chain(&error);
            tracing::error!("the backup failed: {error}");
            EndedBackup { number, backup: None, error: Some(error) }
        }
    }
}

fn shown(made: &backup::Backup) -> Backup {
    let manifest = &made.manifest;
    Backup {
        path: made.path.display().to_string(),
        created_at: manifest.created_at.to_string(),
        bytes: manifest.bytes(),
        files: manifest.files.len() as u64,
        sessions: manifest.database.sessions,
        messages: manifest.database.messages,
        removed: made.removed.iter().map(|path| path.display().to_string()).collect(),
    }
}

/// Lets backups be asked for, and makes those that are due.
pub(crate) fn keep(app: &Arc<App>, settings: BackupSettings) {
    app.backups.look(&settings);
    let every = settings.every;
    if app.backups.settings.set(settings).is_err() {
        tracing::error!("backups are kept already");
        return;
    }
    let Some(every) = every else { return };
    let app = Arc::clone(app);
    // Ends with the daemon.
    drop(tokio::spawn(async move {
        let stop = app.stop.clone();
        tokio::select! {
            () = stop.cancelled() => {}
            () = make_those_due(&app, every) => {}
        }
    }));
}

async fn make_those_due(app: &Arc<App>, every: Duration) {
    tokio::time::sleep(QUIET.min(every)).await;
    let mut backed_up = None;
    loop {
        let left = remaining(app, every);
        if left > Duration::ZERO {
            tokio::time::sleep(left.min(LOOK)).await;
            continue;
        }
        let stored = app.engine.stored();
        if app.engine.trouble().is_some() {
            tracing::warn!("no backup is made of a database that is lost or damaged");
        } else if backed_up != Some(stored)
            && let Some(settings) = app.backups.settings.get()
            && start(app, settings.plan.clone()).is_some()
        {
            backed_up = Some(stored);
        }
        // One that failed, or was not needed, is not tried again at once.
        tokio::time::sleep(every.min(LOOK)).await;
    }
}

/// How long it is until the next backup is due.
fn remaining(app: &App, every: Duration) -> Duration {
    let Some(newest) = app.backups.newest() else { return Duration::ZERO };
    // A clock that was set back does not put it off for longer than the interval.
    let passed = u64::try_from(app.engine.now().millis_since(newest)).unwrap_or(0);
    every.saturating_sub(Duration::from_millis(passed))
}
