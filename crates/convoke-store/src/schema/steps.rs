//! The migrations themselves, in order.

use convoke_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::{Migration, search_by_time, whole_messages};
use crate::db::Db;
use crate::error::Fault;

/// A migration: the statements that apply it, and those that roll it back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) version: u32,
    pub(crate) name: &'static str,
    pub(crate) up: &'static str,
    pub(crate) down: &'static str,
    /// Code that runs after the statements of either direction, in the same transaction.
    pub(crate) code: Option<Code>,
}

/// The parts of a migration that SQL cannot express.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code {
    pub(crate) up: fn(Db<'_>) -> Result<(), Fault>,
    pub(crate) down: fn(Db<'_>) -> Result<(), Fault>,
}

/// Every migration; a new one is added at the end, and those before it stay as they are.
pub(super) const STEPS: &[Step] = &[
    Step {
        version: 1,
        name: "foundation",
        up: include_str!("../../migrations/0001_foundation.up.sql"),
        down: include_str!("../../migrations/0001_foundation.down.sql"),
        code: None,
    },
    Step {
        version: 2,
        name: "whole_messages",
        up: include_str!("../../migrations/0002_whole_messages.up.sql"),
        down: include_str!("../../migrations/0002_whole_messages.down.sql"),
        code: Some(whole_messages::CODE),
    },
    Step {
        version: 3,
        name: "rules",
        up: include_str!("../../migrations/0003_rules.up.sql"),
        down: include_str!("../../migrations/0003_rules.down.sql"),
        code: None,
    },
    Step {
        version: 4,
        name: "attention",
        up: include_str!("../../migrations/0004_attention.up.sql"),
        down: include_str!("../../migrations/0004_attention.down.sql"),
        code: None,
    },
    Step {
        version: 5,
        name: "changes",
        up: include_str!("../../migrations/0005_changes.up.sql"),
        down: include_str!("../../migrations/0005_changes.down.sql"),
        code: None,
    },
    Step {
        version: 6,
        name: "histories",
        up: include_str!("../../migrations/0006_histories.up.sql"),
        down: include_str!("../../migrations/0006_histories.down.sql"),
        code: None,
    },
    Step {
        version: 7,
        name: "search_by_time",
        up: include_str!("../../migrations/0007_search_by_time.up.sql"),
        down: include_str!("../../migrations/0007_search_by_time.down.sql"),
        code: Some(search_by_time::CODE),
    },
    Step {
        version: 8,
        name: "users",
        up: include_str!("../../migrations/0008_users.up.sql"),
        down: include_str!("../../migrations/0008_users.down.sql"),
        code: None,
    },
];

impl Step {
    pub(super) const fn migration(&self, applied_at: Option<Timestamp>) -> Migration {
        Migration { version: self.version, name: self.name, applied_at }
    }

    /// SHA-256 of the text that was applied, in hexadecimal digits.
    pub(super) fn checksum(&self) -> String {
        Sha256::digest(self.up).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
