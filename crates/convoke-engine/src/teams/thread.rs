//! Thread names: they become part of keys and command lines, so their characters are restricted.

use crate::error::{Error, Result};

/// The longest name.
const CHARS_MAX: usize = 64;

/// Checks the name of a thread.
pub(super) fn checked_thread(name: Option<&str>) -> Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > CHARS_MAX || !name.chars().all(is_fine) {
        return Err(Error::ThreadName { text: name.to_owned() });
    }
    Ok(Some(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t16_a_thread_has_a_name_that_fits_into_a_key() {
        assert_eq!(checked_thread(None).unwrap(), None);
        assert_eq!(checked_thread(Some("api-v2.1_x")).unwrap().as_deref(), Some("api-v2.1_x"));
        for bad in ["", "a b", "a#b", "a->b", "../x", "ü", &"x".repeat(65)] {
            let error = checked_thread(Some(bad)).unwrap_err();
            assert_eq!(error.to_string(), format!("Invalid thread name: {bad}"));
        }
    }
}
