//! Attachments: files that are stored by their hash, and that prompts refer to.

use convoke_core::prompt::{Attachment, Prompt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The pattern of a hash.
const HASH: &str = "^[0-9a-f]{64}$";

/// A file that is stored: `POST /api/blobs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredAttachment {
    /// SHA-256 of its bytes, by which prompts refer to it.
    pub hash: String,
    /// What people call it.
    pub name: String,
    /// What its bytes are, as they look.
    pub media_type: String,
    /// How many bytes it has.
    pub size: u64,
}

impl From<Attachment> for StoredAttachment {
    fn from(attachment: Attachment) -> Self {
        let Attachment { hash, name, media_type, size } = attachment;
        Self { hash, name, media_type, size }
    }
}

/// A stored file that a prompt refers to. What `POST /api/blobs` answered may be given as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenAttachment {
    /// Its hash.
    #[schemars(extend("pattern" = HASH))]
    pub hash: String,
    /// What people call it.
    pub name: String,
    /// Of no effect: what the bytes are is looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Of no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl From<StoredAttachment> for GivenAttachment {
    fn from(stored: StoredAttachment) -> Self {
        let StoredAttachment { hash, name, .. } = stored;
        Self { hash, name, media_type: None, size: None }
    }
}

/// Words with what comes with them, but for comments.
pub fn prompt(text: String, attachments: Vec<GivenAttachment>, files: Vec<String>) -> Prompt {
    let attachment = |given: GivenAttachment| Attachment {
        hash: given.hash,
        name: given.name,
        media_type: given.media_type.unwrap_or_default(),
        size: given.size.unwrap_or_default(),
    };
    let attachments = attachments.into_iter().map(attachment).collect();
    Prompt { by: None, text, attachments, files, review: Vec::new() }
}

/// Files and folders of a project: `GET /api/repos/:id/files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileMatches {
    /// Paths relative to the project, the best match first; a folder ends with `/`.
    pub files: Vec<String>,
}
