//! Records the updates of a session, and updates what is derived from them: lists, requests and the
//! search index.

mod stored_row;

use convoke_core::content::{Content, Usage};
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Rev, Role, Seq};
use convoke_core::session::Summary;
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_core::update::{Delta, Update};

use super::requests::RequestRow;
use super::search::Searched;
use super::sessions::not_own;
use super::work::WorkRow;
use super::{Change, Durability, moves, search};
use crate::db::{Db, Optional as _, SqlResult, params};
use crate::error::{Error, Fault, Result};
use crate::histories::Indexing;

use stored_row::stored_row;

/// Records updates of a session with its new summary.
#[derive(Debug)]
pub(crate) struct Record {
    session: SessionId,
    updates: Vec<Encoded>,
    summary: Summary,
    work: WorkRow,
    durability: Durability,
    arrival: Arrival,
}

/// Whether the updates are the first on a session's new node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    No,
    /// They complete the move.
    Complete,
}

/// An update in its stored form. Encoded by the caller, so that the writer thread encodes no JSON.
#[derive(Debug)]
pub(super) enum Encoded {
    Message(MessageRow),
    Delta(Delta),
    State { kind: &'static str, body: String, rev: Rev, usage: Option<(i64, i64)> },
}

#[derive(Debug)]
pub(super) struct MessageRow {
    seq: Seq,
    rev: Rev,
    id: [u8; 16],
    role: &'static str,
    content: String,
    turn: Option<String>,
    is_open: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    request: Option<RequestRow>,
    /// Whether deltas are appended to its text.
    has_deltas: bool,
    /// The text for the search index, once the message is complete.
    searchable: Option<String>,
}

impl Record {
    /// Refuses updates that are out of order or belong to another session.
    pub(crate) fn new(
        session: SessionId,
        updates: &[Update],
        summary: Summary,
        durability: Durability,
    ) -> Result<Self> {
        if updates.is_empty() {
            return Err(Error::Misuse { what: "there is no update to record" });
        }
        let mut last = Rev::START;
        for update in updates {
            if let Update::Message(message) = update
                && message.session_id != session
            {
                return Err(Error::Misuse { what: "the message belongs to another session" });
            }
            if update.rev() <= last {
                return Err(Error::Misuse { what: "the updates are not in order" });
            }
            last = update.rev();
        }
        if summary.rev < last || summary.settled_seq > summary.last_seq {
            return Err(Error::Misuse { what: "the summary does not fit the updates" });
        }
        let encode = |update| Encoded::of(update, Indexing::Now);
        let updates = updates.iter().map(encode).collect::<Result<_>>()?;
        let work = WorkRow::encode(&summary.work)?;
        Ok(Self { session, updates, summary, work, durability, arrival: Arrival::No })
    }

    /// As `new`, completing the session's move to this node.
    pub(crate) fn arriving(self) -> Self {
        Self { arrival: Arrival::Complete, ..self }
    }

    /// Without adding its usage to the totals of the session, because the caller sets them.
    pub(crate) fn uncounted(mut self) -> Self {
        for update in &mut self.updates {
            if let Encoded::State { usage, .. } = update {
                *usage = None;
            }
        }
        self
    }

    /// The new messages, by seq. A message that changed again in the same commit comes late among
    /// the updates, but rows must be numbered by seq: search orders messages of the same
    /// millisecond by row number.
    fn begun_after(&self, last_seq: Seq) -> Vec<&MessageRow> {
        let mut begun: Vec<&MessageRow> = Vec::new();
        for update in &self.updates {
            if let Encoded::Message(message) = update
                && message.seq > last_seq
                && !begun.iter().any(|other| other.seq == message.seq)
            {
                begun.push(message);
            }
        }
        begun.sort_by_key(|message| message.seq);
        begun
    }

    fn first_rev(&self) -> Option<Rev> {
        self.updates.first().map(|update| match update {
            Encoded::Message(message) => message.rev,
            Encoded::Delta(delta) => delta.rev,
            Encoded::State { rev, .. } => *rev,
        })
    }
}

impl Change for Record {
    type Outcome = ();

    fn durability(&self) -> Durability {
        self.durability
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.session)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let (session, summary, work) = (self.session, &self.summary, &self.work);
        let Some(stored_row) = stored_row(db, session, summary, work)? else {
            return Err(not_own(db, session)?);
        };
        if self.first_rev().is_some_and(|first| first <= stored_row.rev) {
            let (expected, got) = (stored_row.rev.next(), self.first_rev().unwrap_or_default());
            return Err(Error::OutOfOrder { session, expected, got }.into());
        }
        let n = stored_row.n;
        let begun = self.begun_after(stored_row.last_seq);
        let mut last_seq = stored_row.last_seq;
        for message in &begun {
            if message.seq != last_seq.next() {
                return Err(Error::UnknownMessage { session, seq: message.seq }.into());
            }
            message.insert(db, n)?;
            last_seq = message.seq;
        }
        for update in &self.updates {
            match update {
                Encoded::Message(message) if begun.iter().any(|it| std::ptr::eq(*it, message)) => {}
                Encoded::Message(message) => message.replace(db, session, n)?,
                Encoded::Delta(delta) => store_delta(db, n, delta)?,
                Encoded::State { kind, body, rev, usage } => {
                    store_state(db, n, kind, body, *rev)?;
                    if let Some((input, output)) = usage {
                        count_tokens(db, n, *input, *output)?;
                    }
                }
            }
        }
        if last_seq != summary.last_seq {
            return Err(Error::Misuse { what: "the summary does not fit the messages" }.into());
        }
        stored_row.store(db, summary, work)?;
        match self.arrival {
            Arrival::No => Ok(()),
            Arrival::Complete => moves::forget(db, session),
        }
    }
}

impl Encoded {
    pub(super) fn of(update: &Update, indexing: Indexing) -> Result<Self> {
        Ok(match update {
            Update::Message(message) => Self::Message(MessageRow::encode(message, indexing)?),
            Update::Delta(delta) => Self::Delta(delta.clone()),
            Update::State { rev, state } => {
                let body = serde_json::to_string(&**state)
                    .map_err(|_| Error::Misuse { what: "the state cannot be written as JSON" })?;
                let usage = match &**state {
                    SessionState::Usage(usage) => Some(tokens(usage)),
                    SessionState::Queue { .. }
                    | SessionState::Commands { .. }
                    | SessionState::Modes { .. }
                    | SessionState::Settings { .. } => None,
                };
                Self::State { kind: state.kind().as_str(), body, rev: *rev, usage }
            }
        })
    }
}

fn tokens(usage: &Usage) -> (i64, i64) {
    let count = |tokens: Option<u64>| i64::try_from(tokens.unwrap_or(0)).unwrap_or(i64::MAX);
    (count(usage.input_tokens), count(usage.output_tokens))
}

impl MessageRow {
    fn encode(message: &Message, indexing: Indexing) -> Result<Self> {
        let unwritable = |_| Error::Misuse { what: "the message cannot be written as JSON" };
        let content = serde_json::to_string(&message.content).map_err(unwritable)?;
        let turn = message.turn.as_ref().map(serde_json::to_string).transpose();
        let (is_words, is_partial) = match &message.content {
            Content::Text { partial, .. } | Content::Thinking { partial, .. } => (true, *partial),
            Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_)
            | Content::Notice(_) => (false, false),
        };
        Ok(Self {
            seq: message.seq,
            rev: message.rev,
            id: *message.id.as_bytes(),
            role: role_word(message.role),
            content,
            turn: turn.map_err(unwritable)?,
            is_open: message.is_open(),
            created_at: message.timestamp,
            updated_at: message.updated_at,
            has_deltas: is_words && message.role != Role::User,
            request: RequestRow::of(&message.content)?,
            searchable: match indexing {
                Indexing::Now => search::text_of(&message.content).filter(|_| !is_partial),
                Indexing::Later => None,
            },
        })
    }

    fn insert(&self, db: Db<'_>, session: i64) -> Result<(), Fault> {
        let n = self.insert_row(db, session)?;
        if let Some(searched) = self.searched(n) {
            search::add_new(db, session, &searched)?;
        }
        Ok(())
    }

    /// The message for the search index, if it is searched.
    pub(super) fn searched(&self, n: i64) -> Option<Searched<'_>> {
        let created_at = self.created_at.as_millis();
        let text = self.searchable.as_deref()?;
        Some(Searched { n, role: self.role, created_at, text })
    }

    /// Inserts a message without indexing it; returns its number.
    pub(super) fn insert_row(&self, db: Db<'_>, session: i64) -> Result<i64, Fault> {
        let n = db.insert(
            "INSERT INTO messages
                 (session, seq, rev, id, role, content, turn, open, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                session,
                self.seq.get(),
                self.rev.get(),
                self.id,
                self.role,
                self.content,
                self.turn,
                self.is_open,
                self.created_at.as_millis(),
                self.updated_at.as_millis(),
            ],
        )?;
        if let Some(request) = &self.request {
            request.store(db, session, self.seq, self.updated_at)?;
        }
        Ok(n)
    }

    /// Replaces the row, which has the whole text, so that its deltas can be deleted.
    fn replace(&self, db: Db<'_>, id: SessionId, session: i64) -> Result<(), Fault> {
        if self.has_deltas {
            db.prepare_cached("DELETE FROM deltas WHERE session = ?1 AND seq = ?2")?
                .execute(params![session, self.seq.get()])?;
        }
        let n = db
            .prepare_cached(
                "UPDATE messages SET rev = ?3, content = ?4, turn = ?5, open = ?6, updated_at = ?7
                 WHERE session = ?1 AND seq = ?2 RETURNING n",
            )?
            .query_row(
                params![
                    session,
                    self.seq.get(),
                    self.rev.get(),
                    self.content,
                    self.turn,
                    self.is_open,
                    self.updated_at.as_millis(),
                ],
                |row| row.get(0),
            )
            .optional()?
            .ok_or(Error::UnknownMessage { session: id, seq: self.seq })?;
        if let Some(request) = &self.request {
            request.store(db, session, self.seq, self.updated_at)?;
        }
        // The text of a prompt never changes, only its turn.
        if let Some(searched) = self.searched(n).filter(|_| self.role != role_word(Role::User)) {
            search::put(db, session, &searched)?;
        }
        Ok(())
    }
}

fn store_delta(db: Db<'_>, session: i64, delta: &Delta) -> SqlResult<()> {
    db.prepare_cached(
        "INSERT INTO deltas (session, rev, seq, at, text) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        session,
        delta.rev.get(),
        delta.seq.get(),
        delta.at.as_millis(),
        delta.text
    ])?;
    Ok(())
}

pub(super) fn store_state(
    db: Db<'_>,
    session: i64,
    kind: &str,
    body: &str,
    rev: Rev,
) -> SqlResult<()> {
    db.prepare_cached(
        "INSERT INTO session_state (session, kind, body, rev) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (session, kind) DO UPDATE SET body = excluded.body, rev = excluded.rev",
    )?
    .execute(params![session, kind, body, rev.get()])?;
    Ok(())
}

fn count_tokens(db: Db<'_>, session: i64, input: i64, output: i64) -> SqlResult<()> {
    db.prepare_cached(
        "UPDATE agent_sessions
         SET input_tokens = input_tokens + ?2, output_tokens = output_tokens + ?3 WHERE n = ?1",
    )?
    .execute(params![session, input, output])?;
    Ok(())
}

/// Every role, for reading them back.
pub(crate) const ROLES: [Role; 3] = [Role::User, Role::Agent, Role::System];

/// The name of a role in the table.
pub(crate) const fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
        Role::System => "system",
    }
}
