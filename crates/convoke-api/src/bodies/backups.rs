//! Backups: `POST /api/backups` starts one, `GET /api/backups` shows its progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::whole;

/// A backup to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBackup {
    /// The folder for it, as an absolute path; the configured one when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^/[^\\x00]*$"))]
    pub to: Option<String>,
    /// How many backups are kept in that folder. Left out, the configured number holds for the configured folder, and
    /// all are kept in any other.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub keep: Option<u32>,
}

impl NewBackup {
    /// More backups than these are not counted, but kept by leaving `keep` out.
    pub const KEEP_MAX: u32 = 1_000_000;
}

/// What the daemon knows about backups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backups {
    /// How many were begun since the daemon started; the number of the newest.
    pub begun: u64,
    /// How far the one is that is being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<BackupProgress>,
    /// What came of the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<EndedBackup>,
}

/// How far a backup is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupProgress {
    /// Bytes of the database that were copied.
    pub done_bytes: u64,
    /// All of them.
    pub total_bytes: u64,
}

/// What came of a backup: one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndedBackup {
    /// Which one, counted since the daemon started.
    pub number: u64,
    /// It was made and read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
    /// It was not, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A backup that was made and read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// Its folder.
    pub path: String,
    /// When it was made.
    pub created_at: String,
    /// How long its files are together.
    pub bytes: u64,
    /// How many files it has.
    pub files: u64,
    /// Sessions in its database.
    pub sessions: u64,
    /// Messages in its database.
    pub messages: u64,
    /// Older backups that were removed because of it.
    pub removed: Vec<String>,
}
