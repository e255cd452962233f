//! The table of the first release, which had a row for each piece of an answer: what whole messages are compared with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use convoke_core::content::Content;
use convoke_core::update::Update;
use convoke_testkit::bench::Result;
use convoke_testkit::bench::random::Random;
use rusqlite::{Connection, params};
use serde_json::json;
use tempfile::TempDir;

use crate::database::{moment, project_id, scope, session_id, session_number};
use crate::raw;
use crate::speech::{Said, Speaker};

/// Its schema, as released.
const SCHEMA: &str = include_str!("../../migrations/0001_foundation.up.sql");
const PROJECT: &str = "INSERT INTO projects (id, name, path, added_at) VALUES (?1, 'p', '/p', 0)";
const SESSION: &str = "INSERT INTO agent_sessions
        (n, id, project_id, agent, kind, created_at, status, archived, last_seq, settled_seq,
         updated_at, last_active_at)
    VALUES (?1, ?2, ?3, 'claude-code', 'session', ?4, 'active', 0, 0, 0, ?4, ?4)";
const INSERT: &str = "INSERT INTO agent_messages (session, seq, id, role, content, timestamp)
    VALUES (?1, ?2, ?3, 'agent', ?4, ?5)";
const INDEX: &str = "INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)";
const PROGRESS: &str =
    "UPDATE agent_sessions SET last_seq = ?2, settled_seq = 0, updated_at = ?3 WHERE n = ?1";

/// A database of that schema, in a temporary folder.
pub(crate) struct Pieces {
    db: Connection,
    talks: BTreeMap<i64, Talk>,
    random: Random,
    _folder: TempDir,
}

/// How far a session is.
#[derive(Default)]
struct Talk {
    seq: u64,
    /// Bytes of the open answer.
    answer: usize,
}

/// A piece as its row will be, encoded before the clock runs.
pub(crate) struct Piece {
    session: i64,
    seq: u64,
    id: [u8; 16],
    content: String,
    at: i64,
    /// With the last piece of an answer, what is searched.
    whole: Option<(String, String)>,
}

impl Pieces {
    /// With so many sessions.
    pub(crate) fn new(sessions: usize) -> Result<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let path: PathBuf = folder.path().join("pieces.db");
        Connection::open(&path)?.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        let db = raw::connect(&path, Speaker::Agent)?;
        db.execute_batch(SCHEMA)?;
        let project = project_id(0).to_string();
        db.execute(PROJECT, params![project])?;
        for at in 0..sessions {
            let (n, id) = (session_number(at)?, session_id(at).to_string());
            db.execute(SESSION, params![n, id, project, moment(at).as_millis()])?;
        }
        Ok(Self { db, talks: BTreeMap::new(), random: Random::new(9), _folder: folder })
    }

    /// The database.
    pub(crate) const fn connection(&self) -> &Connection {
        &self.db
    }

    /// The row that the first release made of a piece of an answer.
    pub(crate) fn encode(&mut self, said: &Said) -> Result<Piece> {
        let session = session_number(said.at)?;
        let talk = self.talks.entry(session).or_default();
        talk.seq += 1;
        let (words, at, whole) = match &said.update {
            Update::Delta(delta) => (delta.text.as_str(), delta.at, None),
            Update::Message(message) => {
                let Content::Text { text, partial, .. } = &message.content else {
                    return Err("only answers are measured".into());
                };
                // The last update of an answer has all of its words.
                let words = text.get(talk.answer..).ok_or("an answer became shorter")?;
                let whole = (!partial).then(|| (text.clone(), scope(said.at, "agent")));
                (words, message.updated_at, whole)
            }
            Update::State { .. } => return Err("no state is measured".into()),
        };
        talk.answer = if whole.is_some() { 0 } else { talk.answer + words.len() };
        let content = json!({"type": "text", "text": words, "partial": whole.is_none()});
        let (content, id) = (content.to_string(), self.random.bytes());
        Ok(Piece { session, seq: talk.seq, id, content, at: at.as_millis(), whole })
    }

    /// Appends pieces, so many in one transaction, and returns how long it took.
    pub(crate) fn append(&self, pieces: &[Piece], batch: usize) -> Result<f64> {
        let db = &self.db;
        let (mut begin, mut commit) = (db.prepare("BEGIN IMMEDIATE")?, db.prepare("COMMIT")?);
        let (mut insert, mut index) = (db.prepare(INSERT)?, db.prepare(INDEX)?);
        let mut progress = db.prepare(PROGRESS)?;
        let start = Instant::now();
        for pieces in pieces.chunks(batch) {
            begin.execute([])?;
            for piece in pieces {
                let Piece { session, seq, id, content, at, whole } = piece;
                let n = insert.insert(params![session, seq, id, content, at])?;
                if let Some((text, scope)) = whole {
                    index.execute(params![n, text, scope])?;
                }
                progress.execute(params![session, seq, at])?;
            }
            commit.execute([])?;
        }
        Ok(start.elapsed().as_secs_f64())
    }
}
