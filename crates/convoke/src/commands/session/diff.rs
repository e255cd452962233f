//! `convoke session diff`: the changes of a session or a turn, as a patch.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{
    ChangedFile, DiffHunk, DiffLineKind, FileDiff, FileStatus, SessionChanges,
};
use convoke_core::count::counted;
use serde::Serialize;

use super::turns;
use crate::args::number;
use crate::colour::Colour;
use crate::commands::World;
use crate::output::{Format, Output, Reader, Stream, plain};
use crate::pager::{Paged, installed};

/// Files in the list that were changed between the turns; further ones are counted.
const BETWEEN_NAMED_MAX: usize = 10;

/// Show what a session changed in its project
///
/// Shows what all of its turns changed, or one of them. What others changed between the turns is not
/// included; `--stat` names these files. In a work tree of its own, everything is shown. On a terminal
/// the patch is shown by delta, if that is installed, or else by $PAGER or less.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session diff 3fa8
  convoke session diff 3fa8 --stat
  convoke session diff 3fa8 --turn 5 > turn.patch")]
pub(super) struct DiffArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Only one turn, by its number in `convoke session show`
    #[arg(long, value_name = "N", value_parser = number(1_u64..))]
    turn: Option<u64>,
    /// Only the files, with the numbers of lines
    #[arg(long)]
    stat: bool,
}

/// The output of `--json`. A contract with scripts.
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
    let (turn, changes) = match args.turn {
        None => (None, client.changes(&args.id, None).await?),
        Some(number) => {
            let turn = turns::prompt(client, &args.id, number).await?;
            match client.changes(&args.id, Some(turn)).await {
                Ok(changes) => (Some(turn), changes),
                Err(error) => return Err(turns::explain(client, &args.id, number, error).await),
            }
        }
    };
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
    let (style, mut stream) = open(world, output)?;
    for file in &changes.files {
        let diff = client.changed_file(&args.id, &file.path, turn).await?;
        if stream.write(&patch(&diff, style))? == Reader::Gone {
            break;
        }
    }
    stream.finish()
}

/// How a patch is written.
#[derive(Debug, Clone, Copy)]
struct Style {
    colour: Colour,
    is_terminal: bool,
}

impl Style {
    /// A text of a file: its control characters must not reach the terminal, but a patch in a file must apply.
    fn harmless(self, text: &str) -> String {
        if self.is_terminal { plain(text) } else { text.to_owned() }
    }
}

/// On a terminal the patch goes to delta, which has colours of its own, or to the pager.
fn open<'a>(world: &World, output: &'a Output) -> anyhow::Result<(Style, Stream<'a>)> {
    let is_terminal = stdout().is_terminal();
    if is_terminal && installed(&world.environment, "delta").is_some() {
        let paged = Some(Paged::start("delta --paging=auto".as_ref())?);
        return Ok((Style { colour: Colour::Off, is_terminal }, Stream { output, paged }));
    }
    Ok((Style { colour: output.colour, is_terminal }, output.stream()?))
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
    if let Some(between) = &changes.between {
        let named = between.paths.iter().take(BETWEEN_NAMED_MAX);
        for path in named.clone() {
            let line = format!("~ {}  changed between the turns, which is not shown", plain(path));
            writeln!(text, "{}", colour.faint(line)).ok();
        }
        let others = between.files.saturating_sub(named.len() as u64);
        if others > 0 {
            let line = format!("~ and {}", counted(others, "other"));
            writeln!(text, "{}", colour.faint(line)).ok();
        }
    }
    let totals = changes.totals;
    let files = counted(totals.files, "file");
    writeln!(text, "{files} changed, +{} -{}", totals.added, totals.removed).ok();
    if changes.turn.is_none() && changes.numbers.len() > 1 {
        let turns: Vec<String> = changes.numbers.iter().map(ToString::to_string).collect();
        let line = format!("turns: {}; `--turn N` shows one of them", turns.join(", "));
        writeln!(text, "{}", colour.faint(line)).ok();
    }
    text
}

/// One file as git writes it, so that other programs can read it.
fn patch(diff: &FileDiff, style: Style) -> String {
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
    let mut text = style.harmless(&text);
    for hunk in &diff.hunks {
        push_hunk(&mut text, hunk, style);
    }
    if !diff.complete {
        writeln!(
            text,
            "{}",
            style.colour.doubtful("The rest of this file is too long to be shown.")
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

fn push_hunk(text: &mut String, hunk: &DiffHunk, style: Style) {
    let DiffHunk { old_start, old_lines, new_start, new_lines, heading, lines } = hunk;
    let heading =
        if heading.is_empty() { String::new() } else { format!(" {}", style.harmless(heading)) };
    let range = format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@{heading}");
    let colour = style.colour;
    writeln!(text, "{}", colour.faint(range)).ok();
    for line in lines {
        let words = style.harmless(&line.text);
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
