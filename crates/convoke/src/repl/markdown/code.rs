//! A line of code in the colours of its language.

use convoke_api::highlight::{Class, is_known, split};

/// The colours of code in an unknown language.
const CODE: &str = "36";

/// A line in colours. State from earlier lines, as of a multi-line comment, is not known here.
pub(super) fn painted(language: &str, line: &str) -> String {
    if line.is_empty() {
        return String::new();
    }
    if !is_known(language) {
        return format!("\x1b[{CODE}m{line}\x1b[0m");
    }
    let mut text = String::new();
    split(language, line, |class, piece| match colour(class) {
        Some(colour) => text.push_str(&format!("\x1b[{colour}m{piece}\x1b[0m")),
        None => text.push_str(piece),
    });
    text
}

const fn colour(class: Class) -> Option<&'static str> {
    match class {
        Class::Plain | Class::Punctuation | Class::Operator => None,
        Class::Comment => Some("2"),
        Class::String | Class::Inserted => Some("32"),
        Class::Number | Class::Constant => Some("33"),
        Class::Keyword => Some("35"),
        Class::Function | Class::Tag => Some("34"),
        Class::Type | Class::Attribute => Some("36"),
        Class::Heading => Some("1"),
        Class::Deleted => Some("31"),
    }
}
