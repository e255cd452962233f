//! `convoke mcp` for an agent that Convoke itself has started: relays standard input and output to
//! the daemon's `/mcp`.
//!
//! Such an agent may be confined and cannot access the home. Its messages are forwarded unchanged,
//! one per line; the responses of the daemon become lines. Only ids and what HTTP headers need are
//! parsed.

mod call;
mod message;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use convoke_agents::line_codec::Line;
use convoke_api::Client;
use futures_util::StreamExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::lines::{self, LINES_MAX, write};
use super::malformed_line::MalformedLine;
use crate::environment::McpEndpoint;
use call::DaemonConnection;
use message::Message;

/// Bytes of a line; a longer one is refused. The daemon accepts 4 MiB.
const LINE_BYTES_MAX: usize = 8 << 20;

/// Concurrent calls; further ones are refused at once, so that cancellations are still read.
const CALLS_MAX: usize = 256;

/// How long calls may still take after stdin is closed: enough for those that do not wait for a human.
const LEAVE_TIME: Duration = Duration::from_millis(300);

/// Forwards messages until the client disconnects or the process gets a termination signal.
pub(crate) async fn run(endpoint: &McpEndpoint) -> anyhow::Result<()> {
    let client = Client::connect(&endpoint.url, &endpoint.token)?;
    let (input, output) = rmcp::transport::stdio_pipes();
    let signalled = crate::signals::ended()?;
    tokio::select! {
        result = relay(client, input, output) => result,
        () = signalled => Ok(()),
    }
}

/// Relays between a client's lines and the daemon.
async fn relay(
    client: Client,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> anyhow::Result<()> {
    let mut lines = lines::read(input, LINE_BYTES_MAX);
    let (out, written) = mpsc::channel(LINES_MAX);
    let writing = write(written, output);
    tokio::pin!(writing);
    let mut relay =
        Relay { connection: Arc::new(DaemonConnection::new(client)), out, calls: Calls::default() };
    loop {
        tokio::select! {
            line = lines.next() => match line {
                Some(Ok(Line::Whole(line))) => relay.take(&line).await,
                Some(Ok(Line::TooLong { .. })) => {
                    relay.send_line(&MalformedLine::Long { bytes_max: LINE_BYTES_MAX }.answer()).await;
                }
                Some(Err(error)) => return Err(error).context("cannot read from standard input"),
                None => break,
            },
            () = relay.calls.ended() => {}
            // The client has closed stdout, so no response can be delivered.
            result = &mut writing => return result,
        }
    }
    let Relay { calls, out, .. } = relay;
    drop(out);
    let leaving = async {
        // Those that are left are dropped, and their connections with them: the daemon notices.
        tokio::time::timeout(LEAVE_TIME, calls.all_ended()).await.ok();
    };
    let closing = async { tokio::join!(leaving, writing).1 };
    // A client that does not read either must not keep the program.
    tokio::time::timeout(2 * LEAVE_TIME, closing).await.unwrap_or(Ok(()))
}

struct Relay {
    connection: Arc<DaemonConnection>,
    out: mpsc::Sender<String>,
    calls: Calls,
}

impl Relay {
    /// Handles a line of the client.
    async fn take(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match message::read(line) {
            Ok(messages) => {
                for message in messages {
                    self.begin(message).await;
                }
            }
            Err(malformed) => self.send_line(&malformed.answer()).await,
        }
    }

    async fn begin(&mut self, message: Message) {
        if let Some(cancelled) = &message.cancels {
            self.calls.cancel(cancelled);
        }
        if self.calls.count() >= CALLS_MAX {
            if let Some(answer) = message.failed("too many calls at once", None) {
                self.send_line(&answer).await;
            }
            return;
        }
        let (id, connection, out) = (message.id.clone(), self.connection.clone(), self.out.clone());
        self.calls.begin(id, async move { connection.call(message, &out).await });
    }

    async fn send_line(&self, line: &str) {
        // Fails only if this relay is about to end.
        self.out.send(line.to_owned()).await.ok();
    }
}

/// The calls in progress.
#[derive(Default)]
struct Calls {
    tasks: JoinSet<()>,
    /// Which task answers which id.
    running: Vec<(String, AbortHandle)>,
}

impl Calls {
    fn begin(&mut self, id: Option<String>, call: impl Future<Output = ()> + Send + 'static) {
        let handle = self.tasks.spawn(call);
        if let Some(id) = id {
            self.running.push((id, handle));
        }
    }

    fn count(&self) -> usize {
        self.tasks.len()
    }

    /// Drops a call and its connection. It is not answered: a client does not expect the response to a cancelled call.
    fn cancel(&mut self, id: &str) {
        for (_, handle) in self.running.extract_if(.., |(running, _)| running == id) {
            handle.abort();
        }
    }

    /// Waits until a call has ended; for ever when there is none.
    async fn ended(&mut self) {
        let Some(ended) = self.tasks.join_next_with_id().await else {
            return std::future::pending().await;
        };
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                if error.is_panic() {
                    tracing::error!("an MCP call failed: {error}");
                }
                error.id()
            }
        };
        self.running.retain(|(_, handle)| handle.id() != id);
    }

    async fn all_ended(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}
