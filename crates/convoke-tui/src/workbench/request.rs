//! A pending request of a session or of a program, and the draft of its answer.

use convoke_api::bodies::InboxItem;
use convoke_core::request::Status;

use crate::card::{Card, asker};

/// Something that waits for the human.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) item: InboxItem,
    pub(crate) card: Card,
}

impl Request {
    /// A request of the daemon's inbox.
    pub(crate) fn new(item: InboxItem) -> Self {
        let card = Card::of(&item);
        Self { item, card }
    }

    /// Whether an agent or a program waits for the answer.
    pub(crate) const fn is_pending(&self) -> bool {
        matches!(self.item.status, Status::Pending)
    }

    /// Updates the request, and keeps the draft.
    pub(crate) fn renew(&mut self, item: InboxItem) {
        self.card.set_asker(asker(item.status));
        self.item = item;
    }
}
