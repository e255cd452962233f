//! Splits the list of messages in a JSON document of any size into its elements, with a bound on
//! the memory for one of them. It only finds where values end; the parser reads them.

use std::io::{self, BufRead, BufReader, Read};

use crate::lines::LINE_BYTES_MAX;

/// The longest other field of the document that is parsed.
const FIELD_BYTES_MAX: usize = 16 << 10;
/// The field that holds the messages.
const MESSAGES: &str = "messages";

/// Reads a document.
#[derive(Debug)]
pub(crate) struct Elements<R> {
    source: BufReader<R>,
    place: ParserState,
    offset: u64,
    number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ParserState {
    Start,
    BeforeList,
    InDocument,
    InMessages,
    InList,
    End,
}

/// A message, or another field of the document as an object of its own.
#[derive(Debug, PartialEq)]
pub(crate) struct Element {
    pub number: u64,
    pub offset: u64,
    pub bytes: u64,
    /// Its JSON, unless it is too long.
    pub json: Option<Vec<u8>>,
    pub is_message: bool,
}

impl<R: Read> Elements<R> {
    pub(crate) fn new(source: R) -> Self {
        let source = BufReader::with_capacity(256 << 10, source);
        Self { source, place: ParserState::Start, offset: 0, number: 0 }
    }

    /// Reads a list of messages without a document around it.
    pub(crate) fn of_list(source: R) -> Self {
        Self { place: ParserState::BeforeList, ..Self::new(source) }
    }

    /// The next one; `None` at the end. A document that breaks off or is none is an error.
    pub(crate) fn next(&mut self) -> io::Result<Option<Element>> {
        loop {
            let next = match self.place {
                ParserState::Start => self.begin(b'{', ParserState::InDocument)?,
                ParserState::BeforeList => self.begin(b'[', ParserState::InList)?,
                ParserState::InDocument => self.field()?,
                ParserState::InMessages | ParserState::InList => self.message()?,
                ParserState::End => return Ok(None),
            };
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn begin(&mut self, first: u8, within: ParserState) -> io::Result<Option<Element>> {
        match self.peek_word()? {
            None => self.place = ParserState::End,
            Some(byte) if byte == first => (self.place, _) = (within, self.skip()),
            Some(_) if first == b'[' => return Err(damaged("the document is no list")),
            Some(_) => return Err(damaged("the document is no object")),
        }
        Ok(None)
    }

    fn field(&mut self) -> io::Result<Option<Element>> {
        match self.peek_word()? {
            Some(b'}') => {
                self.place = ParserState::End;
                return Ok(None);
            }
            Some(b',') => {
                self.skip();
                return Ok(None);
            }
            Some(b'"') => {}
            Some(_) => return Err(damaged("a field has no name")),
            None => return Err(damaged("the document breaks off")),
        }
        let offset = self.offset;
        let key = self.value(FIELD_BYTES_MAX)?.unwrap_or_default();
        if self.peek_word()? != Some(b':') {
            return Err(damaged("a field has no value"));
        }
        self.skip();
        let starts = self.peek_word()?;
        if starts == Some(b'[') && key == format!("\"{MESSAGES}\"").as_bytes() {
            self.skip();
            self.place = ParserState::InMessages;
            return Ok(None);
        }
        let Some(value) = self.value(FIELD_BYTES_MAX)? else { return Ok(None) };
        let json = [b"{".as_slice(), &key, b":", &value, b"}"].concat();
        let (number, bytes) = (self.number, self.offset - offset);
        Ok(Some(Element { number, offset, bytes, json: Some(json), is_message: false }))
    }

    fn message(&mut self) -> io::Result<Option<Element>> {
        match self.peek_word()? {
            Some(b']') if self.place == ParserState::InList => self.place = ParserState::End,
            Some(b']') => (self.place, _) = (ParserState::InDocument, self.skip()),
            Some(b',') => self.skip(),
            None => return Err(damaged("the document breaks off")),
            Some(_) => {
                let offset = self.offset;
                let json = self.value(LINE_BYTES_MAX)?;
                self.number += 1;
                let (number, bytes) = (self.number, self.offset - offset);
                return Ok(Some(Element { number, offset, bytes, json, is_message: true }));
            }
        }
        Ok(None)
    }

    /// Reads one value; `None` if it is longer than the limit, and then skipped.
    fn value(&mut self, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        let mut kept = Some(Vec::new());
        let mut scan = Scan::default();
        loop {
            let buffer = self.source.fill_buf()?;
            if buffer.is_empty() {
                // A number may end with the file; everything else breaks off.
                return Err(damaged("the document breaks off"));
            }
            let (length, is_whole) = scan.over(buffer);
            if let Some(bytes) = &mut kept {
                bytes.extend(buffer.get(..length).unwrap_or_default());
                if bytes.len() > bytes_max {
                    kept = None;
                }
            }
            self.source.consume(length);
            self.offset += length as u64;
            if is_whole {
                if length == 0 && scan.bytes == 0 {
                    return Err(damaged("a value is missing"));
                }
                return Ok(kept);
            }
        }
    }

    /// The next byte that is no space.
    fn peek_word(&mut self) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.source.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let spaces = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = buffer.get(spaces).copied();
            self.source.consume(spaces);
            self.offset += spaces as u64;
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn skip(&mut self) {
        self.source.consume(1);
        self.offset += 1;
    }
}

fn damaged(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The position of a scan within a value.
#[derive(Debug, Default)]
struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
    bytes: u64,
}

impl Scan {
    /// Scans to the end of the value or of the bytes; returns the position, and whether the value
    /// is complete.
    fn over(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (place, byte) in bytes.iter().enumerate() {
            let is_first = self.bytes == 0;
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                self.bytes += 1;
                if !self.in_string && self.depth == 0 {
                    return (place + 1, true);
                }
                continue;
            }
            match byte {
                b'"' if is_first || self.depth > 0 => self.in_string = true,
                b'{' | b'[' if is_first || self.depth > 0 => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.bytes += 1;
                        return (place + 1, true);
                    }
                }
                // The end of a number or a literal.
                b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[' if self.depth == 0 => {
                    return (place, true);
                }
                byte if self.depth == 0 && byte.is_ascii_whitespace() => return (place, true),
                _ => {}
            }
            self.bytes += 1;
        }
        (bytes.len(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut elements = Elements::new(text.as_bytes());
        let mut read = Vec::new();
        loop {
            match elements.next() {
                Ok(Some(element)) => {
                    read.push(String::from_utf8(element.json.unwrap_or_default()).unwrap());
                }
                Ok(None) => return read,
                Err(error) => {
                    read.push(format!("! {error}"));
                    return read;
                }
            }
        }
    }

    #[test]
    fn h6_a_document_is_split_into_its_messages() {
        assert_eq!(
            read(r#" {"id" : "a\"}", "n":12 ,"messages":[ {"x":"]}\\"} , [1,[2]],3],"z":null}"#),
            [r#"{"id":"a\"}"}"#, r#"{"n":12}"#, r#"{"x":"]}\\"}"#, "[1,[2]]", "3", r#"{"z":null}"#]
        );
    }

    #[test]
    fn h6_a_document_that_breaks_off_says_so_after_what_it_has() {
        let cases = [
            ("", vec![]),
            ("[1]", vec!["! the document is no object"]),
            ("{\"messages\":[{\"a\":1},{\"b\"", vec!["{\"a\":1}", "! the document breaks off"]),
            ("{\"messages\":[}", vec!["! a value is missing"]),
            ("{1:2}", vec!["! a field has no name"]),
            ("{\"a\" 2}", vec!["! a field has no value"]),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
