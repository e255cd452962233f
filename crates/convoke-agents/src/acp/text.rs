//! Text from content blocks, cut to a size that the log can hold.

pub(super) use convoke_core::bounds::clip as cut_to;
use serde_json::{Map, Value};

use crate::driver::WORDS_BYTES_MAX;

/// The longest text, tool result or diff; a longer one keeps its head and its tail, with a mark
/// between them.
pub(super) const TEXT_BYTES_MAX: usize = WORDS_BYTES_MAX;
/// The longest stored payload of an unknown update.
pub(super) const UNKNOWN_BYTES_MAX: usize = 16 << 10;
/// Strings in arguments above this size are cut if the arguments as a whole are too long.
const ARGUMENT_BYTES_MAX: usize = 16 << 10;

/// Cuts a text to the bound.
pub(super) fn cut(text: &str) -> String {
    cut_to(text, TEXT_BYTES_MAX)
}

/// A value that fits into `bytes_max`: unchanged, with its long strings cut, or as the beginning of
/// its JSON.
pub(super) fn cut_value(value: &Value, bytes_max: usize) -> Value {
    let json = value.to_string();
    if json.len() <= bytes_max {
        return value.clone();
    }
    let shorter = cut_strings(value);
    if shorter.to_string().len() <= bytes_max {
        return shorter;
    }
    Value::String(cut_to(&json, bytes_max))
}

fn cut_strings(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut_to(text, ARGUMENT_BYTES_MAX)),
        Value::Array(items) => Value::Array(items.iter().map(cut_strings).collect()),
        Value::Object(fields) => {
            let cut = fields.iter().map(|(key, value)| (key.clone(), cut_strings(value)));
            Value::Object(cut.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A content block as text; a block that is not text is named.
pub(super) fn of_block(block: &Value) -> Option<String> {
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    let text = match field("type") {
        Some("image") => format!("[image: {}]", field("mimeType").unwrap_or("unknown type")),
        Some("audio") => format!("[audio: {}]", field("mimeType").unwrap_or("unknown type")),
        Some("resource_link") => {
            let uri = field("uri")?;
            format!("[{}]({uri})", field("title").or_else(|| field("name")).unwrap_or(uri))
        }
        Some("resource") => {
            let resource = block.get("resource")?;
            let text = resource.get("text").or_else(|| resource.get("uri"))?;
            cut(text.as_str()?)
        }
        // Also a block without a type, or with an unknown one, as long as it has text.
        Some(_) | None => cut(field("text")?),
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        let most = "x".repeat(TEXT_BYTES_MAX);
        assert_eq!(cut(&most), most);
        let cut_once = cut(&format!("{most}x"));
        assert!(cut_once.len() <= TEXT_BYTES_MAX);
        assert_eq!(cut(&cut_once), cut_once);
    }

    #[test]
    fn long_arguments_keep_their_shape_if_they_can() {
        let value = json!({"path": "a.txt", "content": "x".repeat(TEXT_BYTES_MAX)});
        let cut = cut_value(&value, TEXT_BYTES_MAX);
        assert_eq!(cut["path"], "a.txt");
        assert!(
            cut["content"]
                .as_str()
                .unwrap()
                .contains("\n[… 1032264 bytes left out by Convoke …]\n")
        );
        let flood = json!(vec![0; TEXT_BYTES_MAX]);
        assert!(cut_value(&flood, 100).as_str().unwrap().starts_with("[0,0,0,"));
        assert_eq!(cut_value(&json!({"a": 1}), 100), json!({"a": 1}));
    }

    #[test]
    fn every_sort_of_block_says_something_or_nothing() {
        let blocks = [
            json!({"type": "text", "text": "hi"}),
            json!({"type": "image", "mimeType": "image/png", "data": "AAAA"}),
            json!({"type": "audio"}),
            json!({"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"}),
            json!({"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}}),
            json!({"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}}),
            json!({"type": "hologram", "text": "words"}),
            json!({"type": "hologram"}),
            json!(null),
        ];
        let words: Vec<_> = blocks.iter().map(of_block).collect();
        insta::assert_debug_snapshot!(words, @r#"
        [
            Some(
                "hi",
            ),
            Some(
                "[image: image/png]",
            ),
            Some(
                "[audio: unknown type]",
            ),
            Some(
                "[a.txt](file:///a.txt)",
            ),
            Some(
                "inside",
            ),
            Some(
                "file:///a.bin",
            ),
            Some(
                "words",
            ),
            None,
            None,
        ]
        "#);
    }
}
