//! The attachments of a prompt, ready to be sent in a form that the agent accepts.

use std::path::PathBuf;

/// An attachment of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptAttachment {
    /// Its name, or its path in the project.
    pub name: String,
    /// Where the agent can read it, inside of its sandbox.
    pub path: PathBuf,
    /// Its content.
    pub content: AttachmentContent,
}

/// The content of an attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentContent {
    /// An image, for agents that accept images.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// Audio, for agents that accept audio.
    Audio {
        /// Such as `audio/wav`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A document that some models read as a whole.
    Document {
        /// Such as `application/pdf`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// An attached text.
    Text {
        /// Such as `text/plain`.
        media_type: String,
        /// The words.
        text: String,
    },
    /// Any other file, which is passed as a path.
    File {
        /// What it is.
        media_type: String,
        /// How many bytes it has.
        size: u64,
    },
    /// A mentioned file or folder of the project, with its text if that is short.
    Mention {
        /// Its text, if it has one and is to be sent.
        text: Option<String>,
    },
}

impl PromptAttachment {
    /// Its file URI.
    pub(crate) fn uri(&self) -> String {
        let path = self.path.to_string_lossy();
        let is_plain = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~' | b'+')
        };
        let escaped = path.bytes().map(|byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        });
        format!("file://{}", escaped.collect::<String>())
    }
}
