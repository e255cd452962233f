//! The messages to the model, and the effects that `update` returns.

use convoke_api::bodies::{GivenComment, Node, StoredAttachment, TeamSession, TeamStats};
use convoke_api::frames::{ClientFrame, Envelope, ServerFrame};
use convoke_core::id::{RequestId, SessionId};
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Size};

use super::changes::{Call, Returned};
use super::refusal::CallRefusal;
use super::worktrees::{WorktreeCall, WorktreeReturned};
use crate::picture::{Direction, Target};

/// Something happened.
#[derive(Debug)]
pub enum Message {
    /// The human pressed a key.
    Key(KeyEvent),
    /// The human pasted a text.
    Pasted(String),
    /// The human pasted a text that is not the path of a file.
    PastedText(String),
    /// The human clicked on something.
    Clicked {
        /// The target of the click.
        target: Target,
        /// Cells between where it begins and the click.
        column: usize,
    },
    /// The human turned the wheel.
    Wheeled {
        /// The direction.
        direction: Direction,
        /// Where the pointer is.
        at: Position,
    },
    /// The terminal has another size.
    Resized(Size),
    /// The daemon is connected.
    Linked,
    /// There is none any more, and why.
    Unlinked(String),
    /// A frame of the daemon.
    Frame(Box<Envelope<ServerFrame>>),
    /// An error that changes nothing else.
    Failed(String),
    /// How teams talk.
    Teams {
        /// The pairs and their sessions.
        sessions: Vec<TeamSession>,
        /// The counts over all pairs.
        stats: TeamStats,
    },
    /// The nodes that share the database.
    Nodes(Vec<Node>),
    /// A file was stored, to be attached to a prompt of a session, or of a new one.
    Attached {
        /// Which one.
        to: Option<SessionId>,
        /// The file.
        stored: StoredAttachment,
    },
    /// The result of a call about changes.
    Called {
        /// The call.
        call: Call,
        /// The answer.
        returned: Result<Box<Returned>, CallRefusal>,
    },
    /// The result of a call about work trees or comparisons.
    WorktreeCalled {
        /// The call.
        call: WorktreeCall,
        /// The answer.
        returned: Result<Box<WorktreeReturned>, CallRefusal>,
    },
    /// Time has passed.
    Ticked,
}

/// An effect to be carried out by the loop.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Send the daemon this frame.
    SendFrame(Envelope<ClientFrame>),
    /// Store a file, to be attached to a prompt of a session or of a new one; a path that leads to none is a pasted text.
    Attach {
        /// Which one.
        to: Option<SessionId>,
        /// The path.
        path: String,
        /// The pasted text.
        text: String,
    },
    /// Ask how teams talk.
    FetchTeams,
    /// Ask which nodes share the database.
    FetchNodes,
    /// Ask something about changes.
    Call(Call),
    /// Ask something about work trees or comparisons.
    CallWorktree(WorktreeCall),
    /// Notify the human of a request; the text is sanitised.
    Announce(String),
    /// Leave.
    Quit,
}

/// A request to the daemon that is not answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InFlight {
    /// Open a session.
    Open(SessionId),
    /// More entries of a session.
    Page(SessionId),
    /// Send a prompt to a session; with its text, in case it fails.
    Send(SessionId, String, Vec<GivenComment>),
    /// Create a session with a first prompt.
    Create(String),
    /// Add a project, for a new session.
    AddProject,
    /// Complete the path of a folder.
    Complete,
    /// Complete the path of a file that is being mentioned.
    CompleteFile,
    /// Give a session another title.
    Rename,
    /// Hide a session, with its title.
    Archive(SessionId, String),
    /// Show a session again, with its title.
    Unarchive(SessionId, String),
    /// Set a mode or setting of the agent, with its display name.
    Choose(String),
    /// Cancel the running turn.
    Stop,
    /// Resume a session that has ended.
    Resume,
    /// Answer or reject a request.
    Settle(RequestId),
    /// Messages with these words.
    Search(String),
    /// Revoke a rule.
    Revoke,
    /// Change the prompts that wait.
    Queue,
    /// A list.
    List,
}
