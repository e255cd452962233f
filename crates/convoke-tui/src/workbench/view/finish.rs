//! Draws the dialog that finishes a work tree.

use convoke_api::bodies::{ConflictSide, FinishWay, WorktreeConflict};
use convoke_core::files::{OwnWorktree, Removal};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::At;
use super::fresh::{field, key, row, text, titled};
use crate::palette::Palette;
use crate::picture::{Picture, Strip};
use crate::text::{clean, wrap};
use crate::words;
use crate::workbench::finish::{Finish, Finishing, Gone, Step};
use crate::workbench::layout;
use crate::workbench::model::Model;
use crate::workbench::refusal::CallRefusal;

/// Width of the names of the ways, in cells.
const NAME_CELLS: usize = 14;

pub(super) fn page(model: &Model, finish: &Finish, picture: &mut Picture, area: Rect) {
    let area = layout::text_area(area);
    let width = usize::from(area.width);
    let palette = model.palette;
    let mut strip = titled(model, &wrap::shorten(&title(finish), width));
    match &finish.step {
        Step::Choose => choose(model, finish, &mut strip, width),
        Step::Message => {
            text(&mut strip, &about(finish.way(), finish), width, palette.faint());
            strip.gap();
            let what = match finish.way() {
                FinishWay::Pr => "Title and body of the pull request",
                FinishWay::Merge
                | FinishWay::Squash
                | FinishWay::Rebase
                | FinishWay::Keep
                | FinishWay::Discard => "Message of the commit",
            };
            strip.push(Line::styled(what, palette.strong()));
            field(&mut strip, model, &finish.message, width);
        }
        Step::Confirm => {
            text(&mut strip, &consequence(finish), width, palette.strong());
            strip.gap();
            key(model, &mut strip, "y", "yes; a snapshot is made first, so that F can restore it");
            key(model, &mut strip, "esc", "no");
        }
        Step::UnderWay => text(&mut strip, "The daemon works on it…", width, palette.news()),
        Step::Conflicts(conflicts) => in_conflict(model, finish, conflicts, &mut strip, width),
        Step::NotCaptured(files) => {
            let words = "No snapshot holds these files: they would be lost with the folder.";
            text(&mut strip, words, width, palette.bad());
            names(&mut strip, files, width, palette);
            strip.gap();
            key(model, &mut strip, "d", "delete them for good, and finish");
            key(model, &mut strip, "esc", "keep everything as it is");
        }
        Step::Refused(refusal) => refused(model, refusal, &mut strip, width),
        Step::PullRequest(address) => {
            text(
                &mut strip,
                "The pull request was made; the work tree stays.",
                width,
                palette.good(),
            );
            strip.gap();
            text(&mut strip, address, width, palette.code());
        }
        Step::Gone(gone) => {
            text(&mut strip, &gone_words(model, gone), width, palette.strong());
            strip.gap();
            key(model, &mut strip, "enter", "restore folder, branch and files");
            key(model, &mut strip, "esc", "leave it");
        }
    }
    picture.strip(area, strip);
}

/// Draws a refusal, with the files that caused it and the hint.
pub(super) fn refused(model: &Model, refusal: &CallRefusal, strip: &mut Strip, width: usize) {
    let palette = model.palette;
    text(strip, &refusal.why, width, palette.bad());
    names(strip, &refusal.files, width, palette);
    if let Some(hint) = &refusal.hint {
        strip.gap();
        text(strip, &format!("Hint: {hint}"), width, ratatui::style::Style::new());
    }
}

fn names(strip: &mut Strip, files: &[String], width: usize, palette: Palette) {
    for file in files {
        let file = wrap::shorten_start(&clean::line(file), width.saturating_sub(2));
        strip.push(Line::styled(format!("  {file}"), palette.code()));
    }
}

fn title(finish: &Finish) -> String {
    let branch = clean::line(&finish.own.branch);
    match (&finish.of, &finish.step) {
        (_, Step::Gone(_)) => format!("Restore the work tree of {branch}"),
        (Finishing::Session(_), Step::Choose | Step::UnderWay) => format!("Finish {branch}"),
        (Finishing::Candidate { .. }, Step::Choose | Step::UnderWay) => format!("Keep {branch}"),
        (_, Step::Conflicts(_)) => format!("Conflicts of {branch} with {}", base(finish)),
        (_, Step::Refused(_) | Step::NotCaptured(_)) => format!("Not done: {branch}"),
        (_, Step::Message | Step::Confirm | Step::PullRequest(_)) => {
            format!("{}: {branch}", name(finish.way()))
        }
    }
}

fn base(finish: &Finish) -> String {
    clean::line(finish.base())
}

const fn name(way: FinishWay) -> &'static str {
    match way {
        FinishWay::Merge => "Merge",
        FinishWay::Squash => "Squash",
        FinishWay::Rebase => "Rebase",
        FinishWay::Pr => "Pull request",
        FinishWay::Keep => "Keep",
        FinishWay::Discard => "Discard",
    }
}

fn choose(model: &Model, finish: &Finish, strip: &mut Strip, width: usize) {
    let palette = model.palette;
    for (index, way) in finish.ways().enumerate() {
        let room = width.saturating_sub(NAME_CELLS + 2);
        let spans = vec![
            Span::raw(format!("{:NAME_CELLS$}", name(way))),
            Span::styled(wrap::shorten(&about(way, finish), room), palette.faint()),
        ];
        row(strip, model, At::from(index == finish.cursor), spans);
    }
    strip.gap();
    let words = match finish.of {
        Finishing::Session(_) => {
            "Uncommitted files are committed first, except with discard. A snapshot is made before anything is removed.".to_owned()
        }
        Finishing::Candidate { others, .. } => format!(
            "{} discarded after a snapshot; F in its session restores it.",
            other_candidates(others)
        ),
    };
    text(strip, &words, width, palette.faint());
}

fn other_candidates(others: usize) -> String {
    match others {
        1 => "The other candidate is".to_owned(),
        others => format!("Each of the other {others} candidates is"),
    }
}

/// The effect of a way, in one line.
fn about(way: FinishWay, finish: &Finish) -> String {
    let base = base(finish);
    match way {
        FinishWay::Merge => format!("merge its commits into {base}, remove folder and branch"),
        FinishWay::Squash => format!("make one commit on {base}, remove folder and branch"),
        FinishWay::Rebase => format!("put its commits on top of {base}, remove folder and branch"),
        FinishWay::Pr => "push its branch, open a pull request; the folder stays".to_owned(),
        FinishWay::Keep => "remove the folder; the branch stays for later".to_owned(),
        FinishWay::Discard => "remove folder and branch, and merge nothing".to_owned(),
    }
}

fn consequence(finish: &Finish) -> String {
    match (&finish.of, finish.way()) {
        (Finishing::Session(_), _) => {
            "Discard this work tree? Its folder and its branch are removed.".to_owned()
        }
        (Finishing::Candidate { others, .. }, FinishWay::Keep) => {
            format!("Keep the branch of this candidate? {} discarded.", other_candidates(*others))
        }
        (Finishing::Candidate { others, .. }, way) => format!(
            "Keep this candidate ({})? {} discarded.",
            name(way).to_lowercase(),
            other_candidates(*others)
        ),
    }
}

fn in_conflict(
    model: &Model,
    finish: &Finish,
    conflicts: &[WorktreeConflict],
    strip: &mut Strip,
    width: usize,
) {
    let palette = model.palette;
    let words = format!("{} and the branch changed these files differently:", base(finish));
    text(strip, &words, width, palette.bad());
    let line = |conflict: &WorktreeConflict| {
        let path = clean::line(&conflict.path);
        match (conflict.base, conflict.branch) {
            (ConflictSide::Deleted, ConflictSide::Changed) => {
                format!("{path} (deleted in {})", base(finish))
            }
            (ConflictSide::Changed, ConflictSide::Deleted) => format!("{path} (deleted here)"),
            (ConflictSide::Changed, ConflictSide::Changed)
            | (ConflictSide::Deleted, ConflictSide::Deleted) => path,
        }
    };
    names(strip, &conflicts.iter().map(line).collect::<Vec<_>>(), width, palette);
    strip.gap();
    text(strip, "Nothing was merged or removed.", width, palette.faint());
    strip.gap();
    key(model, strip, "g", "give them to the agent: it is prompted to resolve them");
    key(model, strip, "esc", "leave them");
}

fn gone_words(model: &Model, gone: &Gone) -> String {
    match gone {
        Gone::Missing => {
            "Its folder was deleted by hand. It is made again from the last checkpoint.".to_owned()
        }
        Gone::Removed(removed) => {
            let age = words::ago(removed.at, model.now);
            format!("It was {} {age}. Its files are in a snapshot.", end(removed.how))
        }
    }
}

/// How a work tree was removed, in a word.
const fn end(how: Removal) -> &'static str {
    match how {
        Removal::Merge => "merged",
        Removal::Squash => "squashed",
        Removal::Rebase => "rebased",
        Removal::Keep => "kept",
        Removal::Discard => "discarded",
        Removal::Remove => "removed",
    }
}

/// The branch of a work tree, and how it was removed.
pub(super) fn branch(own: &OwnWorktree) -> String {
    let branch = clean::line(&own.branch);
    match &own.removed {
        None => format!("⎇ {branch}"),
        Some(removed) => format!("⎇ {branch} ({})", end(removed.how)),
    }
}
