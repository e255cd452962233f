//! The parser of server-sent events.

use tokio_util::bytes::BytesMut;
use tokio_util::codec::{AnyDelimiterCodec, Decoder as _};

/// Events that arrive in pieces.
#[derive(Debug)]
pub(in crate::client) struct Lines {
    buffer: BytesMut,
    codec: AnyDelimiterCodec,
    event: Option<String>,
    id: Option<String>,
    text: Option<String>,
}

/// An event that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::client) struct Event {
    /// Its `event` field.
    pub(in crate::client) name: Option<String>,
    /// Its `id` field.
    pub(in crate::client) id: Option<String>,
    /// Its `data`, line by line.
    pub(in crate::client) data: String,
}

impl Default for Lines {
    fn default() -> Self {
        let codec = AnyDelimiterCodec::new(b"\n".to_vec(), b"\n".to_vec());
        Self { buffer: BytesMut::new(), codec, event: None, id: None, text: None }
    }
}

impl Lines {
    /// Adds bytes that have arrived.
    pub(in crate::client) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete event with data.
    pub(in crate::client) fn next_event(&mut self) -> Option<Event> {
        while let Some(line) = self.next_line() {
            if line.is_empty() {
                let (name, id, data) = (self.event.take(), self.id.take(), self.text.take());
                match data {
                    Some(data) if !data.is_empty() => return Some(Event { name, id, data }),
                    Some(_) | None => continue,
                }
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => match &mut self.text {
                    Some(text) => {
                        text.push('\n');
                        text.push_str(value);
                    }
                    None => self.text = Some(value.to_owned()),
                },
                "event" => self.event = Some(value.to_owned()),
                "id" => self.id = Some(value.to_owned()),
                // A comment keeps the connection alive.
                _ => {}
            }
        }
        None
    }

    /// The next complete line, without its `\n` or `\r\n`.
    fn next_line(&mut self) -> Option<String> {
        // Decoding without a line limit, from memory, cannot fail.
        let line = self.codec.decode(&mut self.buffer).ok()??;
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        Some(String::from_utf8_lossy(line).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str, size: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            lines.push(piece);
            while let Some(Event { name, id, data }) = lines.next_event() {
                let (name, id) = (name.unwrap_or_default(), id.unwrap_or_default());
                found.push(format!("{name}#{id}: {data}"));
            }
        }
        found
    }

    #[test]
    fn events_are_found_wherever_the_pieces_are_cut() {
        let text = ": hello\n\nid: 1\ndata: {\"ä\":1}\n\nid:2\r\ndata:two\r\ndata: lines\r\n\r\n\
                    event: ping\ndata: x\n\nid: 3\n\ndata\n\nretry: 5\nevent: message\ndata: last\n\ndata: cut";
        for size in 1..text.len() {
            let found = events(text, size);
            let all = ["#1: {\"ä\":1}", "#2: two\nlines", "ping#: x", "message#: last"];
            assert_eq!(found, all, "in pieces of {size}");
        }
    }
}
