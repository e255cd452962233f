//! Calls to the daemon about changes, over REST.

use convoke_api::Client;
use convoke_api::bodies::{
    FileDiff, Fork, Restore, RestoreScope, Restored, Revert, Session, SessionChanges, Undo,
};
use convoke_core::id::SessionId;
use convoke_core::message::Seq;

use crate::workbench::message::Message;
use crate::workbench::refusal::CallRefusal;

/// A call about the changes of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Lists the changes of the session, or of one of its turns.
    List {
        /// The session.
        id: SessionId,
        /// The turn.
        turn: Option<Seq>,
    },
    /// How did a file change?
    Open {
        /// The session.
        id: SessionId,
        /// The turn.
        turn: Option<Seq>,
        /// The file.
        path: String,
    },
    /// Revert a file, or a hunk of it.
    Revert {
        /// The session.
        id: SessionId,
        /// What to revert.
        revert: Revert,
    },
    /// Restore everything to before a turn.
    Restore {
        /// The session.
        id: SessionId,
        /// What to restore.
        restore: Restore,
    },
    /// Undo the last restore.
    Undo {
        /// The session.
        id: SessionId,
        /// How.
        undo: Undo,
    },
    /// Fork the session.
    Fork {
        /// The session.
        id: SessionId,
        /// Where.
        fork: Fork,
    },
}

/// The result of a call.
#[derive(Debug)]
pub enum Returned {
    /// The changes.
    Changes(SessionChanges),
    /// A diff.
    Diff(FileDiff),
    /// What was restored.
    Restored(Restored),
    /// The new session.
    Forked(Session),
}

impl Call {
    pub(crate) const fn session(&self) -> SessionId {
        match self {
            Self::List { id, .. }
            | Self::Open { id, .. }
            | Self::Revert { id, .. }
            | Self::Restore { id, .. }
            | Self::Undo { id, .. }
            | Self::Fork { id, .. } => *id,
        }
    }

    /// The same, even where files of others are overwritten.
    pub(crate) fn forced(mut self) -> Self {
        match &mut self {
            Self::Revert { revert, .. } => revert.force = true,
            Self::Restore { restore, .. } => restore.force = true,
            Self::Undo { undo, .. } => undo.force = true,
            Self::List { .. } | Self::Open { .. } | Self::Fork { .. } => {}
        }
        self
    }

    /// The call as a question for confirmation, with the numbers of turns for people.
    pub(crate) fn question(&self, number_of: impl Fn(Seq) -> u64) -> String {
        match self {
            Self::Revert { revert: Revert { path, hunk: Some(_), .. }, .. } => {
                format!("Revert this hunk of {path}?")
            }
            Self::Revert { revert: Revert { path, turn: None, .. }, .. } => {
                format!("Revert {path} to what it was before the session?")
            }
            Self::Revert { revert: Revert { path, turn: Some(turn), .. }, .. } => {
                format!("Revert {path} to what it was before turn {}?", number_of(*turn))
            }
            Self::Restore { restore, .. } => {
                let turn = number_of(restore.turn);
                match restore.what.unwrap_or(RestoreScope::Both) {
                    RestoreScope::Files => format!("Restore the files to before turn {turn}?"),
                    RestoreScope::Conversation => {
                        format!(
                            "Continue the conversation from before turn {turn} in a new session?"
                        )
                    }
                    RestoreScope::Both => format!(
                        "Restore the files to before turn {turn}, and continue the conversation from there in a new session?"
                    ),
                }
            }
            Self::Undo { .. } => "Undo the last restore of files?".to_owned(),
            Self::Fork { fork: Fork { turn: None, .. }, .. } => {
                "Fork the session: a new one with the whole conversation?".to_owned()
            }
            Self::Fork { fork: Fork { turn: Some(turn), .. }, .. } => {
                let turn = number_of(*turn);
                format!("Fork the session: a new one with the conversation up to turn {turn}?")
            }
            Self::List { .. } | Self::Open { .. } => String::new(),
        }
    }
}

/// Performs a call.
pub(crate) async fn perform(client: Client, call: Call) -> Message {
    let id = call.session().to_string();
    let returned = match &call {
        Call::List { turn, .. } => client.changes(&id, *turn).await.map(Returned::Changes),
        Call::Open { turn, path, .. } => {
            client.changed_file(&id, path, *turn).await.map(Returned::Diff)
        }
        Call::Revert { revert, .. } => client.revert(&id, revert).await.map(Returned::Restored),
        Call::Restore { restore, .. } => client.restore(&id, restore).await.map(Returned::Restored),
        Call::Undo { undo, .. } => client.undo(&id, undo).await.map(Returned::Restored),
        Call::Fork { fork, .. } => client.fork(&id, fork).await.map(Returned::Forked),
    };
    let returned = returned.map(Box::new).map_err(|error| CallRefusal::from(&error));
    Message::Called { call, returned }
}
