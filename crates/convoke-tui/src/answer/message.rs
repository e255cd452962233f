//! The messages to the screen's model, and the effects that `update` returns.

use convoke_api::bodies::InboxItem;
use convoke_api::frames::ClientFrame;
use convoke_core::id::RequestId;
use convoke_core::question::Answer;
use crossterm::event::KeyEvent;
use ratatui::layout::Size;

use crate::picture::{Direction, Target};
use crate::sheet::{Ending, OpenRequest};

/// Something happened.
#[derive(Debug)]
pub(crate) enum Message {
    /// The human pressed a key.
    Key(KeyEvent),
    /// The human pasted a text.
    Pasted(String),
    /// The human clicked on a target, this many cells from its start.
    Clicked { target: Target, column: usize },
    /// The human turned the wheel.
    Wheeled(Direction),
    /// The terminal has another size.
    Resized(Size),
    /// The folder was looked through.
    Found(Found),
    /// The folder could not be looked through, and why.
    Unreadable(String),
    /// The daemon is connected.
    Linked,
    /// There is none any more.
    Unlinked,
    /// The requests in the daemon's sessions.
    Listed(Vec<InboxItem>),
    /// A verdict was written, or not.
    Settled { id: RequestId, outcome: Outcome },
    /// Time has passed.
    Ticked,
}

/// The contents of the folder.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Questions that can be answered.
    pub(crate) open: Vec<OpenRequest>,
    /// Questions that have been settled since the last listing.
    pub(crate) ended: Vec<(RequestId, Ending)>,
    /// Sessions that cannot be read.
    pub(crate) damaged: Vec<Damaged>,
}

/// A set that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damaged {
    pub(crate) id: RequestId,
    /// The error.
    pub(crate) words: String,
}

/// The result of a verdict.
#[derive(Debug)]
pub(crate) enum Outcome {
    Sent,
    Rejected,
    /// The session was settled elsewhere first.
    Late(Ending),
    /// It could not be written, and why.
    Failed(String),
}

/// An effect to be carried out by the loop.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Write the answers.
    Send { id: RequestId, answers: Vec<Answer> },
    /// Write that the human will not answer.
    Reject { id: RequestId, reason: Option<String> },
    /// Send the daemon this frame about a request.
    SendFrame { id: RequestId, frame: ClientFrame },
    /// Notify the human of new questions; the text is sanitised.
    Announce(String),
    /// Leave.
    Quit,
}
