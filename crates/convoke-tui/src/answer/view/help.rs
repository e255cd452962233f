//! All keys.

use ratatui::layout::Rect;

use super::frame;
use crate::answer::model::Model;
use crate::hints::{self, Hint};
use crate::permission::keys as permission;
use crate::picture::Picture;

/// Keys and what they do, before those for a permission; a line without a key is a heading.
const BEFORE_PERMISSION: [Hint; 17] = [
    ("", "Choosing"),
    ("↑ ↓  k j", "move between the options"),
    ("1 … 9", "choose an option by its number"),
    ("space", "choose; toggle where several may be chosen"),
    ("enter", "choose, and go to the next question"),
    ("o", "answer in your own words (Other)"),
    ("PgUp PgDn", "scroll a long prompt"),
    ("", ""),
    ("", "Writing"),
    ("enter", "accept the text and continue"),
    ("alt-enter", "new line; also ctrl-j and shift-enter"),
    ("esc", "back to the options; the text is kept"),
    ("ctrl-z", "undo the last change"),
    ("ctrl-w", "delete the word before the cursor"),
    ("ctrl-u k", "delete to the start, or end, of the line"),
    ("", "Pasted line breaks stay line breaks and send nothing."),
    ("", ""),
];

/// The keys after those for a permission.
const AFTER_PERMISSION: [Hint; 21] = [
    ("tab", "next request"),
    ("", ""),
    ("", "In a set"),
    ("tab →", "next question, then the review"),
    ("shift-tab ←", "previous question"),
    ("s", "to the review; there, send"),
    ("r", "reject the set, with a reason if you like"),
    ("", ""),
    ("", "Between sets"),
    ("n p", "next and previous set; drafts are kept"),
    ("l", "list of all sets"),
    ("", ""),
    ("", "Anywhere except in a text field"),
    ("?", "this page"),
    ("q", "quit; asks again when answers are unsent"),
    ("ctrl-c", "quit, also from a text field"),
    ("", ""),
    ("", "Mouse"),
    ("click", "choose, open, send"),
    ("wheel", "scroll a long text"),
    ("shift-drag", "mark text to copy it, in most terminals"),
];

fn keys() -> Vec<Hint> {
    [&BEFORE_PERMISSION[..], &permission::HELP, &AFTER_PERMISSION].concat()
}

/// The page of keys, from a line on.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect, scroll: usize) {
    hints::page(&keys(), picture, frame::text_area(model.size, area), scroll, model.palette);
}
