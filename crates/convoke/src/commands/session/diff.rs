//! `convoke session diff`: what a session or a turn changed, as a patch.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _, stdout};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{
    ChangedFile, DiffHunk, DiffLineKind, FileDiff, FileStatus, SessionChanges,
};
use convoke_core::message::Seq;
use serde::Serialize;

use crate::colour::Colour;
use crate::commands::World;
use crate::output::{Format, Output, Reader, plain};

/// Show what a session changed in its project
///
/// From its first checkpoint to its last, or one turn of it. On a terminal the patch is shown by
/// delta, if that is installed, or else by $PAGER or less.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session diff 3fa8
  convoke session diff 3fa8 --stat
  convoke session diff 3fa8 --turn 5 > turn.patch")]
pub(super) struct DiffArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Only one turn: the number of its prompt among the messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    turn: Option<u64>,
    /// Only the files, with the numbers of lines
    #[arg(long)]
    stat: bool,
}

/// What `--json` prints. A contract with scripts.
#[derive(Serialize)]
struct WholeDiff<'a> {
    #[serde(flatten)]
    changes: &'a SessionChanges,
    diffs: Vec<FileDiff>,
}

pub(super) async fn run(
    client: &Client,
    args: &DiffArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let turn = args.turn.map(Seq::new);
    let changes = client.changes(&args.id, turn).await?;
    if args.stat {
        return output.show(&changes, stat);
    }
    if output.format == Format::Json {
        let mut diffs = Vec::new();
        for file in &changes.files {
            diffs.push(client.changed_file(&args.id, &file.path, turn).await?);
        }
        return output.show(&WholeDiff { changes: &changes, diffs }, |_, _| String::new());
    }
    let mut pager = Pager::start(world, output.colour);
    for file in &changes.files {
        let diff = client.changed_file(&args.id, &file.path, turn).await?;
        let text = patch(&diff, &pager);
        if pager.write(&text, output)? == Reader::Gone {
            break;
        }
    }
    pager.wait()
}

/// The files with the numbers of their lines.
fn stat(changes: &SessionChanges, colour: Colour) -> String {
    let mut text = String::new();
    let width = changes.files.iter().map(|file| plain(&file.path).chars().count()).max();
    let width = width.unwrap_or_default();
    for file in &changes.files {
        let lines = match (file.added, file.removed) {
            (Some(added), Some(removed)) => {
                format!(
                    "{} {}",
                    colour.good(format!("+{added}")),
                    colour.removed(format!("-{removed}"))
                )
            }
            _ => "binary".to_owned(),
        };
        let path = plain(&file.path);
        let from = file.from.as_ref().map(|from| format!(" (from {})", plain(from)));
        let letter = file.status.letter();
        // Writing to a string cannot fail.
        writeln!(text, "{letter} {path:width$}  {lines}{}", from.unwrap_or_default()).ok();
    }
    for file in &changes.left_out {
        writeln!(text, "{}", colour.faint(format!("? {}  not captured", plain(&file.path)))).ok();
    }
    let totals = changes.totals;
    let files = if totals.files == 1 { "file" } else { "files" };
    writeln!(text, "{} {files} changed, +{} -{}", totals.files, totals.added, totals.removed).ok();
    if changes.turn.is_none() && changes.turns.len() > 1 {
        let turns: Vec<String> = changes.turns.iter().map(ToString::to_string).collect();
        let line = format!("turns: {}; --turn N shows one of them", turns.join(", "));
        writeln!(text, "{}", colour.faint(line)).ok();
    }
    text
}

/// One file as git writes it, so that other programs can read it.
fn patch(diff: &FileDiff, pager: &Pager) -> String {
    let file = &diff.file;
    let mut text = head(file);
    if file.binary {
        text.push_str("Binary files differ\n");
    }
    if !diff.hunks.is_empty() {
        let (old, new) = (file.from.as_ref().unwrap_or(&file.path), &file.path);
        let old = if file.status == FileStatus::Added {
            "/dev/null".to_owned()
        } else {
            format!("a/{old}")
        };
        let new = if file.status == FileStatus::Deleted {
            "/dev/null".to_owned()
        } else {
            format!("b/{new}")
        };
        writeln!(text, "--- {old}\n+++ {new}").ok();
    }
    let mut text = pager.harmless(&text);
    for hunk in &diff.hunks {
        push_hunk(&mut text, hunk, pager);
    }
    if !diff.complete {
        writeln!(
            text,
            "{}",
            pager.colour.doubtful("The rest of this file is too long to be shown.")
        )
        .ok();
    }
    text
}

fn head(file: &ChangedFile) -> String {
    let from = file.from.as_ref().unwrap_or(&file.path);
    let mut text = format!("diff --git a/{from} b/{}\n", file.path);
    match (file.old_mode, file.new_mode) {
        (None, Some(mode)) => writeln!(text, "new file mode {}", mode.octal()).ok(),
        (Some(mode), None) => writeln!(text, "deleted file mode {}", mode.octal()).ok(),
        (Some(old), Some(new)) if old != new => {
            writeln!(text, "old mode {}\nnew mode {}", old.octal(), new.octal()).ok()
        }
        _ => None,
    };
    if let FileStatus::Renamed = file.status {
        writeln!(text, "rename from {from}\nrename to {}", file.path).ok();
    }
    text
}

fn push_hunk(text: &mut String, hunk: &DiffHunk, pager: &Pager) {
    let DiffHunk { old_start, old_lines, new_start, new_lines, heading, lines } = hunk;
    let heading =
        if heading.is_empty() { String::new() } else { format!(" {}", pager.harmless(heading)) };
    let range = format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@{heading}");
    let colour = pager.colour;
    writeln!(text, "{}", colour.faint(range)).ok();
    for line in lines {
        let words = pager.harmless(&line.text);
        let line_text = match line.kind {
            DiffLineKind::Context => format!(" {words}"),
            DiffLineKind::Added => colour.good(format!("+{words}")),
            DiffLineKind::Removed => colour.removed(format!("-{words}")),
        };
        writeln!(text, "{line_text}").ok();
        if line.no_newline {
            text.push_str("\\ No newline at end of file\n");
        }
    }
}

/// The program that shows a long patch on a terminal.
struct Pager {
    child: Option<std::process::Child>,
    colour: Colour,
    is_terminal: bool,
}

impl Pager {
    /// Starts delta, $PAGER or less on a terminal; without any of them the patch is printed.
    fn start(world: &World, colour: Colour) -> Self {
        let is_terminal = stdout().is_terminal();
        let mut pager = Self { child: None, colour, is_terminal };
        if !is_terminal {
            return pager;
        }
        let chosen = world.environment.get("PAGER").filter(|name| !name.is_empty());
        let wanted: [(OsString, &[&str]); 3] = [
            ("delta".into(), &["--paging=auto"]),
            (chosen.map_or_else(|| "less".into(), OsString::from), &[]),
            ("less".into(), &[]),
        ];
        for (name, args) in wanted {
            let Some(program) = installed(world, &name) else { continue };
            let mut command = Command::new(program);
            command.args(args).env("LESS", "FRX").stdin(Stdio::piped());
            if let Ok(child) = command.spawn() {
                if name == "delta" {
                    pager.colour = Colour::Off;
                }
                pager.child = Some(child);
                break;
            }
        }
        pager
    }

    /// A text of a file: its control characters must not reach the terminal, but a patch in a file must apply.
    fn harmless(&self, text: &str) -> String {
        if self.is_terminal { plain(text) } else { text.to_owned() }
    }

    fn write(&mut self, text: &str, output: &Output) -> anyhow::Result<Reader> {
        let Some(stdin) = self.child.as_mut().and_then(|child| child.stdin.as_mut()) else {
            return output.piece(text);
        };
        match stdin.write_all(text.as_bytes()) {
            Ok(()) => Ok(Reader::There),
            // The user has seen enough.
            Err(_) => Ok(Reader::Gone),
        }
    }

    fn wait(mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            child.wait()?;
        }
        Ok(())
    }
}

/// Where a program is, if it is in the search path.
fn installed(world: &World, name: &OsString) -> Option<PathBuf> {
    let path = world.environment.get("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
