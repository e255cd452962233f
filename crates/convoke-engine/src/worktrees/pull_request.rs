//! Makes a pull request of a work tree's branch, with the user's own git and `gh`.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use convoke_agents::catalogue;
use convoke_git::{Launcher, NewPullRequest, Outgoing, PushedBranch};

use super::finish::{FinishOrder, message};
use super::make::work_trees;
use super::repository::Repository;
use super::{SessionWorktree, WorktreeError, Worktrees};
use crate::changes::ChangesError;
use crate::error::Result;
use crate::sessions::Sessions;

/// Variables that lead git to another repository; a daemon that a hook started has them.
const REPOSITORY: [&str; 7] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_WORK_TREE",
];
/// The remote that branches are pushed to.
const REMOTE: &str = "origin";
/// How long a pull request may take: a push over a slow network, and the packing of a long history.
const PUSH_TIME_MAX: Duration = Duration::from_secs(15 * 60);

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
        let outgoing = sessions.host.home.join("run").join(format!("outgoing-{}", place.id()));
        let project = place.project.id;
        let made =
            self.sessions.snapshots.run_within(PUSH_TIME_MAX, project, move |git, limits| {
                let own = inside.open(git, &path, limits)?;
                if !own.has_remote(REMOTE) {
                    return Ok(Err(WorktreeError::NoRemote));
                }
                own.commit_all(&branch, &text, limits)?;
                let missing =
                    || convoke_git::Error::NotFound { what: format!("the branch {branch}") };
                let commit = own.resolve(&format!("refs/heads/{branch}"), limits)?;
                let commit = commit.ok_or_else(missing)?;
                // Keys and log-ins of the user are needed, which no sandbox shows.
                let pushed = PushedBranch { remote: REMOTE, branch: &branch, commit: &commit };
                let user = of_user(&sessions);
                let outgoing = Outgoing::create(&own, pushed, &outgoing, user, limits)?;
                if let Err(error) = outgoing.push(limits) {
                    return Ok(Err(WorktreeError::PullRequest(error)));
                }
                let (title, body) = text.split_once('\n').unwrap_or((&text, ""));
                let new = NewPullRequest { branch: &branch, base: &base, title, body: body.trim() };
                let address = outgoing.create_pull_request(&gh, new, limits);
                Ok(address.map_err(WorktreeError::PullRequest))
            });
        Ok(made.await??)
    }
}

/// The user's own environment, in which git finds keys and log-ins.
fn of_user(sessions: &Sessions) -> Launcher {
    let is_other = |name: &OsStr| {
        name.to_string_lossy().starts_with("CONVOKE_") || REPOSITORY.iter().any(|it| name == *it)
    };
    let env = sessions.host.environment.iter().filter(|(name, _)| !is_other(name));
    let env = env.map(|(name, value)| (name.clone(), value.clone())).collect();
    Launcher { prefix: Vec::new(), env }
}
