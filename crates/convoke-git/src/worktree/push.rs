//! Sending a branch to the repository that pull requests are made in, and asking for one with GitHub's `gh`.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::Path;

use crate::git::{Ended, run_program};
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// The limit of `gh`'s output; an address is short.
const OUTPUT_MAX: usize = 64 << 10;

/// A pull request to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewPullRequest<'a> {
    /// The branch with the commits.
    pub branch: &'a str,
    /// The branch that is to get them.
    pub base: &'a str,
    /// Its title.
    pub title: &'a str,
    /// What it says.
    pub body: &'a str,
}

impl Project {
    /// Pushes a branch to a remote, without prompting for a password. The project's launcher must
    /// give git access to the network and the user's keys.
    pub fn push(&self, remote: &str, branch: &str, limits: &Limits) -> Result<()> {
        self.check_branch_name(branch, limits)?;
        if remote.starts_with('-') {
            return Err(Error::InvalidName { name: remote.to_owned() });
        }
        let refspec = format!("refs/heads/{branch}:refs/heads/{branch}");
        let command = self.command("push").args(["-q", "--no-verify"]);
        command
            .env("GIT_ALLOW_PROTOCOL", "https:ssh:git:http:file")
            .env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
            .args(["--", remote, &refspec])
            .run(limits)
            .map(drop)
    }

    /// Whether there is a remote of this name.
    pub fn has_remote(&self, remote: &str, limits: &Limits) -> Result<bool> {
        let command = self.command("config").args(["--get", &format!("remote.{remote}.url")]);
        Ok(command.run_any(limits)?.code == Some(0))
    }

    /// Creates a pull request with `gh`, and returns its address.
    pub fn create_pull_request(
        &self,
        gh: &Path,
        new: NewPullRequest<'_>,
        environment: &[(OsString, OsString)],
        limits: &Limits,
    ) -> Result<String> {
        let mut command = std::process::Command::new(gh);
        command.args(["pr", "create", "--head", new.branch, "--base", new.base]);
        command.args(["--title", new.title, "--body", new.body]).current_dir(self.work_tree());
        let variables = environment.iter().map(|(name, value)| (name, value));
        command.env_clear().envs(variables).env("GH_PROMPT_DISABLED", "1");
        let mut stdout = Vec::new();
        let words = "gh pr create";
        let ended = run_program(command, words, limits, &mut |bytes| {
            stdout.extend_from_slice(bytes);
            if stdout.len() > OUTPUT_MAX {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        match ended {
            Ended::Exited { code: Some(0), .. } => {}
            Ended::Exited { code, stderr } => {
                return Err(Error::failed(words.to_owned(), code, &stderr));
            }
            Ended::Stopped => {
                return Err(Error::TooMuchOutput { command: words.to_owned(), max: OUTPUT_MAX });
            }
        }
        let text = String::from_utf8_lossy(&stdout);
        // It writes the address in the last line.
        let address = text.lines().rev().map(str::trim).find(|line| line.contains("://"));
        let what = text.trim().to_owned();
        let unexpected = || Error::Unexpected { command: words.to_owned(), what };
        address.map(str::to_owned).ok_or_else(unexpected)
    }

    /// The newest kept commit of a branch that was deleted or finished.
    pub fn kept_commit(&self, branch: &str, limits: &Limits) -> Result<Option<ObjectId>> {
        self.check_branch_name(branch, limits)?;
        let command = self.command("for-each-ref").args(["--sort=-committerdate", "--count=1"]);
        let command = command.arg("--format=%(objectname)");
        let kept = ["removed", "finished"].map(|kind| format!("refs/convoke/{kind}/{branch}/"));
        let output = command.args(kept).run(limits)?;
        if output.stdout.is_empty() { Ok(None) } else { ObjectId::read(&output.stdout).map(Some) }
    }
}
