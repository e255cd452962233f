//! An rmcp transport over lines. rmcp's own drops a line that it cannot parse, and the client would
//! wait.

use std::io;

use convoke_agents::line_codec::Line;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError};
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder as _;

use super::lines::{self, Lines};
use super::malformed_line::MalformedLine;

/// Bytes of a line; a longer one is refused.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The lines of a client, and the channel to the writer.
pub(super) struct Stdio<R> {
    lines: Lines<R>,
    out: Option<mpsc::Sender<String>>,
    /// The error response to an invalid line; the next line is read after it is written. It is
    /// stored here because a read may be cancelled at any time.
    answering: Option<BoxFuture<'static, io::Result<()>>>,
}

impl<R: AsyncRead + Unpin> Stdio<R> {
    pub(super) fn new(input: R, out: mpsc::Sender<String>) -> Self {
        Self { lines: lines::read(input, LINE_BYTES_MAX), out: Some(out), answering: None }
    }

    /// Has a line written.
    fn send_line(&self, line: String) -> BoxFuture<'static, io::Result<()>> {
        let out = self.out.clone();
        let gone = || io::Error::from(io::ErrorKind::NotConnected);
        async move { out.ok_or_else(gone)?.send(line).await.map_err(|_| gone()) }.boxed()
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = serde_json::to_string(&message).map(|line| self.send_line(line));
        async move { sent?.await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answering) = &mut self.answering {
                // A client that no longer reads also closes the pipe, which ends the loop.
                answering.await.ok();
                self.answering = None;
            }
            let read = match self.lines.next().await {
                Some(Ok(Line::Whole(line))) => read(&line),
                Some(Ok(Line::TooLong { .. })) => {
                    Err(MalformedLine::Long { bytes_max: LINE_BYTES_MAX })
                }
                None => return None,
                Some(Err(error)) => {
                    tracing::debug!("standard input cannot be read: {error}");
                    return None;
                }
            };
            match read {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(malformed) => self.answering = Some(self.send_line(malformed.answer())),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out = None;
        Ok(())
    }
}

/// Parses the message of a line; `None` for an empty line, and for notifications of other
/// protocols, which rmcp ignores.
fn read(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, MalformedLine> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    std::str::from_utf8(line)?;
    let mut whole = BytesMut::from(line);
    whole.extend_from_slice(b"\n");
    JsonRpcMessageCodec::new().decode(&mut whole).map_err(|error| {
        if let JsonRpcMessageCodecError::Serde(error) = error {
            return MalformedLine::of(line, error);
        }
        // The length is limited before, and these bytes do not come from a pipe.
        MalformedLine::NoMessage { id: serde_json::Value::Null }
    })
}
