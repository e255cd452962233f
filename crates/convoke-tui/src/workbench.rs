//! The whole product in the terminal: the start screen, sessions by project, the open one, teams, and rules.
//!
//! Only `update` changes `model`, `view` draws it, and `run` waits for the next event.

mod attachment_drafts;
mod changes;
mod chat;
mod comparisons;
mod finish;
mod home;
mod layout;
mod list;
mod message;
mod model;
mod offers;
mod paint;
mod refusal;
mod request;
mod run;
mod search;
mod update;
mod view;
mod worktrees;

#[cfg(test)]
mod tests;

pub use crate::picture::{Direction, Target};
pub use crate::sheet::PageLink;
pub use changes::{Call, Returned};
pub use message::{Effect, Message};
pub use model::Model;
pub use refusal::{CallRefusal, RefusalReason};
pub(crate) use run::run;
pub use update::update;
pub use view::view;
pub use worktrees::{CallDelay, WorktreeCall, WorktreeReturned};
