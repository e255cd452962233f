//! `convoke man-pages`: the manual pages, for packagers.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::CommandFactory;
use serde::Serialize;

use crate::args::Args;
use crate::output::Output;

/// Write the pages of the manual into a folder, one for each command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke man-pages ~/.local/share/man/man1")]
pub(crate) struct ManPagesArgs {
    /// The folder, which is made if it is not there
    folder: PathBuf,
}

#[derive(Serialize)]
struct Written<'a> {
    folder: &'a PathBuf,
}

pub(crate) fn run(args: &ManPagesArgs, output: &Output) -> anyhow::Result<()> {
    let folder = &args.folder;
    let made =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Args::command(), folder));
    made.with_context(|| format!("cannot write the manual into {}", folder.display()))?;
    output.show(&Written { folder }, |written, _| format!("{}\n", written.folder.display()))
}
