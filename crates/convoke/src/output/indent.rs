//! Indents JSON text without parsing it, which would take longer than everything else.

/// Formats compact JSON as `serde_json`'s pretty printer would. Accepts it in pieces that are cut
/// anywhere.
#[derive(Debug, Default)]
pub(crate) struct Indenter {
    depth: usize,
    within: Within,
    text: Vec<u8>,
}

/// As far as almost everything is indented.
const BLANKS: &[u8; 32] = &[b' '; 32];

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Within {
    #[default]
    Structure,
    /// Just behind the beginning of an object or array, which may be empty.
    Beginning,
    String,
    /// Behind a backslash.
    Escape,
}

impl Indenter {
    /// The next piece as people read it.
    pub(crate) fn take(&mut self, json: &[u8]) -> &[u8] {
        self.text.clear();
        self.text.reserve(json.len() * 2);
        let mut rest = json;
        while let [byte, after @ ..] = rest {
            rest = after;
            match self.within {
                Within::String => {
                    let plain = rest_of_string(*byte, rest);
                    let (plain, after) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
                    self.text.push(*byte);
                    self.text.extend_from_slice(plain);
                    rest = after;
                    self.within = match byte {
                        b'"' => Within::Structure,
                        b'\\' => Within::Escape,
                        _ => Within::String,
                    };
                }
                Within::Escape => {
                    self.text.push(*byte);
                    self.within = Within::String;
                }
                Within::Beginning | Within::Structure => self.structure(*byte),
            }
        }
        &self.text
    }

    fn structure(&mut self, byte: u8) {
        let is_beginning = self.within == Within::Beginning;
        self.within = Within::Structure;
        if let b'}' | b']' = byte {
            self.depth = self.depth.saturating_sub(1);
            if !is_beginning {
                self.break_line();
            }
        } else if is_beginning {
            self.break_line();
        }
        self.text.push(byte);
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.within = Within::Beginning;
            }
            b'"' => self.within = Within::String,
            b',' => self.break_line(),
            b':' => self.text.push(b' '),
            _ => {}
        }
    }

    fn break_line(&mut self) {
        self.text.push(b'\n');
        match BLANKS.get(..2 * self.depth) {
            Some(blanks) => self.text.extend_from_slice(blanks),
            None => self.text.extend(std::iter::repeat_n(b' ', 2 * self.depth)),
        }
    }
}

/// The bytes of a string up to the next special byte, after this byte of it.
fn rest_of_string(byte: u8, rest: &[u8]) -> usize {
    match byte {
        b'"' | b'\\' => 0,
        _ => rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indented(pieces: &[&[u8]]) -> String {
        let mut indenter = Indenter::default();
        let text = pieces.iter().flat_map(|piece| indenter.take(piece).to_vec()).collect();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn it_reads_as_if_serde_json_had_written_it_wherever_it_was_cut() {
        let values = [
            r#"{"sessions":[],"total":0}"#,
            r#"{"a":{},"b":[{},[]],"c":{"d":[1,-2.5e3,true,null,"e"]}}"#,
            r#"["x\"y\\","{[,:]}","\\\"","",{"é, : \n":"日本"}]"#,
            "[]",
            "7",
            r#""text""#,
        ];
        for json in values {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            let compact = serde_json::to_string(&value).unwrap();
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            for at in 0..=compact.len() {
                let (one, other) = compact.as_bytes().split_at(at);
                assert_eq!(indented(&[one, other]), pretty);
            }
        }
    }

    #[test]
    fn what_is_no_json_comes_out_without_a_panic() {
        for text in ["", "\"", "\"\\", "}", "]]", "{\"a\":"] {
            indented(&[text.as_bytes()]);
        }
    }
}
