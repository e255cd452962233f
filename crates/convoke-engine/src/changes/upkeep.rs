//! Completes restores that a killed daemon left half done, and packs old checkpoints.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use convoke_core::files::ChangeTotals;
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::notice::{FilesEvent, Notice};
use convoke_git::{Checkpoints, Limits, Name, Recovered};
use convoke_store::{SessionFilter, SessionOrder, Window};

use super::{Changes, Folder, numbers};
use crate::error::Result;
use crate::settings::Checkpointing;
use crate::snapshots;

/// How often repositories are looked at; each is packed once a week.
const UPKEEP_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// The page size of reads.
const PAGE: u32 = 100;

/// The session that asked for a restore, and what it changed altogether since, if that can be counted.
type Restorer = Option<(SessionId, Option<ChangeTotals>)>;

/// A restore that was completed after an interruption.
#[derive(Debug)]
pub(crate) struct Completed {
    session: Option<SessionId>,
    notice: Notice,
}

impl Changes {
    /// Completes the restores that were interrupted when the daemon was killed.
    pub(crate) async fn recover(&self) -> Result<Vec<Completed>> {
        let mut completed = Vec::new();
        if self.sessions.settings.checkpoints == Checkpointing::Off {
            return Ok(completed);
        }
        for (project, work_trees) in self.interrupted().await? {
            for (work_tree, folder) in work_trees {
                let recover = move |it: &Checkpoints, limits: &Limits| recover(it, folder, limits);
                let recovered = self.sessions.snapshots.with(project, work_tree.clone(), recover);
                match recovered.await {
                    Ok(None) => {}
                    Ok(Some((recovered, restored))) => {
                        let place = work_tree.display();
                        tracing::warn!("completed a restore in {place}: {recovered:?}");
                        if let Some((session, Some(totals))) = restored {
                            self.sessions.store.set_changes(session, totals).await?;
                        }
                        let (files, left) = (&recovered.finished, &recovered.left);
                        let (files, left) = (files.len() as u64, left.len() as u64);
                        let notice = Notice::new(FilesEvent::RestoreCompleted { files, left });
                        let session = restored.map(|(session, _)| session);
                        completed.push(Completed { session, notice });
                    }
                    Err(error) => tracing::error!(
                        "a restore in {} cannot be completed: {error}",
                        work_tree.display()
                    ),
                }
            }
        }
        Ok(completed)
    }

    /// Adds a notice about each completed restore to its conversation.
    pub(crate) async fn add_completed_notices(&self, completed: Vec<Completed>) {
        for Completed { session, notice } in completed {
            if let Some(session) = session {
                self.notice(session, notice).await;
            }
        }
    }

    /// Packs checkpoints from time to time, as long as the engine runs.
    pub(crate) fn start_upkeep(&self) {
        if self.sessions.settings.checkpoints == Checkpointing::Off {
            return;
        }
        let folder = self.sessions.host.home.join("snapshots");
        let started = SystemTime::now();
        tokio::task::spawn_blocking(move || remove_stale_locks(&folder, started));
        let sessions = Arc::downgrade(&self.sessions);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(UPKEEP_EVERY);
            loop {
                // The first tick is immediate, the others follow once a day.
                ticks.tick().await;
                let Some(sessions) = sessions.upgrade() else { return };
                if sessions.registry.is_stopping() {
                    return;
                }
                let Ok(projects) = sessions.store.projects(Window::first(Window::LIMIT_MAX)).await
                else {
                    continue;
                };
                for project in projects {
                    if sessions.snapshots.repository(project.id).exists() {
                        sessions.snapshots.collect(project.id, project.path).await;
                    }
                }
            }
        });
    }

    /// The work trees of projects with a restore that was not completed.
    async fn interrupted(&self) -> Result<Vec<(ProjectId, BTreeMap<PathBuf, Folder>)>> {
        let mut found = Vec::new();
        for project in self.sessions.store.projects(Window::first(Window::LIMIT_MAX)).await? {
            let folder = self.sessions.snapshots.repository(project.id).join("convoke");
            if !has_journal(&folder) {
                continue;
            }
            let mut work_trees = BTreeMap::from([(project.path, Folder::Project)]);
            let filter = SessionFilter { project: Some(project.id), ..SessionFilter::all() };
            let mut window = Window::first(PAGE);
            loop {
                let (filter, order) = (filter.clone(), SessionOrder::Created);
                let page = self.sessions.store.sessions(filter, order, window).await?;
                if page.sessions.is_empty() {
                    break;
                }
                let own = page.sessions.into_iter().filter_map(|session| session.worktree);
                let own = own.filter(|own| own.removed.is_none());
                work_trees.extend(own.map(|own| (PathBuf::from(own.path), Folder::WorkTree)));
                window.offset += PAGE;
            }
            found.push((project.id, work_trees));
        }
        Ok(found)
    }
}

/// Completes a restore, with the checkpoint after it; finds the session that asked for it, and counts what that changed.
fn recover(
    checkpoints: &Checkpoints,
    folder: Folder,
    limits: &Limits,
) -> convoke_git::Result<Option<(Recovered, Restorer)>> {
    let Some(recovered) = checkpoints.recover(limits)? else { return Ok(None) };
    let names = checkpoints.names_of(&recovered.undo, limits)?;
    let after = names.iter().rev().find_map(|name| Some((name.session(), numbers::after(name)?)));
    let Some((name, after)) = after else { return Ok(Some((recovered, None))) };
    let made = checkpoints.checkpoint(&Name::new(name, after)?, limits)?;
    let totals = snapshots::totals(checkpoints, &made, folder, limits);
    let session = name.parse().ok();
    Ok(Some((recovered, session.map(|session| (session, totals)))))
}

fn has_journal(folder: &std::path::Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.path());
    names.any(|path| path.extension().is_some_and(|extension| extension == "restore"))
}

/// Removes the locks that git of a killed daemon left in the repositories of checkpoints.
fn remove_stale_locks(folder: &Path, started: SystemTime) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Err(error) = convoke_git::remove_stale_locks(&entry.path(), started) {
            tracing::warn!("a lock of a killed git cannot be removed: {error}");
        }
    }
}
