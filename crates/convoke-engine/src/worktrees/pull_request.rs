//! Makes a pull request of a work tree's branch, with the user's own git and `gh`.

use std::ffi::OsStr;
use std::sync::Arc;

use convoke_agents::catalogue;
use convoke_git::NewPullRequest;

use super::finish::{FinishOrder, message};
use super::make::work_trees;
use super::repository::Repository;
use super::{SessionWorktree, WorktreeError, Worktrees};
use crate::changes::ChangesError;
use crate::error::Result;

/// The remote that branches are pushed to.
const REMOTE: &str = "origin";

impl Worktrees {
    /// Commits everything, pushes the branch, and gives the address of the pull request.
    pub(super) async fn pull_request(
        &self,
        place: &SessionWorktree,
        order: &FinishOrder,
    ) -> Result<String> {
        let base = place.own.base.clone().ok_or(WorktreeError::NoBase)?;
        let path = place.path();
        if !path.exists() {
            return Err(WorktreeError::Missing { path }.into());
        }
        let search_path = self.sessions.host.environment.get(OsStr::new("PATH"));
        let gh = catalogue::find("gh", search_path.map(AsRef::as_ref));
        let gh = gh.ok_or(WorktreeError::NoGh)?;
        let folder = work_trees(&self.sessions, &place.project)?;
        let inside = Repository::of(&self.sessions, &place.project.path, &folder);
        let inside = inside.map_err(ChangesError::from)?;
        let sessions = Arc::clone(&self.sessions);
        let (text, branch) = (message(place, order), place.own.branch.clone());
        let made = self.sessions.snapshots.run(move |git, limits| {
            let own = inside.open(git, &path, limits)?;
            if !own.has_remote(REMOTE, limits)? {
                return Ok(Err(WorktreeError::NoRemote));
            }
            own.commit_all(&text, limits)?;
            // Keys and log-ins of the user are needed, which no sandbox shows.
            let user = Repository::of_user(&sessions);
            let own = user.open(git, &path, limits)?;
            if let Err(error) = own.push(REMOTE, &branch, limits) {
                return Ok(Err(WorktreeError::PullRequest(error)));
            }
            let (title, body) = text.split_once('\n').unwrap_or((&text, ""));
            let new = NewPullRequest { branch: &branch, base: &base, title, body: body.trim() };
            let address = own.create_pull_request(&gh, new, user.environment(), limits);
            Ok(address.map_err(WorktreeError::PullRequest))
        });
        Ok(made.await??)
    }
}
