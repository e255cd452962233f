//! Creates, changes and deletes the pairs of teams that talk to each other.

use convoke_core::team::{Pair, PairStatus, TeamName};

use super::{Change, Durability, sessions};
use crate::db::{Db, Sql, params};
use crate::error::{Error, Fault};
use crate::pairs::{self, PairChange, PairCreation, PairId, StoredPair};
use crate::sessions::NewSession;

/// Creates a pair with its session, or returns the existing pair.
#[derive(Debug)]
pub(crate) struct CreatePair {
    pub(crate) pair: Pair,
    pub(crate) session: NewSession,
}

impl Change for CreatePair {
    type Outcome = PairCreation;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<PairCreation, Fault> {
        let Self { pair, session } = self;
        if let Some(existing) = pairs::find(db, pair)? {
            return Ok(PairCreation::Existed(existing));
        }
        sessions::create(db, session)?;
        db.prepare_cached(
            "INSERT INTO team_pairs
                 (from_team, to_team, thread, session_id, created_at, last_used_at,
                  message_count, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, 0, ?6)",
        )?
        .execute(params![
            pair.from.as_ref().map(TeamName::as_str),
            pair.to.as_str(),
            pair.thread,
            session.id.to_string(),
            session.created_at.as_millis(),
            PairStatus::Active.as_str(),
        ])?;
        let created = pairs::find(db, pair)?.ok_or(Sql::NoRow)?;
        Ok(PairCreation::Created(created))
    }
}

/// Changes one pair.
#[derive(Debug)]
pub(crate) struct ChangePair {
    pub(crate) id: PairId,
    pub(crate) change: PairChange,
}

impl Change for ChangePair {
    type Outcome = StoredPair;

    fn durability(&self) -> Durability {
        match self.change {
            PairChange::Used { .. } => Durability::Soon,
            PairChange::Status { .. } | PairChange::Compacted | PairChange::Moved { .. } => {
                Durability::Acknowledged
            }
        }
    }

    fn apply(&self, db: Db<'_>) -> Result<StoredPair, Fault> {
        let before = existing(db, self.id)?;
        let id = self.id.get();
        match &self.change {
            PairChange::Used { messages, at } => db
                .prepare_cached(
                    "UPDATE team_pairs
                     SET message_count = message_count + ?2,
                         last_used_at = CASE WHEN last_used_at < ?3 THEN ?3 ELSE last_used_at END
                     WHERE id = ?1",
                )?
                .execute(params![id, messages, at.as_millis()])?,
            PairChange::Status { status, error } => {
                refuse_double(db, &before, *status)?;
                db.prepare_cached("UPDATE team_pairs SET status = ?2, error = ?3 WHERE id = ?1")?
                    .execute(params![id, status.as_str(), error])?
            }
            PairChange::Compacted => db
                .prepare_cached("UPDATE team_pairs SET message_count = 0 WHERE id = ?1")?
                .execute([id])?,
            PairChange::Moved { session_id } => {
                if sessions::number(db, *session_id)?.is_none() {
                    return Err(Error::UnknownSession { id: *session_id }.into());
                }
                db.prepare_cached("UPDATE team_pairs SET session_id = ?2 WHERE id = ?1")?
                    .execute(params![id, session_id.to_string()])?
            }
        };
        existing(db, self.id)
    }
}

/// Refuses to unarchive a pair that has a successor.
fn refuse_double(db: Db<'_>, before: &StoredPair, status: PairStatus) -> Result<(), Fault> {
    if status == PairStatus::Archived {
        return Ok(());
    }
    match pairs::find(db, &before.pair)? {
        Some(other) if other.id != before.id => {
            Err(Error::PairExists { pair: Box::new(other.pair) }.into())
        }
        Some(_) | None => Ok(()),
    }
}

/// Deletes a pair. Its session stays.
#[derive(Debug)]
pub(crate) struct DeletePair {
    pub(crate) id: PairId,
}

impl Change for DeletePair {
    type Outcome = StoredPair;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<StoredPair, Fault> {
        let pair = existing(db, self.id)?;
        db.prepare_cached("DELETE FROM team_pairs WHERE id = ?1")?.execute([self.id.get()])?;
        Ok(pair)
    }
}

fn existing(db: Db<'_>, id: PairId) -> Result<StoredPair, Fault> {
    pairs::by_id(db, id)?.ok_or_else(|| Error::UnknownPair { id }.into())
}
