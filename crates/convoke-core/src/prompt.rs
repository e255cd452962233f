//! What is said to an agent: words, comments on changes, files of the project that they mention, and attachments. A
//! contract, see `message`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::review::{self, ReviewComment};
use crate::user::UserName;

/// The most attachments of one prompt.
pub(crate) const ATTACHMENTS_MAX: usize = 16;
/// The most files that one prompt mentions.
pub const FILES_MAX: usize = 64;
/// The longest name of an attachment and the longest path of a file.
pub const NAME_BYTES_MAX: usize = 1024;

/// A file that is stored by its hash and referred to by messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// SHA-256 of its bytes, in lower-case hexadecimal digits.
    pub hash: String,
    /// What people call it.
    pub name: String,
    /// What its bytes are, such as `image/png`.
    pub media_type: String,
    /// How many bytes it has.
    pub size: u64,
}

impl Attachment {
    /// Whether a text can be the hash of a stored file.
    pub fn is_hash(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
}

/// Something to say to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// The words.
    pub text: String,
    /// Files that were attached.
    pub attachments: Vec<Attachment>,
    /// Files and folders of the project that the words mention, relative to it; a folder ends with `/`.
    pub files: Vec<String>,
    /// Comments on lines of changed files.
    pub review: Vec<ReviewComment>,
    /// The user who says it; the owner of the daemon without one.
    pub by: Option<UserName>,
}

impl Prompt {
    /// Whether it says nothing at all.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.attachments.is_empty() && self.review.is_empty()
    }

    /// The size of what is said, without attachments and files.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.review.iter().map(ReviewComment::bytes).sum::<usize>()
    }

    /// What is said as one text, as the agent is given it.
    pub fn words(&self) -> Cow<'_, str> {
        review::words(&self.text, &self.review)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}
