//! Getting the commits of a work tree into their base branch: all of them, or nothing.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use super::combine::{Combined, Pair};
use super::{FinishRequest, Finished, Outcome, journal};
use crate::checkpoint::{Checkpoints, Name, id_of, lock};
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// The refs of the commits of finished branches, in the project's repository.
const KEPT: &str = "refs/convoke/finished";

/// How long the recovery of a work tree after a failure may take, since the caller's own timeout
/// may be over.
const ABORT_TIME: Duration = Duration::from_secs(120);

impl Project {
    /// Combines this work tree's branch with its base, and moves the base to the result if no other
    /// program has moved it.
    ///
    /// `main` is any other work tree of the repository; the one in which the base is checked out is
    /// opened with its launcher. In the end this work tree has its branch checked out as before.
    pub fn finish(
        &self,
        main: &Self,
        request: FinishRequest<'_>,
        limits: &Limits,
    ) -> Result<Outcome> {
        let lock = self.finish_lock(request.checkpoints, limits)?;
        let note = request.checkpoints.file("finish");
        self.recover_noted(&note, &lock)?;
        let branch = request.branch;
        self.check_own_branch(branch, limits)?;
        main.check_branch_name(request.base, limits)?;
        self.check_clean("--untracked-files=normal", limits)?;
        let commit_of = |name: &str| -> Result<ObjectId> {
            let found = self.resolve(&format!("refs/heads/{name}"), limits)?;
            found.ok_or_else(|| Error::NotFound { what: format!("the branch {name}") })
        };
        let (old, tip) = (commit_of(request.base)?, commit_of(branch)?);
        if self.is_ancestor(&tip, &old, limits)? {
            return Ok(Outcome::NothingToDo);
        }
        if let Some(checkout) = main.checkout(request.base, limits)? {
            checkout.check_clean("--untracked-files=no", limits)?;
        }
        request.checkpoints.checkpoint(request.saved, limits)?;
        journal::write(&note, &format!("finish {branch}"))?;
        let pair = Pair { old: &old, tip: &tip, message: request.message, lock: &lock };
        let outcome = self.finish_noted(main, request, pair, limits);
        // Also after a success: the branch is checked out again.
        self.recover_noted(&note, &lock)?;
        outcome
    }

    /// Recovers a work tree in which `finish` was interrupted; returns whether there was something
    /// to do. `saved` keeps the files as they were found.
    pub fn recover_finish(
        &self,
        checkpoints: &Checkpoints,
        saved: &Name,
        limits: &Limits,
    ) -> Result<bool> {
        let lock = self.finish_lock(checkpoints, limits)?;
        let note = checkpoints.file("finish");
        if !note.exists() {
            return Ok(false);
        }
        checkpoints.checkpoint(saved, limits)?;
        self.recover_noted(&note, &lock)?;
        Ok(true)
    }

    /// Fails unless this branch is checked out. An agent may write what its work tree has checked
    /// out, and the file of its branch: both may lead to a branch of the user.
    pub fn check_own_branch(&self, branch: &str, limits: &Limits) -> Result<()> {
        let path = self.work_tree().to_owned();
        match self.branch(limits)? {
            Some(found) if found == branch => Ok(()),
            Some(found) => Err(Error::OtherBranch { path, branch: branch.to_owned(), found }),
            None => Err(Error::Detached { path }),
        }
    }

    /// Commits everything that is not ignored to this branch, which must be checked out; `None` when
    /// there is nothing to commit.
    pub fn commit_all(
        &self,
        branch: &str,
        message: &str,
        limits: &Limits,
    ) -> Result<Option<ObjectId>> {
        self.check_own_branch(branch, limits)?;
        if let Some(operation) = self.operation() {
            return Err(Error::InProgress { path: self.work_tree().to_owned(), operation });
        }
        if self.dirty_files("--untracked-files=normal", limits)?.is_empty() {
            return Ok(None);
        }
        self.command("add").args(["-A", "--", "."]).run(limits)?;
        // Not `git commit`, which moves whatever is checked out by then.
        let reference = format!("refs/heads/{branch}");
        let missing = || Error::NotFound { what: format!("the branch {branch}") };
        let old = self.resolve(&reference, limits)?.ok_or_else(missing)?;
        let tree = id_of(self.command("write-tree"), limits)?;
        let old_tree = self.command("rev-parse").arg(format!("{old}^{{tree}}"));
        if tree == id_of(old_tree, limits)? {
            return Ok(None);
        }
        let command = self.command("commit-tree").arg(tree.as_str()).args(["-p", old.as_str()]);
        let new = id_of(command.args(["-F", "-"]).input(message.as_bytes()), limits)?;
        self.set_ref(&reference, "convoke: commit", &new, &old, limits)?;
        Ok(Some(new))
    }

    /// Moves a branch that still has its old commit. Should its file lead to another branch, that
    /// one is not moved.
    fn set_ref(
        &self,
        reference: &str,
        why: &str,
        new: &ObjectId,
        old: &ObjectId,
        limits: &Limits,
    ) -> Result<()> {
        let command = self.command("update-ref").args(["--no-deref", "-m", why, reference]);
        command.args([new.as_str(), old.as_str()]).run(limits).map(drop)
    }

    fn finish_noted(
        &self,
        main: &Self,
        request: FinishRequest<'_>,
        pair: Pair<'_>,
        limits: &Limits,
    ) -> Result<Outcome> {
        let new = match self.combine(request.how, pair, limits)? {
            Combined::Commit(new) => new,
            Combined::Nothing => return Ok(Outcome::NothingToDo),
            Combined::Conflicts(conflicts) => return Ok(Outcome::Conflicts(conflicts)),
        };
        let Pair { old, tip, .. } = pair;
        let branch = request.branch;
        let kept = format!("{KEPT}/{branch}/{tip}");
        self.command("update-ref").args([&kept, tip.as_str()]).run(limits)?;
        main.move_base(request.base, old, &new, limits)?;
        let branch = format!("refs/heads/{branch}");
        self.set_ref(&branch, "convoke: finish", &new, tip, limits)?;
        Ok(Outcome::Finished(Finished { old: old.clone(), new, tip: tip.clone() }))
    }

    /// Moves the base if it is unchanged: with its files if it is checked out, else only the ref.
    fn move_base(&self, base: &str, old: &ObjectId, new: &ObjectId, limits: &Limits) -> Result<()> {
        let moved = match self.checkout(base, limits)? {
            Some(checkout) => {
                checkout.check_clean("--untracked-files=no", limits)?;
                let command = checkout.command("merge").args(["-q", "--ff-only", "--no-stat"]);
                command.arg(new.as_str()).run(limits).map(drop)
            }
            None => {
                let branch = format!("refs/heads/{base}");
                let command = self.command("update-ref").args(["-m", "convoke: finish", &branch]);
                command.args([new.as_str(), old.as_str()]).run(limits).map(drop)
            }
        };
        match moved {
            Err(Error::Failed { .. })
                if self.resolve(&format!("refs/heads/{base}"), limits)?.as_ref() != Some(old) =>
            {
                Err(Error::BaseMoved { branch: base.to_owned() })
            }
            other => other,
        }
    }

    /// The work tree in which a branch is checked out, opened like this one.
    fn checkout(&self, branch: &str, limits: &Limits) -> Result<Option<Self>> {
        let Some(path) = self.checkout_of(branch, limits)? else { return Ok(None) };
        if path == self.work_tree() {
            return Ok(Some(self.clone()));
        }
        Self::open(self.git(), &path, self.launcher().clone(), self.filters(), limits).map(Some)
    }

    fn is_ancestor(&self, commit: &ObjectId, of: &ObjectId, limits: &Limits) -> Result<bool> {
        let command =
            self.command("merge-base").args(["--is-ancestor", commit.as_str(), of.as_str()]);
        let output = command.run_any(limits)?;
        match output.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            code => Err(Error::failed("git merge-base".to_owned(), code, &output.stderr)),
        }
    }

    fn finish_lock(&self, checkpoints: &Checkpoints, limits: &Limits) -> Result<File> {
        lock::take(&checkpoints.file("finish-lock"), limits)
    }

    /// Aborts the operation in progress and checks the branch out again. The caller holds the lock,
    /// so no git process of Convoke's runs here.
    fn recover_noted(&self, note: &Path, lock: &File) -> Result<()> {
        let limits = Limits::new(ABORT_TIME);
        let text = journal::read(note)?;
        let Some(branch) = text.as_ref().and_then(|text| text.strip_prefix("finish ")) else {
            return journal::remove(note);
        };
        for stale in ["index.lock", "HEAD.lock"] {
            // Left by a git that was killed together with its caller.
            fs::remove_file(self.folder().own.join(stale)).ok();
        }
        if self.operation().is_some() {
            let abort = |name, args: [&'static str; 1]| {
                self.command(name).args(args).holding(lock).run_any(&limits)
            };
            abort("rebase", ["--quit"])?;
            abort("merge", ["--abort"])?;
        }
        if self.branch(&limits)?.as_deref() != Some(branch) {
            let command = self.command("checkout").args(["-q", "--force", branch, "--"]);
            command.holding(lock).run(&limits)?;
        }
        journal::remove(note)
    }
}
