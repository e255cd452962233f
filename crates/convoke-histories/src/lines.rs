//! Reads the lines of a file of any size, with a bound on the memory for one of them.

use std::io::{self, Read};

use memchr::memchr;

/// The longest line that is parsed. Longer ones are images and archives in base64; they are
/// counted, listed and skipped.
pub(crate) const LINE_BYTES_MAX: usize = 8 << 20;
/// The bytes by which the buffer grows. Most conversations are short, and a larger buffer costs
/// more than reading one of them.
const CHUNK: usize = 64 << 10;
/// The least free space for a read.
const ROOM_MIN: usize = 16 << 10;

/// Reads lines and knows where each of them is.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Where the next line begins in the file.
    offset: u64,
    /// The number of the last line, from 1.
    number: u64,
}

/// One line, without its line feed.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub number: u64,
    pub offset: u64,
    /// How long it is in the file, with its line feed.
    pub bytes: u64,
    pub text: LineText<'a>,
}

/// The text of a line.
#[derive(Debug)]
pub(crate) enum LineText<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// The last one, which has no line feed: another program may still be writing it.
    Unfinished(&'a [u8]),
    /// More than is parsed.
    TooLong,
}

impl<R: Read> Lines<R> {
    /// Reads lines from an offset in a file, before which there are `number` lines.
    pub(crate) fn new(source: R, offset: u64, number: u64) -> Self {
        Self { source, buffer: Vec::new(), start: 0, end: 0, at_end: false, offset, number }
    }

    /// Where the next line begins.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Lines so far.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let pending = self.buffer.get(self.start..self.end).unwrap_or_default();
            let feed = pending.get(searched..).and_then(|rest| memchr(b'\n', rest));
            if let Some(at) = feed.map(|at| at + searched) {
                return Ok(Some(self.take(at, 1)));
            }
            searched = pending.len();
            if self.at_end {
                if searched == 0 {
                    return Ok(None);
                }
                return Ok(Some(self.take(searched, 0)));
            }
            if searched > LINE_BYTES_MAX {
                return self.skip_long().map(Some);
            }
            self.fill()?;
        }
    }

    /// The first `length` bytes as a line, and the feed after them.
    fn take(&mut self, length: usize, feed: usize) -> Line<'_> {
        let (start, offset) = (self.start, self.offset);
        self.start += length + feed;
        self.offset += (length + feed) as u64;
        self.number += 1;
        let text = self.buffer.get(start..start + length).unwrap_or_default();
        let text = match feed {
            _ if length > LINE_BYTES_MAX => LineText::TooLong,
            0 => LineText::Unfinished(text),
            _ => LineText::Whole(text),
        };
        Line { number: self.number, offset, bytes: (length + feed) as u64, text }
    }

    /// Skips a line that is too long.
    fn skip_long(&mut self) -> io::Result<Line<'static>> {
        let offset = self.offset;
        loop {
            let pending = self.buffer.get(self.start..self.end).unwrap_or_default();
            let feed = memchr(b'\n', pending);
            let passed = feed.map_or(pending.len(), |at| at + 1);
            self.start += passed;
            self.offset += passed as u64;
            if feed.is_some() || self.at_end {
                break;
            }
            self.fill()?;
        }
        self.number += 1;
        // The buffer is shrunk: most files have no second line of this size.
        self.shrink();
        let bytes = self.offset - offset;
        Ok(Line { number: self.number, offset, bytes, text: LineText::TooLong })
    }

    fn shrink(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        self.buffer.truncate(self.end.max(CHUNK));
        self.buffer.shrink_to_fit();
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + ROOM_MIN {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        match self.source.read(room) {
            Ok(0) => self.at_end = true,
            Ok(read) => self.end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(text, 0, 0);
        let mut read = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            let text = match line.text {
                LineText::Whole(text) => String::from_utf8_lossy(text).into_owned(),
                LineText::Unfinished(text) => format!("{}…", String::from_utf8_lossy(text)),
                LineText::TooLong => format!("{} bytes", line.bytes),
            };
            read.push(format!("{}@{} {text}", line.number, line.offset));
        }
        assert_eq!(lines.offset(), text.len() as u64);
        read
    }

    #[test]
    fn h6_lines_know_their_places() {
        assert_eq!(read(b""), [""; 0]);
        assert_eq!(read(b"a\n\nbc"), ["1@0 a", "2@2 ", "3@3 bc…"]);
    }

    #[test]
    fn h6_a_huge_line_is_passed_by_and_the_next_one_read() {
        let mut text = b"first\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', LINE_BYTES_MAX + CHUNK * 2));
        text.extend(b"\nlast\n");
        let huge = LINE_BYTES_MAX + CHUNK * 2 + 1;
        let last = 6 + huge;
        assert_eq!(
            read(&text),
            ["1@0 first".to_owned(), format!("2@6 {huge} bytes"), format!("3@{last} last")]
        );
    }
}
