//! Files that come with a prompt, ready to be sent in whichever form an agent takes.

use std::path::PathBuf;

/// A file that comes with a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosure {
    /// What people call it: a name, or a path in the project.
    pub name: String,
    /// Where the agent can read it, inside of its sandbox.
    pub path: PathBuf,
    /// What it is.
    pub content: Enclosed,
}

/// What a file that comes with a prompt is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enclosed {
    /// A picture, for agents that look at pictures.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A recording, for agents that listen.
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
    /// Any other attached file, of which only the path is of use.
    File {
        /// What it is.
        media_type: String,
        /// How many bytes it has.
        size: u64,
    },
    /// A file or folder of the project that the words mention, with its text where that is short.
    Mention {
        /// Its text, if it has one and is to be sent.
        text: Option<String>,
    },
}

impl Enclosure {
    /// Its address, as agents expect it.
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
