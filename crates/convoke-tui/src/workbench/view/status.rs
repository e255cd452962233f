//! The line at the bottom: the keys that work now.

use convoke_core::session::Attention;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::card::Card;
use crate::hints::{self, HELP, Hint, Hints, QUIT};
use crate::picture::Picture;
use crate::sheet::Page;
use crate::text::{clean, wrap};
use crate::workbench::changes::{Changes, Dialog, Pane};
use crate::workbench::finish::Step;
use crate::workbench::home::Row;
use crate::workbench::list;
use crate::workbench::model::{Focus, Model, NewSession, Overlay, Tab};

pub(super) fn line(model: &Model, picture: &mut Picture, area: Rect) {
    if model.overlay.is_none() && !model.matching_files().is_empty() {
        return files(model, picture, area);
    }
    if model.overlay.is_none() && !model.matching_commands().is_empty() {
        return commands(model, picture, area);
    }
    hints::line(hints(model), picture, area, model.palette);
}

/// The completions of the mention at the cursor, the best one first.
fn files(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let mut spans = vec![Span::styled(" tab ", palette.here())];
    let mut room = usize::from(area.width).saturating_sub(5);
    for (index, file) in model.matching_files().iter().enumerate() {
        let file = wrap::shorten(&clean::line(file), room);
        room = room.saturating_sub(wrap::width(&file) + 2);
        let style = if index == 0 { palette.strong() } else { palette.faint() };
        spans.push(Span::styled(format!("{file}  "), style));
        if room < 4 {
            break;
        }
    }
    picture.line(area, Line::from(spans));
}

/// The commands that what is being written can be completed to, the best one first and with what it does.
fn commands(model: &Model, picture: &mut Picture, area: Rect) {
    let palette = model.palette;
    let mut spans = vec![Span::styled(" tab ", palette.here())];
    let mut room = usize::from(area.width).saturating_sub(5);
    for (index, command) in model.matching_commands().into_iter().enumerate() {
        let name = wrap::shorten(&format!("/{}  ", clean::line(&command.name)), room);
        room = room.saturating_sub(wrap::width(&name));
        let style = if index == 0 { palette.strong() } else { palette.faint() };
        spans.push(Span::styled(name, style));
        if index == 0 {
            let about = wrap::shorten(&clean::line(&command.description), room / 2);
            room = room.saturating_sub(wrap::width(&about) + 2);
            spans.push(Span::raw(format!("{about}  ")));
        }
        if room < 4 {
            break;
        }
    }
    picture.line(area, Line::from(spans));
}

fn hints(model: &Model) -> Hints {
    model.overlay.as_ref().map_or_else(|| in_focus(model), |overlay| only(in_overlay(overlay)))
}

fn in_overlay(overlay: &Overlay) -> Vec<Hint> {
    match overlay {
        Overlay::Help { .. } => vec![("↑↓", "move"), ("esc", "close")],
        Overlay::Rename { .. } => vec![("enter", "rename"), ("esc", "back")],
        Overlay::New(new) => in_making(new),
        Overlay::Search(_) => vec![("↑↓", "move"), ("enter", "open"), ("esc", "close")],
        Overlay::Queue { edited: Some(_), .. } => {
            vec![("enter", "save"), ("alt-enter", "new line"), ("esc", "back")]
        }
        Overlay::Queue { edited: None, .. } => vec![
            ("e", "edit"),
            ("J K", "move"),
            ("d", "remove"),
            ("s", "send now"),
            ("esc", "close"),
        ],
        Overlay::Stop { .. } => {
            vec![("s", "send next"), ("k", "keep"), ("d", "discard"), ("esc", "back")]
        }
        Overlay::Offers { .. } => vec![("↑↓", "move"), ("enter", "choose"), ("esc", "back")],
        Overlay::Changes(changes) => in_changes(changes),
        Overlay::Finish(finish) => in_finish(&finish.step),
        Overlay::Refused { .. } => vec![("esc", "close")],
    }
}

fn in_finish(step: &Step) -> Vec<Hint> {
    match step {
        Step::Choose => vec![("↑↓", "move"), ("enter", "choose"), ("esc", "back")],
        Step::Message => vec![("enter", "finish"), ("alt-enter", "new line"), ("esc", "back")],
        Step::Confirm => vec![("y", "yes"), ("esc", "back")],
        Step::UnderWay => vec![("esc", "close; it continues")],
        Step::Conflicts(_) => vec![("g", "give them to the agent"), ("esc", "close")],
        Step::NotCaptured(_) => vec![("d", "delete them"), ("esc", "back")],
        Step::Refused(_) => vec![("esc", "back")],
        Step::PullRequest(_) => vec![("esc", "close")],
        Step::Gone(_) => vec![("enter", "restore"), ("esc", "close")],
    }
}

fn in_changes(changes: &Changes) -> Vec<Hint> {
    match (&changes.dialog, changes.pane) {
        (None, Pane::Files) => vec![
            ("enter", "open"),
            ("esc", "back"),
            ("t", "turn"),
            ("d", "revert"),
            ("R", "restore"),
            ("u", "undo"),
            ("f", "fork"),
            ("s", "comments"),
            ("?", "help"),
        ],
        (None, Pane::Diff) => vec![
            ("c", "comment"),
            ("esc", "files"),
            ("n p", "hunk"),
            ("N P", "file"),
            ("d", "revert hunk"),
            ("v", "mark"),
            ("s", "send"),
            ("t", "turn"),
            ("R", "restore"),
            ("?", "help"),
        ],
        (Some(Dialog::Turns { .. }), _) => {
            vec![("↑↓", "move"), ("enter", "show"), ("esc", "back")]
        }
        (Some(Dialog::Comment { .. }), _) => {
            vec![("enter", "keep"), ("alt-enter", "new line"), ("esc", "discard")]
        }
        (Some(Dialog::Comments { .. }), _) => {
            vec![("s", "send all"), ("e", "edit"), ("d", "remove"), ("↑↓", "move"), ("esc", "back")]
        }
        (Some(Dialog::Restore { .. }), _) => vec![
            ("f", "files"),
            ("c", "conversation"),
            ("b", "both"),
            ("↑↓", "another turn"),
            ("esc", "back"),
        ],
        (Some(Dialog::Confirm(_)), _) => vec![("y", "yes"), ("esc", "back")],
        (Some(Dialog::Refused { .. }), _) => vec![("o", "overwrite them"), ("esc", "back")],
        (Some(Dialog::Blocked { .. }), _) => vec![("esc", "close")],
    }
}

fn in_focus(model: &Model) -> Hints {
    match (model.tab, model.focus) {
        (_, Focus::Composer) => only(vec![
            ("enter", "start"),
            ("alt-p", "project"),
            ("alt-a", "agent"),
            ("alt-m", "mode, model"),
            ("esc", "list"),
            ("alt-enter", "new line"),
        ]),
        (_, Focus::Input) => only(writing(model)),
        (_, Focus::Card) => on_card(model),
        (_, Focus::Chat) => Hints { here: reading(model), always: vec![HELP, QUIT] },
        (Tab::Sessions, Focus::List) => Hints { here: listing(model), always: vec![HELP, QUIT] },
        (Tab::Home, Focus::List) => Hints { here: at_home(model), always: vec![HELP, QUIT] },
        (Tab::Rules, Focus::List) => {
            let mut here = Vec::new();
            if model.rules.all.as_ref().is_some_and(|rules| !rules.is_empty()) {
                here.extend([("↑↓", "move"), ("d", "revoke"), ("enter", "where it was made")]);
            }
            Hints { here, always: vec![HELP, QUIT] }
        }
        (Tab::Teams, Focus::List) => {
            let mut here = Vec::new();
            if !model.teams.sessions.is_empty() {
                here.extend([("↑↓", "move"), ("enter", "open session")]);
            }
            here.push(("R", "refresh"));
            Hints { here, always: vec![HELP, QUIT] }
        }
        (Tab::Compare, Focus::List) => {
            let mut here = vec![("n", "new"), ("R", "refresh")];
            if model.comparisons.here().is_some() {
                here.splice(0..0, [("enter", "open session"), ("K", "keep"), ("c", "changes")]);
                here.push(("↑↓", "move"));
            }
            Hints { here, always: vec![HELP, QUIT] }
        }
    }
}

/// The keys for the session or project at the cursor of the list.
fn listing(model: &Model) -> Vec<Hint> {
    let row = model.list.at_cursor();
    let session = match row {
        Some(list::Row::Session(id)) => model.list.session(id),
        Some(list::Row::Project(_)) | None => None,
    };
    let mut here = Vec::new();
    if session.is_some() {
        here.push(("enter", "open"));
    }
    here.extend(session.and_then(|session| for_attention(session.attention)));
    here.extend([("n", "new"), ("/", "search")]);
    if session.is_some() {
        here.extend([("a", "archive"), ("r", "rename")]);
    }
    if row.is_some() {
        here.push(("space", "fold"));
    }
    here.push(("A", "archived"));
    here
}

/// The key that changes whether a session works.
const fn for_attention(attention: Attention) -> Option<Hint> {
    match attention {
        Attention::Failed => Some(("R", "retry")),
        Attention::Working | Attention::NeedsYou => Some(("x", "stop")),
        Attention::Ended => Some(("R", "resume")),
        Attention::Idle => None,
    }
}

fn reading(model: &Model) -> Vec<Hint> {
    let mut here = vec![("↑↓", "move"), ("enter", "unfold"), ("i", "write"), ("esc", "list")];
    here.extend(finishing(model, "F"));
    here.extend(model.open_session().and_then(|session| for_attention(session.attention)));
    here.extend([
        ("G", "newest"),
        ("c", "changes"),
        ("z", "unfold all"),
        ("Q", "queue"),
        ("m", "modes"),
        ("r", "rename"),
        ("a", "archive"),
    ]);
    here
}

/// The hint for the key that finishes the work tree of the open session, if it has one.
fn finishing(model: &Model, key: &'static str) -> Option<Hint> {
    let own = model.open_session()?.worktree.as_ref()?;
    Some((key, if own.removed.is_some() { "restore" } else { "finish" }))
}

const fn only(here: Vec<Hint>) -> Hints {
    Hints { here, always: Vec::new() }
}

fn in_making(new: &NewSession) -> Vec<Hint> {
    match new {
        NewSession::Project { .. }
        | NewSession::Agent { .. }
        | NewSession::Choices { .. }
        | NewSession::Place { .. } => vec![("↑↓", "move"), ("enter", "choose"), ("esc", "back")],
        NewSession::Branch { .. } | NewSession::Test { .. } => {
            vec![("enter", "accept"), ("esc", "back")]
        }
        NewSession::Candidates { .. } => vec![
            ("space", "choose"),
            ("→", "models"),
            ("t", "test"),
            ("enter", "done"),
            ("x", "no comparison"),
            ("↑↓", "move"),
        ],
        NewSession::Folder { .. } => {
            vec![("enter", "choose"), ("tab", "complete"), ("esc", "back")]
        }
    }
}

fn at_home(model: &Model) -> Vec<Hint> {
    let mut here = match model.home_row() {
        Some(Row::Request(_)) => vec![("enter", "answer"), ("o", "open session")],
        Some(Row::Session(_)) => vec![("enter", "open")],
        None => vec![],
    };
    let session = match model.home_row() {
        Some(Row::Session(id)) => model.list.session(id),
        Some(Row::Request(_)) | None => None,
    };
    here.extend(session.and_then(|session| for_attention(session.attention)));
    here.extend([("n", "new"), ("/", "search")]);
    if model.home_row().is_some() {
        here.push(("↑↓", "move"));
    }
    if session.is_some() {
        here.push(("a", "archive"));
    }
    here
}

fn writing(model: &Model) -> Vec<Hint> {
    let mut here = vec![("enter", "send"), ("esc", "read"), ("alt-enter", "new line")];
    if model.request().is_some() {
        here.insert(0, ("tab", "answer"));
    }
    if model.chat.as_ref().is_some_and(|chat| !chat.entries().queue().is_empty()) {
        here.push(("↑", "queue"));
    }
    if model.open_session().is_some_and(|session| session.attention == Attention::Working) {
        here.push(("esc esc", "stop"));
    }
    if !model.offers().is_empty() {
        here.push(("ctrl-o", "modes"));
    }
    here.extend(finishing(model, "alt-w"));
    here.extend([("PgUp", "scroll"), ("alt-c", "changes"), ("alt-1", "home"), ("F1", "help")]);
    here
}

fn on_card(model: &Model) -> Hints {
    let here = match model.request().map(|request| &request.card) {
        Some(Card::Permission(card)) => {
            let mut hints = card.hints();
            if !hints.always.is_empty() {
                hints.here.push(("esc", "later"));
            }
            return hints;
        }
        Some(Card::Questions(set)) => match set.page {
            Page::Question(_) => vec![
                ("↑↓", "move"),
                ("enter", "choose"),
                ("o", "other"),
                ("tab", "next"),
                ("s", "review"),
                ("r", "reject"),
                ("esc", "later"),
            ],
            Page::Review(_) => {
                vec![("enter", "send or change"), ("↑↓", "move"), ("r", "reject"), ("←", "back")]
            }
            Page::Writing(_) | Page::Reason(_) => {
                return only(vec![("enter", "accept"), ("alt-enter", "new line"), ("esc", "back")]);
            }
            Page::ConfirmReject(_) => {
                return only(vec![("y", "reject"), ("e", "edit the reason"), ("esc", "back")]);
            }
            Page::Gone(_) => return only(vec![("enter", "continue")]),
            Page::Settling => Vec::new(),
        },
        None => Vec::new(),
    };
    Hints { here, always: vec![HELP, QUIT] }
}
