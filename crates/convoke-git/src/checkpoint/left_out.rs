//! Files that a checkpoint does not hold, and how its commit remembers them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A file or folder that was left out of a checkpoint, besides those that are ignored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Its path, relative to the work tree.
    pub path: PathBuf,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutReason {
    /// It is larger than the limit.
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// It cannot be read.
    Unreadable,
    /// Its name has a part that git reserves (`.git`, in any case).
    Name,
    /// It is another work tree of a repository, with its own branch and its own sessions.
    Worktree,
    /// Agents must not read it, and a checkpoint may be restored where they can.
    Hidden,
}

/// How its line in the message of a commit begins.
const LINE: &str = "left-out ";

impl LeftOut {
    /// The line in the message of a commit.
    pub(super) fn to_line(&self) -> String {
        let reason = match self.reason {
            LeftOutReason::TooLarge { bytes } => format!("{bytes}"),
            LeftOutReason::Unreadable => "unreadable".to_owned(),
            LeftOutReason::Name => "name".to_owned(),
            LeftOutReason::Worktree => "worktree".to_owned(),
            LeftOutReason::Hidden => "hidden".to_owned(),
        };
        format!("{LINE}{reason} {}\n", encode(&self.path))
    }

    /// Reads such a line; any other is `None`.
    pub(super) fn from_line(line: &str) -> Option<Self> {
        let (reason, path) = line.strip_prefix(LINE)?.split_once(' ')?;
        let reason = match reason {
            "unreadable" => LeftOutReason::Unreadable,
            "name" => LeftOutReason::Name,
            "worktree" => LeftOutReason::Worktree,
            "hidden" => LeftOutReason::Hidden,
            bytes => LeftOutReason::TooLarge { bytes: bytes.parse().ok()? },
        };
        Some(Self { path: decode(path)?, reason })
    }
}

/// A path as printable ASCII without white space.
pub(crate) fn encode(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' => text.push_str("%25"),
            0x21..=0x7e => text.push(char::from(*byte)),
            _ => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}

/// Decodes a path that `encode` encoded.
pub(crate) fn decode(text: &str) -> Option<PathBuf> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_survives_being_a_line() {
        let reasons = [
            LeftOutReason::TooLarge { bytes: 3 << 30 },
            LeftOutReason::Unreadable,
            LeftOutReason::Name,
            LeftOutReason::Worktree,
            LeftOutReason::Hidden,
        ];
        let bytes: Vec<u8> = (1..=255).collect();
        for reason in reasons {
            let path = PathBuf::from(OsString::from_vec(bytes.clone()));
            let left_out = LeftOut { path, reason };
            let line = left_out.to_line();
            assert!(line.is_ascii() && line.ends_with('\n'));
            assert_eq!(LeftOut::from_line(line.trim_end()), Some(left_out));
        }
        assert_eq!(LeftOut::from_line("left-out 1 %z"), None);
    }
}
