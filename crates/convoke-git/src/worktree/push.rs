//! Sends a branch to the repository that pull requests are made in, and asks for one with GitHub's `gh`.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::add::remove_folder;
use crate::checkpoint::{read_bounded, write_pack};
use crate::git::{Command, Ended, Git, Launcher, run_program};
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// The limit of `gh`'s output; an address is short.
const OUTPUT_MAX: usize = 64 << 10;

/// Longer lists of the commits where a shallow clone ends are not read.
const SHALLOW_BYTES_MAX: u64 = 1 << 20;

/// The most that the pack with the commits may take.
const PACK_BYTES_MAX: usize = 8 << 30;

/// Protocols that start no program that the address names. A repository on this machine would run
/// its own hooks, and an agent may have made it.
const PROTOCOLS: &str = "https:ssh:http:git";

/// What a remote answers to a history whose ends it does not have.
const SHALLOW_REFUSED: &str = "shallow update not allowed";

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

/// A commit, and the branch of a remote that it is to be pushed to.
#[derive(Debug, Clone, Copy)]
pub struct PushedBranch<'a> {
    /// The name of the remote.
    pub remote: &'a str,
    /// The branch there.
    pub branch: &'a str,
    /// Its new commit.
    pub commit: &'a ObjectId,
}

/// A temporary repository with the commits of a branch and the addresses of the project's remotes,
/// from which the user's own git and `gh` publish, with keys and network.
///
/// The project's configuration may name programs that git runs when it connects, and its objects
/// may lead to other repositories, which no agent can read; an agent may have written both. So only
/// the addresses are read here, and the commits come from git in the sandbox.
#[derive(Debug)]
pub struct Outgoing<'a> {
    project: &'a Project,
    pushed: PushedBranch<'a>,
    git: Git,
    launcher: Launcher,
    folder: PathBuf,
}

impl<'a> Outgoing<'a> {
    /// Makes it in `folder`, in place of what is there. `launcher` has the user's environment.
    pub fn create(
        project: &'a Project,
        pushed: PushedBranch<'a>,
        folder: &Path,
        launcher: Launcher,
        limits: &Limits,
    ) -> Result<Self> {
        remove_folder(folder)?;
        let (git, folder) = (project.git().clone(), folder.to_owned());
        let own = Self { project, pushed, git, launcher, folder };
        let folder = &own.folder;
        fs::create_dir_all(folder).map_err(|source| Error::io("make", folder, source))?;
        let format = project.command("rev-parse").arg("--show-object-format").run(limits)?;
        let format = String::from_utf8_lossy(&format.stdout).trim().to_owned();
        let init = own.command("init").args(["-q", "--template="]);
        init.arg(format!("--object-format={format}")).run(limits)?;
        own.take_commits(project.known_to_remote(pushed, limits)?, limits)?;
        for remote in project.remotes() {
            for (key, value) in remote.settings() {
                own.command("config")
                    .args([&format!("remote.{}.{key}", remote.name), value])
                    .run(limits)?;
            }
        }
        Ok(own)
    }

    /// Stores the commit and its history back to `ends`, which become shallow: their parents are
    /// not stored.
    fn take_commits(&self, mut ends: Vec<ObjectId>, limits: &Limits) -> Result<()> {
        let (project, commit) = (self.project, self.pushed.commit);
        let revisions: String = ends.iter().map(|end| format!("--shallow {end}\n")).collect();
        let revisions = format!("{revisions}{commit}\n");
        let path = self.folder.join(".git/commits.pack");
        let failed = |source| Error::io("write", &path, source);
        let pack = File::options().read(true).write(true).create_new(true).open(&path);
        let mut pack = pack.map_err(failed)?;
        // A partial clone lacks files of the last commits that the remote has.
        let command = project.command("pack-objects").arg("--missing=allow-any");
        if !write_pack(command, &revisions, &pack, PACK_BYTES_MAX as u64, limits)? {
            let command = "git pack-objects".to_owned();
            return Err(Error::TooMuchOutput { command, max: PACK_BYTES_MAX });
        }
        pack.seek(SeekFrom::Start(0)).map_err(failed)?;
        let command = self.command("index-pack").args(["--stdin", "--threads=1"]);
        command.input_file(&pack).run(limits)?;
        fs::remove_file(&path).map_err(failed)?;
        // A shallow clone ends elsewhere, too.
        let theirs = read_bounded(&project.folder().common.join("shallow"), SHALLOW_BYTES_MAX);
        let theirs = theirs.unwrap_or_default();
        ends.extend(theirs.split(|byte| *byte == b'\n').filter_map(|it| ObjectId::read(it).ok()));
        let ends: String = ends.iter().map(|end| format!("{end}\n")).collect();
        let found = self.command("cat-file").arg("--batch-check=%(objectname) %(objecttype)");
        let found = found.input(ends.as_bytes()).run(limits)?.stdout;
        let found = String::from_utf8_lossy(&found).into_owned();
        let found = found.lines().filter_map(|line| line.strip_suffix(" commit"));
        let shallow: String = found.map(|end| format!("{end}\n")).collect();
        let path = self.folder.join(".git/shallow");
        fs::write(&path, shallow).map_err(|source| Error::io("write", &path, source))
    }

    /// Pushes the commit, without prompting for a password.
    pub fn push(&self, limits: &Limits) -> Result<()> {
        match self.push_once(limits) {
            // The remote no longer has a branch at which the history ends here.
            Err(Error::Failed { message, .. }) if message.contains(SHALLOW_REFUSED) => {
                self.take_commits(Vec::new(), limits)?;
                self.push_once(limits)
            }
            done => done,
        }
    }

    fn push_once(&self, limits: &Limits) -> Result<()> {
        let PushedBranch { remote, branch, commit } = self.pushed;
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

impl Drop for Outgoing<'_> {
    fn drop(&mut self) {
        // What stays is replaced the next time.
        remove_folder(&self.folder).ok();
    }
}

impl Project {
    /// The last commits before those that a remote lacks; none if it is not known to have any.
    fn known_to_remote(&self, pushed: PushedBranch<'_>, limits: &Limits) -> Result<Vec<ObjectId>> {
        let PushedBranch { remote, branch, commit } = pushed;
        let same = format!("refs/remotes/{remote}/{branch}");
        // The history since the former commit of the branch shows that nothing is lost there.
        let known = match self.resolve(&same, limits)? {
            Some(former) => former.to_string(),
            None if self.has_branches_of(remote, limits)? => format!("--remotes={remote}"),
            // It was never fetched, as a fork that was added by hand: it may have what other remotes have.
            None => "--remotes".to_owned(),
        };
        let command = self.command("rev-list").args(["--boundary", commit.as_str(), "--not"]);
        let output = command.arg(known).run(limits)?;
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let ends = lines.clone().filter_map(|line| line.strip_prefix(b"-")).map(ObjectId::read);
        let ends = ends.collect::<Result<Vec<_>>>()?;
        Ok(if lines.count() == 0 { vec![commit.clone()] } else { ends })
    }

    /// Whether branches of a remote were fetched.
    fn has_branches_of(&self, remote: &str, limits: &Limits) -> Result<bool> {
        let command = self.command("for-each-ref").args(["--count=1", "--format=%(refname)"]);
        let output = command.arg(format!("refs/remotes/{remote}/")).run(limits)?;
        Ok(!output.stdout.is_empty())
    }

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
