//! Looking up ids by a prefix.

use crate::error::{Error, Result};

/// The shortest prefix; a shorter one matches nothing.
pub(crate) const PREFIX_MIN: usize = 4;

/// The only match of a prefix. Fails with `unknown` if nothing matches or the prefix is too short.
pub(crate) fn only<T>(
    prefix: &str,
    mut found: Vec<T>,
    id: impl Fn(&T) -> String,
    unknown: Error,
) -> Result<T> {
    if prefix.len() < PREFIX_MIN {
        return Err(unknown);
    }
    if found.len() > 1 {
        let candidates = found.iter().map(id).collect();
        return Err(Error::Ambiguous { prefix: prefix.to_owned(), candidates });
    }
    found.pop().ok_or(unknown)
}
