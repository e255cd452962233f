//! Operations of git that wait in a work tree for their end.

use std::fmt;
use std::path::Path;

/// What is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A merge.
    Merge,
    /// A rebase, or mail that is applied.
    Rebase,
    /// A cherry-pick.
    CherryPick,
    /// A revert.
    Revert,
    /// A bisection.
    Bisect,
}

impl Operation {
    /// Finds it by the files that git leaves for itself.
    pub(crate) fn find(own_folder: &Path) -> Option<Self> {
        let files = [
            ("rebase-merge", Self::Rebase),
            ("rebase-apply", Self::Rebase),
            ("MERGE_HEAD", Self::Merge),
            ("CHERRY_PICK_HEAD", Self::CherryPick),
            ("REVERT_HEAD", Self::Revert),
            ("BISECT_LOG", Self::Bisect),
        ];
        let found = files.iter().find(|(name, _)| own_folder.join(name).symlink_metadata().is_ok());
        found.map(|(_, operation)| *operation)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisection",
        })
    }
}
