//! One git command: its arguments, a controlled environment, and the handling of its output.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::process::{self, Ended, Setup};
use super::{Git, Launcher};
use crate::unreadable::Reads;
use crate::{Error, Limits, Result};

/// What a command may write to stdout unless it says otherwise; a longer output is an error.
const OUTPUT_MAX: usize = 256 << 20;

/// Settings for every command: nothing that runs other programs, prompts a human, or depends on the
/// user's preferences.
const CONFIG: [&str; 24] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.editor=:",
    "core.askPass=",
    "core.sshCommand=false",
    "core.quotePath=false",
    "color.ui=false",
    "commit.gpgSign=false",
    "commit.template=/dev/null",
    "merge.verifySignatures=false",
    "merge.stat=false",
    "rebase.autoStash=false",
    "merge.autoStash=false",
    "rerere.enabled=false",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "diff.submodule=short",
    "diff.ignoreSubmodules=dirty",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "advice.detachedHead=false",
];

/// Variables for every command, for the same reasons; they win over the configuration of a project.
const ENVIRONMENT: [(&str, &str); 10] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_SSH_COMMAND", "false"),
    // A partial clone fetches missing objects by itself; this keeps it from the network.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
];

/// What a command reads from stdin.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input<'a> {
    Nothing,
    Bytes(&'a [u8]),
    /// From its current position to its end.
    File(&'a File),
}

/// What a command wrote.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// A command that is about to be run.
#[derive(Debug)]
pub(crate) struct Command<'a> {
    git: &'a Git,
    launcher: Option<&'a Launcher>,
    name: &'static str,
    config: Vec<OsString>,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    input: Input<'a>,
    lock: Option<&'a File>,
    reads: Option<Reads>,
    output_max: usize,
}

impl<'a> Command<'a> {
    pub(crate) fn new(git: &'a Git, name: &'static str) -> Self {
        Self {
            git,
            launcher: None,
            name,
            config: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            folder: None,
            input: Input::Nothing,
            lock: None,
            reads: None,
            output_max: OUTPUT_MAX,
        }
    }

    pub(crate) fn launcher(mut self, launcher: &'a Launcher) -> Self {
        self.launcher = Some(launcher);
        self
    }

    pub(crate) fn config(mut self, key_and_value: impl Into<OsString>) -> Self {
        self.config.push(key_and_value.into());
        self
    }

    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    pub(crate) fn input(mut self, bytes: &'a [u8]) -> Self {
        self.input = Input::Bytes(bytes);
        self
    }

    /// Sets a file as its input.
    pub(crate) fn input_file(mut self, file: &'a File) -> Self {
        self.input = Input::File(file);
        self
    }

    /// Lets the process hold a lock as long as it runs, even if this process is killed before it.
    ///
    /// A lock belongs to an open file description, which a child shares if it inherits the file. It
    /// gets the file as stdin, or, if it reads from stdin, as stdout, since no command that reads
    /// paths writes any output.
    pub(crate) fn holding(mut self, lock: &'a File) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Makes it fail with `Unreadable` instead of waiting for a file of these that cannot be read.
    pub(crate) fn reading(mut self, reads: Reads) -> Self {
        self.reads = Some(reads);
        self
    }

    /// Runs it, and fails unless it ends with code 0.
    pub(crate) fn run(self, limits: &Limits) -> Result<Output> {
        let words = self.words();
        let output = self.run_any(limits)?;
        match output.code {
            Some(0) => Ok(output),
            code => Err(Error::failed(words, code, &output.stderr)),
        }
    }

    /// Runs it, whatever code it ends with.
    pub(crate) fn run_any(self, limits: &Limits) -> Result<Output> {
        let (words, max) = (self.words(), self.output_max);
        let mut stdout = Vec::new();
        let ended = self.stream_any(limits, &mut |bytes| {
            stdout.extend_from_slice(bytes);
            if stdout.len() > max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        match ended {
            Ended::Exited { code, stderr } => Ok(Output { code, stdout, stderr }),
            Ended::Stopped => Err(Error::TooMuchOutput { command: words, max }),
        }
    }

    /// Runs it, handing each piece of its output to `sink`, which may stop it; the answer is whether it ended by itself.
    pub(crate) fn stream(
        self,
        limits: &Limits,
        sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<bool> {
        let words = self.words();
        match self.stream_any(limits, sink)? {
            Ended::Exited { code: Some(0), .. } => Ok(true),
            Ended::Exited { code, stderr } => Err(Error::failed(words, code, &stderr)),
            Ended::Stopped => Ok(false),
        }
    }

    fn stream_any(
        self,
        limits: &Limits,
        sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<Ended> {
        let mut command = self.command();
        command.env_clear();
        let variables = self.variables();
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let (words, reads) = (self.words(), self.reads.as_ref());
        let setup = Setup { words: &words, input: self.input, lock: self.lock, reads };
        process::run(command, setup, limits, sink)
    }

    /// The program to start and its arguments, behind the launcher's.
    fn command(&self) -> std::process::Command {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(launcher) = self.launcher.filter(|launcher| !launcher.prefix.is_empty()) {
            words.extend(launcher.prefix.iter().cloned());
            // A sandbox may clear the environment, so the variables are passed as arguments, too.
            words.push("env".into());
            words.extend(self.variables().into_iter().map(|(mut name, value)| {
                name.push("=");
                name.push(value);
                name
            }));
        }
        words.push(self.git.program().into());
        words.push("--no-pager".into());
        for setting in CONFIG.iter().map(OsString::from).chain(self.config.iter().cloned()) {
            words.extend(["-c".into(), setting]);
        }
        words.push(self.name.into());
        words.extend(self.args.iter().cloned());
        let mut words = words.into_iter();
        let mut command = std::process::Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables = vec![("PATH".into(), self.git.search_path().to_owned())];
        let launcher = self.launcher.into_iter().flat_map(|launcher| launcher.env.iter().cloned());
        variables.extend(launcher);
        variables.extend(ENVIRONMENT.map(|(name, value)| (name.into(), value.into())));
        variables.extend(self.env.iter().cloned());
        variables
    }

    /// How errors name it: without options and paths, which may be thousands.
    fn words(&self) -> String {
        format!("git {}", self.name)
    }
}
