//! opencode: one database for all sessions. A message is a row, and so is each of its parts; both are JSON.
//!
//! The database has accounts and credentials, too: only the tables named here are read.

use std::path::PathBuf;

use convoke_core::content::{Cost, Diff};
use convoke_core::time::Timestamp;
use rusqlite::params;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome, Titled};
use crate::database::{
    Database, ID_BYTES_MAX, More, ROWS_MAX, Row, RowCursor, RowPlace, RowStamp, Rows,
};
use crate::edits::patch::from_unified;
use crate::environment::Environment;
use crate::importer::{Form, Importer};
use crate::item::{BrokenLine, Tokens};
use crate::json::{count, field, is_set, path, plain, time, word};
use crate::lines::LINE_BYTES_MAX;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["opencode.db", "opencode-*.db"],
    beside: &[],
    locks: &[],
    programs: &["opencode"],
    form: Form::Database(&ROWS),
    known: None,
};

static ROWS: Rows =
    Rows { tables: &["session", "message", "part"], list, still_there, identify, page };

/// Messages that are read at once.
const PAGE: usize = 32;

fn roots(environment: &Environment) -> Vec<PathBuf> {
    vec![environment.data_home().join("opencode")]
}

fn list(database: &Database) -> rusqlite::Result<Vec<Row>> {
    // Parts are counted in their index; their times are with their text, and a message changes with its parts.
    let sql = format!(
        "SELECT session.id, max(session.time_updated, coalesce(m.updated, 0)), \
               coalesce(m.messages, 0), coalesce(p.parts, 0) FROM session \
               LEFT JOIN (SELECT session_id, count(*) messages, max(time_updated) updated FROM message \
               GROUP BY session_id) m ON m.session_id = session.id \
               LEFT JOIN (SELECT session_id, count(*) parts FROM part GROUP BY session_id) p \
               ON p.session_id = session.id WHERE octet_length(session.id) <= {ID_BYTES_MAX} \
               ORDER BY session.id LIMIT {ROWS_MAX} + 1"
    );
    let mut statement = database.connection().prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let stamp = RowStamp {
            updated: row.get(1)?,
            messages: unsigned(row.get(2)?),
            parts: unsigned(row.get(3)?),
        };
        Ok(Row { id: row.get(0)?, stamp })
    })?;
    rows.collect()
}

fn still_there(database: &Database, id: &str, cursor: &RowCursor) -> rusqlite::Result<(u64, u64)> {
    let sql = "SELECT (SELECT count(*) FROM message WHERE session_id = ?1 AND time_created <= ?2), \
               (SELECT count(*) FROM part JOIN message ON message.id = part.message_id \
               WHERE part.session_id = ?1 AND message.time_created <= ?2)";
    database.connection().query_row(sql, params![id, cursor.last], |row| {
        Ok((unsigned(row.get(0)?), unsigned(row.get(1)?)))
    })
}

fn identify(database: &Database, id: &str, assembly: &mut Assembly) -> rusqlite::Result<()> {
    let number = |column: &str| database.column_or("session", column, "0");
    let sql = format!(
        "SELECT directory, title, parent_id, time_created, time_updated, {}, {}, {}, {}, {}, {} \
         FROM session WHERE id = ?1",
        number("cost")?,
        number("tokens_input")?,
        number("tokens_output")?,
        number("tokens_reasoning")?,
        number("tokens_cache_read")?,
        number("tokens_cache_write")?,
    );
    let has_cost = database.has_column("session", "cost")?;
    database.connection().query_row(&sql, [id], |row| {
        let (cwd, title): (String, String) = (row.get(0)?, row.get(1)?);
        assembly.cwd(&cwd);
        // Until it has a title a session is called by its time.
        if !title.starts_with("New session - ") && !title.starts_with("Child session - ") {
            assembly.title(title, Titled::ByAgent);
        }
        for column in [3, 4] {
            assembly.seen_at(Some(Timestamp::from_millis(row.get(column)?)));
        }
        let identity = &mut assembly.state.identity;
        identity.id = id.to_owned();
        identity.parent = row.get(2)?;
        if has_cost {
            identity.usage.cost = Some(Cost { amount: row.get(5)?, currency: "USD".to_owned() });
        }
        identity.tokens = Tokens {
            input: unsigned(row.get(6)?),
            output: unsigned(row.get(7)?) + unsigned(row.get(8)?),
            cache_read: unsigned(row.get(9)?),
            cache_write: unsigned(row.get(10)?),
        };
        Ok(())
    })
}

fn page(
    database: &Database,
    id: &str,
    place: &mut RowPlace,
    assembly: &mut Assembly,
) -> rusqlite::Result<More> {
    let since = place.before.map_or(0, |before| before.stamp.updated);
    let sql = format!(
        "SELECT id, time_created, iif(octet_length(data) <= {LINE_BYTES_MAX}, data, NULL) FROM message m \
         WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) AND (time_updated >= ?4 OR \
         EXISTS (SELECT 1 FROM part WHERE message_id = m.id AND part.time_updated >= ?4)) \
         ORDER BY time_created, id LIMIT {PAGE}"
    );
    let mut statement = database.connection().prepare_cached(&sql)?;
    let mut rows = statement.query(params![id, place.at, place.id, since])?;
    let mut read = 0;
    while let Some(row) = rows.next()? {
        (place.id, place.at) = (row.get(0)?, row.get(1)?);
        place.newest = place.newest.max(place.at);
        read += 1;
        let data: Option<String> = row.get(2)?;
        if let Some(message) = parsed(assembly, &place.id, data.as_deref()) {
            add(database, assembly, &place.id, &message)?;
        }
    }
    Ok(if read < PAGE { More::No } else { More::Yes })
}

/// A row's JSON; one that cannot be read is counted.
fn parsed(assembly: &mut Assembly, id: &str, data: Option<&str>) -> Option<Value> {
    assembly.state.tally.lines += 1;
    let lines = assembly.state.tally.lines;
    assembly.begin_line(lines, lines, data.map_or(0, str::len) as u64);
    let why = match data.map(serde_json::from_str) {
        Some(Ok(value)) => return Some(value),
        Some(Err(error)) => format!("{id}: {error}"),
        None => {
            assembly.state.tally.too_long += 1;
            format!("{id}: it is too long")
        }
    };
    let (line, bytes) = (assembly.state.tally.lines, data.map_or(0, str::len) as u64);
    assembly.broken(BrokenLine { line, offset: 0, bytes, why });
    None
}

fn add(
    database: &Database,
    assembly: &mut Assembly,
    id: &str,
    message: &Value,
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT id, iif(octet_length(data) <= {LINE_BYTES_MAX}, data, NULL) FROM part \
         WHERE message_id = ?1 ORDER BY id"
    );
    let mut statement = database.connection().prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let at = time(path(message, &["time", "created"]));
    let mut said = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, data): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let Some(part) = parsed(assembly, &key, data.as_deref()) else { continue };
        if word(message, "role") == "user" {
            said.extend(words(&part));
        } else {
            add_part(assembly, &key, &part, at);
        }
        if word(&part, "type") == "compaction" {
            assembly.compacted(&key, "", at);
        }
    }
    assembly.prompt(id, &said.join("\n"), at);
    assembly.model(word(message, "modelID"));
    let tokens = field(message, "tokens");
    if count(tokens, "output") > 0 {
        let read = count(tokens, "input")
            + count(field(tokens, "cache"), "read")
            + count(field(tokens, "cache"), "write");
        let output = count(tokens, "output") + count(tokens, "reasoning");
        let usage = &mut assembly.state.identity.usage;
        usage.input_tokens = Some(read);
        usage.output_tokens = Some(output);
        usage.context_used = Some(read + output);
    }
    let error = path(message, &["error", "data", "message"]).as_str();
    if let Some(error) = error {
        assembly.advice(&format!("{id}/error"), "error", error, at);
    }
    Ok(())
}

/// The user's text in a part; many parts are for the model only.
fn words(part: &Value) -> Option<String> {
    match word(part, "type") {
        "text" if !is_set(part, "synthetic") && !is_set(part, "ignored") => {
            Some(word(part, "text").to_owned())
        }
        "file" if part.get("source").is_none() => Some(format!("[{}]", word(part, "filename"))),
        _ => None,
    }
}

fn add_part(assembly: &mut Assembly, key: &str, part: &Value, at: Option<Timestamp>) {
    let began = time(path(part, &["time", "start"])).or(at);
    match word(part, "type") {
        "text" if !is_set(part, "synthetic") => assembly.answer(key, word(part, "text"), began),
        "reasoning" => assembly.thought(key, word(part, "text"), began),
        "tool" => add_tool(assembly, part, at),
        "retry" => {
            let error = path(part, &["error", "data", "message"]).as_str().unwrap_or_default();
            assembly.advice(key, "error", error, began);
        }
        "text" | "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "subtask"
        | "file" | "compaction" => {}
        kind => assembly.unknown(kind, part.to_string().as_bytes()),
    }
}

fn add_tool(assembly: &mut Assembly, part: &Value, at: Option<Timestamp>) {
    let (id, state) = (word(part, "callID"), field(part, "state"));
    let times = field(state, "time");
    assembly.call(Call {
        id,
        tool: word(part, "tool"),
        args: field(state, "input").clone(),
        at: time(field(times, "start")).or(at),
        ..Call::default()
    });
    let at = time(field(times, "end"));
    match word(state, "status") {
        "completed" => assembly.settle(
            id,
            Outcome {
                text: plain(field(state, "output")),
                diffs: changed(field(state, "metadata")),
                at,
                ..Outcome::default()
            },
        ),
        "error" => {
            let error = Some(word(state, "error").to_owned());
            assembly.settle(id, Outcome { error, at, ..Outcome::default() });
        }
        _ => {}
    }
}

/// The changes of an edit, with the whole file before and after if available.
fn changed(metadata: &Value) -> Vec<Diff> {
    let whole = |change: &Value| {
        let after = change.get("after")?.as_str()?;
        let before = word(change, "before");
        Some(Diff {
            path: word(change, if change.get("file").is_some() { "file" } else { "filePath" })
                .to_owned(),
            old_text: Some(before).filter(|before| !before.is_empty()).map(str::to_owned),
            new_text: after.to_owned(),
        })
    };
    if let Some(diff) = whole(field(metadata, "filediff")) {
        return vec![diff];
    }
    let files = metadata.get("files").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let diffs = files.iter().filter_map(|file| {
        let diff = || Some(from_unified(word(file, "filePath"), file.get("diff")?.as_str()?));
        whole(file).or_else(diff)
    });
    diffs.collect()
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
