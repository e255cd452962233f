//! The repositories with the checkpoints of the projects: `snapshots/<project>.git` in the home.
//!
//! Every call of git is made on a blocking thread, with a time limit. What the checkpoints mean for sessions is decided
//! elsewhere: `session/capture.rs` makes them, `changes.rs` compares and restores them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use convoke_core::files::ChangeTotals;
use convoke_core::id::{ProjectId, SessionId};
use convoke_git::{Cancel, Checkpoint, CheckpointKind, Checkpoints, Git, Limits, Name, Options};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, oneshot};

use crate::changes::{self, ChangesError, Folder};
use crate::settings::{Checkpointing, HostContext, Settings};

/// How long one call may take, over all of its git processes.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Calls that use git at the same time; further ones wait. More would only compete for the disk.
const PARALLEL_MAX: usize = 4;
/// The same for one project, so that a slow project does not block others.
const PARALLEL_IN_PROJECT_MAX: usize = 2;
/// A call that takes longer gives its permit to a call for another project: an agent may have made its project one on
/// which git is slow.
const LONG: Duration = Duration::from_secs(10);
/// Files that are counted for the totals of a session; a longer list is cut off.
const COUNTED_MAX: usize = 10_000;
/// How old what no checkpoint refers to must be before it is deleted.
const UNUSED_MIN: Duration = Duration::from_secs(24 * 60 * 60);
/// How often a repository is packed and cleaned.
const COLLECT_EVERY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The result of a call of git.
type Outcome<T> = std::result::Result<T, ChangesError>;

/// The checkpoints of the projects.
#[derive(Debug)]
pub(crate) struct Snapshots {
    settings: Arc<Settings>,
    host: Arc<HostContext>,
    /// Opened when it is first needed; tried again until it is found.
    git: OnceCell<Git>,
    permits: Arc<Semaphore>,
    /// The same for each project that has calls.
    projects: Mutex<HashMap<ProjectId, Weak<Semaphore>>>,
    /// Ends all calls when the engine stops.
    cancel: Cancel,
    /// Whether a missing git was logged.
    is_warned: AtomicBool,
}

impl Snapshots {
    pub(crate) fn new(settings: &Arc<Settings>, host: &Arc<HostContext>) -> Arc<Self> {
        Arc::new(Self {
            settings: Arc::clone(settings),
            host: Arc::clone(host),
            git: OnceCell::new(),
            permits: Arc::new(Semaphore::new(PARALLEL_MAX)),
            projects: Mutex::default(),
            cancel: Cancel::default(),
            is_warned: AtomicBool::new(false),
        })
    }

    /// Ends all calls: checkpoints are dropped, and a restore is completed at the next start.
    pub(crate) fn stop(&self) {
        self.permits.close();
        self.cancel.cancel();
    }

    /// Logs that there is no git, once.
    pub(crate) fn warn_once(&self, error: &ChangesError) {
        if !self.is_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!("no checkpoints are made: {error}");
        }
    }

    /// Makes a checkpoint of a session, and counts after a turn what the session has changed so far.
    ///
    /// `made` is told; if it is closed before a turn, the turn may have begun, and the checkpoint is marked as late.
    pub(crate) async fn checkpoint(
        self: &Arc<Self>,
        project: ProjectId,
        work_tree: PathBuf,
        (session, folder): (SessionId, Folder),
        kind: CheckpointKind,
        made: oneshot::Sender<()>,
    ) -> Outcome<Option<ChangeTotals>> {
        self.with(project, work_tree, move |checkpoints, limits| {
            let session = session.to_string();
            let name = Name::new(&session, kind)?;
            let checkpoint = checkpoints.checkpoint(&name, limits)?;
            let is_late = made.send(()).is_err();
            match kind {
                // A work tree of the session's own has no changes by others that they could be taken for.
                CheckpointKind::Before(turn) if is_late && folder == Folder::Project => {
                    let late = Name::new(&session, CheckpointKind::Late(turn))?;
                    checkpoints.copy(&name, &late, limits)?;
                    Ok(None)
                }
                CheckpointKind::After(_) => Ok(totals(checkpoints, &checkpoint, folder, limits)),
                CheckpointKind::Before(_)
                | CheckpointKind::Late(_)
                | CheckpointKind::Restore(_)
                | CheckpointKind::Removal(_) => Ok(None),
            }
        })
        .await
    }

    /// Captures the files of a new session in the background, so that the checkpoint before its first turn only looks for
    /// what has changed since.
    pub(crate) fn warm_up(self: &Arc<Self>, project: ProjectId, work_tree: PathBuf) {
        if self.settings.checkpoints == Checkpointing::Off {
            return;
        }
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let captured =
                this.with(project, work_tree, |checkpoints, limits| checkpoints.snapshot(limits));
            if let Err(error) = captured.await {
                // The first turn reports the same error.
                tracing::debug!("a project cannot be captured: {error}");
            }
        });
    }

    /// Removes the checkpoints of an erased session, in the background.
    pub(crate) fn forget(
        self: &Arc<Self>,
        project: ProjectId,
        work_tree: PathBuf,
        session: SessionId,
    ) {
        if !self.repository(project).exists() {
            return;
        }
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let forgotten = this.with(project, work_tree, move |checkpoints, limits| {
                checkpoints.forget_session(&session.to_string(), limits)
            });
            if let Err(error) = forgotten.await {
                tracing::warn!(session.id = %session, "checkpoints cannot be removed: {error}");
            }
        });
    }

    /// Packs the repository of a project and deletes what no checkpoint refers to, once a week.
    pub(crate) async fn collect(self: &Arc<Self>, project: ProjectId, work_tree: PathBuf) {
        let stamp = self.repository(project).join("convoke").join("collected");
        let age = std::fs::metadata(&stamp)
            .and_then(|found| found.modified())
            .map(|at| at.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age < COLLECT_EVERY) {
            return;
        }
        let collected = self.with(project, work_tree, move |checkpoints, limits| {
            checkpoints.collect(UNUSED_MIN, limits)
        });
        let packed = match collected.await {
            Ok(()) => std::fs::write(&stamp, b"").map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = packed {
            tracing::warn!("checkpoints of {project} cannot be packed: {error}");
        }
    }

    /// The repository of a project.
    pub(crate) fn repository(&self, project: ProjectId) -> PathBuf {
        self.host.home.join("snapshots").join(format!("{project}.git"))
    }

    /// Runs a function on the checkpoints of a work tree, on a blocking thread.
    pub(crate) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        project: ProjectId,
        work_tree: PathBuf,
        run: impl FnOnce(&Checkpoints, &Limits) -> convoke_git::Result<T> + Send + 'static,
    ) -> Outcome<T> {
        let this = Arc::clone(self);
        self.run(project, move |git, limits| {
            let checkpoints = this.checkpoints(git, project, &work_tree, limits)?;
            Ok(run(&checkpoints, limits)?)
        })
        .await
    }

    /// Runs a function with git on the files or the repository of a project, on a blocking thread.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        project: ProjectId,
        run: impl FnOnce(&Git, &Limits) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        self.run_within(TIME_MAX, project, run).await
    }

    /// The same, with another time limit.
    pub(crate) async fn run_within<T: Send + 'static>(
        self: &Arc<Self>,
        time_max: Duration,
        project: ProjectId,
        run: impl FnOnce(&Git, &Limits) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let gone = |_| ChangesError::Gone;
        let own = self.permits_of(project).acquire_owned().await.map_err(gone)?;
        // Closed when the engine stops.
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(gone)?;
        let git = self.git().await?;
        let limits = Limits::cancelled_by(time_max, self.cancel.clone());
        let (running, ended) = oneshot::channel();
        tokio::spawn(hold(permit, ended));
        let run = move || {
            let _running: (OwnedSemaphorePermit, oneshot::Sender<()>) = (own, running);
            run(&git, &limits)
        };
        tokio::task::spawn_blocking(run).await.map_err(|error| cut_off(&error))?
    }

    /// The permits for calls on one project.
    fn permits_of(&self, project: ProjectId) -> Arc<Semaphore> {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(permits) = projects.get(&project).and_then(Weak::upgrade) {
            return permits;
        }
        projects.retain(|_, permits| permits.strong_count() > 0);
        let permits = Arc::new(Semaphore::new(PARALLEL_IN_PROJECT_MAX));
        projects.insert(project, Arc::downgrade(&permits));
        permits
    }

    /// Opens the checkpoints of a work tree.
    pub(crate) fn checkpoints(
        &self,
        git: &Git,
        project: ProjectId,
        work_tree: &Path,
        limits: &Limits,
    ) -> Outcome<Checkpoints> {
        self.check_folder(work_tree)?;
        let repository = self.repository(project);
        let folder = self.host.home.join("snapshots");
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|source| ChangesError::Folder { path: folder, source })?;
        let options = Options {
            user_excludes: self.user_excludes(),
            hidden: self.hidden_paths(),
            ..Options::default()
        };
        Ok(Checkpoints::open(git, &repository, work_tree, options, limits)?)
    }

    /// Files and folders that agents must not read, without symbolic links in their paths.
    pub(crate) fn hidden_paths(&self) -> Vec<PathBuf> {
        let home = self.host.environment.get(OsStr::new("HOME")).map(Path::new);
        let secrets = convoke_agents::sandbox::secret_places(home);
        let hidden = secrets.into_iter().chain(self.settings.sandbox.hidden.iter().cloned());
        hidden.map(|path| path.canonicalize().unwrap_or(path)).collect()
    }

    /// Refuses a work tree that contains the home, since a checkpoint would include the database
    /// and the checkpoints themselves, and one that was replaced by a link since it was added: an
    /// agent in a folder around it may have done that.
    fn check_folder(&self, work_tree: &Path) -> Outcome<()> {
        let real = std::fs::canonicalize(work_tree);
        if let Some(to) = real.ok().filter(|real| real != work_tree) {
            let path = work_tree.to_owned();
            return Err(convoke_git::Error::Misdirected { path, to }.into());
        }
        let home = std::fs::canonicalize(&self.host.home);
        if home.is_ok_and(|home| home.starts_with(work_tree)) {
            return Err(ChangesError::ContainsHome { path: work_tree.to_owned() });
        }
        Ok(())
    }

    pub(crate) async fn git(&self) -> Outcome<Git> {
        let path = self.variable("PATH").unwrap_or_default();
        let open = || async move {
            // The absolute path, so that a sandbox can make it visible.
            let found = convoke_agents::catalogue::find("git", Some(&path));
            let program = found.unwrap_or_else(|| PathBuf::from("git"));
            let open = move || Git::open(&program, &path, &Limits::new(Duration::from_secs(20)));
            tokio::task::spawn_blocking(open)
                .await
                .map_err(|error| cut_off(&error))?
                .map_err(ChangesError::from)
        };
        self.git.get_or_try_init(open).await.cloned()
    }

    /// The file with patterns that the user's own git ignores by default.
    fn user_excludes(&self) -> Option<PathBuf> {
        let folder = match self.variable("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => PathBuf::from(self.variable("HOME")?).join(".config"),
        };
        Some(folder.join("git").join("ignore")).filter(|file| file.is_file())
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.host.environment.get(OsStr::new(name)).cloned()
    }
}

/// Keeps the permit of a call until it has ended, or takes long.
async fn hold(permit: OwnedSemaphorePermit, ended: oneshot::Receiver<()>) {
    // The sender is dropped at the end of the call, also if that panics.
    if tokio::time::timeout(LONG, ended).await.is_err() {
        tracing::info!(
            "a call of git takes long, and does not keep those of other projects waiting"
        );
    }
    drop(permit);
}

/// What the turns of a session changed, up to the checkpoint `last`; `None` if it cannot be counted.
///
/// The checkpoint is made, and files are restored, whatever has become of older checkpoints.
pub(crate) fn totals(
    checkpoints: &Checkpoints,
    last: &Checkpoint,
    folder: Folder,
    limits: &Limits,
) -> Option<ChangeTotals> {
    let session = last.name.session();
    let counted = count(checkpoints, last, folder, limits).inspect_err(|error| {
        tracing::warn!(session.id = %session, "changes cannot be counted: {error}");
    });
    counted.ok()
}

fn count(
    checkpoints: &Checkpoints,
    last: &Checkpoint,
    folder: Folder,
    limits: &Limits,
) -> convoke_git::Result<ChangeTotals> {
    let old = changes::old_side(checkpoints, last.name.session(), folder, limits)?;
    let Some(old) = old.filter(|old| old.tree != last.tree) else {
        return Ok(ChangeTotals::default());
    };
    let list = checkpoints.changes(&old.tree, &last.tree, COUNTED_MAX, limits)?;
    let lines = list.total();
    Ok(ChangeTotals {
        files: list.changes.len() as u64,
        added: lines.added,
        removed: lines.removed,
    })
}

/// Why a blocking task gave no result: it panicked, or the runtime is shutting down.
fn cut_off(error: &tokio::task::JoinError) -> ChangesError {
    if error.is_panic() { ChangesError::Panicked } else { ChangesError::Gone }
}
