//! The id of an object in a repository.

use std::fmt;

use crate::{Error, Result};

/// The hash that names a commit, a tree or a file's content; hexadecimal, in small letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(String);

/// The tree without files, which git knows without having it stored.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

impl ObjectId {
    /// Reads an id as git prints it: 40 digits, or 64 in repositories with SHA-256.
    pub fn parse(text: &str) -> Result<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if matches!(text.len(), 40 | 64) && text.bytes().all(is_digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::Unexpected { command: "git".to_owned(), what: format!("{text:?} as an id") })
    }

    /// Reads an id from git's output, without the end of its line.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        Self::parse(String::from_utf8_lossy(bytes).trim_end())
    }

    /// Makes it of the bytes of a SHA-1.
    pub(crate) fn from_bytes(bytes: &[u8; 20]) -> Option<Self> {
        Self::parse(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()).ok()
    }

    /// The bytes of a SHA-1.
    pub(crate) fn to_bytes(&self) -> Option<[u8; 20]> {
        let pairs = self.0.as_bytes().chunks(2).map(std::str::from_utf8);
        let bytes: Option<Vec<u8>> =
            pairs.map(|pair| u8::from_str_radix(pair.ok()?, 16).ok()).collect();
        bytes?.try_into().ok()
    }

    pub(crate) fn empty_tree() -> Self {
        Self(EMPTY_TREE.to_owned())
    }

    /// Whether git means "no object" by it.
    pub(crate) fn is_null(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
