//! Splits JSON into elements while it arrives, so that no list has to be in memory as a whole.
//!
//! It only finds where values begin and end; parsing them is left to the caller.

/// The nesting of a scan.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    fn take(&mut self, byte: u8) {
        match (self.in_string, byte) {
            (true, _) if self.escaped => self.escaped = false,
            (true, b'\\') => self.escaped = true,
            (_, b'"') => self.in_string = !self.in_string,
            (true, _) => {}
            (false, b'[' | b'{') => self.depth += 1,
            (false, b']' | b'}') => self.depth = self.depth.saturating_sub(1),
            (false, _) => {}
        }
    }
}

/// The elements of an array that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Elements {
    buffer: Vec<u8>,
    /// The start of the unread part of the buffer.
    start: usize,
    /// How much of the buffer was scanned.
    scanned: usize,
    state: State,
    nesting: Nesting,
}

/// The state of the array.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before its opening bracket.
    #[default]
    Before,
    /// Inside of it.
    Inside,
    /// After its closing bracket.
    After,
}

impl Elements {
    /// An array whose opening bracket has been read already.
    pub(super) fn inside(buffer: Vec<u8>) -> Self {
        Self { buffer, state: State::Inside, ..Self::default() }
    }

    /// Adds bytes that have arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether the array is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.state == State::After
    }

    /// The next complete element.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        while let Some(byte) = self.buffer.get(self.scanned).copied() {
            let end = self.scanned;
            self.scanned += 1;
            match (self.state, byte) {
                (State::Before, b'[') => {
                    self.state = State::Inside;
                    self.start = self.scanned;
                }
                (State::Before | State::After, _) => self.start = self.scanned,
                (State::Inside, _) => {
                    let is_outside = self.nesting.depth == 0 && !self.nesting.in_string;
                    if is_outside && byte == b']' {
                        self.state = State::After;
                    } else if !(is_outside && byte == b',') {
                        self.nesting.take(byte);
                        continue;
                    }
                    let start = std::mem::replace(&mut self.start, self.scanned);
                    let is_blank = |element: &[u8]| element.iter().all(u8::is_ascii_whitespace);
                    if self.buffer.get(start..end).is_some_and(|element| !is_blank(element)) {
                        return self.buffer.get(start..end);
                    }
                }
            }
        }
        None
    }
}

/// An object whose last member is a long list, split where the list begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The object without the list.
    pub(super) object: Vec<u8>,
    /// The start of the list, without its bracket; `None` if the object has no such list.
    pub(super) list: Option<Vec<u8>>,
}

impl Head {
    /// Splits off the list with this name; `None` until enough has arrived.
    pub(super) fn split(arrived: &[u8], name: &str) -> Option<Self> {
        let key = format!("\"{name}\"");
        let mut nesting = Nesting::default();
        let mut string_start = 0;
        for (at, byte) in arrived.iter().copied().enumerate() {
            let was_in_string = nesting.in_string;
            nesting.take(byte);
            if nesting.depth == 0 && byte == b'}' {
                return Some(Self { object: arrived.get(..=at)?.to_vec(), list: None });
            }
            if !was_in_string && nesting.in_string {
                string_start = at;
            }
            let is_named = was_in_string
                && !nesting.in_string
                && nesting.depth == 1
                && arrived.get(string_start..=at) == Some(key.as_bytes());
            if is_named && let Some(list) = list_after(arrived.get(at + 1..)?) {
                let object = arrived.get(..string_start)?;
                return Some(Self { object: closed(object), list: Some(list.to_vec()) });
            }
        }
        None
    }
}

/// The bytes after `:` and `[`, if both come next.
fn list_after(rest: &[u8]) -> Option<&[u8]> {
    rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"[")
}

/// The beginning of an object, closed before its next member.
fn closed(object: &[u8]) -> Vec<u8> {
    let object = object.trim_ascii_end();
    let mut object = object.strip_suffix(b",").unwrap_or(object).to_vec();
    object.push(b'}');
    object
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// The elements of a text that arrives in pieces of this size.
    fn elements(text: &str, size: usize) -> (Vec<Value>, bool) {
        let mut elements = Elements::default();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            elements.push(piece);
            while let Some(element) = elements.next() {
                found.push(serde_json::from_slice(element).unwrap());
            }
        }
        (found, elements.is_complete())
    }

    #[test]
    fn elements_are_found_wherever_the_pieces_are_cut() {
        let text = r#" [ {"a": "x,]}\"\\", "b": [1, {"c": 2}]} , "s,\\", 3,null ,[],  {} ] "#;
        let whole: Vec<Value> = serde_json::from_str(text).unwrap();
        for size in 1..text.len() {
            assert_eq!(elements(text, size), (whole.clone(), true), "in pieces of {size}");
        }
        assert_eq!(elements("[]", 1), (Vec::new(), true));
        assert_eq!(elements("[1, 2", 1), (vec![json!(1)], false));
        assert_eq!(elements("", 1), (Vec::new(), false));
    }

    #[test]
    fn a_list_is_split_off_its_object_wherever_the_pieces_are_cut() {
        let text = r#"{"title":"messages","x":{"messages":[1]},"n":"\"messages\":[" , "messages" : [ 1,2]}"#;
        for end in 0..text.len() {
            let head = Head::split(&text.as_bytes()[..end], "messages");
            let Some(Head { object, list: Some(list) }) = head else {
                assert!(end <= text.find("[ 1").unwrap(), "nothing found at {end}");
                continue;
            };
            let object: Value = serde_json::from_slice(&object).unwrap();
            assert_eq!(object["x"], json!({"messages": [1]}));
            assert_eq!(object.get("messages"), None);
            let mut elements = Elements::inside(list);
            elements.push(&text.as_bytes()[end..]);
            assert_eq!(elements.next(), Some(&b" 1"[..]));
            assert_eq!(elements.next(), Some(&b"2"[..]));
        }
        let whole = Head::split(br#"{"a":[1]}"#, "messages").unwrap();
        assert_eq!(whole, Head { object: br#"{"a":[1]}"#.to_vec(), list: None });
    }

    proptest! {
        #[test]
        fn what_is_written_is_found_again(
            texts in proptest::collection::vec(any::<String>(), 0..10),
            size in 1..40usize,
        ) {
            let values: Vec<Value> =
                texts.into_iter().map(|text| json!({"text": text, "n": [text]})).collect();
            let text = serde_json::to_string(&values).unwrap();
            prop_assert_eq!(elements(&text, size), (values, true));
        }

        #[test]
        fn nothing_that_arrives_breaks_the_scan(bytes in any::<Vec<u8>>()) {
            let mut elements = Elements::default();
            elements.push(&bytes);
            while elements.next().is_some() {}
            Head::split(&bytes, "messages");
        }
    }
}
