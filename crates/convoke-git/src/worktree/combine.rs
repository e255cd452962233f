//! Combining a branch with its base in the branch's work tree, without a branch checked out.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use super::{Conflict, Finish};
use crate::checkpoint::{id_of, scan_path};
use crate::git::Command;
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// The result of combining.
#[derive(Debug)]
pub(super) enum Combined {
    /// A commit on top of the base; the work tree has its files.
    Commit(ObjectId),
    /// No difference to the base.
    Nothing,
    /// The work tree has conflicts and stays in this state.
    Conflicts(Vec<Conflict>),
}

/// Settings of the user that would affect a rebase.
const REBASE: [&str; 5] = [
    "rebase.updateRefs=false",
    "rebase.autoSquash=false",
    "rebase.forkPoint=false",
    "rebase.rebaseMerges=false",
    "rebase.missingCommitsCheck=ignore",
];

/// A branch, its base, and the commit message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) old: &'a ObjectId,
    pub(super) tip: &'a ObjectId,
    pub(super) message: &'a str,
    pub(super) lock: &'a File,
}

impl Project {
    /// Combines both; afterwards no branch is checked out, whatever the result.
    pub(super) fn combine(&self, how: Finish, pair: Pair<'_>, limits: &Limits) -> Result<Combined> {
        match how {
            Finish::Merge => self.merge(pair, &[pair.old, pair.tip], limits),
            Finish::Squash => self.merge(pair, &[pair.old], limits),
            Finish::Rebase => self.rebase(pair, limits),
        }
    }

    /// Merges without a commit, and creates the commit itself: plumbing neither signs nor runs
    /// hooks.
    fn merge(&self, pair: Pair<'_>, parents: &[&ObjectId], limits: &Limits) -> Result<Combined> {
        self.detach(pair.old, pair.lock, limits)?;
        let command = self.command("merge").args(["-q", "--no-ff", "--no-commit", "--no-stat"]);
        if let Some(conflicts) = self.try_out(command.arg(pair.tip.as_str()), pair.lock, limits)? {
            return Ok(Combined::Conflicts(conflicts));
        }
        let tree = id_of(self.command("write-tree").holding(pair.lock), limits)?;
        let base_tree = format!("{}^{{tree}}", pair.old);
        if tree == id_of(self.command("rev-parse").arg(base_tree), limits)? {
            return Ok(Combined::Nothing);
        }
        let mut command = self.command("commit-tree").arg(tree.as_str());
        for parent in parents {
            command = command.args(["-p", parent.as_str()]);
        }
        let commit = id_of(command.args(["-F", "-"]).input(pair.message.as_bytes()), limits)?;
        let reset = self.command("reset").args(["-q", "--hard", commit.as_str()]);
        reset.holding(pair.lock).run(limits)?;
        Ok(Combined::Commit(commit))
    }

    fn rebase(&self, pair: Pair<'_>, limits: &Limits) -> Result<Combined> {
        self.detach(pair.tip, pair.lock, limits)?;
        let mut command = self.command("rebase");
        for setting in REBASE {
            command = command.config(setting);
        }
        let command =
            command.args(["-q", "--no-stat", "--no-autostash", "--no-gpg-sign", "--merge"]);
        if let Some(conflicts) = self.try_out(command.arg(pair.old.as_str()), pair.lock, limits)? {
            return Ok(Combined::Conflicts(conflicts));
        }
        let commit = id_of(self.command("rev-parse").args(["--verify", "HEAD"]), limits)?;
        if commit == *pair.old { Ok(Combined::Nothing) } else { Ok(Combined::Commit(commit)) }
    }

    fn detach(&self, commit: &ObjectId, lock: &File, limits: &Limits) -> Result<()> {
        let command = self.command("checkout").args(["-q", "--detach", commit.as_str(), "--"]);
        command.holding(lock).run(limits).map(drop)
    }

    /// Runs a merge or rebase; a failure with conflicting files is a result.
    fn try_out<'a>(
        &'a self,
        command: Command<'a>,
        lock: &'a File,
        limits: &Limits,
    ) -> Result<Option<Vec<Conflict>>> {
        let error = match command.holding(lock).run(limits) {
            Ok(_) => return Ok(None),
            Err(error @ Error::Failed { .. }) => error,
            Err(error) => return Err(error),
        };
        let conflicts = self.conflicts(limits)?;
        if conflicts.is_empty() { Err(error) } else { Ok(Some(conflicts)) }
    }

    /// Files with several versions in the index; the second is the base's, the third the branch's.
    fn conflicts(&self, limits: &Limits) -> Result<Vec<Conflict>> {
        let output = self.command("ls-files").args(["-z", "--unmerged"]).run(limits)?;
        let mut stages: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        // `100644 ID 2⇥path`
        for record in output.stdout.split(|byte| *byte == 0) {
            let Some(tab) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let (head, path) = record.split_at(tab);
            let path = scan_path(path.get(1..).unwrap_or_default());
            stages.entry(path).or_default().extend(head.last());
        }
        let conflicts = stages.into_iter().map(|(path, stages)| Conflict {
            path,
            is_missing_in_base: !stages.contains(&b'2'),
            is_missing_in_branch: !stages.contains(&b'3'),
        });
        Ok(conflicts.collect())
    }
}
