//! Where a new session works.

use ratatui::text::Span;

use super::{At, field, row, text, titled};
use crate::editor::Editor;
use crate::picture::Strip;
use crate::text::{clean, wrap};
use crate::workbench::model::Model;

/// The project's folder, a work tree, or a work tree on a branch that is named.
pub(super) fn places(model: &Model, cursor: usize, width: usize) -> Strip {
    let palette = model.palette;
    let mut strip = titled(model, "New session: in which folder does it work?");
    let worktree = model.home.composer.worktree.as_ref();
    let branch = worktree.and_then(|worktree| worktree.branch.as_deref());
    let named =
        branch.map_or_else(|| "one that exists, or the name of a new one".to_owned(), clean::line);
    let rows = [
        (
            worktree.is_none(),
            "The project's folder",
            "shared with you and other sessions".to_owned(),
        ),
        (
            worktree.is_some() && branch.is_none(),
            "A work tree of its own",
            "on a new branch, which F merges in the end".to_owned(),
        ),
        (branch.is_some(), "A work tree on a branch…", named),
    ];
    for (index, (is_current, name, about)) in rows.into_iter().enumerate() {
        let mark = if is_current { "● " } else { "○ " };
        let room = width.saturating_sub(wrap::width(name) + 6);
        let spans = vec![
            Span::styled(mark, palette.here()),
            Span::raw(name),
            Span::styled(format!("  {}", wrap::shorten(&about, room)), palette.faint()),
        ];
        row(&mut strip, model, At::from(index == cursor), spans);
    }
    strip
}

/// The branch of the work tree.
pub(super) fn branch(model: &Model, name: &Editor, width: usize) -> Strip {
    let mut strip = titled(model, "New session: on which branch?");
    field(&mut strip, model, name, width);
    strip.gap();
    let words = "A branch that is checked out nowhere, or the name of a new one. Empty: Convoke names a new one.";
    text(&mut strip, words, width, model.palette.faint());
    strip
}
