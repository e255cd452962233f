//! The only place that changes what the screen shows. Pure: a message in, what must be done outside out.

mod card;
mod changes;
mod chat;
mod comparisons;
mod finish;
mod fresh;
mod heard;
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

/// Whether a key had a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Yes,
    No,
}

/// Changes the model by what happened at `now`.
pub fn update(model: &mut Model, now: Timestamp, message: Message) -> Vec<Effect> {
    model.now = now;
    take(model, message);
    arrange(model);
    std::mem::take(&mut model.effects)
}

fn take(model: &mut Model, message: Message) {
    match message {
        Message::Key(key) => {
            model.drop_read_notice();
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
            model.drop_read_notice();
            mouse::click(model, target, column);
        }
        Message::Wheeled { way, at } => mouse::wheel(model, way, at),
        Message::Resized(size) => model.size = size,
        Message::Linked => heard::linked(model),
        Message::Unlinked(words) => heard::unlinked(model, &words),
        Message::Heard(envelope) => heard::take(model, *envelope),
        Message::Failed(words) => model.refuse(words),
        Message::Nodes(nodes) => model.take_nodes(nodes),
        Message::Teams { sessions, stats } => teams::take(model, sessions, stats),
        Message::Called { call, returned } => changes::take(model, &call, returned),
        Message::WorktreeCalled { call, returned } => finish::take(model, &call, returned),
        Message::Ticked => {}
    }
}

/// A question that stands before the human has been seen by them.
fn see_card(model: &mut Model) {
    if model.focus == Focus::Card
        && let Some(request) = model.request_mut()
    {
        request.card.see();
    }
}

/// Lays out what is shown of the open session, and asks for what is missing there.
fn arrange(model: &mut Model) {
    see_card(model);
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
        session::see(model);
    }
}
