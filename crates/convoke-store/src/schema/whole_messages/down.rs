//! Down: messages become pieces again.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Value, json};

use super::{Row, drop_tables, field, index_all, new_id, sessions, set_field, turn_notice};
use crate::error::Fault;

/// Fills the old table, and drops what version 2 made.
pub(in crate::schema) fn down(db: &Connection) -> Result<(), Fault> {
    // Rows are numbered by their time, over all sessions: search returns the newest first by these numbers.
    db.execute_batch("CREATE TEMP TABLE pieces (session, seq, id, role, content TEXT, timestamp)")?;
    for session in sessions(db)? {
        let mut pieces = Pieces { db, session, seq: 0, last_at: 0, ended: None, settled: 0 };
        let mut statement = db.prepare_cached(
            "SELECT m.id, m.role, m.content, m.created_at, m.turn, m.updated_at,
                 (SELECT group_concat(text, '') FROM
                     (SELECT text FROM deltas AS d
                      WHERE d.session = m.session AND d.seq = m.seq ORDER BY d.rev))
             FROM messages AS m WHERE m.session = ?1 ORDER BY m.seq",
        )?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            let whole = Row {
                n: None,
                id: row.get(0)?,
                role: row.get(1)?,
                content: row.get(2)?,
                at: row.get(3)?,
            };
            let (turn, deltas): (Option<String>, Option<String>) = (row.get(4)?, row.get(6)?);
            pieces.put(whole, turn.as_deref(), row.get(5)?, deltas.as_deref())?;
        }
        pieces.end_turn()?;
        pieces.put_state()?;
        pieces.store_places()?;
    }
    db.execute_batch(
        "INSERT INTO agent_messages (session, seq, id, role, content, timestamp)
         SELECT session, seq, id, role, content, timestamp FROM pieces
         ORDER BY timestamp, session, seq",
    )?;
    drop_tables(db, &["pieces", "deltas", "session_state", "messages", "generation"])?;
    db.execute_batch(
        "ALTER TABLE agent_sessions DROP COLUMN rev;
         ALTER TABLE agent_sessions DROP COLUMN input_tokens;
         ALTER TABLE agent_sessions DROP COLUMN output_tokens;
         ALTER TABLE human_requests DROP COLUMN seq;",
    )?;
    index_all(
        db,
        "SELECT n, session, content FROM agent_messages
         WHERE json_valid(content) AND json_extract(content, '$.partial') IS NOT 0 ORDER BY n",
    )
}

struct Pieces<'a> {
    db: &'a Connection,
    session: i64,
    seq: u64,
    last_at: i64,
    /// A turn that has ended, but whose end no row states yet.
    ended: Option<EndedTurn>,
    /// The last seq at which nothing was open.
    settled: u64,
}

struct EndedTurn {
    /// The place of its prompt.
    prompt: u64,
    turn: Value,
    at: i64,
}

impl Pieces<'_> {
    fn put(
        &mut self,
        row: Row,
        turn: Option<&str>,
        updated_at: i64,
        deltas: Option<&str>,
    ) -> Result<(), Fault> {
        if self.ended.as_ref().is_some_and(|ended| ended.at < row.at) {
            self.end_turn()?;
        }
        let Ok(content) = serde_json::from_str::<Value>(&row.content) else {
            return self.insert(row);
        };
        match field(&content, "type") {
            "text" if row.role == "user" => {
                self.end_turn()?;
                self.insert(row)?;
                self.put_turn(turn, updated_at)
            }
            "text" | "thinking" => {
                self.put_words(row, &content, updated_at, deltas.unwrap_or_default())
            }
            "notice" if field(&content, "event") == "turn_ended" => {
                // This notice itself states the end of the turn.
                match self.ended.take() {
                    Some(EndedTurn { prompt, .. }) => {
                        let mut content = content;
                        set_field(&mut content, "turn", prompt);
                        self.insert(Row { content: content.to_string(), ..row })
                    }
                    None => Ok(()),
                }
            }
            _ => self.insert(row),
        }
    }

    /// Writes the state of the turn of the prompt that was inserted last.
    fn put_turn(&mut self, turn: Option<&str>, at: i64) -> Result<(), Fault> {
        let turn = turn.and_then(|turn| serde_json::from_str::<Value>(turn).ok());
        let Some(turn) = turn else { return Ok(()) };
        match field(&turn, "status") {
            "ended" => self.ended = Some(EndedTurn { prompt: self.seq, turn, at }),
            "cancelling" => {
                let (prompt, text) = (self.seq, "The turn is being stopped.");
                self.insert_system(&turn_notice("cancel_asked", prompt, &Value::Null, text))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn put_words(
        &mut self,
        row: Row,
        content: &Value,
        updated_at: i64,
        deltas: &str,
    ) -> Result<(), Fault> {
        let is_open = content.get("partial").and_then(Value::as_bool) == Some(true);
        let (kind, text) = (field(content, "type"), field(content, "text").to_owned() + deltas);
        let role = row.role.clone();
        let piece = json!({"type": kind, "text": text, "partial": true});
        self.insert(Row { content: piece.to_string(), ..row })?;
        if !is_open {
            let last = json!({"type": kind, "text": "", "partial": false});
            let (n, id, content) = (None, new_id(self.db)?, last.to_string());
            self.insert(Row { n, id, role, content, at: updated_at })?;
        }
        Ok(())
    }

    /// Writes the end of a turn that no message states.
    fn end_turn(&mut self) -> Result<(), Fault> {
        let Some(EndedTurn { prompt, turn, at }) = self.ended.take() else { return Ok(()) };
        self.last_at = self.last_at.max(at);
        let notice = turn_notice("turn_ended", prompt, &turn, "The turn ended.");
        self.insert_system(&notice)
    }

    fn insert_system(&mut self, content: &Value) -> Result<(), Fault> {
        let id = new_id(self.db)?;
        let (role, content) = ("system".to_owned(), content.to_string());
        self.insert(Row { n: None, id, role, content, at: self.last_at })
    }

    fn insert(&mut self, row: Row) -> Result<(), Fault> {
        self.seq += 1;
        self.last_at = self.last_at.max(row.at);
        let Row { id, role, content, .. } = row;
        self.db
            .prepare_cached(
                "INSERT INTO pieces (session, seq, id, role, content, timestamp)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![self.session, self.seq, id, role, content, self.last_at])?;
        Ok(())
    }

    fn put_state(&mut self) -> Result<(), Fault> {
        self.put_earlier_usage()?;
        for kind in ["commands", "modes", "settings", "usage"] {
            if let Some(mut body) = self.state(kind)? {
                if let Value::Object(fields) = &mut body {
                    fields.remove("kind");
                    if kind == "usage" {
                        fields.insert("type".to_owned(), json!("usage"));
                    } else {
                        fields.insert("type".to_owned(), json!("notice"));
                        fields.insert("event".to_owned(), json!(kind));
                        fields.insert("text".to_owned(), json!(format!("The agent's {kind}.")));
                    }
                }
                self.insert_system(&body)?;
            }
        }
        let queue = self.state("queue")?;
        let prompts =
            queue.as_ref().and_then(|queue| queue.get("prompts")).and_then(Value::as_array);
        for prompt in prompts.into_iter().flatten() {
            let id: Option<convoke_core::id::MessageId> = field(prompt, "id").parse().ok();
            let id = match id {
                Some(id) => id.as_bytes().to_vec(),
                None => new_id(self.db)?,
            };
            let content = json!({"type": "text", "text": field(prompt, "text")}).to_string();
            let (n, role, at) = (None, "user".to_owned(), self.last_at);
            self.insert(Row { n, id, role, content, at })?;
        }
        Ok(())
    }

    /// Version 1 adds up the usage of each turn instead of storing totals. The usage of all turns
    /// but the last becomes one entry.
    fn put_earlier_usage(&mut self) -> Result<(), Fault> {
        let (input, output): (i64, i64) = self
            .db
            .prepare_cached("SELECT input_tokens, output_tokens FROM agent_sessions WHERE n = ?1")?
            .query_row([self.session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let last = self.state("usage")?.unwrap_or_default();
        let earlier = |all: i64, name: &str| {
            (all - last.get(name).and_then(Value::as_i64).unwrap_or_default()).max(0)
        };
        let (input, output) = (earlier(input, "inputTokens"), earlier(output, "outputTokens"));
        if (input, output) == (0, 0) {
            return Ok(());
        }
        self.insert_system(&json!({"type": "usage", "inputTokens": input, "outputTokens": output}))
    }

    fn state(&self, kind: &str) -> Result<Option<Value>, Fault> {
        let mut statement = self
            .db
            .prepare_cached("SELECT body FROM session_state WHERE session = ?1 AND kind = ?2")?;
        let body: Option<String> =
            statement.query_row(params![self.session, kind], |row| row.get(0)).optional()?;
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }

    fn store_places(&mut self) -> Result<(), Fault> {
        let is_settled: bool = self
            .db
            .prepare_cached("SELECT settled_seq = last_seq FROM agent_sessions WHERE n = ?1")?
            .query_row([self.session], |row| row.get(0))?;
        // Replay may start at any seq at which nothing was open, and always at the beginning.
        self.settled = if is_settled { self.seq } else { 0 };
        self.db
            .prepare_cached(
                "UPDATE agent_sessions SET last_seq = ?2, settled_seq = ?3 WHERE n = ?1",
            )?
            .execute(params![self.session, self.seq, self.settled])?;
        Ok(())
    }
}
