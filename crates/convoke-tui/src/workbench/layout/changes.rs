//! Where the parts of a session's changes are.

use ratatui::layout::Rect;

use super::WIDE;
use crate::workbench::changes::{Changes, Dialog, Pane};
use crate::workbench::model::{Model, Overlay};

/// Columns of the files beside the diff at least and at most, the rule included.
const FILES: (u16, u16) = (34, 52);

/// Where the parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangesAreas {
    /// Whose changes they are.
    pub(crate) head: Rect,
    pub(crate) files: Option<Rect>,
    pub(crate) diff: Option<Rect>,
    /// The dialog, with a rule above it.
    pub(crate) dialog: Option<Rect>,
}

/// The parts of the changes that are shown, if any are.
pub(crate) fn changes(model: &Model) -> Option<ChangesAreas> {
    let Some(Overlay::Changes(changes)) = &model.overlay else { return None };
    let width = model.size.width;
    let content = Rect::new(0, 1, width, model.size.height.saturating_sub(3));
    let head = Rect { height: 1.min(content.height), ..content };
    let below = Rect { y: head.bottom(), height: content.height - head.height, ..content };
    let asked = changes.dialog.as_ref().map_or(0, |dialog| dialog_rows(model, changes, dialog));
    let asked = asked.min(below.height / 3 * 2);
    let rest = Rect { height: below.height - asked, ..below };
    let dialog = Rect { y: rest.bottom(), height: asked, ..below };
    let (files, diff) = match (width >= WIDE, changes.pane) {
        (true, _) => {
            let side = (width / 3).clamp(FILES.0, FILES.1);
            let diff = Rect { x: side, width: width - side, ..rest };
            (Some(Rect { width: side, ..rest }), Some(diff))
        }
        (false, Pane::Files) => (Some(rest), None),
        (false, Pane::Diff) => (None, Some(rest)),
    };
    Some(ChangesAreas { head, files, diff, dialog: (asked > 0).then_some(dialog) })
}

/// The rows of a dialog: a rule, its text, and its choices.
fn dialog_rows(model: &Model, changes: &Changes, dialog: &Dialog) -> u16 {
    let comments = model.reviews.get(&changes.id).map_or(0, Vec::len);
    let rows = match dialog {
        Dialog::Turns { .. } => changes.turns().len() + 3,
        Dialog::Comment { text, .. } => {
            text.layout(super::input_width(Rect::new(0, 0, model.size.width, 1))).rows.len() + 2
        }
        Dialog::Comments { .. } => comments * 2 + 4,
        Dialog::Restore { .. } => 6,
        Dialog::Confirm(_) => 5,
        Dialog::Refused { files, .. } => files.len() + 5,
        Dialog::Blocked { files } => files.len() + 3,
    };
    u16::try_from(rows).unwrap_or(u16::MAX)
}
