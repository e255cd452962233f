//! The line at the bottom: the keys that work now.

use convoke_api::bodies::Activity;
use ratatui::layout::Rect;

use crate::hints::{self, HELP, Hint, Hints, QUIT};
use crate::picture::Picture;
use crate::sheet::Page;
use crate::workbench::model::{Focus, Model, NewSession, Overlay, Tab};
use crate::workbench::request::Card;

pub(super) fn line(model: &Model, picture: &mut Picture, area: Rect) {
    hints::line(hints(model), picture, area, model.palette);
}

fn hints(model: &Model) -> Hints {
    match &model.overlay {
        Some(Overlay::Help { .. }) => return only(vec![("↑↓", "move"), ("esc", "close")]),
        Some(Overlay::Rename { .. }) => return only(vec![("enter", "rename"), ("esc", "back")]),
        Some(Overlay::New(new)) => return only(in_making(new)),
        Some(Overlay::Offers { .. }) => {
            return only(vec![("↑↓", "move"), ("enter", "choose"), ("esc", "back")]);
        }
        None => {}
    }
    match (model.tab, model.focus) {
        (_, Focus::Search) => {
            only(vec![("↑↓", "move"), ("enter", "open"), ("esc", "all sessions")])
        }
        (_, Focus::Input) => only(writing(model)),
        (_, Focus::Card) => on_card(model),
        (_, Focus::Chat) => Hints {
            here: vec![
                ("↑↓", "move"),
                ("enter", "unfold"),
                ("i", "write"),
                ("esc", "list"),
                ("x", "stop"),
                ("G", "newest"),
                ("z", "unfold all"),
                ("m", "modes"),
                ("r", "rename"),
                ("a", "archive"),
            ],
            always: vec![HELP, QUIT],
        },
        (Tab::Sessions, Focus::List) => Hints {
            here: vec![
                ("enter", "open"),
                ("n", "new"),
                ("/", "search"),
                ("a", "archive"),
                ("r", "rename"),
                ("x", "stop"),
                ("space", "fold"),
                ("A", "archived"),
            ],
            always: vec![HELP, QUIT],
        },
        (Tab::Inbox, Focus::List) => Hints {
            here: vec![("↑↓", "move"), ("enter", "answer"), ("o", "open session")],
            always: vec![HELP, QUIT],
        },
        (Tab::Teams, Focus::List) => Hints {
            here: vec![("↑↓", "move"), ("enter", "open session"), ("R", "refresh")],
            always: vec![HELP, QUIT],
        },
    }
}

const fn only(here: Vec<Hint>) -> Hints {
    Hints { here, always: Vec::new() }
}

fn in_making(new: &NewSession) -> Vec<Hint> {
    match new {
        NewSession::Project { .. } | NewSession::Agent { .. } => {
            vec![("↑↓", "move"), ("enter", "choose"), ("esc", "back")]
        }
        NewSession::Folder { .. } => {
            vec![("enter", "choose"), ("tab", "complete"), ("esc", "back")]
        }
        NewSession::Starting { .. } => vec![("esc", "continue in background")],
    }
}

fn writing(model: &Model) -> Vec<Hint> {
    let mut here = vec![("enter", "send"), ("esc", "read"), ("alt-enter", "new line")];
    if model.request().is_some() {
        here.insert(0, ("tab", "answer"));
    }
    if model.open_session().is_some_and(|session| session.activity == Activity::Running) {
        here.push(("ctrl-x", "stop"));
    }
    if !model.offers().is_empty() {
        here.push(("ctrl-o", "modes"));
    }
    here.extend([("PgUp", "scroll"), ("alt-2", "inbox"), ("F1", "help")]);
    here
}

fn on_card(model: &Model) -> Hints {
    let here = match model.request().map(|request| &request.card) {
        Some(Card::Permission(_)) => {
            vec![("1…9", "choose"), ("y", "allow"), ("n", "deny"), ("esc", "later")]
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
