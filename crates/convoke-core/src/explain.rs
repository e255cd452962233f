//! Errors as people read them. What a user can do about one is said where it is shown.

use std::error::Error;

/// An error with its causes, in one line.
pub fn explain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
