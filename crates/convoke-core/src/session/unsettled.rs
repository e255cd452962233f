//! What was not over at a place of a log, found by reading backwards from there.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::content::Content;
use crate::id::RequestId;
use crate::message::{Message, Role, Seq};
use crate::notice::Event;
use crate::request::Status as RequestStatus;
use crate::turn::Stop;

/// The prompts that ran or waited at a place, and the requests of the running turn that were pending there.
#[derive(Debug, Default)]
pub struct Unsettled {
    /// The newest first.
    found: Vec<Message>,
    /// Turns that ended before the place.
    ended: HashSet<Seq>,
    /// Requests whose newest state is known.
    known: HashSet<RequestId>,
    /// A turn that had its time: it and all turns before it are over.
    over: Seq,
}

impl Unsettled {
    /// Takes the message before those that were taken; breaks when older ones cannot matter.
    pub fn take(&mut self, message: Message) -> ControlFlow<()> {
        let seq = message.seq;
        match &message.content {
            Content::Text { .. } if message.role == Role::User => {
                if !self.ended.contains(&seq) {
                    self.found.push(message);
                }
            }
            Content::Permission(record) => {
                self.take_request(record.request_id, record.state.status(), message);
            }
            Content::Question(record) => {
                self.take_request(record.request_id, record.state.status(), message);
            }
            Content::Notice(notice) => {
                if let Event::TurnEnded { turn, stop } = &notice.event {
                    self.ended.insert(*turn);
                    // Only a turn that never ran can end while an older one goes on, and then it was cancelled.
                    if *stop != Stop::Cancelled {
                        self.over = self.over.max(*turn);
                    }
                }
            }
            Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Usage(_) => {}
        }
        if seq <= self.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The messages that began them, oldest first. Folding these and what follows is like folding the whole log.
    pub fn into_messages(self) -> Vec<Message> {
        self.found.into_iter().rev().collect()
    }

    fn take_request(&mut self, id: RequestId, status: RequestStatus, message: Message) {
        if self.known.insert(id) && status == RequestStatus::Pending {
            self.found.push(message);
        }
    }
}
