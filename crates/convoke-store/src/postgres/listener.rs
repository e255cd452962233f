//! A thread that receives the announcements of other nodes on its own connection.

use std::time::Duration;

use convoke_core::id::{NodeId, SessionId};
use postgres::fallible_iterator::FallibleIterator as _;
use tokio::sync::mpsc;

use super::Server;
use crate::db::{PostgresSession, SqlResult};

/// The channel that all daemons listen to.
pub(crate) const CHANNEL: &str = "convoke";

/// How often an idle connection is checked.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Notices that are buffered for the receiver; with more, the thread waits, and the server keeps the rest.
const BACKLOG: usize = 1024;

/// A notification from the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The connection is new, so earlier notices may have been lost.
    Connected,
    /// Sessions of a daemon changed.
    Sessions {
        /// The daemon.
        node: NodeId,
        /// The sessions.
        sessions: Vec<SessionId>,
    },
    /// There is a command for a node.
    Command(NodeId),
    /// There is a response to a command.
    Response(u64),
    /// The prompts that wait for the node of a session have changed.
    Waiting(SessionId),
}

impl Notice {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        match words.next()? {
            "sessions" => {
                let node = words.next()?.parse().ok()?;
                Some(Self::Sessions { node, sessions: words.flat_map(str::parse).collect() })
            }
            "command" => Some(Self::Command(words.next()?.parse().ok()?)),
            "waiting" => Some(Self::Waiting(words.next()?.parse().ok()?)),
            "response" => Some(Self::Response(words.next()?.parse().ok()?)),
            _ => None,
        }
    }
}

/// Receives notices until the receiver is dropped.
pub(crate) fn listen(server: &Server) -> mpsc::Receiver<Notice> {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    let server = server.clone();
    let started = std::thread::Builder::new().name("convoke-listen".to_owned()).spawn(move || {
        while !sender.is_closed() {
            if let Err(error) = follow(&server, &sender) {
                tracing::warn!(database = %server, %error, "cannot follow what other daemons do");
                std::thread::sleep(POLL_INTERVAL);
            }
        }
    });
    if let Err(error) = started {
        tracing::error!("cannot follow what other daemons do: {error}");
    }
    receiver
}

fn follow(server: &Server, sender: &mpsc::Sender<Notice>) -> SqlResult<()> {
    let session: PostgresSession = server.connect()?;
    session.execute_batch(&format!("LISTEN {CHANNEL}"))?;
    if sender.blocking_send(Notice::Connected).is_err() {
        return Ok(());
    }
    session.with_client(|client| {
        loop {
            let mut notifications = client.notifications();
            let mut notifications = notifications.timeout_iter(POLL_INTERVAL);
            while let Some(notification) = notifications.next()? {
                if let Some(notice) = Notice::parse(notification.payload())
                    && sender.blocking_send(notice).is_err()
                {
                    return Ok(());
                }
            }
            if sender.is_closed() {
                return Ok(());
            }
        }
    })
}
