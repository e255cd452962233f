//! The only place that changes the model. Pure: takes a message and returns effects.

mod card;
mod changes;
mod chat;
mod comparisons;
mod finish;
mod frames;
mod fresh;
mod home;
mod inbox;
mod key;
mod list;
mod mouse;
mod offers;
mod queue;
pub(super) mod rules;
mod search;
mod session;
mod teams;

use convoke_core::time::Timestamp;

use super::layout;
use super::message::{Effect, Message};
use super::model::{Focus, Link, Model};

/// Whether a key was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handled {
    Yes,
    No,
}

/// Applies a message at the time `now`.
pub fn update(model: &mut Model, now: Timestamp, message: Message) -> Vec<Effect> {
    model.now = now;
    take(model, message);
    arrange(model);
    std::mem::take(&mut model.effects)
}

fn take(model: &mut Model, message: Message) {
    match message {
        Message::Key(key) => {
            model.notices.drop_read(model.now);
            key::press(model, key);
        }
        Message::Pasted(text) => {
            if model.overlay.is_some() || !model.attach_pasted(&text) {
                key::paste(model, &text);
            }
        }
        Message::PastedText(text) => key::paste(model, &text),
        Message::Attached { to, stored } => model.attached(to, stored),
        Message::Clicked { target, column } => {
            model.notices.drop_read(model.now);
            mouse::click(model, target, column);
        }
        Message::Wheeled { direction, at } => mouse::wheel(model, direction, at),
        Message::Resized(size) => model.size = size,
        Message::Linked => frames::linked(model),
        Message::Unlinked(words) => frames::unlinked(model, &words),
        Message::Frame(envelope) => frames::take(model, *envelope),
        Message::Failed(words) => model.refuse(words),
        Message::Nodes(nodes) => model.take_nodes(nodes),
        Message::Teams { sessions, stats } => teams::take(model, sessions, stats),
        Message::Called { call, returned } => changes::take(model, &call, returned),
        Message::WorktreeCalled { call, returned } => finish::take(model, &call, returned),
        Message::Ticked => {}
    }
}

/// Marks a visible question as seen.
fn mark_card_seen(model: &mut Model) {
    if model.focus == Focus::Card
        && let Some(request) = model.request_mut()
    {
        request.card.mark_seen();
    }
}

/// Lays out the visible part of the open session, and requests missing entries.
fn arrange(model: &mut Model) {
    mark_card_seen(model);
    let room = layout::chat_room(model);
    let palette = model.palette;
    let Some(chat) = &mut model.chat else { return };
    if let Some(room) = room {
        chat.arrange(room, palette);
    }
    if let (Some(wanted), Link::Up) = (chat.wanted(), &model.link) {
        session::fetch(model, wanted);
    }
    queue::arrange(model);
    if room.is_some() {
        session::mark_seen(model);
    }
}
