//! All keys.

use ratatui::layout::Rect;

use crate::hints::{self, Hint};
use crate::permission::keys as permission;
use crate::picture::Picture;
use crate::workbench::model::Model;

/// Keys and what they do, before those for a permission; a line without a key is a heading.
const BEFORE_PERMISSION: [Hint; 90] = [
    ("", "Anywhere except in a text field"),
    ("1 … 5", "home, sessions, teams, rules, comparisons; with alt also in a text field"),
    ("/", "search titles and messages; enter goes to the message"),
    ("tab", "next part of the screen"),
    ("↑ ↓  k j", "move in a list; PgUp PgDn by pages, g and G to the ends"),
    ("?", "this page; F1 also in a text field"),
    ("q", "quit; asks again when something is unsent"),
    ("ctrl-c", "quit, also from a text field"),
    ("", ""),
    ("", "Home"),
    ("enter", "answer the request, or open the session"),
    ("n", "start a session: write its first prompt, enter sends it"),
    ("alt-p/a/m", "while writing it: in which project, with which agent, mode and model"),
    ("alt-w", "while writing it: in the project's folder, or in a work tree of its own"),
    ("alt-c", "while writing it: compare agents, which all get the prompt"),
    ("o", "open the session that asks"),
    ("R", "retry the last prompt of a failed session"),
    ("x a", "stop the running turn, archive"),
    ("", ""),
    ("", "The list of sessions"),
    ("enter →", "open the session"),
    ("space ←", "show or hide the sessions of a project"),
    ("n", "start a session in this project"),
    ("r", "rename"),
    ("a", "archive; u undoes it"),
    ("A", "archived sessions; there, a restores one"),
    ("x", "stop the running turn"),
    ("c", "what the session changed"),
    ("F", "finish the work tree of the session, or restore it"),
    ("R", "resume an ended session, retry a failed one"),
    ("◆ ◐ ●", "needs you, working, finished and not seen yet"),
    ("✗ ○ ·", "failed, idle, ended"),
    ("", ""),
    ("", "Writing to a session"),
    ("enter", "send; queued during a turn"),
    ("alt-enter", "new line; also ctrl-j and shift-enter"),
    ("esc", "read; the draft is kept, one per session"),
    ("esc esc", "within a second: stop the running turn; also ctrl-x"),
    ("↑", "while nothing is written: the queued prompts"),
    ("/ @", "commands of the agent, files of the project; tab completes"),
    ("tab", "answer the agent's request, or read"),
    ("PgUp PgDn", "scroll the conversation"),
    ("ctrl-o", "modes, models and other settings of the agent"),
    ("ctrl-z", "undo the last change"),
    ("ctrl-w u k", "delete a word, to the start, to the end"),
    ("", ""),
    ("", "Queued prompts"),
    ("e", "edit; enter saves"),
    ("J K", "move down, move up"),
    ("d", "remove"),
    ("s", "send now, and stop the running turn for it"),
    ("", ""),
    ("", "Reading a session"),
    ("↑ ↓  k j", "from entry to entry"),
    ("PgUp PgDn", "by pages; ctrl-u and ctrl-d by half"),
    ("g G", "to the oldest that is loaded, to the newest"),
    ("enter space", "unfold or fold; on a rule: to the rules, to revoke it"),
    ("z", "fold or unfold all"),
    ("i", "write"),
    ("Q", "queued prompts"),
    ("c", "what the session changed; alt-c while writing"),
    (
        "F",
        "finish the work tree (merge, pull request, discard, …), or restore it; alt-w while writing",
    ),
    ("m", "modes, models and other settings of the agent"),
    ("r a x R", "rename, archive, stop, resume or retry"),
    ("esc", "back to the list"),
    ("", ""),
    ("", "Changes of a session"),
    ("↑ ↓  k j", "from file to file, or from line to line"),
    ("enter →", "open the diff of a file"),
    ("t", "changes of one turn, or of the whole session; [ and ] step through them"),
    ("n p", "in a diff: next hunk, hunk before"),
    ("N P", "in a diff: next file, file before"),
    ("← →", "in a diff: move long lines"),
    ("v", "in a diff: mark lines from here on"),
    ("c", "in a diff: comment on the line, or on the marked ones"),
    ("s", "the comments: edit them, remove them, send them as one review"),
    ("d D", "revert the hunk, the file; asks once more"),
    ("R", "restore files, conversation or both to before a turn; asks once more"),
    ("u", "undo the last restore of files"),
    ("f", "fork: a new session with the conversation up to the turn that is shown"),
    ("F", "finish the work tree of the session"),
    ("esc", "back"),
    ("", ""),
    ("", "Comparisons"),
    ("↑ ↓  k j", "from candidate to candidate"),
    ("enter c", "open the session of the candidate, what it changed"),
    ("K", "keep the candidate, and discard the others; asks once more"),
    ("n", "compare agents: choose them, then write the prompt"),
    ("R", "refresh"),
    ("", ""),
];

/// The keys after those for a permission.
const AFTER_PERMISSION: [Hint; 14] = [
    ("↑ ↓ enter", "choose at the cursor"),
    ("esc", "later"),
    ("", ""),
    ("", "Answering questions"),
    ("↑ ↓ space", "choose; enter chooses and continues"),
    ("o", "in your own words"),
    ("tab →  ←", "next and previous question, then the review"),
    ("s", "to the review; there, send"),
    ("r", "reject, with a reason if you like"),
    ("", ""),
    ("", "Rules"),
    ("d", "revoke; asks once more"),
    ("enter", "open the session in which it was made"),
    ("", "The sandbox limits an agent; a rule only saves you from being asked again."),
];

fn keys() -> Vec<Hint> {
    [&BEFORE_PERMISSION[..], &permission::HELP, &AFTER_PERMISSION].concat()
}

/// The page of keys, from a line on.
pub(super) fn page(model: &Model, picture: &mut Picture, area: Rect, scroll: usize) {
    hints::page(&keys(), picture, area, scroll, model.palette);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::fs;

    use super::keys;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/terminal.md");

    const INTRODUCTION: &str = "\
# The terminal UI

<!-- Made from the page of keys: UPDATE_DOCS=1 cargo nextest run -p convoke-tui the_keys_page -->

`convoke tui` shows sessions, what they ask and what they change; `?` shows these keys.
The line at the bottom of the screen names those that work at the moment.
";

    #[test]
    fn the_keys_page_says_what_the_help_says() {
        let mut page = INTRODUCTION.to_owned();
        for (key, meaning) in keys() {
            match (key, meaning) {
                ("", "") => {}
                // The last line is no heading.
                ("", words) if words.ends_with('.') => write!(page, "\n{words}\n").unwrap(),
                ("", heading) => {
                    write!(page, "\n## {heading}\n\n| key | what it does |\n|---|---|\n").unwrap();
                }
                (key, meaning) => writeln!(page, "| `{key}` | {meaning} |").unwrap(),
            }
        }
        if std::env::vars_os().any(|(name, _)| name == "UPDATE_DOCS") {
            fs::write(PAGE, &page).unwrap();
        }
        let written = fs::read_to_string(PAGE).unwrap_or_default();
        assert!(
            written == page,
            "docs/terminal.md is out of date; its second line says how to make it"
        );
    }
}
