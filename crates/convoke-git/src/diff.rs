//! What differs between two trees: a list of files, and the lines of one file.
//!
//! Git computes it in Convoke's repository, without the attributes and drivers of the project.

use std::path::PathBuf;

use crate::ObjectId;

mod lines;
mod list;
mod parse;
mod with_changes;
mod words;

pub(crate) use parse::file_mode;
pub use words::{WordMarks, word_marks};

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path now, or before it was deleted; relative to the work tree.
    pub path: PathBuf,
    /// What happened to it.
    pub status: Status,
    /// As it was; `None` when it is new.
    pub old: Option<FileVersion>,
    /// Its new version; `None` if it was deleted.
    pub new: Option<FileVersion>,
    /// How many lines; `None` when that is unknown, since it is binary or the list is incomplete.
    pub lines: Option<Lines>,
    /// Whether one of the versions is binary; unknown counts as text.
    pub is_binary: bool,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It is new.
    Added,
    /// It was deleted.
    Deleted,
    /// Its content or its permission to be executed changed.
    Modified,
    /// It became something else: a link, a file, a submodule.
    TypeChanged,
    /// It was moved, and possibly changed.
    Renamed {
        /// Where it was.
        from: PathBuf,
    },
    /// It is a copy of another one, possibly changed.
    Copied {
        /// What it is a copy of.
        from: PathBuf,
    },
}

/// A version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    /// What it is.
    pub mode: FileMode,
    /// Its content; the commit for a submodule.
    pub id: ObjectId,
}

/// What a path holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// A file.
    Regular,
    /// A file that can be executed.
    Executable,
    /// A symbolic link; its content is its target.
    Link,
    /// A repository of its own, of which the commit is known.
    Submodule,
}

impl FileMode {
    /// How git writes it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// How many lines a change added and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// Added.
    pub added: u64,
    /// Removed.
    pub removed: u64,
}

/// The files that differ, in order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeList {
    /// The changes, up to the caller's limit.
    pub changes: Vec<Change>,
    /// Whether these are all; if not, the counts of lines are unknown.
    pub is_complete: bool,
}

/// The lines of one file that differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// The places that differ, from top to bottom; none for binary files and changes of mode.
    pub hunks: Vec<Hunk>,
    /// Whether git considers it binary.
    pub is_binary: bool,
    /// Whether these are all lines; if not, the diff exceeds the caller's limit.
    pub is_complete: bool,
}

/// One place that differs, with the lines around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Its first line in the old version, from 1; 0 when it has none.
    pub old_start: u64,
    /// How many lines of the old version.
    pub old_lines: u64,
    /// Its first line in the new version, from 1; 0 when it has none.
    pub new_start: u64,
    /// How many lines of the new version.
    pub new_lines: u64,
    /// The line above it that names the function or section.
    pub heading: String,
    /// Its lines in order.
    pub lines: Vec<Line>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// In which version it is.
    pub kind: LineKind,
    /// Its bytes without the newline; a carriage return is part of them.
    pub text: Vec<u8>,
    /// Whether a newline follows it; only the last line of a file may have none.
    pub has_newline: bool,
}

/// In which version a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// In both.
    Context,
    /// In the new one.
    Added,
    /// In the old one.
    Removed,
}
