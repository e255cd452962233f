//! JSON lines over byte streams, for both protocols: bounded, and tolerant of other output.
//!
//! The drivers interpret the lines.

mod background_writer;

use std::io;

use convoke_core::notice::{AgentEvent, Notice};
use convoke_core::session::Report;
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_util::codec::FramedRead;

use crate::line_codec::{self, BUFFER_BYTES_KEPT, LineCodec, Unfinished};

pub(crate) use background_writer::BackgroundWriter;

/// The longest line that is read; the longest seen from a real agent had 560 KB, and a file of 10 MiB that an agent writes
/// must fit. A longer one is skipped to its end.
const LINE_BYTES_MAX: usize = 12 << 20;
/// Values in one line; a line with more is skipped as well, since each takes much more in memory.
const VALUES_MAX: usize = 200_000;
/// The size of one read.
const READ_BYTES: usize = 16 << 10;
/// How much of a line that is not JSON is logged.
const JUNK_CHARS_MAX: usize = 200;

/// A parsed line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// JSON.
    Json(Value),
    /// Something else, cut to 200 characters.
    Junk(String),
    /// More than 12 MiB or too many values; it was skipped.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
}

/// The report about a skipped line.
pub(crate) fn skipped(bytes: u64) -> Report {
    let text = format!(
        "Convoke skipped a line of {bytes} bytes that the agent sent: at most {LINE_BYTES_MAX} bytes and {VALUES_MAX} \
         values are read."
    );
    Report::Noticed(Notice::worded(AgentEvent::Advice { severity: "warning".to_owned() }, text))
}

/// Reads lines from a stream.
pub(crate) struct Reader {
    lines: FramedRead<Box<dyn AsyncRead + Send + Unpin>, LineCodec>,
}

impl Reader {
    /// Reads from this stream.
    pub(crate) fn new(stream: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let codec = LineCodec::new(LINE_BYTES_MAX, Unfinished::Decode);
        let stream: Box<dyn AsyncRead + Send + Unpin> = Box::new(stream);
        Self { lines: FramedRead::with_capacity(stream, codec, READ_BYTES) }
    }

    /// The next non-empty line, or `None` at the end of the stream, also after an unfinished last
    /// line.
    ///
    /// Cancel-safe: buffered input is kept for the next call.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        while let Some(line) = self.lines.next().await {
            if let Some(line) = parse(line?) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

/// Parses a line; `None` if it is empty.
fn parse(line: line_codec::Line) -> Option<Line> {
    let line = match line {
        line_codec::Line::Whole(line) => line,
        line_codec::Line::TooLong { bytes } => return Some(Line::TooLong { bytes }),
    };
    let bytes = line.trim_ascii();
    if bytes.is_empty() {
        return None;
    }
    if bytes.len() > VALUES_MAX && has_too_many_values(bytes) {
        return Some(Line::TooLong { bytes: line.len() as u64 });
    }
    Some(match serde_json::from_slice(bytes) {
        Ok(value) => Line::Json(value),
        Err(_) => Line::Junk(cut(bytes)),
    })
}

/// Whether a line of JSON has more values than allowed. Every value but one follows a comma, a
/// colon or a bracket.
fn has_too_many_values(line: &[u8]) -> bool {
    let (mut values, mut in_text, mut is_escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b':' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > VALUES_MAX
}

/// The beginning of a line as text.
fn cut(bytes: &[u8]) -> String {
    // A character has at most four bytes, so the rest need not be decoded.
    let beginning = bytes.get(..JUNK_CHARS_MAX * 4).unwrap_or(bytes);
    String::from_utf8_lossy(beginning).chars().take(JUNK_CHARS_MAX).collect()
}

/// Writes lines to a stream.
pub(crate) struct Writer {
    stream: Box<dyn AsyncWrite + Send + Unpin>,
    /// The line that is being written; not empty between two calls if one was cancelled.
    buffer: Vec<u8>,
    /// How much of it is written.
    sent: usize,
}

impl Writer {
    /// Writes to this stream.
    pub(crate) fn new(stream: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self { stream: Box::new(stream), buffer: Vec::new(), sent: 0 }
    }

    /// Writes a value as one line, and waits until the pipe has accepted it.
    ///
    /// If a call is cancelled, the next one writes the rest of its line first, so that no line is
    /// torn.
    pub(crate) async fn send(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.buffer, value)?;
        self.buffer.push(b'\n');
        while let Some(rest @ [_, ..]) = self.buffer.get(self.sent..) {
            let written = self.stream.write(rest).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.sent += written;
        }
        self.sent = 0;
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_BYTES_KEPT);
        self.stream.flush().await
    }

    /// Closes the pipe to the agent. The rest of a cancelled write is dropped.
    pub(crate) async fn close(mut self) {
        // An agent that has closed its input needs no end of file.
        self.stream.shutdown().await.ok();
    }
}

#[cfg(test)]
mod tests;
