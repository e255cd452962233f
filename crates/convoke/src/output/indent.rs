//! JSON that is text already, with line breaks for people. It is not parsed, since that takes longer than all the rest.

/// The same JSON as `serde_json` writes it for people, when it was written without blanks between its parts.
pub(super) fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(at) = rest.find(['"', '{', '}', '[', ']', ',', ':']) {
        let (before, part) = rest.split_at(at);
        text.push_str(before);
        let part_len = match part.as_bytes() {
            [b'"', ..] => string_len(part),
            [b'{', b'}', ..] | [b'[', b']', ..] => 2,
            _ => 1,
        };
        let (mark, after) = part.split_at_checked(part_len).unwrap_or((part, ""));
        match mark {
            "{" | "[" => {
                depth += 1;
                text.push_str(mark);
                break_line(&mut text, depth);
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                break_line(&mut text, depth);
                text.push_str(mark);
            }
            "," => {
                text.push_str(mark);
                break_line(&mut text, depth);
            }
            ":" => text.push_str(": "),
            _ => text.push_str(mark),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// The bytes of the string that a text begins with, quotes included.
fn string_len(text: &str) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['"', '\\'])) {
        at += found;
        match text.as_bytes().get(at) {
            Some(b'\\') => at += 2,
            _ => return at + 1,
        }
    }
    text.len()
}

fn break_line(text: &mut String, depth: usize) {
    text.push('\n');
    for _ in 0..depth {
        text.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_if_serde_json_had_written_it() {
        let values = [
            r#"{"sessions":[],"total":0}"#,
            r#"{"a":{},"b":[{},[]],"c":{"d":[1,-2.5e3,true,null,"e"]}}"#,
            r#"["x\"y\\","{[,:]}","\\\"",{"é, : \n":"日本"}]"#,
            "[]",
            "7",
            r#""text""#,
        ];
        for json in values {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            let (compact, pretty) = (
                serde_json::to_string(&value).unwrap(),
                serde_json::to_string_pretty(&value).unwrap(),
            );
            assert_eq!(indented(&compact), pretty);
        }
    }

    #[test]
    fn what_is_no_json_comes_out_without_a_panic() {
        for text in ["", "\"", "\"\\", "}", "]]", "{\"a\":"] {
            indented(text);
        }
    }
}
