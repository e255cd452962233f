//! Lines over a client's pipes: read with a bound on their length, and written in the order in which they were said.

use std::io;

use anyhow::Context;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// Lines that wait to be written; when there are more, answers wait.
pub(super) const LINES_MAX: usize = 64;

/// Reads a client's lines.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    bytes_max: usize,
    /// What there is of a line that has not ended yet.
    begun: Vec<u8>,
    /// Whether that line is too long, and the rest of it is passed over.
    is_too_long: bool,
}

/// A line, without its break.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// Longer than the bound; nothing was kept.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, bytes_max: usize) -> Self {
        let input = BufReader::new(input);
        Self { input, bytes_max, begun: Vec::new(), is_too_long: false }
    }

    /// The next line, or `None` at the end; a last line without a break was not finished and is none. Cancel-safe.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                return Ok(None);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let piece = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            self.is_too_long |= self.begun.len() + piece.len() > self.bytes_max;
            if self.is_too_long {
                self.begun = Vec::new();
            } else {
                self.begun.extend_from_slice(piece);
            }
            let taken = piece.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_some() {
                let line = std::mem::take(&mut self.begun);
                let is_too_long = std::mem::take(&mut self.is_too_long);
                return Ok(Some(if is_too_long { Line::TooLong } else { Line::Whole(line) }));
            }
        }
    }
}

/// Writes lines as they come, until there can be no more.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_read() {
        let long = "x".repeat(100_000);
        let input = format!("one\n\r\n{long}\n12345678\n123456789\nunfinished");
        let mut lines = Lines::new(input.as_bytes(), 8);
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        let expected = [whole("one"), whole("\r"), Line::TooLong, whole("12345678"), Line::TooLong];
        assert_eq!(read, expected);
    }
}
