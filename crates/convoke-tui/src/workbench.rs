//! The whole product in the terminal: sessions by project, the open one, the inbox, and teams.
//!
//! `update` is the only place that changes what `model` holds, `view` paints it, `link` keeps the way to the daemon,
//! and `run` waits for whatever happens next.

mod chat;
mod layout;
mod link;
mod list;
mod message;
mod model;
mod offers;
mod paint;
mod request;
mod run;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use crate::picture::{Target, Way};
pub use crate::sheet::Place;
pub use message::{Effect, Message};
pub use model::Model;
pub(crate) use run::run;
pub use update::update;
pub use view::view;
