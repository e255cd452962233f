//! What waits for the human, wherever it was asked, and what they are about to say to it.

use convoke_api::bodies::InboxItem;

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

    /// Takes in what has changed, and keeps what the human is about to say.
    pub(crate) fn renew(&mut self, item: InboxItem) {
        self.card.set_asker(asker(item.status));
        self.item = item;
    }
}
