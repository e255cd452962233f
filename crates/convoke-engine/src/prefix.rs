//! Ids that callers abbreviate to their beginning.

use crate::error::{Error, Result};

/// Characters below which a prefix of an id says too little.
pub(crate) const PREFIX_MIN: usize = 4;

/// The only match of a prefix. Fails with `unknown` when nothing matches or the prefix is too short.
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
