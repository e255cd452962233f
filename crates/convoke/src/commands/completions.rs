//! `convoke completions`: the script that teaches a shell the commands.

use anyhow::Context as _;
use clap_complete::Shell;
use clap_complete::env::Shells;
use serde::Serialize;

use crate::completion;
use crate::output::Output;

/// Print the completion script of a shell
///
/// It completes commands, options, agents, projects, sessions, teams and machines: the shell asks
/// this program, which asks the daemon if that is running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke completions bash > ~/.local/share/bash-completion/completions/convoke
  convoke completions zsh > \"${fpath[1]}/_convoke\"
  convoke completions fish > ~/.config/fish/completions/convoke.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Serialize)]
struct Script {
    shell: String,
    script: String,
}

pub(crate) fn run(args: &CompletionsArgs, output: &Output) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).context("there is no script for this shell")?;
    shell.write_registration(completion::VARIABLE, "convoke", "convoke", "convoke", &mut script)?;
    let script = Script { shell: args.shell.to_string(), script: String::from_utf8(script)? };
    output.show(&script, |script, _| script.script.clone())
}
