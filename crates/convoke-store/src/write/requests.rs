//! Stores the newest state of every request to a human, taken from its message.

use convoke_core::content::Content;
use convoke_core::message::Seq;
use convoke_core::request::Request;
use convoke_core::time::Timestamp;

use crate::db::{Db, params};
use crate::error::{Error, Fault, Result};

/// The columns of a request.
#[derive(Debug)]
pub(super) struct RequestRow {
    id: String,
    kind: &'static str,
    status: &'static str,
    body: String,
}

impl RequestRow {
    /// The request that a message is about, if it is about one.
    pub(super) fn of(content: &Content) -> Result<Option<Self>> {
        let Some(request) = Request::of(content) else { return Ok(None) };
        let kind = match &request {
            Request::Permission(_) => "permission",
            Request::Questions(_) => "questions",
        };
        let body = serde_json::to_string(&request)
            .map_err(|_| Error::Misuse { what: "the request cannot be written as JSON" })?;
        let (id, status) = (request.id().to_string(), request.status().as_str());
        Ok(Some(Self { id, kind, status, body }))
    }

    pub(super) fn store(
        &self,
        db: Db<'_>,
        session: i64,
        seq: Seq,
        at: Timestamp,
    ) -> Result<(), Fault> {
        let stored = db
            .prepare_cached(
                "INSERT INTO human_requests
                     (id, session, kind, status, body, asked_at, changed_at, seq)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
                 ON CONFLICT (id) DO UPDATE SET
                     seq = excluded.seq,
                     status = excluded.status,
                     body = excluded.body,
                     changed_at = excluded.changed_at
                 WHERE human_requests.session = excluded.session
                     AND human_requests.kind = excluded.kind",
            )?
            .execute(params![
                self.id,
                session,
                self.kind,
                self.status,
                self.body,
                at.as_millis(),
                seq.get(),
            ])?;
        if stored == 0 {
            return Err(Error::Misuse { what: "the request belongs to another session" }.into());
        }
        Ok(())
    }
}
