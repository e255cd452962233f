//! Lines of JSON over byte streams, as both protocols speak them: bounded, and forgiving to what is not JSON.
//!
//! What a line means is the drivers' business.

mod pen;

use std::io;

use convoke_core::notice::{Event, Notice};
use convoke_core::session::Report;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(crate) use pen::Pen;

/// The longest line that is read; the longest seen from a real agent had 560 KB, and a file of 10 MiB that an agent writes
/// must fit. A longer one is skipped to its end.
const LINE_BYTES_MAX: usize = 12 << 20;
/// Values in one line; one with more of them is skipped, too, since each takes many times as much in memory.
const VALUES_MAX: usize = 200_000;
/// How much is asked of the stream at once.
const READ_BYTES: usize = 16 << 10;
/// Room that is kept for the next line; what a longer one needed is given back.
const KEPT_BYTES_MAX: usize = 1 << 20;
/// How much of a line that is not JSON is worth repeating.
const JUNK_CHARS_MAX: usize = 200;

/// What a line turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// JSON.
    Json(Value),
    /// Something else, cut to 200 characters.
    Junk(String),
    /// More than 12 MiB or too many values, of which nothing was kept.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
}

/// What people read of a line that was skipped.
pub(crate) fn skipped(bytes: u64) -> Report {
    let text = format!(
        "Convoke skipped a line of {bytes} bytes that the agent sent: at most {LINE_BYTES_MAX} bytes and {VALUES_MAX} \
         values are read."
    );
    Report::Noticed(Notice::worded(Event::Advice { severity: "warning".to_owned() }, text))
}

/// Reads lines from a stream.
pub(crate) struct Reader {
    stream: Box<dyn AsyncRead + Send + Unpin>,
    /// What was read and not yet handed out.
    buffer: Vec<u8>,
    /// Where the current line starts in the buffer.
    start: usize,
    /// Up to where the buffer is known to hold no end of a line.
    scanned: usize,
    /// How much of the current line was thrown away, once it is too long.
    dropped: Option<u64>,
    ended: bool,
}

impl Reader {
    /// Reads from this stream.
    pub(crate) fn new(stream: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            dropped: None,
            ended: false,
        }
    }

    /// The next line that is not empty, or `None` at the end of the stream, also after an unfinished last line.
    ///
    /// Cancel-safe: what was read stays here for the next call.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            while let Some(end) = self.end_of_line() {
                let line = self.take(end);
                self.start = end + 1;
                self.scanned = self.start;
                if line.is_some() {
                    return Ok(line);
                }
            }
            if self.ended {
                let line = self.take(self.buffer.len());
                self.start = self.buffer.len();
                return Ok(line);
            }
            self.make_room();
            self.buffer.reserve(READ_BYTES);
            self.ended = self.stream.read_buf(&mut self.buffer).await? == 0;
        }
    }

    fn end_of_line(&mut self) -> Option<usize> {
        let unknown = self.buffer.get(self.scanned..).unwrap_or_default();
        let found = unknown.iter().position(|byte| *byte == b'\n').map(|at| self.scanned + at);
        self.scanned = self.buffer.len();
        found
    }

    /// The line that ends before `end`, unless there is nothing in it.
    fn take(&mut self, end: usize) -> Option<Line> {
        let bytes = self.buffer.get(self.start..end).unwrap_or_default();
        let length = self.dropped.take().unwrap_or(0) + bytes.len() as u64;
        if length > LINE_BYTES_MAX as u64 {
            return Some(Line::TooLong { bytes: length });
        }
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            return None;
        }
        if bytes.len() > VALUES_MAX && has_too_many_values(bytes) {
            return Some(Line::TooLong { bytes: length });
        }
        Some(match serde_json::from_slice(bytes) {
            Ok(value) => Line::Json(value),
            Err(_) => Line::Junk(cut(bytes)),
        })
    }

    /// Forgets lines that were handed out, and what there is of one that is too long.
    fn make_room(&mut self) {
        let unfinished = self.buffer.len() - self.start;
        if self.dropped.is_some() || unfinished > LINE_BYTES_MAX {
            self.dropped = Some(self.dropped.unwrap_or(0) + unfinished as u64);
            self.start = self.buffer.len();
        }
        self.buffer.drain(..self.start);
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT_BYTES_MAX {
            self.buffer = Vec::new();
        }
        self.scanned -= self.start;
        self.start = 0;
    }
}

/// Whether a line of JSON has more values than are read. Every value but one follows a comma, a colon or a bracket.
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
    // No character takes more than four bytes, so that the rest need not be looked at.
    let beginning = bytes.get(..JUNK_CHARS_MAX * 4).unwrap_or(bytes);
    String::from_utf8_lossy(beginning).chars().take(JUNK_CHARS_MAX).collect()
}

/// Writes lines to a stream.
pub(crate) struct Writer {
    stream: Box<dyn AsyncWrite + Send + Unpin>,
    /// What is being written: more than nothing between two calls when one was cancelled.
    buffer: Vec<u8>,
    /// How much of it is out.
    sent: usize,
}

impl Writer {
    /// Writes to this stream.
    pub(crate) fn new(stream: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self { stream: Box::new(stream), buffer: Vec::new(), sent: 0 }
    }

    /// Writes a value as one line, and waits until the other side's pipe has taken it.
    ///
    /// A call that is cancelled halfway leaves the rest of its line to the next one, so that no line is torn.
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
        self.buffer.shrink_to(KEPT_BYTES_MAX);
        self.stream.flush().await
    }

    /// Tells the other side that nothing more will come. What a cancelled call left is not waited for.
    pub(crate) async fn close(mut self) {
        // Whoever does not listen any more need not be told that it is over.
        self.stream.shutdown().await.ok();
    }
}

#[cfg(test)]
mod tests;
