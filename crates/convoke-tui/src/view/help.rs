//! All keys.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::frame;
use super::picture::{Picture, Strip};
use crate::model::Model;

/// Keys and what they do; a line without a key is a heading.
const KEYS: [(&str, &str); 36] = [
    ("", "Choosing"),
    ("↑ ↓  k j", "move between the options"),
    ("1 … 9", "choose an option by its number"),
    ("space", "choose; of several, choose or take back"),
    ("enter", "choose and go on to the next question"),
    ("o", "answer in your own words (Other)"),
    ("PgUp PgDn", "move a long prompt"),
    ("", ""),
    ("", "Writing"),
    ("enter", "accept the text and go on"),
    ("alt-enter", "new line; also ctrl-j and shift-enter"),
    ("esc", "back to the options; the text is kept"),
    ("ctrl-z", "take back the last change"),
    ("ctrl-w", "delete the word before the cursor"),
    ("ctrl-u k", "delete to the start, or end, of the line"),
    ("", "Pasted line breaks stay line breaks and send nothing."),
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
    ("", "Anywhere but in a text"),
    ("?", "this page"),
    ("q", "leave; asks again when answers are unsent"),
    ("ctrl-c", "leave, also out of a text"),
    ("", ""),
    ("", "Mouse"),
    ("click", "choose, open, send"),
    ("wheel", "move a long text"),
    ("shift-drag", "mark text to copy it, in most terminals"),
];

/// Cells of the column of keys.
const KEY_CELLS: usize = 12;

/// The page of keys, from a line on.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect, scroll: usize) {
    let mut strip = Strip::default();
    for (key, meaning) in KEYS {
        if key.is_empty() {
            strip.push(Line::styled(meaning, model.palette.strong()));
            continue;
        }
        strip.push(vec![
            Span::raw("  "),
            Span::styled(format!("{key:KEY_CELLS$}"), model.palette.here()),
            Span::raw(meaning),
        ]);
    }
    let area = frame::text_area(model, area);
    picture.scrolled(area, strip, scroll);
    let above = scroll.min(picture.scroll_max);
    picture.hidden = (above, picture.scroll_max - above);
}
