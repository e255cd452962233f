//! What a session changed in the files of its project.

use convoke_core::files::ChangeTotals;
use convoke_core::message::Seq;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NOT_BLANK, NewWorktree, Session, whole};

/// What a session, or one of its turns, changed: `GET /api/sessions/:id/changes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionChanges {
    /// The turns that have checkpoints, by the seqs of their prompts.
    pub turns: Vec<Seq>,
    /// The number of each of these turns among all turns of the session, from 1, for people.
    #[serde(default)]
    pub numbers: Vec<u64>,
    /// The turn that the files are of; absent for the whole session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Seq>,
    /// The files, in order of their paths.
    pub files: Vec<ChangedFile>,
    /// All of them together.
    pub totals: ChangeTotals,
    /// Whether `files` has all of them; if not, their lines are not counted.
    pub complete: bool,
    /// Files that the checkpoints do not hold: too large, or not readable.
    pub left_out: Vec<LeftOutFile>,
    /// Files that were changed between the turns, by others or by a command that a turn left
    /// running: the diff does not have these changes. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<BetweenTurns>,
}

/// Files that were changed while no turn ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BetweenTurns {
    /// How many there are.
    pub files: u64,
    /// The paths of the first 100.
    pub paths: Vec<String>,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Its path in the project, now or before it was deleted.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
    /// Where it was, or what it is a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Lines that were added; absent for binary files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines that were removed; absent for binary files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Whether it has no lines to show.
    pub binary: bool,
    /// What it was; absent when it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<FileMode>,
    /// What it is; absent when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<FileMode>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content or its mode changed.
    Modified,
    /// It became something else: a link, a file, a submodule.
    TypeChanged,
    /// It was moved, and possibly changed.
    Renamed,
    /// It is a copy, possibly changed.
    Copied,
}

impl FileStatus {
    /// The letter that `git diff --name-status` has for it.
    pub const fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Modified => 'M',
            Self::TypeChanged => 'T',
            Self::Renamed => 'R',
            Self::Copied => 'C',
        }
    }
}

/// What a path holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileMode {
    /// A file.
    Regular,
    /// A file that can be executed.
    Executable,
    /// A symbolic link; its content is its target.
    Link,
    /// A repository of its own.
    Submodule,
}

impl FileMode {
    /// Its number in a git patch.
    pub const fn octal(self) -> &'static str {
        match self {
            Self::Regular => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// A file that checkpoints do not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftOutFile {
    /// Its path in the project.
    pub path: String,
    /// Why.
    pub reason: LeftOutReason,
    /// Its size, if it is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Why checkpoints do not hold a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// It is too large.
    TooLarge,
    /// It cannot be read.
    Unreadable,
    /// Git reserves its name.
    Name,
    /// It is another work tree.
    Worktree,
    /// Agents must not read it.
    Hidden,
}

/// The diff of one file: `GET /api/sessions/:id/changes/file`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file.
    #[serde(flatten)]
    pub file: ChangedFile,
    /// The places that differ, from top to bottom.
    pub hunks: Vec<DiffHunk>,
    /// Whether these are all; a longer diff is cut off after about 2 MiB.
    pub complete: bool,
}

/// One place that differs, with the lines around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// Its first line in the old version, from 1.
    pub old_start: u64,
    /// How many lines of the old version.
    pub old_lines: u64,
    /// Its first line in the new version, from 1.
    pub new_start: u64,
    /// How many lines of the new version.
    pub new_lines: u64,
    /// The function or section that it is in.
    pub heading: String,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    /// In which version it is.
    pub kind: DiffLineKind,
    /// Its number in the old version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u64>,
    /// Its number in the new version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u64>,
    /// Its text without the newline; bytes that are no text are replaced.
    pub text: String,
    /// The words that differ from the line that it replaces: begin and end, in UTF-16 code units of `text`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<(u64, u64)>,
    /// Whether no newline follows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

/// In which version a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    /// In both.
    Context,
    /// In the new one.
    Added,
    /// In the old one.
    Removed,
}

/// What to restore: `POST /api/sessions/:id/restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Restore {
    /// The turn before which everything is to be, by the seq of its prompt.
    #[serde(deserialize_with = "whole::turn")]
    #[schemars(extend("minimum" = 1, "maximum" = whole::COUNT_MAX))]
    pub turn: Seq,
    /// What is restored; by default both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<RestoreScope>,
    /// Whether files are overwritten that someone else changed since the last checkpoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestoreScope {
    /// The files.
    Files,
    /// The conversation: a new session has what was said before the turn.
    Conversation,
    /// Both.
    Both,
}

/// How to undo the last restore: `POST /api/sessions/:id/undo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Undo {
    /// Whether files are overwritten that someone else changed since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What to revert of a diff: `POST /api/sessions/:id/revert`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Revert {
    /// The file, as `changes` lists it.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub path: String,
    /// The turn whose diff it is; by default that of the whole session.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional_turn"
    )]
    #[schemars(extend("minimum" = 1, "maximum" = whole::COUNT_MAX))]
    pub turn: Option<Seq>,
    /// One hunk of it, by its number from 0; by default the whole file.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    #[schemars(extend("maximum" = u32::MAX))]
    pub hunk: Option<u32>,
    /// Whether the file is overwritten although someone else changed it since the last checkpoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Files that differ and were left alone.
    pub blocked: Vec<BlockedFile>,
    /// The session with the conversation up to there, if that was restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

/// A file that a restore left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedFile {
    /// Its path in the project.
    pub path: String,
    /// What is in the way.
    pub why: String,
}

/// Where to fork a session: `POST /api/sessions/:id/fork`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fork {
    /// The last turn that the new session has, by the seq of its prompt; by default the last that has ended.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional_turn"
    )]
    #[schemars(extend("minimum" = 1, "maximum" = whole::COUNT_MAX))]
    pub turn: Option<Seq>,
    /// A work tree that the new session is to have for itself, with the files as they were after that turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<NewWorktree>,
}
