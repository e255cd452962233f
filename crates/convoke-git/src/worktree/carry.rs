//! The branch of a work tree that goes from the repository of one machine to that of another, as a pack.

use std::fs::File;

use crate::checkpoint::write_pack;
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// A branch whose commits are in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedBranch {
    /// Its last commit.
    pub tip: ObjectId,
    /// Commits that the other repository must have: the pack holds those after them.
    pub needs: Vec<ObjectId>,
}

impl Project {
    /// Writes the commits up to the one that is checked out into a file, without those that a remote-tracking branch has.
    /// `None` if that takes more than `bytes_max`.
    pub fn pack_branch(
        &self,
        to: &File,
        bytes_max: u64,
        limits: &Limits,
    ) -> Result<Option<CarriedBranch>> {
        let missing = || Error::NotFound { what: "a commit that is checked out".to_owned() };
        let tip = self.resolve("HEAD", limits)?.ok_or_else(missing)?;
        let command = self.command("rev-list").args(["--boundary", tip.as_str()]);
        let output = command.args(["--not", "--remotes"]).run(limits)?;
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let needs = lines.clone().filter_map(|line| line.strip_prefix(b"-")).map(ObjectId::read);
        let mut needs = needs.collect::<Result<Vec<_>>>()?;
        if lines.count() == 0 {
            needs.push(tip.clone());
        }
        let without: String = needs.iter().map(|commit| format!("^{commit}\n")).collect();
        let revisions = format!("{tip}\n{without}");
        let command = self.command("pack-objects");
        let is_packed = write_pack(command, &revisions, to, bytes_max, limits)?;
        Ok(is_packed.then_some(CarriedBranch { tip, needs }))
    }

    /// Reads the commits from such a file, and creates the branch at the last of them, or fast-forwards it.
    ///
    /// Fails with `NotFound` if a commit that they need is missing, and with `BranchExists` if the branch has other commits
    /// or is checked out; then no ref is changed. An interrupted call can be repeated.
    pub fn unpack_branch(
        &self,
        name: &str,
        carried: &CarriedBranch,
        from: &File,
        limits: &Limits,
    ) -> Result<()> {
        self.check_branch_name(name, limits)?;
        let CarriedBranch { tip, needs } = carried;
        for need in needs {
            if self.resolve(need.as_str(), limits)?.is_none() {
                return Err(Error::NotFound { what: format!("the commit {need}") });
            }
        }
        if !needs.contains(tip) {
            // Another machine wrote the pack: broken objects and paths such as `.git` are refused.
            let command = self.command("index-pack").args(["--stdin", "--strict", "--threads=1"]);
            command.input_file(from).run(limits)?;
        }
        // Fails if an object is missing.
        let command = self.command("rev-list").args(["--objects", "--quiet", tip.as_str()]);
        command.arg("--not").args(needs.iter().map(ObjectId::as_str)).run(limits)?;
        let reference = format!("refs/heads/{name}");
        let before = match self.resolve(&reference, limits)? {
            Some(before) if before == *tip => return Ok(()),
            Some(before) => {
                let command = self.command("merge-base").arg("--is-ancestor");
                let behind = command.args([before.as_str(), tip.as_str()]).run_any(limits)?;
                if behind.code != Some(0) || self.checkout_of(name, limits)?.is_some() {
                    return Err(Error::BranchExists { branch: name.to_owned() });
                }
                before.to_string()
            }
            None => String::new(),
        };
        self.command("update-ref").args([&reference, tip.as_str(), &before]).run(limits).map(drop)
    }
}
