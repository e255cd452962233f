//! The program that shows long texts on a terminal: `$PAGER`, or else `less`.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal as _, Write as _, stdin, stdout};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use crate::environment::Environment;
use crate::output::Reader;

/// Texts of fewer lines fit on every screen and are printed.
const LINES_MIN: usize = 24;

/// The pager for this process's output.
#[derive(Debug)]
pub(crate) struct Pager {
    /// A shell command line; `None` without a terminal, without a pager, or if the user disabled
    /// it.
    command: Option<OsString>,
}

impl Pager {
    /// Decides for this process: a person must see the output, and be able to press a key.
    pub(crate) fn of(environment: &Environment) -> Self {
        let is_terminal = stdout().is_terminal() && stdin().is_terminal();
        Self { command: if is_terminal { Self::on_terminal(environment) } else { None } }
    }

    /// Decides for a terminal: `$PAGER`, which may be empty for none, or `less` where that is installed.
    fn on_terminal(environment: &Environment) -> Option<OsString> {
        let is_dumb = environment.get("TERM") == Some(OsStr::new("dumb"));
        match environment.get("PAGER") {
            _ if is_dumb => None,
            Some(chosen) if chosen.is_empty() || chosen == "cat" => None,
            Some(chosen) => Some(chosen.to_owned()),
            None => installed(environment, "less").map(|_| "less".into()),
        }
    }

    /// Starts the pager; `None` if there is none.
    pub(crate) fn start(&self) -> anyhow::Result<Option<Paged>> {
        self.command.as_deref().map(Paged::start).transpose()
    }

    /// Starts the pager if the text is long enough for one.
    pub(crate) fn start_for(&self, text: &str) -> anyhow::Result<Option<Paged>> {
        if text.lines().nth(LINES_MIN).is_none() { Ok(None) } else { self.start() }
    }
}

/// A pager that runs.
#[derive(Debug)]
pub(crate) struct Paged {
    child: Child,
}

impl Paged {
    /// Starts a command line. `less` leaves when everything fits on the screen, shows colours, and leaves the text there.
    pub(crate) fn start(command_line: &OsStr) -> anyhow::Result<Self> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(command_line).env("LESS", "FRX").stdin(Stdio::piped());
        let child = command.spawn();
        let child =
            child.with_context(|| format!("cannot start the pager {}", command_line.display()))?;
        Ok(Self { child })
    }

    /// Writes a piece of the text; returns whether the pager is still open.
    pub(crate) fn write(&mut self, text: &str) -> Reader {
        let stdin = self.child.stdin.as_mut();
        let is_read = stdin.is_some_and(|stdin| stdin.write_all(text.as_bytes()).is_ok());
        if is_read { Reader::There } else { Reader::Gone }
    }

    /// Waits until the user closes the pager.
    pub(crate) fn wait(mut self) -> anyhow::Result<()> {
        drop(self.child.stdin.take());
        self.child.wait().context("cannot wait for the pager")?;
        Ok(())
    }
}

/// Where a program is, if it is in the search path.
pub(crate) fn installed(environment: &Environment, name: &str) -> Option<PathBuf> {
    let path = environment.get("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_chooses_the_pager_or_none() {
        let decide = |variables: &[(&str, &str)]| {
            Pager::on_terminal(&variables.iter().copied().collect::<Environment>())
        };
        assert_eq!(decide(&[("PAGER", "most -s")]), Some("most -s".into()));
        assert_eq!(decide(&[("PAGER", "")]), None);
        assert_eq!(decide(&[("PAGER", "cat")]), None);
        assert_eq!(decide(&[("PAGER", "less"), ("TERM", "dumb")]), None);
        assert_eq!(decide(&[("PATH", "/nowhere")]), None);
    }
}
