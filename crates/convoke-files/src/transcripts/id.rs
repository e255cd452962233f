//! Names of transcripts. They are chosen by people and become names of files, so most texts are none.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::Error;

/// The longest name; with all suffixes, a file's name stays below the limit of file systems.
const BYTES_MAX: usize = 128;

/// The name of a transcript: letters, digits, `-`, `_` and `.`, beginning with a letter, a digit or `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if begins_well && text.len() <= BYTES_MAX && text.chars().all(safe) {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::BadId { text: text.chars().take(BYTES_MAX).collect() })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_a_session_id_is_a_safe_file_name_or_it_is_refused() {
        for good in ["session-123", "a", "_x", "2026-11-15.qa_test", &"x".repeat(BYTES_MAX)] {
            assert_eq!(good.parse::<Id>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            ".",
            "..",
            ".hidden",
            "-rf",
            "../../x",
            "a/b",
            "a\\b",
            "a b",
            "a\0b",
            "a\nb",
            "ä",
            &"x".repeat(BYTES_MAX + 1),
        ] {
            let error = bad.parse::<Id>().unwrap_err();
            assert!(matches!(error, Error::BadId { .. }), "{bad:?}: {error}");
        }
        let error = "../../x\u{1b}".parse::<Id>().unwrap_err();
        assert_eq!(error.to_string(), r#"not a session id: "../../x\u{1b}""#);
    }
}
