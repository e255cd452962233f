//! The only place that changes the model. Pure: takes a message and returns an effect.

mod arrival;
mod key;
mod mouse;
mod queue;

use convoke_core::time::Timestamp;

use crate::answer::message::{Effect, Message};
use crate::answer::model::{Daemon, Model};

/// Applies a message at the time `now`.
pub(crate) fn update(model: &mut Model, now: Timestamp, message: Message) -> Option<Effect> {
    model.now = now;
    match message {
        Message::Key(key) => {
            model.notices.drop_read(model.now);
            key::press(model, key)
        }
        Message::Pasted(text) => key::paste(model, &text),
        Message::Clicked { target, column } => {
            model.notices.drop_read(model.now);
            mouse::click(model, target, column)
        }
        Message::Wheeled(way) => mouse::wheel(model, way),
        Message::Resized(size) => {
            model.size = size;
            None
        }
        Message::Found(found) => arrival::merge(model, found),
        Message::Listed(items) => arrival::list(model, items),
        Message::Linked => {
            arrival::link(model, Daemon::Linked);
            None
        }
        Message::Unlinked => {
            arrival::link(model, Daemon::Unlinked);
            None
        }
        Message::Unreadable(words) => {
            model.notify(words);
            None
        }
        Message::Settled { id, outcome } => arrival::settled(model, id, outcome),
        Message::Ticked => None,
    }
}
