//! Down: messages become pieces again.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Value, json};

use super::{Row, drop_tables, field, index_all, new_id, sessions, turn_notice};
use crate::error::Fault;

/// Fills the old table, and drops what version 2 made.
pub(in crate::schema) fn down(db: &Connection) -> Result<(), Fault> {
    for session in sessions(db)? {
        let mut pieces = Pieces { db, session, seq: 0, last_at: 0, ended: None, settled: 0 };
        let mut statement = db.prepare_cached(
            "SELECT m.id, m.role, m.content, m.created_at, m.turn, m.seq,
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
            pieces.put(whole, turn.as_deref(), deltas.as_deref())?;
        }
        pieces.end_turn()?;
        pieces.put_state()?;
        pieces.store_places()?;
    }
    drop_tables(db, &["deltas", "session_state", "messages", "generation"])?;
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
    /// A turn that has ended well and whose end is not told yet: the place of its prompt, and its state.
    ended: Option<(u64, Value)>,
    /// The last place at which nothing was open.
    settled: u64,
}

impl Pieces<'_> {
    fn put(&mut self, row: Row, turn: Option<&str>, deltas: Option<&str>) -> Result<(), Fault> {
        let Ok(content) = serde_json::from_str::<Value>(&row.content) else {
            return self.insert(row);
        };
        match field(&content, "type") {
            "text" if row.role == "user" => {
                self.end_turn()?;
                self.insert(row)?;
                let turn = turn.and_then(|turn| serde_json::from_str::<Value>(turn).ok());
                if let Some(turn) = turn.filter(|turn| field(turn, "status") == "ended") {
                    self.ended = Some((self.seq, turn));
                }
                Ok(())
            }
            "text" | "thinking" => self.put_words(row, &content, deltas.unwrap_or_default()),
            "notice" if field(&content, "event") == "turn_ended" => {
                // The notice tells the end of the turn itself.
                match self.ended.take() {
                    Some((prompt, _)) => {
                        let mut content = content;
                        content["turn"] = json!(prompt);
                        self.insert(Row { content: content.to_string(), ..row })
                    }
                    None => Ok(()),
                }
            }
            _ => self.insert(row),
        }
    }

    fn put_words(&mut self, row: Row, content: &Value, deltas: &str) -> Result<(), Fault> {
        let is_open = content.get("partial").and_then(Value::as_bool) == Some(true);
        let (kind, text) = (field(content, "type"), field(content, "text").to_owned() + deltas);
        let (role, at) = (row.role.clone(), row.at);
        let piece = json!({"type": kind, "text": text, "partial": true});
        self.insert(Row { content: piece.to_string(), ..row })?;
        if !is_open {
            let last = json!({"type": kind, "text": "", "partial": false});
            let (n, id, content) = (None, new_id(self.db)?, last.to_string());
            self.insert(Row { n, id, role, content, at })?;
        }
        Ok(())
    }

    /// Tells the end of a turn that no message tells.
    fn end_turn(&mut self) -> Result<(), Fault> {
        let Some((prompt, turn)) = self.ended.take() else { return Ok(()) };
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
                "INSERT INTO agent_messages (session, seq, id, role, content, timestamp)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![self.session, self.seq, id, role, content, self.last_at])?;
        Ok(())
    }

    fn put_state(&mut self) -> Result<(), Fault> {
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
        // Reading may begin anywhere that nothing was open; the beginning always is such a place.
        self.settled = if is_settled { self.seq } else { 0 };
        self.db
            .prepare_cached(
                "UPDATE agent_sessions SET last_seq = ?2, settled_seq = ?3 WHERE n = ?1",
            )?
            .execute(params![self.session, self.seq, self.settled])?;
        Ok(())
    }
}
