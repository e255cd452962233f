//! All keys.

use ratatui::layout::Rect;

use crate::hints::{self, Hint};
use crate::picture::Picture;
use crate::workbench::model::Model;

/// Keys and what they do; a line without a key is a heading.
const KEYS: [Hint; 57] = [
    ("", "Anywhere except in a text field"),
    ("1 2 3", "sessions, inbox, teams; alt-1 … alt-3 also in a text field"),
    ("tab", "next part of the screen"),
    ("?", "this page; F1 also in a text field"),
    ("q", "quit; asks again when something is unsent"),
    ("ctrl-c", "quit, also from a text field"),
    ("", ""),
    ("", "The list of sessions"),
    ("↑ ↓  k j", "move; g and G to the ends"),
    ("enter →", "open the session"),
    ("space ←", "show or hide the sessions of a project"),
    ("/", "search by title"),
    ("n", "new session: project or folder, then agent"),
    ("r", "rename"),
    ("a", "archive; u undoes it"),
    ("A", "archived sessions; there, a restores one"),
    ("x", "stop the running turn"),
    ("R", "resume an ended session"),
    ("● ◆ ○", "working, needs you, idle; · ended, ✗ failed"),
    ("", ""),
    ("", "Writing to a session"),
    ("enter", "send; queued during a turn"),
    ("alt-enter", "new line; also ctrl-j and shift-enter"),
    ("esc", "read; the draft is kept, one per session"),
    ("tab", "answer the agent's request, or read"),
    ("PgUp PgDn", "scroll the conversation"),
    ("ctrl-x", "stop the running turn"),
    ("ctrl-o", "modes, models and other settings of the agent"),
    ("ctrl-z", "undo the last change"),
    ("ctrl-w u k", "delete a word, to the start, to the end"),
    ("", ""),
    ("", "Reading a session"),
    ("↑ ↓  k j", "from entry to entry"),
    ("PgUp PgDn", "by pages; ctrl-u and ctrl-d by half"),
    ("g G", "to the oldest that is loaded, to the newest"),
    ("enter space", "unfold or fold thoughts and tools"),
    ("z", "fold or unfold all"),
    ("i", "write"),
    ("m", "modes, models and other settings of the agent"),
    ("r a x R", "rename, archive, stop, resume"),
    ("esc", "back to the list"),
    ("", ""),
    ("", "Answering a permission"),
    ("1 … 9", "choose; y allows once, n denies"),
    ("↑ ↓ enter", "choose at the cursor"),
    ("r", "reject"),
    ("esc", "later"),
    ("", ""),
    ("", "Answering questions"),
    ("↑ ↓ space", "choose; enter chooses and continues"),
    ("o", "in your own words"),
    ("tab →  ←", "next and previous question, then the review"),
    ("s", "to the review; there, send"),
    ("r", "reject, with a reason if you like"),
    ("", ""),
    ("", "Inbox and teams"),
    ("enter o", "answer; o opens the session that asks"),
];

/// The page of keys, from a line on.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect, scroll: usize) {
    hints::page(&KEYS, picture, area, scroll, model.palette);
}
