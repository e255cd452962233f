//! Keys: which part of the screen handles them, and those with the same meaning everywhere except
//! in a text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{
    Handled, card, changes, chat, comparisons, finish, fresh, home, list, offers, queue, rules,
    search, teams,
};
use crate::hints::{self, PageStep};
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::message::{Effect, InFlight};
use crate::workbench::model::{Focus, Model, Overlay, Tab};
use crate::workbench::{layout, view};
use convoke_api::frames::ClientFrame;

/// Dispatches a key to the focused part of the screen.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let was_leaving = model.is_leaving;
    dispatch(model, key);
    // The question whether leaving is meant is for the very next key.
    model.is_leaving &= !was_leaving;
}

/// Puts a pasted text where one is being written, or where one can be.
pub(super) fn paste(model: &mut Model, text: &str) {
    match &mut model.overlay {
        Some(Overlay::Rename { title, .. }) => title.paste(&text.replace(['\n', '\r'], " ")),
        Some(Overlay::New(_)) => fresh::paste(model, text),
        Some(Overlay::Search(_)) => search::paste(model, text),
        Some(Overlay::Queue { .. }) => queue::paste(model, text),
        Some(Overlay::Changes(_)) => changes::paste(model, text),
        Some(Overlay::Finish(_)) => finish::paste(model, text),
        Some(
            Overlay::Help { .. }
            | Overlay::Offers { .. }
            | Overlay::Stop { .. }
            | Overlay::Refused { .. },
        ) => {}
        None => match model.focus {
            Focus::Composer => model.home.composer.text.paste(text),
            Focus::Card => card::paste(model, text),
            Focus::Input => {
                if let Some(draft) = model.draft_mut() {
                    draft.paste(text);
                }
            }
            Focus::Chat => {
                chat::write_on(model);
                paste(model, text);
            }
            Focus::List => {}
        },
    }
}

fn dispatch(model: &mut Model, key: KeyEvent) {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if is_control && key.code == KeyCode::Char('c') {
        return leave(model);
    }
    if layout::is_too_small(model.size) {
        // Nothing that is not visible is changed.
        if key.code == KeyCode::Char('q') {
            leave(model);
        }
        return;
    }
    match &model.overlay {
        Some(Overlay::Help { scroll }) => {
            let scroll = *scroll;
            return help(model, key, scroll);
        }
        Some(Overlay::New(_)) => return fresh::press(model, key),
        Some(Overlay::Offers { cursor }) => {
            let cursor = *cursor;
            return offers::press(model, key, cursor);
        }
        Some(Overlay::Rename { .. }) => return rename(model, key),
        Some(Overlay::Search(_)) => return search::press(model, key),
        Some(Overlay::Queue { .. }) => return queue::press(model, key),
        Some(Overlay::Changes(_)) => return changes::press(model, key),
        Some(Overlay::Finish(_)) => return finish::press(model, key),
        Some(Overlay::Refused { .. }) => return close(model, key),
        Some(Overlay::Stop { id }) => {
            let id = *id;
            return queue::press_stop(model, key, id);
        }
        None => {}
    }
    if let (KeyCode::Char(digit @ '1'..='5'), KeyModifiers::ALT) = (key.code, key.modifiers) {
        return open_tab(model, tab_of(digit));
    }
    let handled = match (model.tab, model.focus) {
        (_, Focus::Composer) => home::press_composer(model, key),
        (_, Focus::Card) => match card::press(model, key) {
            Handled::Yes => Handled::Yes,
            Handled::No => leave_card(model, key),
        },
        (_, Focus::Input) => chat::press_input(model, key),
        (_, Focus::Chat) => chat::press(model, key),
        (Tab::Sessions, Focus::List) => list::press(model, key),
        (Tab::Home, Focus::List) => home::press(model, key),
        (Tab::Teams, Focus::List) => teams::press(model, key),
        (Tab::Rules, Focus::List) => rules::press(model, key),
        (Tab::Compare, Focus::List) => comparisons::press(model, key),
    };
    if handled == Handled::No {
        anywhere(model, key);
    }
}

fn anywhere(model: &mut Model, key: KeyEvent) {
    match (key.code, is_plain(key)) {
        (KeyCode::Char('?') | KeyCode::F(1), true) => {
            model.overlay = Some(Overlay::Help { scroll: 0 });
        }
        (KeyCode::Char(digit @ '1'..='5'), true) => open_tab(model, tab_of(digit)),
        (KeyCode::Char('/'), true) => search::begin(model),
        (KeyCode::Char('q'), true) => leave(model),
        _ => {}
    }
}

const fn tab_of(digit: char) -> Tab {
    match digit {
        '2' => Tab::Sessions,
        '3' => Tab::Teams,
        '4' => Tab::Rules,
        '5' => Tab::Compare,
        _ => Tab::Home,
    }
}

/// Shows a tab.
pub(super) fn open_tab(model: &mut Model, tab: Tab) {
    model.tab = tab;
    model.focus = resting(model);
    match tab {
        Tab::Teams => model.effects.push(Effect::FetchTeams),
        Tab::Rules => rules::ask(model),
        Tab::Compare => comparisons::ask(model),
        Tab::Home | Tab::Sessions => {}
    }
}

/// The default focus.
pub(super) fn resting(model: &Model) -> Focus {
    match model.tab {
        Tab::Sessions if model.chat.is_some() => Focus::Input,
        Tab::Home | Tab::Sessions | Tab::Teams | Tab::Rules | Tab::Compare => Focus::List,
    }
}

fn leave_card(model: &mut Model, key: KeyEvent) -> Handled {
    if !matches!(key.code, KeyCode::Esc | KeyCode::Tab | KeyCode::BackTab) {
        return Handled::No;
    }
    model.focus = resting(model);
    Handled::Yes
}

/// Leaves at once if nothing would be lost, else after a confirmation.
fn leave(model: &mut Model) {
    let composer = std::iter::once(&model.home.composer.text);
    let drafts = model.drafts.values().chain(composer).filter(|draft| !draft.is_blank()).count();
    let cards = model.inbox.iter().filter(|request| request.card.is_touched()).count();
    let reviews = model.reviews.values().filter(|comments| !comments.is_empty()).count();
    if model.is_leaving || drafts + cards + reviews == 0 {
        model.effects.push(Effect::Quit);
        return;
    }
    model.is_leaving = true;
    model.refuse("Unsent text would be lost. Press again to quit.");
}

fn help(model: &mut Model, key: KeyEvent, scroll: usize) {
    match hints::press_page(key, view::page_rows(model)) {
        PageStep::Scroll(to) => {
            let scroll = to.apply(scroll, view::scroll_max(model));
            model.overlay = Some(Overlay::Help { scroll });
        }
        PageStep::Close => {
            model.overlay = None;
            changes::show_again(model);
        }
        PageStep::Ignored => {}
    }
}

/// Closes a page that is only for reading.
fn close(model: &mut Model, key: KeyEvent) {
    if let (KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q'), true) = (key.code, is_plain(key)) {
        model.overlay = None;
    }
}

fn rename(model: &mut Model, key: KeyEvent) {
    let width = usize::from(model.size.width);
    let Some(Overlay::Rename { id, title }) = &mut model.overlay else { return };
    let id = *id;
    match write(title, key, width) {
        Meaning::Written | Meaning::PageUp | Meaning::PageDown => {}
        Meaning::Leave => model.overlay = None,
        Meaning::Accept if title.is_blank() => model.refuse("The title is empty."),
        Meaning::Accept => {
            let title = title.text().replace('\n', " ").trim().to_owned();
            model.overlay = None;
            let session_id = id.to_string();
            model.send(InFlight::Rename, ClientFrame::SessionRename { session_id, title });
        }
    }
}
