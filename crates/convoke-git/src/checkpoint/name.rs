//! The names of checkpoints, which are refs of our repository.

use crate::{Error, Result};

/// Where the refs of all sessions lie.
pub(super) const REFS: &str = "refs/convoke";

/// How long the name of a session may be; it is one part of a file's path.
const SESSION_BYTES_MAX: usize = 100;

/// Which checkpoint of which session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    session: String,
    kind: CheckpointKind,
}

/// What a checkpoint was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckpointKind {
    /// Before a turn.
    Before(u64),
    /// The same, besides `Before`, if the turn may have begun before the files were captured.
    Late(u64),
    /// After a turn.
    After(u64),
    /// Before the restore with this number, to undo it.
    Restore(u64),
    /// Before the work tree was removed, or finished, for the time with this number.
    Removal(u64),
}

impl Name {
    /// The checkpoint of `session` that was made for `kind`; the session has letters, digits, `-` and `_` only.
    pub fn new(session: &str, kind: CheckpointKind) -> Result<Self> {
        check(session)?;
        Ok(Self { session: session.to_owned(), kind })
    }

    /// The session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Its purpose.
    pub fn kind(&self) -> CheckpointKind {
        self.kind
    }

    pub(crate) fn to_ref(&self) -> String {
        let last = match self.kind {
            CheckpointKind::Before(turn) => format!("{turn}-before"),
            CheckpointKind::Late(turn) => format!("{turn}-late"),
            CheckpointKind::After(turn) => format!("{turn}-after"),
            CheckpointKind::Restore(number) => format!("{number}-restore"),
            CheckpointKind::Removal(number) => format!("{number}-removal"),
        };
        format!("{REFS}/{}/{last}", self.session)
    }

    /// Parses a ref; `None` for one that is no checkpoint.
    pub(crate) fn from_ref(text: &str) -> Option<Self> {
        let (session, last) = text.strip_prefix(REFS)?.strip_prefix('/')?.split_once('/')?;
        let (number, word) = last.split_once('-')?;
        let number = number.parse().ok()?;
        let kind = match word {
            "before" => CheckpointKind::Before(number),
            "late" => CheckpointKind::Late(number),
            "after" => CheckpointKind::After(number),
            "restore" => CheckpointKind::Restore(number),
            "removal" => CheckpointKind::Removal(number),
            _ => return None,
        };
        Self::new(session, kind).ok()
    }
}

/// The folder of a session's refs, with the slash at its end.
pub(crate) fn folder_of(session: &str) -> Result<String> {
    check(session)?;
    Ok(format!("{REFS}/{session}/"))
}

fn check(session: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_name = !session.is_empty() && session.len() <= SESSION_BYTES_MAX;
    // A name like an option would be one on git's command line.
    if is_name && session.chars().all(fits) && !session.starts_with('-') {
        return Ok(());
    }
    Err(Error::InvalidName { name: session.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_being_refs() {
        let kinds = [
            CheckpointKind::Before(1),
            CheckpointKind::Late(1),
            CheckpointKind::After(12),
            CheckpointKind::Restore(3),
            CheckpointKind::Removal(0),
        ];
        for kind in kinds {
            let name = Name::new("0192-aB_c", kind).unwrap();
            assert_eq!(Name::from_ref(&name.to_ref()), Some(name));
        }
        for text in ["refs/heads/main", "refs/convoke/a/b", "refs/convoke/a/1-x", "refs/convoke/a"]
        {
            assert_eq!(Name::from_ref(text), None);
        }
    }

    #[test]
    fn sessions_that_would_leave_their_folder_are_refused() {
        for session in ["", "..", "a/b", "a b", "-x", "a\0", "ä", &"a".repeat(101)] {
            assert!(Name::new(session, CheckpointKind::Before(1)).is_err(), "{session:?}");
        }
    }
}
