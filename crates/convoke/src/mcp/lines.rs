//! Lines over a client's pipes: read with a length limit, and written in order.

use std::io;

use anyhow::Context;
use convoke_agents::line_codec::{LineCodec, Unfinished};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::codec::FramedRead;

/// Lines that wait to be written; when there are more, answers wait.
pub(super) const LINES_MAX: usize = 64;

/// A client's lines.
pub(super) type Lines<R> = FramedRead<R, LineCodec>;

/// Reads a client's lines. A last line without a break was not finished and is none.
pub(super) fn read<R: AsyncRead>(input: R, bytes_max: usize) -> Lines<R> {
    FramedRead::new(input, LineCodec::new(bytes_max, Unfinished::Discard))
}

/// Writes lines as they arrive, until the channel is closed.
pub(super) async fn write(
    mut lines: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> anyhow::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        let written = async {
            output.write_all(line.as_bytes()).await?;
            output.flush().await
        };
        match written.await {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            result => result.context("cannot write to standard output")?,
        }
    }
    Ok(())
}
