//! The whole product in the terminal: the start screen, sessions by project, the open one, teams, and rules.
//!
//! `update` is the only place that changes what `model` holds, `view` paints it, and
//! `run` waits for whatever happens next.

mod changes;
mod chat;
mod enclosing;
mod home;
mod layout;
mod list;
mod message;
mod model;
mod offers;
mod paint;
mod request;
mod run;
mod search;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use crate::picture::{Target, Way};
pub use crate::sheet::Place;
pub use changes::{Call, CallRefusal, Returned};
pub use message::{Effect, Message};
pub use model::Model;
pub(crate) use run::run;
pub use update::update;
pub use view::view;
