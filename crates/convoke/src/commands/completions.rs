//! `convoke completions`: the script that teaches a shell the commands.

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::args::Args;
use crate::output::Output;

/// Print the completion script of a shell
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
    clap_complete::generate(args.shell, &mut Args::command(), "convoke", &mut script);
    let script = Script { shell: args.shell.to_string(), script: String::from_utf8(script)? };
    output.show(&script, |script, _| script.script.clone())
}
