//! Sends a branch to the repository that pull requests are made in, and asks for one with GitHub's `gh`.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::add::remove_folder;
use crate::checkpoint::read_bounded;
use crate::git::{Command, Ended, Git, Launcher, run_program};
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// The limit of `gh`'s output; an address is short.
const OUTPUT_MAX: usize = 64 << 10;

/// Longer lists of the commits where a shallow clone ends are not read.
const SHALLOW_BYTES_MAX: u64 = 1 << 20;

/// Protocols that start no program that the address names. A repository on this machine would run
/// its own hooks, and an agent may have made it.
const PROTOCOLS: &str = "https:ssh:http:git";

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

/// A temporary repository with the objects of a project and the addresses of its remotes, from
/// which the user's own git and `gh` publish, with keys and network.
///
/// The project's configuration may name programs that git runs when it connects, and an agent may
/// have written it; only the addresses are taken from it.
#[derive(Debug)]
pub struct Outgoing {
    git: Git,
    launcher: Launcher,
    folder: PathBuf,
}

impl Outgoing {
    /// Makes it in `folder`, in place of what is there. `launcher` has the user's environment.
    pub fn create(
        project: &Project,
        folder: &Path,
        launcher: Launcher,
        limits: &Limits,
    ) -> Result<Self> {
        remove_folder(folder)?;
        let own = Self { git: project.git().clone(), launcher, folder: folder.to_owned() };
        fs::create_dir_all(folder).map_err(|source| Error::io("make", folder, source))?;
        let format = project.command("rev-parse").arg("--show-object-format").run(limits)?;
        let format = String::from_utf8_lossy(&format.stdout).trim().to_owned();
        let init = own.command("init").args(["-q", "--template="]);
        init.arg(format!("--object-format={format}")).run(limits)?;
        let common = &project.folder().common;
        let mut objects = common.join("objects").into_os_string().into_encoded_bytes();
        objects.push(b'\n');
        let alternates = folder.join(".git/objects/info/alternates");
        fs::write(&alternates, objects)
            .map_err(|source| Error::io("write", &alternates, source))?;
        if let Some(commits) = read_bounded(&common.join("shallow"), SHALLOW_BYTES_MAX) {
            let shallow = folder.join(".git/shallow");
            fs::write(&shallow, commits).map_err(|source| Error::io("write", &shallow, source))?;
        }
        for remote in project.remotes() {
            for (key, value) in remote.settings() {
                own.command("config")
                    .args([&format!("remote.{}.{key}", remote.name), value])
                    .run(limits)?;
            }
        }
        Ok(own)
    }

    /// Pushes a commit to a branch of a remote, without prompting for a password.
    pub fn push(
        &self,
        remote: &str,
        commit: &ObjectId,
        branch: &str,
        limits: &Limits,
    ) -> Result<()> {
        self.command("push")
            .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
            .env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
            .args(["-q", "--no-verify", "--", remote, &format!("{commit}:refs/heads/{branch}")])
            .run(limits)
            .map(drop)
    }

    /// Creates a pull request with `gh`, and returns its address.
    pub fn create_pull_request(
        &self,
        gh: &Path,
        new: NewPullRequest<'_>,
        limits: &Limits,
    ) -> Result<String> {
        let mut command = std::process::Command::new(gh);
        command.args(["pr", "create", "--head", new.branch, "--base", new.base]);
        command.args(["--title", new.title, "--body", new.body]).current_dir(&self.folder);
        let variables = self.launcher.env.iter().map(|(name, value)| (name, value));
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

    fn command(&self, name: &'static str) -> Command<'_> {
        let command = Command::new(&self.git, name).launcher(&self.launcher);
        command.env("GIT_DIR", self.folder.join(".git")).folder(&self.folder)
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        // What stays is replaced the next time.
        remove_folder(&self.folder).ok();
    }
}

impl Project {
    /// Whether there is a remote of this name.
    pub fn has_remote(&self, name: &str) -> bool {
        self.remotes().iter().any(|remote| remote.name == name)
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
