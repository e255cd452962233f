//! Looking into JSON of which nothing is certain: a field that is missing or of another type reads as empty.

use convoke_core::time::Timestamp;
use serde_json::Value;

/// A text field.
pub(crate) fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A text field that is not empty.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    Some(word(value, key)).filter(|word| !word.is_empty()).map(str::to_owned)
}

/// A field, or null.
pub(crate) fn field<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or(&Value::Null)
}

/// A field within fields, or null.
pub(crate) fn path<'a>(value: &'a Value, keys: &[&str]) -> &'a Value {
    keys.iter().fold(value, |value, key| field(value, key))
}

/// A list field.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// More tokens than any session has; larger counts are damage, and would overflow when they are added up.
const COUNT_MAX: u64 = 1 << 40;

/// A non-negative count, at most `COUNT_MAX`; 0 if it is absent.
pub(crate) fn count(value: &Value, key: &str) -> u64 {
    let value = field(value, key);
    let number = value.as_u64().or_else(|| value.as_f64().map(|number| number.max(0.0) as u64));
    number.unwrap_or(0).min(COUNT_MAX)
}

/// A flag that is set.
pub(crate) fn is_set(value: &Value, key: &str) -> bool {
    field(value, key) == &Value::Bool(true)
}

/// A time: RFC 3339, or a number of seconds or milliseconds since 1970.
pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    /// Seconds reach this number in the year 5138, milliseconds did in 1973.
    const SECONDS_MAX: f64 = 1e11;
    match value {
        Value::String(text) => time_in(text),
        Value::Number(number) => {
            let number = number.as_f64()?;
            let millis = if number.abs() < SECONDS_MAX { number * 1000.0 } else { number };
            Some(Timestamp::from_millis(millis.round() as i64))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A time in a text, with or without its time zone, which is UTC then.
pub(crate) fn time_in(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| format!("{}Z", text.replacen(' ', "T", 1)).parse().ok())
}

/// The text of a message or a result, which is a string, a list of blocks, or something else that is shown as JSON.
pub(crate) fn plain(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(block).collect();
            texts.join("\n")
        }
        Value::Bool(_) | Value::Number(_) => content.to_string(),
        Value::Object(_) => block(content),
    }
}

fn block(block: &Value) -> String {
    if let Some(text) = block.get("text").or(Some(block)).and_then(Value::as_str) {
        return text.to_owned();
    }
    match word(block, "type") {
        "" => block.to_string(),
        "tool_reference" => format!("[{}]", word(block, "tool_name")),
        // The bytes of an image are not shown.
        kind => format!("[{kind}]"),
    }
}

/// Arguments that some agents write as a text of JSON.
pub(crate) fn arguments(args: &Value) -> Value {
    let parsed = args.as_str().and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or_else(|| args.clone())
}
