//! `convoke session move`: to another machine.

use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{MoveFiles, MoveSession};

use crate::output::{Output, plain};

/// Move a session to another machine whose daemon shares the database
///
/// The log, waiting prompts, checkpoints, the session's work tree with its branch and, for Claude
/// Code and Codex, the agent's own record of the conversation are moved too. The session continues in
/// the project there that has the same git remote. Its agent is stopped here, and the next prompt
/// starts it there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session move 3fa8 --to workstation
  convoke session move 3fa8 --to workstation --project /srv/web --files restore
  convoke session move 3fa8 --to workstation --stop
  convoke session move 3fa8 --to workstation --from-away --json")]
pub(super) struct MoveArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// The machine, as `convoke node list` calls it
    #[arg(long, value_name = "NODE", value_parser = NonEmptyStringValueParser::new())]
    to: String,
    /// The project there: its path, id or name [default: the one with the same git remote]
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    project: Option<String>,
    /// What to do with the files, with uncommitted changes
    #[arg(long, value_enum, default_value_t = Files::Auto)]
    files: Files,
    /// Stop a running turn, and withdraw open requests
    #[arg(long)]
    stop: bool,
    /// Take it from a machine that is away, without its files
    #[arg(long, conflicts_with = "stop")]
    from_away: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Files {
    /// Write them if the project there is at the same commit without changes; else keep them as a checkpoint
    Auto,
    /// Write them in any case, after a checkpoint of what is there
    Restore,
    /// Keep them as a checkpoint there, and write nothing
    Checkpoint,
    /// Leave them here
    Leave,
}

pub(super) async fn run(client: &Client, args: &MoveArgs, output: &Output) -> anyhow::Result<()> {
    let files = match args.files {
        Files::Auto => MoveFiles::Auto,
        Files::Restore => MoveFiles::Restore,
        Files::Checkpoint => MoveFiles::Checkpoint,
        Files::Leave => MoveFiles::Leave,
    };
    let order = MoveSession {
        to: args.to.clone(),
        project: args.project.clone(),
        files: Some(files),
        stop: args.stop,
        from_away: args.from_away,
    };
    let moved = client.move_session(&args.id, &order).await?;
    output.show(&moved, |moved, _| format!("{}\n", plain(&moved.text)))
}
