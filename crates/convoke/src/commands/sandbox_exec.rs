//! `convoke sandbox-exec`: gives up rights for good, then becomes another program. The daemon starts agents through it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use convoke_agents::sandbox::{self, Rules, Shortfall};

use crate::output::aside;

/// Confine this process by the kernel, for good, and become another program
///
/// The program and all that it starts read everything but the hidden folders, and write only where they may.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke sandbox-exec --write . --hide ~/.convoke -- bash")]
pub(crate) struct SandboxExecArgs {
    /// File or folder that may be written; a folder that is missing is made
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Folder that may not be read
    #[arg(long, value_name = "PATH")]
    hide: Vec<PathBuf>,
    /// Leave the terminal, so that the program cannot type into it
    #[arg(long)]
    own_session: bool,
    /// Go on without confinement where the kernel has none to offer
    #[arg(long)]
    allow_unconfined: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// What to do where the kernel has no confinement to offer.
#[derive(Debug, Clone, Copy)]
enum Otherwise {
    Refuse,
    RunUnconfined,
}

/// The program could not take over. Its exit code is that of shells.
#[derive(Debug, thiserror::Error)]
#[error("cannot execute {}", program.display())]
pub(crate) struct ExecError {
    program: PathBuf,
    source: io::Error,
}

impl ExecError {
    /// Whether there is no such program.
    pub(crate) fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

pub(crate) fn run(args: &SandboxExecArgs) -> anyhow::Result<()> {
    let [program, rest @ ..] = args.command.as_slice() else { return Ok(()) };
    if args.own_session {
        sandbox::leave_terminal().context("cannot leave the terminal")?;
    }
    let rules = Rules { writable: args.write.clone(), hidden: args.hide.clone() };
    let otherwise =
        if args.allow_unconfined { Otherwise::RunUnconfined } else { Otherwise::Refuse };
    for warning in judge(sandbox::confine(&rules), otherwise)? {
        aside(&format!("warning: {warning}"));
    }
    let source = Command::new(program).args(rest).exec();
    Err(ExecError { program: program.into(), source }.into())
}

/// What is to be said before the program starts, or why it must not.
fn judge(
    attempt: convoke_agents::Result<Vec<Shortfall>>,
    otherwise: Otherwise,
) -> convoke_agents::Result<Vec<String>> {
    match (attempt, otherwise) {
        (Ok(shortfalls), _) => Ok(shortfalls.iter().map(told).collect()),
        (Err(error @ convoke_agents::Error::NoLandlock), Otherwise::RunUnconfined) => {
            Ok(vec![format!("{error}; it runs unconfined, and may write wherever you may")])
        }
        (Err(error), Otherwise::Refuse | Otherwise::RunUnconfined) => Err(error),
    }
}

/// A shortfall in one line, its cause included.
fn told(shortfall: &Shortfall) -> String {
    match std::error::Error::source(shortfall) {
        Some(cause) => format!("{shortfall}: {cause}"),
        None => shortfall.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use convoke_agents::Error;

    use super::*;

    fn say(attempt: convoke_agents::Result<Vec<Shortfall>>, otherwise: Otherwise) -> String {
        match judge(attempt, otherwise) {
            Ok(warnings) => format!("runs: {}", warnings.join(" | ")),
            Err(error) => format!("does not run: {error}"),
        }
    }

    #[test]
    fn s6_nothing_runs_unconfined_unless_that_is_allowed() {
        insta::assert_snapshot!(say(Err(Error::NoLandlock), Otherwise::Refuse), @"does not run: this system has no Landlock to confine a program with");
        insta::assert_snapshot!(say(Err(Error::NoLandlock), Otherwise::RunUnconfined), @"runs: this system has no Landlock to confine a program with; it runs unconfined, and may write wherever you may");
    }

    #[test]
    fn s6_rules_that_cannot_be_kept_are_no_reason_to_run_unconfined() {
        let exposed = || Error::Exposed { hidden: "/a/b".into(), writable: "/a".into() };
        insta::assert_snapshot!(say(Err(exposed()), Otherwise::RunUnconfined), @"does not run: /a/b is to be hidden, and lies in /a, which is to be written");
    }

    #[test]
    fn s6_what_confinement_lacks_is_said_and_it_holds_otherwise() {
        let shortfalls = vec![Shortfall::Truncation, Shortfall::Missing { path: "/x.json".into() }];
        insta::assert_snapshot!(say(Ok(shortfalls), Otherwise::Refuse), @"runs: this kernel confines in part only: files can be truncated everywhere | /x.json does not exist, and a confined program cannot make it");
        assert_eq!(say(Ok(Vec::new()), Otherwise::Refuse), "runs: ");
    }
}
