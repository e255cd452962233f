//! Splits a byte stream into lines of bounded length, for `tokio_util::codec::FramedRead`.
//!
//! `LinesCodec` and `AnyDelimiterCodec` fail on a line over their limit and do not report how long it was. This decoder
//! skips such a line to its end, reports its length and continues with the next one.

use std::io;

use memchr::memchr;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder;

/// Capacity that the read buffer keeps for the next line; more is freed.
pub(crate) const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// Decodes lines that end with `\n`.
#[derive(Debug)]
pub struct LineCodec {
    bytes_max: usize,
    unfinished: Unfinished,
    /// The end of the part of the buffer that contains no line break.
    scanned: usize,
    /// How much of the current line was discarded, once it exceeds the limit.
    discarded: Option<u64>,
}

/// What to do with a last line without a line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// It is decoded as a line.
    Decode,
    /// It is discarded as incomplete.
    Discard,
}

/// A decoded line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// All of it, without its line break.
    Whole(BytesMut),
    /// It exceeded the limit, and was skipped.
    TooLong {
        /// Its length.
        bytes: u64,
    },
}

impl LineCodec {
    /// Decodes lines of at most `bytes_max` bytes, not counting their line breaks.
    pub const fn new(bytes_max: usize, unfinished: Unfinished) -> Self {
        Self { bytes_max, unfinished, scanned: 0, discarded: None }
    }

    /// The line that these bytes end.
    fn line(&mut self, end: BytesMut) -> Line {
        self.scanned = 0;
        let bytes = self.discarded.take().unwrap_or(0) + end.len() as u64;
        if bytes > self.bytes_max as u64 { Line::TooLong { bytes } } else { Line::Whole(end) }
    }
}

impl Decoder for LineCodec {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        let unknown = buffer.get(self.scanned..).unwrap_or_default();
        if let Some(at) = memchr(b'\n', unknown) {
            let end = self.scanned + at;
            let mut line = buffer.split_to(end + 1);
            line.truncate(end);
            if end > BUFFER_BYTES_KEPT {
                // Both parts share one allocation, which would otherwise be reused for all later
                // lines.
                *buffer = BytesMut::from(buffer.as_ref());
            }
            return Ok(Some(self.line(line)));
        }
        self.scanned = buffer.len();
        if self.discarded.is_some() || buffer.len() > self.bytes_max {
            self.discarded = Some(self.discarded.unwrap_or(0) + buffer.len() as u64);
            self.scanned = 0;
            buffer.clear();
            if buffer.capacity() > BUFFER_BYTES_KEPT {
                *buffer = BytesMut::new();
            }
        }
        Ok(None)
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        if let Some(line) = self.decode(buffer)? {
            return Ok(Some(line));
        }
        let is_empty = buffer.is_empty() && self.discarded.is_none();
        let line = self.line(buffer.split());
        Ok((!is_empty && self.unfinished == Unfinished::Decode).then_some(line))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use proptest::prelude::*;
    use tokio_util::codec::FramedRead;

    use super::*;

    /// The lines of a text that arrives in pieces of this size; a skipped one is shown by its length.
    fn decoded(text: &str, size: usize, unfinished: Unfinished) -> Vec<Result<String, u64>> {
        let (mut codec, mut buffer, mut lines) =
            (LineCodec::new(8, unfinished), BytesMut::new(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            buffer.extend_from_slice(piece);
            while let Some(line) = codec.decode(&mut buffer).unwrap() {
                lines.push(line);
            }
        }
        while let Some(line) = codec.decode_eof(&mut buffer).unwrap() {
            lines.push(line);
        }
        let reported = |line| match line {
            Line::Whole(line) => Ok(String::from_utf8_lossy(&line).into_owned()),
            Line::TooLong { bytes } => Err(bytes),
        };
        lines.into_iter().map(reported).collect()
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_decoded() {
        let long = "x".repeat(1000);
        let text = format!("one\n\r\n{long}\n12345678\n123456789\n\nlast");
        let whole = |text: &str| Ok(text.to_owned());
        let mut expected =
            vec![whole("one"), whole("\r"), Err(1000), whole("12345678"), Err(9), whole("")];
        for size in 1..=text.len() {
            assert_eq!(decoded(&text, size, Unfinished::Discard), expected, "pieces of {size}");
        }
        expected.push(whole("last"));
        for size in 1..=text.len() {
            assert_eq!(decoded(&text, size, Unfinished::Decode), expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_unfinished_line_over_the_limit_is_reported_unless_unfinished_ones_are_discarded() {
        for size in 1..12 {
            assert_eq!(decoded("a\n123456789", size, Unfinished::Decode), [Ok("a".into()), Err(9)]);
            assert_eq!(decoded("a\n123456789", size, Unfinished::Discard), [Ok("a".into())]);
        }
    }

    #[tokio::test]
    async fn the_buffer_of_a_long_line_is_freed() {
        let long = 4 * BUFFER_BYTES_KEPT;
        for bytes_max in [long, 8] {
            let text = format!("{}\nnext\n", "x".repeat(long));
            let codec = LineCodec::new(bytes_max, Unfinished::Decode);
            let mut lines = FramedRead::new(std::io::Cursor::new(text), codec);
            assert!(lines.next().await.unwrap().is_ok());
            assert!(lines.next().await.unwrap().is_ok());
            assert!(lines.next().await.is_none());
            assert!(lines.read_buffer().capacity() <= BUFFER_BYTES_KEPT);
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_stream_is_cut(text in "[ab\n\r]{0,60}", size in 1..61_usize) {
            let lines = decoded(&text, size, Unfinished::Decode);
            let short = |line: &str| if line.len() > 8 { Err(line.len() as u64) } else { Ok(line.to_owned()) };
            let expected: Vec<_> = text.split_terminator('\n').map(short).collect();
            prop_assert_eq!(lines, expected);
        }
    }
}
