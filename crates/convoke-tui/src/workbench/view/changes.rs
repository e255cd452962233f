//! Draws the changes of the open session: files, the diff of one of them, and dialogs.

mod dialog;
mod diff;

use convoke_api::bodies::{BetweenTurns, ChangedFile, FileStatus, LeftOutReason};
use convoke_core::count::counted;
use convoke_core::files::ChangeTotals;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{At, Title, bar, split_line, titled_line};
use crate::palette::Palette;
use crate::picture::{Picture, Strip, Target};
use crate::text::{clean, wrap};
use crate::workbench::changes::{Changes, Loaded, Pane};
use crate::workbench::layout::{self, ChangesAreas};
use crate::workbench::model::Model;

pub(super) fn page(model: &Model, changes: &Changes, picture: &mut Picture) {
    let Some(ChangesAreas { head, files, diff, dialog }) = layout::changes(model) else { return };
    heading(model, changes, picture, head);
    if let Some(area) = diff {
        diff::page(model, changes, picture, area);
    }
    if let Some(area) = files {
        let is_beside = diff.is_some();
        let inner =
            Rect { width: area.width.saturating_sub(if is_beside { 2 } else { 1 }), ..area };
        list(model, changes, picture, inner);
        if is_beside {
            bar(picture, area, model.palette);
        }
    }
    if let (Some(area), Some(asked)) = (dialog, &changes.dialog) {
        dialog::page(model, changes, asked, picture, area);
    }
}

fn heading(model: &Model, changes: &Changes, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let title = model.list.session(changes.id).map(|session| clean::line(&session.title));
    let scope = match changes.turn {
        Some(turn) => format!("turn {}", changes.number_of(turn)),
        None => "whole session".to_owned(),
    };
    let title = Title {
        before: vec![Span::styled(" Changes  ", palette.here())],
        title: Span::styled(title.unwrap_or_default(), palette.strong()),
    };
    let mut after = vec![Span::styled(format!("  {scope}"), palette.code())];
    if let Some(listed) = changes.listed.here() {
        let ChangeTotals { files, .. } = listed.totals;
        after.push(Span::styled(format!("  {}  ", counted(files, "file")), palette.faint()));
        after.extend(counts(Some(listed.totals.added), Some(listed.totals.removed), palette));
    }
    let comments = model.reviews.get(&changes.id).map_or(0, Vec::len);
    let right = match (&changes.under_way, comments) {
        (Some(_), _) => vec![Span::styled("working… ", palette.news())],
        (None, 0) => Vec::new(),
        (None, count) => {
            let words = format!("{}: s sends ", counted(count, "comment"));
            vec![Span::styled(words, palette.news())]
        }
    };
    picture.line(area, titled_line(title, after, right, usize::from(area.width)));
}

/// Lines that were added and removed.
pub(in crate::workbench::view) fn counts(
    added: Option<u64>,
    removed: Option<u64>,
    palette: Palette,
) -> Vec<Span<'static>> {
    let (Some(added), Some(removed)) = (added, removed) else { return Vec::new() };
    vec![
        Span::styled(format!("+{added}"), palette.good()),
        Span::styled(format!(" −{removed}"), palette.removed()),
    ]
}

fn list(model: &Model, changes: &Changes, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let words = match &changes.listed {
        Loaded::Asked => Some("Asking the daemon…".to_owned()),
        Loaded::Failed(why) => Some(clean::line(why)),
        Loaded::Here(listed) if listed.files.is_empty() && listed.turns.is_empty() => {
            Some("No checkpoints yet: they are made around each turn.".to_owned())
        }
        Loaded::Here(listed) if listed.files.is_empty() => Some("No file changed.".to_owned()),
        Loaded::Here(_) => None,
    };
    let width = usize::from(area.width);
    let mut strip = Strip::default();
    if let Some(words) = words {
        strip.gap();
        for row in wrap::spans(&[Span::styled(words, palette.faint())], width.saturating_sub(2)) {
            strip.push([vec![Span::raw(" ")], row].concat());
        }
    }
    // Only visible rows are built: there may be thousands.
    let height = usize::from(area.height);
    let first = changes.cursor.saturating_sub(height);
    for (index, file) in changes.files().iter().enumerate().skip(first).take(2 * height + 1) {
        let here = At::from(index == changes.cursor);
        if here == At::Here {
            strip.focus = strip.len()..strip.len() + 1;
        }
        let is_open = here == At::Here && changes.pane == Pane::Files;
        let line = of_file(file, here, At::from(is_open), width, palette);
        strip.push_target(line, Target::Entry(index));
    }
    if first + 2 * height >= changes.files().len() {
        notes(changes, &mut strip, width, palette);
    }
    if changes.pane == Pane::Files {
        picture.scroll_rows = height;
    }
    picture.strip(area, strip);
}

/// Files that are named of those that were changed between the turns.
const BETWEEN_NAMED_MAX: usize = 5;

/// Notes about files that the list does not have.
fn notes(changes: &Changes, strip: &mut Strip, width: usize, palette: Palette) {
    let Some(listed) = changes.listed.here() else { return };
    let mut note = |text: String| {
        for row in wrap::spans(&[Span::styled(text, palette.faint())], width.saturating_sub(2)) {
            strip.push([vec![Span::raw(" ")], row].concat());
        }
    };
    if !listed.complete {
        note(format!("… {} files altogether; these are the first.", listed.totals.files));
    }
    for file in &listed.left_out {
        let why = match file.reason {
            LeftOutReason::TooLarge => "too large",
            LeftOutReason::Unreadable => "cannot be read",
            LeftOutReason::Name => "git reserves its name",
            LeftOutReason::Worktree => "another work tree",
            LeftOutReason::Hidden => "hidden from agents",
        };
        note(format!("Not in the checkpoints: {} ({why})", clean::line(&file.path)));
    }
    if let Some(BetweenTurns { files, paths }) = &listed.between {
        let named: Vec<String> =
            paths.iter().take(BETWEEN_NAMED_MAX).map(|path| clean::line(path)).collect();
        let others = files.saturating_sub(named.len() as u64);
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        note(format!(
            "Changed between the turns, which is not shown: {}{others}",
            named.join(", ")
        ));
    }
}

fn of_file(
    file: &ChangedFile,
    here: At,
    open: At,
    width: usize,
    palette: Palette,
) -> Line<'static> {
    let style = match file.status {
        FileStatus::Added | FileStatus::Copied => palette.good(),
        FileStatus::Deleted => palette.removed(),
        FileStatus::Modified | FileStatus::TypeChanged | FileStatus::Renamed => palette.literal(),
    };
    let name = match (here, open) {
        (_, At::Here) => palette.open(),
        (At::Here, At::Elsewhere) => palette.here(),
        (At::Elsewhere, At::Elsewhere) => Style::new(),
    };
    let right = match file.binary {
        true => vec![Span::styled("binary", palette.faint())],
        false => counts(file.added, file.removed, palette),
    };
    let used: usize = right.iter().map(|span| wrap::width(&span.content)).sum();
    let path = wrap::shorten_start(&clean::line(&file.path), width.saturating_sub(used + 7));
    let left = vec![
        Span::styled(here.marker(), palette.here()),
        Span::styled(format!("{} ", file.status.letter()), style),
        Span::styled(path, name),
    ];
    split_line(left, right, width)
}
