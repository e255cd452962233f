//! Up: pieces become messages.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::{Row, drop_tables, field, sessions, set_field};
use crate::error::Fault;

/// The limit of one message; longer text continues in the next.
const WORDS_BYTES_MAX: usize = 256 << 10;

/// Fills the new tables and drops the old one.
pub(in crate::schema) fn up(db: &Connection) -> Result<(), Fault> {
    for session in sessions(db)? {
        let mut fold = Fold::default();
        let mut statement = db.prepare_cached(
            "SELECT n, seq, id, role, content, timestamp FROM agent_messages
             WHERE session = ?1 ORDER BY seq",
        )?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            let old = Row {
                n: row.get(0)?,
                id: row.get(2)?,
                role: row.get(3)?,
                content: row.get(4)?,
                at: row.get(5)?,
            };
            fold.apply(row.get(1)?, old);
        }
        fold.store(db, session)?;
    }
    // The search index stays empty: migration 7 replaces and fills it.
    drop_tables(db, &["agent_messages"])
}

/// The messages of one session, built from the rows read so far.
#[derive(Default)]
struct Fold {
    messages: Vec<Folded>,
    /// The running prompt, by its index in `messages`.
    running: Option<usize>,
    queue: Vec<(u64, Row)>,
    /// The open text, by its index in `messages`.
    words: Option<usize>,
    tools: HashMap<String, usize>,
    requests: HashMap<String, usize>,
    plan: Option<usize>,
    waiting: Option<usize>,
    /// The new indexes of prompts, by their old seqs.
    prompts: HashMap<u64, usize>,
    /// The new indexes of messages, by their old seqs.
    places: HashMap<u64, usize>,
    /// Sorted by kind, so that the result is deterministic.
    state: BTreeMap<&'static str, Value>,
    tokens: (i64, i64),
}

struct Folded {
    row: Row,
    /// `None` for content that cannot be parsed, which is kept unchanged.
    content: Option<Value>,
    turn: Option<Value>,
    updated_at: i64,
}

impl Fold {
    fn apply(&mut self, seq: u64, row: Row) {
        let Ok(content) = serde_json::from_str::<Value>(&row.content) else {
            self.push(seq, row, None);
            return;
        };
        match field(&content, "type").to_owned().as_str() {
            "text" if row.role == "user" => self.prompt(seq, row, content),
            "text" | "thinking" => self.words(seq, row, &content),
            "tool" => {
                self.close_words();
                let id = field(&content, "toolCallId").to_owned();
                let at = self.put(self.tools.get(&id).copied(), seq, row, content.clone());
                if field(&content, "status") == "running" {
                    self.tools.insert(id, at);
                } else {
                    self.tools.remove(&id);
                }
            }
            "plan" => {
                self.close_words();
                self.plan = Some(self.put(self.plan, seq, row, content));
            }
            "permission" | "question" => {
                if field(&content, "status") == "pending" {
                    self.close_words();
                }
                let id = field(&content, "requestId").to_owned();
                let at = self.put(self.requests.get(&id).copied(), seq, row, content);
                self.requests.insert(id, at);
            }
            "usage" => self.usage(content),
            "notice" => self.notice(seq, row, content),
            _ => {
                self.push(seq, row, Some(content));
            }
        }
    }

    fn prompt(&mut self, seq: u64, row: Row, content: Value) {
        if self.running.is_some() {
            self.queue.push((seq, row));
            return;
        }
        self.close_words();
        self.start(seq, row, content);
    }

    fn start(&mut self, seq: u64, row: Row, content: Value) {
        let at = self.push(seq, row, Some(content));
        self.prompts.insert(seq, at);
        self.set_turn(at, json!({"status": "running"}), 0);
        self.running = Some(at);
    }

    fn set_turn(&mut self, at: usize, turn: Value, time: i64) {
        if let Some(message) = self.messages.get_mut(at) {
            message.turn = Some(turn);
            message.updated_at = message.updated_at.max(time);
        }
    }

    fn words(&mut self, seq: u64, row: Row, content: &Value) {
        let (kind, text) = (field(content, "type").to_owned(), field(content, "text").to_owned());
        let is_last = content.get("partial").and_then(Value::as_bool) != Some(true);
        let open = self.words.and_then(|at| self.messages.get_mut(at));
        let goes_on = open.filter(|open| {
            let there = open.content.as_ref().unwrap_or(&Value::Null);
            field(there, "type") == kind
                && field(there, "text").len() + text.len() <= WORDS_BYTES_MAX
        });
        if let Some(open) = goes_on {
            if let Some(Value::String(there)) =
                open.content.as_mut().and_then(|content| content.get_mut("text"))
            {
                there.push_str(&text);
            }
            open.updated_at = row.at;
        } else {
            self.close_words();
            // The last piece of an answer without other pieces is skipped if it is empty.
            if !(text.is_empty() && is_last) {
                let content = json!({"type": kind, "text": text, "partial": true});
                self.words = Some(self.push(seq, row, Some(content)));
            }
        }
        if is_last {
            self.close_words();
        }
    }

    fn close_words(&mut self) {
        let open = self.words.take().and_then(|at| self.messages.get_mut(at));
        if let Some(Value::Object(content)) = open.and_then(|open| open.content.as_mut()) {
            content.remove("partial");
        }
    }

    fn usage(&mut self, mut content: Value) {
        let count = |name: &str| content.get(name).and_then(Value::as_i64).unwrap_or_default();
        self.tokens.0 += count("inputTokens");
        self.tokens.1 += count("outputTokens");
        if let Value::Object(fields) = &mut content {
            fields.remove("type");
            fields.insert("kind".to_owned(), json!("usage"));
        }
        self.state.insert("usage", content);
    }

    fn notice(&mut self, seq: u64, row: Row, content: Value) {
        match field(&content, "event") {
            "turn_ended" => self.turn_ended(seq, row, content),
            "cancel_asked" => {
                if let Some(at) = self.running {
                    self.set_turn(at, json!({"status": "cancelling"}), row.at);
                }
            }
            "commands" => {
                let commands = content.get("commands").cloned().unwrap_or_default();
                self.state.insert("commands", json!({"kind": "commands", "commands": commands}));
            }
            "settings" => {
                let settings = content.get("settings").cloned().unwrap_or_default();
                self.state.insert("settings", json!({"kind": "settings", "settings": settings}));
            }
            "modes" => self.modes(&content),
            "waiting" => self.waiting = Some(self.put(self.waiting, seq, row, content)),
            _ => {
                self.push(seq, row, Some(content));
            }
        }
    }

    fn modes(&mut self, content: &Value) {
        let known = self.state.get("modes").and_then(|modes| modes.get("available")).cloned();
        let available = content.get("available").cloned().or(known).unwrap_or_else(|| json!([]));
        let current = field(content, "current");
        let modes = json!({"kind": "modes", "current": current, "available": available});
        self.state.insert("modes", modes);
    }

    fn turn_ended(&mut self, seq: u64, row: Row, content: Value) {
        let turn = content.get("turn").and_then(Value::as_u64).unwrap_or_default();
        let mut ended = json!({"status": "ended"});
        for name in ["stopReason", "why", "detail"] {
            if let (Some(value), Value::Object(ended)) = (content.get(name), &mut ended) {
                ended.insert(name.to_owned(), value.clone());
            }
        }
        let (at, is_usual) = (row.at, field(&content, "stopReason") == "end_turn");
        let was_running = self.prompts.get(&turn).copied().filter(|it| self.running == Some(*it));
        match was_running {
            Some(prompt) => {
                self.close_words();
                self.set_turn(prompt, ended, at);
                (self.running, self.plan, self.waiting) = (None, None, None);
                self.tools.clear();
            }
            None => {
                if let Some(queued) = self.queue.iter().position(|(seq, _)| *seq == turn) {
                    let (seq, prompt) = self.queue.remove(queued);
                    let place = self.push_content(seq, Row { at, ..prompt });
                    self.prompts.insert(seq, place);
                    self.set_turn(place, ended, at);
                }
            }
        }
        if !is_usual {
            self.push(seq, row, Some(content));
        }
        if was_running.is_some() && !self.queue.is_empty() {
            let (seq, prompt) = self.queue.remove(0);
            let content = serde_json::from_str(&prompt.content).unwrap_or_default();
            self.start(seq, Row { at, ..prompt }, content);
        }
    }

    fn push_content(&mut self, seq: u64, row: Row) -> usize {
        let content = serde_json::from_str(&row.content).ok();
        self.push(seq, row, content)
    }

    fn push(&mut self, seq: u64, row: Row, content: Option<Value>) -> usize {
        let (at, updated_at) = (self.messages.len(), row.at);
        self.places.insert(seq, at);
        self.messages.push(Folded { row, content, turn: None, updated_at });
        at
    }

    /// Replaces a message, or adds one.
    fn put(&mut self, at: Option<usize>, seq: u64, row: Row, content: Value) -> usize {
        match at.and_then(|at| self.messages.get_mut(at).map(|message| (at, message))) {
            Some((at, message)) => {
                (message.content, message.updated_at) = (Some(content), row.at);
                self.places.insert(seq, at);
                at
            }
            None => self.push(seq, row, Some(content)),
        }
    }

    /// The new seq of a message with an old seq.
    fn moved(&self, old: u64) -> u64 {
        self.places.get(&old).map_or(old, |at| *at as u64 + 1)
    }

    /// Updates the seqs that notices contain.
    fn rename_places(&mut self) {
        for at in 0..self.messages.len() {
            let Some(content) = self.messages.get(at).and_then(|it| it.content.clone()) else {
                continue;
            };
            let mut content = content;
            match field(&content, "event") {
                "turn_ended" => {
                    let turn = content.get("turn").and_then(Value::as_u64).unwrap_or_default();
                    set_field(&mut content, "turn", self.moved(turn));
                }
                "imported" => {
                    let turns = content.get_mut("turns").and_then(Value::as_array_mut);
                    for turn in turns.into_iter().flatten() {
                        let seq = turn.get("seq").and_then(Value::as_u64).unwrap_or_default();
                        turn["seq"] = json!(self.moved(seq));
                    }
                }
                _ => continue,
            }
            if let Some(message) = self.messages.get_mut(at) {
                message.content = Some(content);
            }
        }
    }

    /// The revision of each message. Timestamps never decrease from one revision to the next.
    fn revisions(&self) -> Vec<i64> {
        let mut order: Vec<usize> = (0..self.messages.len()).collect();
        order.sort_by_key(|at| self.messages.get(*at).map(|message| message.updated_at));
        let mut revs = vec![0; order.len()];
        for (rev, at) in (1..).zip(order) {
            if let Some(place) = revs.get_mut(at) {
                *place = rev;
            }
        }
        revs
    }

    fn store(mut self, db: &Connection, session: i64) -> Result<(), Fault> {
        self.rename_places();
        let revs = self.revisions();
        let mut first_open = None;
        for ((at, message), rev) in self.messages.iter().enumerate().zip(&revs) {
            let seq = i64::try_from(at).unwrap_or(i64::MAX) + 1;
            let is_open = is_open(message);
            if is_open && first_open.is_none() {
                first_open = Some(seq);
            }
            let content = match &message.content {
                Some(content) => content.to_string(),
                None => message.row.content.clone(),
            };
            let turn = message.turn.as_ref().map(Value::to_string);
            let Row { n, id, role, at: created_at, .. } = &message.row;
            db.prepare_cached(
                "INSERT INTO messages
                     (n, session, seq, rev, id, role, content, turn, open, created_at, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                n,
                session,
                seq,
                rev,
                id,
                role,
                content,
                turn,
                is_open,
                created_at,
                message.updated_at,
            ])?;
        }
        for (id, at) in &self.requests {
            let seq = i64::try_from(*at).unwrap_or(i64::MAX) + 1;
            db.prepare_cached("UPDATE human_requests SET seq = ?2 WHERE id = ?1")?
                .execute(params![id, seq])?;
        }
        if !self.queue.is_empty() {
            self.state.insert("queue", queue(&self.queue)?);
        }
        let mut rev = i64::try_from(revs.len()).unwrap_or(i64::MAX);
        for (kind, body) in &self.state {
            rev += 1;
            db.prepare_cached(
                "INSERT INTO session_state (session, kind, body, rev) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![session, kind, body.to_string(), rev])?;
        }
        let last = i64::try_from(self.messages.len()).unwrap_or(i64::MAX);
        let is_busy = self.running.is_some() || self.words.is_some() || !self.tools.is_empty();
        let settled = if is_busy { first_open.map_or(last, |seq| seq - 1) } else { last };
        db.prepare_cached(
            "UPDATE agent_sessions SET last_seq = ?2, settled_seq = ?3, rev = ?4,
                 input_tokens = ?5, output_tokens = ?6 WHERE n = ?1",
        )?
        .execute(params![session, last, settled, rev, self.tokens.0, self.tokens.1])?;
        Ok(())
    }
}

fn is_open(message: &Folded) -> bool {
    let content = message.content.as_ref().unwrap_or(&Value::Null);
    let is_open = match field(content, "type") {
        "text" | "thinking" => content.get("partial").and_then(Value::as_bool) == Some(true),
        "tool" => field(content, "status") == "running",
        "permission" | "question" => field(content, "status") == "pending",
        _ => false,
    };
    let is_running = |turn: &Value| field(turn, "status") != "ended";
    is_open || message.turn.as_ref().is_some_and(is_running)
}

fn queue(prompts: &[(u64, Row)]) -> Result<Value, Fault> {
    let mut queued = Vec::new();
    for (_, row) in prompts {
        let id = <[u8; 16]>::try_from(row.id.as_slice()).ok();
        let id = id.and_then(convoke_core::id::MessageId::from_bytes);
        let content: Value = serde_json::from_str(&row.content).unwrap_or_default();
        let at = convoke_core::time::Timestamp::from_millis(row.at);
        queued.push(json!({"id": id, "text": field(&content, "text"), "timestamp": at}));
    }
    Ok(json!({"kind": "queue", "prompts": queued}))
}
