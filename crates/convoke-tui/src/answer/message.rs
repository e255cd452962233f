//! What happens to the screen, and what follows from it outside.

use convoke_api::bodies::InboxItem;
use convoke_api::frames::ClientFrame;
use convoke_core::id::RequestId;
use convoke_core::question::Answer;
use crossterm::event::KeyEvent;
use ratatui::layout::Size;

use crate::picture::{Target, Way};
use crate::sheet::{Asked, Ending};

/// Something happened.
#[derive(Debug)]
pub(crate) enum Message {
    /// The human pressed a key.
    Key(KeyEvent),
    /// The human pasted a text.
    Pasted(String),
    /// The human clicked on something, so many cells from where it begins.
    Clicked { target: Target, column: usize },
    /// The human turned the wheel.
    Wheeled(Way),
    /// The terminal has another size.
    Resized(Size),
    /// The folder was looked through.
    Found(Found),
    /// The folder could not be looked through, and why.
    Unreadable(String),
    /// There is a way to the daemon.
    Linked,
    /// There is none any more.
    Unlinked,
    /// What agents ask in the daemon's sessions.
    Listed(Vec<InboxItem>),
    /// A verdict was written, or not.
    Settled { id: RequestId, outcome: Outcome },
    /// Time has passed.
    Ticked,
}

/// What there is in the folder.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What can be answered.
    pub(crate) open: Vec<Asked>,
    /// What was open when it was last looked, and is not any more.
    pub(crate) ended: Vec<(RequestId, Ending)>,
    /// What cannot be read.
    pub(crate) damaged: Vec<Damaged>,
}

/// A set that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damaged {
    pub(crate) id: RequestId,
    /// What is wrong with it.
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

/// What must be done outside.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Write the answers.
    Send { id: RequestId, answers: Vec<Answer> },
    /// Write that the human will not answer.
    Reject { id: RequestId, reason: Option<String> },
    /// Say this about a request to the daemon.
    Say { id: RequestId, frame: ClientFrame },
    /// Make new questions heard; the text is harmless.
    Announce(String),
    /// Leave.
    Quit,
}
