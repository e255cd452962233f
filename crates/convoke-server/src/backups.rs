//! The daemon's backups: started by a client or by the schedule, one at a time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use convoke_api::bodies::{Backup, BackupProgress, Backups, EndedBackup};
use convoke_core::explain;
use convoke_core::time::Timestamp;
use convoke_engine::backup::{self, Plan, Progress};

use crate::app::App;
use crate::failure::Failure;

/// No scheduled backup runs this soon after the start: a command may have started the daemon, and its user waits for
/// it.
const STARTUP_DELAY: Duration = Duration::from_secs(10 * 60);
/// The longest sleep before the due time is computed again: the clock may be set, and the machine may suspend.
const SLEEP_MAX: Duration = Duration::from_secs(10 * 60);

/// What the daemon backs up, and how often.
#[derive(Debug, Clone)]
pub struct BackupSettings {
    /// The backup that the schedule makes.
    pub plan: Plan,
    /// The interval; `None` disables the schedule.
    pub every: Option<Duration>,
}

/// Settings and state of the daemon's backups.
#[derive(Debug, Default)]
pub(crate) struct BackupJobs {
    settings: OnceLock<BackupSettings>,
    state: Mutex<Backups>,
    /// When the newest backup in the configured folder was made.
    newest: Mutex<Option<Timestamp>>,
}

impl BackupJobs {
    /// The state as the API shows it.
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

    /// Reads the time of the newest backup from the configured folder. Blocks.
    fn refresh_newest(&self, settings: &BackupSettings) {
        match backup::newest(&settings.plan.folder) {
            Ok(found) => {
                let newest = found.map(|(_, manifest)| manifest.created_at);
                *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
            }
            Err(error) => tracing::warn!("cannot look for backups: {}", explain(&error)),
        }
    }
}

/// Starts a backup for a client and returns the new state.
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

/// Starts a backup in the background; `None` if one is already running.
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
    // The result goes into the state. A daemon that stops in the middle leaves a hidden folder, which the next backup
    // removes.
    tokio::spawn(async move {
        let making = Arc::clone(&app);
        let ended = tokio::task::spawn_blocking(move || {
            let ended = run(&making, &plan, number);
            if let Some(settings) = making.backups.settings.get() {
                making.backups.refresh_newest(settings);
            }
            ended
        });
        let ended = ended.await.unwrap_or_else(|panicked| {
            let error = Some(format!("the backup ended unexpectedly: {panicked}"));
            EndedBackup { number, backup: None, error }
        });
        app.backups.change(|state| {
            state.running = None;
            state.last = Some(ended);
        });
    });
    Some(begun)
}

fn run(app: &App, plan: &Plan, number: u64) -> EndedBackup {
    let report = |progress: Progress| {
        let running = BackupProgress { done_bytes: progress.done, total_bytes: progress.total };
        app.backups.change(|state| state.running = Some(running));
    };
    match backup::make(plan, app.engine.now(), report) {
        Ok(made) => {
            tracing::info!("made the backup {}", made.path.display());
            EndedBackup { number, backup: Some(backup_body(&made)), error: None }
        }
        Err(error) => {
            let error = explain(&error);
            tracing::error!("the backup failed: {error}");
            EndedBackup { number, backup: None, error: Some(error) }
        }
    }
}

/// A backup as clients and scripts read it.
pub fn backup_body(made: &backup::Backup) -> Backup {
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

/// Enables backups by clients, and starts the schedule.
pub(crate) fn enable(app: &Arc<App>, settings: BackupSettings) {
    app.backups.refresh_newest(&settings);
    let every = settings.every;
    if app.backups.settings.set(settings).is_err() {
        tracing::error!("backups are kept already");
        return;
    }
    let Some(every) = every else { return };
    let app = Arc::clone(app);
    // Ends when the daemon stops.
    drop(tokio::spawn(async move {
        let stop = app.stop.clone();
        tokio::select! {
            () = stop.cancelled() => {}
            () = run_schedule(&app, every) => {}
        }
    }));
}

async fn run_schedule(app: &Arc<App>, every: Duration) {
    tokio::time::sleep(STARTUP_DELAY.min(every)).await;
    let mut backed_up = None;
    loop {
        let left = remaining(app, every);
        if left > Duration::ZERO {
            tokio::time::sleep(left.min(SLEEP_MAX)).await;
            continue;
        }
        let stored = app.engine.stored();
        if app.engine.failure().is_some() {
            tracing::warn!("no backup is made of a database that is lost or damaged");
        } else if backed_up != Some(stored)
            && let Some(settings) = app.backups.settings.get()
            && start(app, settings.plan.clone()).is_some()
        {
            backed_up = Some(stored);
        }
        // Also waits after a failed or skipped backup, so that it is not retried at once.
        tokio::time::sleep(every.min(SLEEP_MAX)).await;
    }
}

/// The time until the next backup is due.
fn remaining(app: &App, every: Duration) -> Duration {
    let Some(newest) = app.backups.newest() else { return Duration::ZERO };
    // If the clock was set back, no more than one full interval remains.
    let passed = u64::try_from(app.engine.now().millis_since(newest)).unwrap_or(0);
    every.saturating_sub(Duration::from_millis(passed))
}
