//! Reading the open session, and writing to it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Handled, changes, finish, list, offers, queue, rules, session};
use crate::picture::Direction;
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::chat::MissingEntries;
use crate::workbench::layout;
use crate::workbench::model::{Focus, Model};
use convoke_api::entry::{Entry, EntryBody};
use convoke_api::frames::SessionItem;
use convoke_core::id::RuleId;
use convoke_core::notice::{Event, Notice, RuleEvent};
use convoke_core::request::Status;
use convoke_core::session::Attention;

/// Milliseconds within which a second Esc stops the turn.
const ESCAPE_MILLIS: i64 = 1000;

/// Handles a key while the session is read; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Handled {
    if key.code == KeyCode::Esc && escape(model) == Handled::Yes {
        return Handled::Yes;
    }
    let Some(chat) = &mut model.chat else {
        model.focus = Focus::List;
        return Handled::Yes;
    };
    let at = chat.cursor().unwrap_or_else(|| chat.len().saturating_sub(1));
    let half = (chat.page_rows() / 2).max(1);
    match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
        (KeyCode::Up | KeyCode::Char('k'), false) => chat.step(Direction::Up),
        (KeyCode::Down | KeyCode::Char('j'), false) => chat.step(Direction::Down),
        (KeyCode::PageUp, _) => chat.scroll_up(chat.page_rows()),
        (KeyCode::PageDown, _) => chat.scroll_down(chat.page_rows()),
        (KeyCode::Char('u'), true) => chat.scroll_up(half),
        (KeyCode::Char('d'), true) => chat.scroll_down(half),
        (KeyCode::Char('y'), true) => chat.scroll_up(1),
        (KeyCode::Char('e'), true) => chat.scroll_down(1),
        (KeyCode::Home | KeyCode::Char('g'), false) => chat.go_to_top(),
        (KeyCode::End | KeyCode::Char('G'), false) => go_to_end(model),
        (KeyCode::Enter | KeyCode::Char(' '), false) => unfold(model, at),
        (KeyCode::Char('z'), false) => chat.toggle_all(),
        (KeyCode::Char('i' | 'w'), false) => write_on(model),
        (KeyCode::Char('Q'), false) => queue::begin(model),
        (KeyCode::Esc | KeyCode::Tab | KeyCode::Left, _) => leave(model),
        (KeyCode::Char('u'), false) => session::undo(model),
        (KeyCode::Char('m'), false) => offers::begin(model),
        (KeyCode::Char('c'), false) => {
            let id = chat.id;
            changes::begin(model, id);
        }
        (KeyCode::Char(letter @ ('r' | 'a' | 'x' | 'R' | 'F')), false) => {
            let id = chat.id;
            list::with_session(model, letter, id);
        }
        _ => return Handled::No,
    }
    Handled::Yes
}

/// A key while something is written: every letter is text here, and no shortcut fires.
pub(super) fn press_input(model: &mut Model, key: KeyEvent) -> Handled {
    if key.code == KeyCode::Esc && escape(model) == Handled::Yes {
        return Handled::Yes;
    }
    let Some(page) = layout::areas(model).page else { return Handled::No };
    let width = layout::input_width(page);
    match (key.code, is_plain(key)) {
        (KeyCode::Tab, true) if model.complete_mention() || model.complete_command() => {}
        (KeyCode::Tab, true) if model.request().is_some() => model.focus = Focus::Card,
        (KeyCode::Tab | KeyCode::BackTab, true) => read(model),
        (KeyCode::Char('d'), false) if key.modifiers == KeyModifiers::ALT => model.detach(),
        (KeyCode::Char('c'), false) if key.modifiers == KeyModifiers::ALT => {
            if let Some(id) = model.chat.as_ref().map(|chat| chat.id) {
                changes::begin(model, id);
            }
        }
        (KeyCode::Char('w'), false) if key.modifiers == KeyModifiers::ALT => {
            if let Some(id) = model.chat.as_ref().map(|chat| chat.id) {
                finish::begin(model, id);
            }
        }
        (KeyCode::Char('x'), false) => {
            if let Some(id) = model.chat.as_ref().map(|chat| chat.id) {
                queue::stop(model, id);
            }
        }
        (KeyCode::Up, true) if is_blank(model) && has_queue(model) => queue::begin(model),
        (KeyCode::Char('o'), false) if key.modifiers == KeyModifiers::CONTROL => {
            offers::begin(model);
        }
        (KeyCode::Char('?') | KeyCode::F(1), true)
            if key.code == KeyCode::F(1) || is_blank(model) =>
        {
            return Handled::No;
        }
        _ => {
            let Some(draft) = model.draft_mut() else { return Handled::No };
            match write(draft, key, width) {
                Meaning::Written => model.look_for_mention(),
                Meaning::Accept => session::send(model),
                Meaning::Leave => read(model),
                Meaning::PageUp => scroll(model, Direction::Up),
                Meaning::PageDown => scroll(model, Direction::Down),
            }
        }
    }
    Handled::Yes
}

fn scroll(model: &mut Model, direction: Direction) {
    let Some(chat) = &mut model.chat else { return };
    let rows = chat.page_rows();
    match direction {
        Direction::Up => chat.scroll_up(rows),
        Direction::Down => chat.scroll_down(rows),
    }
}

/// Whether nothing is written.
fn is_blank(model: &Model) -> bool {
    model.draft().is_none_or(|draft| draft.text().is_empty())
}

fn has_queue(model: &Model) -> bool {
    model.chat.as_ref().is_some_and(|chat| !chat.entries().queue().is_empty())
}

/// Esc while a turn runs: the second one cancels it, and the first one shows a hint besides its
/// usual effect.
fn escape(model: &mut Model) -> Handled {
    let is_working = |session: &SessionItem| {
        matches!(session.attention, Attention::Working | Attention::NeedsYou)
    };
    let Some(id) = model.open_session().filter(|it| is_working(it)).map(|it| it.uid) else {
        return Handled::No;
    };
    let now = model.now;
    let is_second = model.escaped_at.take().is_some_and(|at| now.millis_since(at) < ESCAPE_MILLIS);
    if is_second {
        queue::stop(model, id);
        return Handled::Yes;
    }
    model.escaped_at = Some(now);
    model.notify("Press esc again to stop the turn.");
    Handled::No
}

/// Goes to the newest entry, which may have to be requested.
pub(super) fn go_to_end(model: &mut Model) {
    if model.chat.as_ref().is_some_and(|chat| !chat.entries().is_at_end()) {
        session::fetch(model, MissingEntries::Newest);
    }
    if let Some(chat) = &mut model.chat {
        chat.go_to_end();
    }
}

/// Expands an entry, or opens its request.
fn unfold(model: &mut Model, at: usize) {
    let Some(chat) = &mut model.chat else { return };
    if let Some(EntryBody::Queue { .. }) = chat.entry(at).map(|entry| &entry.body) {
        return queue::begin(model);
    }
    if let Some(rule) = chat.entry(at).and_then(rule_of) {
        return rules::open(model, Some(rule));
    }
    let status = chat.entry(at).and_then(|entry| match &entry.body {
        EntryBody::Permission(permission) => Some(permission.status),
        EntryBody::Question(set) => Some(set.status),
        EntryBody::User(_)
        | EntryBody::Assistant(_)
        | EntryBody::Thinking(_)
        | EntryBody::ToolCall(_)
        | EntryBody::Plan { .. }
        | EntryBody::Notice(_)
        | EntryBody::Queue { .. }
        | EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => None,
    });
    match status {
        Some(Status::Pending) if model.request().is_some() => {
            leave(model);
            model.focus = Focus::Card;
        }
        Some(_) | None => {
            if let Some(chat) = &mut model.chat {
                chat.toggle(at);
            }
        }
    }
}

/// The rule that a notice is about.
fn rule_of(entry: &Entry) -> Option<RuleId> {
    let EntryBody::Notice(Notice { event: Event::Rule(event), .. }) = &entry.body else {
        return None;
    };
    match event {
        RuleEvent::Made { rule_id, .. } | RuleEvent::Applied { rule_id, .. } => *rule_id,
        RuleEvent::Denied { rule_id, .. } => Some(*rule_id),
        RuleEvent::Dropped { .. } => None,
    }
}

/// Begins to read.
fn read(model: &mut Model) {
    model.focus = Focus::Chat;
    if let Some(chat) = &mut model.chat {
        chat.begin_reading();
    }
}

/// From reading to writing.
pub(super) fn write_on(model: &mut Model) {
    leave(model);
    model.focus = Focus::Input;
}

/// From reading back to the list.
fn leave(model: &mut Model) {
    model.focus = Focus::List;
    if let Some(chat) = &mut model.chat {
        chat.end_reading();
    }
}
