//! goose: one database for all sessions, a row per message. Messages that are hidden from the user
//! are left out.

use std::path::PathBuf;

use convoke_core::content::Cost;
use convoke_core::time::Timestamp;
use rusqlite::{Row as SqlRow, params};
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome, Titled};
use crate::database::{
    Database, ID_BYTES_MAX, More, ROWS_MAX, Row, RowCursor, RowPlace, RowStamp, Rows,
};
use crate::environment::Environment;
use crate::importer::{Form, Importer};
use crate::item::{BrokenLine, Tokens};
use crate::json::{field, is_set, list as items, path, plain, time_in, word};
use crate::lines::LINE_BYTES_MAX;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["sessions/sessions.db"],
    beside: &[],
    locks: &[],
    programs: &["goose", "goosed"],
    form: Form::Database(&ROWS),
    known: None,
};

static ROWS: Rows =
    Rows { tables: &["sessions", "messages", "usage_ledger"], list, still_there, identify, page };

/// Messages that are read at once.
const PAGE: usize = 64;

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let moved = environment.folder("GOOSE_PATH_ROOT").map(|root| root.join("data"));
    vec![moved.unwrap_or_else(|| environment.data_home().join("goose"))]
}

fn list(database: &Database) -> rusqlite::Result<Vec<Row>> {
    let kind = database.column_or("sessions", "session_type", "''")?;
    let sql = format!(
        "SELECT id, updated_at, coalesce(messages, 0), coalesce(newest, 0) FROM sessions LEFT JOIN \
         (SELECT session_id, count(*) messages, max(id) newest FROM messages GROUP BY session_id) \
         ON session_id = sessions.id WHERE {kind} <> 'hidden' \
         AND octet_length(sessions.id) <= {ID_BYTES_MAX} ORDER BY id LIMIT {ROWS_MAX} + 1"
    );
    let mut statement = database.connection().prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let updated = time_of(row, 1)?.map_or(0, Timestamp::as_millis);
        let messages = unsigned(row.get(2)?);
        // The newest row number serves as the count of parts: it changes when a session is
        // rewritten.
        let stamp = RowStamp { updated, messages, parts: unsigned(row.get(3)?) };
        Ok(Row { id: row.get(0)?, stamp })
    })?;
    rows.collect()
}

fn still_there(database: &Database, id: &str, cursor: &RowCursor) -> rusqlite::Result<(u64, u64)> {
    let sql =
        "SELECT count(*), coalesce(max(id), 0) FROM messages WHERE session_id = ?1 AND id <= ?2";
    database.connection().query_row(sql, params![id, cursor.last], |row| {
        Ok((unsigned(row.get(0)?), unsigned(row.get(1)?)))
    })
}

fn identify(database: &Database, id: &str, assembly: &mut Assembly) -> rusqlite::Result<()> {
    let column = |name: &str| database.column_or("sessions", name, "NULL");
    let sql = format!(
        "SELECT working_dir, created_at, updated_at, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {} \
         FROM sessions WHERE id = ?1",
        column("name")?,
        column("description")?,
        column("user_set_name")?,
        column("parent_session_id")?,
        column("accumulated_input_tokens")?,
        column("accumulated_output_tokens")?,
        column("accumulated_cache_read_tokens")?,
        column("accumulated_cache_write_tokens")?,
        column("accumulated_cost")?,
        column("input_tokens")?,
        column("output_tokens")?,
        column("total_tokens")?,
    );
    let spent = match database.has_table("usage_ledger")? {
        true => {
            let sql = "SELECT sum(cost) FROM usage_ledger WHERE session_id = ?1";
            database.connection().query_row(sql, [id], |row| row.get::<_, Option<f64>>(0))?
        }
        false => None,
    };
    database.connection().query_row(&sql, [id], |row| {
        assembly.cwd(&row.get::<_, String>(0)?);
        assembly.seen_at(time_of(row, 1)?);
        assembly.seen_at(time_of(row, 2)?);
        let titled = match row.get::<_, Option<bool>>(5)? {
            Some(true) => Titled::ByUser,
            Some(false) | None => Titled::ByAgent,
        };
        for column in [4, 3] {
            assembly.title(row.get::<_, Option<String>>(column)?.unwrap_or_default(), titled);
        }
        let number = |column| row.get::<_, Option<i64>>(column).map(|it| it.map(unsigned));
        let identity = &mut assembly.state.identity;
        identity.id = id.to_owned();
        identity.parent = row.get(6)?;
        identity.tokens = Tokens {
            input: number(7)?.unwrap_or_default(),
            output: number(8)?.unwrap_or_default(),
            cache_read: number(9)?.unwrap_or_default(),
            cache_write: number(10)?.unwrap_or_default(),
        };
        let cost = spent.or(row.get(11)?);
        identity.usage.cost = cost.map(|amount| Cost { amount, currency: "USD".to_owned() });
        identity.usage.input_tokens = number(12)?;
        identity.usage.output_tokens = number(13)?;
        identity.usage.context_used = number(14)?;
        Ok(())
    })
}

fn page(
    database: &Database,
    id: &str,
    place: &mut RowPlace,
    assembly: &mut Assembly,
) -> rusqlite::Result<More> {
    let metadata = database.column_or("messages", "metadata_json", "NULL")?;
    let sql = format!(
        "SELECT id, role, iif(octet_length(content_json) <= {LINE_BYTES_MAX}, content_json, NULL), \
         created_timestamp, iif(octet_length({metadata}) <= {LINE_BYTES_MAX}, {metadata}, NULL) FROM messages WHERE session_id = ?1 AND id > ?2 \
         ORDER BY id LIMIT {PAGE}"
    );
    let after = place.at.max(place.before.map_or(0, |before| before.last));
    let mut statement = database.connection().prepare_cached(&sql)?;
    let mut rows = statement.query(params![id, after])?;
    let mut read = 0;
    while let Some(row) = rows.next()? {
        place.at = row.get(0)?;
        place.newest = place.newest.max(place.at);
        read += 1;
        let (role, content): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        let at = crate::json::time(&Value::from(row.get::<_, i64>(3)?));
        let metadata: Option<String> = row.get(4)?;
        let metadata: Value =
            metadata.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        if field(&metadata, "userVisible") != &Value::Bool(false) {
            add(assembly, (place.at, &role), content.as_deref(), at);
        }
        let model = path(&metadata, &["inference", "requestedModel"]).as_str();
        assembly.model(model.unwrap_or_default());
    }
    Ok(if read < PAGE { More::No } else { More::Yes })
}

fn add(
    assembly: &mut Assembly,
    (row, role): (i64, &str),
    content: Option<&str>,
    at: Option<Timestamp>,
) {
    assembly.state.tally.lines += 1;
    assembly.begin_line(row.unsigned_abs(), row.unsigned_abs(), content.map_or(0, str::len) as u64);
    let blocks: Vec<Value> = match content.map(serde_json::from_str) {
        Some(Ok(blocks)) => blocks,
        Some(Err(error)) => return broken(assembly, row, content, &error.to_string()),
        None => {
            assembly.state.tally.too_long += 1;
            return broken(assembly, row, None, "it is too long");
        }
    };
    let mut said = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        let key = format!("{row}/{place}");
        match word(block, "type") {
            "text" if role == "user" => said.push(word(block, "text")),
            "text" => assembly.answer(&key, word(block, "text"), at),
            "thinking" | "reasoning" => {
                let text = [word(block, "thinking"), word(block, "text")].concat();
                assembly.thought(&key, &text, at);
            }
            "toolRequest" | "frontendToolRequest" => call(assembly, block, at),
            "toolResponse" => settle(assembly, block, at),
            "conversationCompacted" => assembly.compacted(&key, "", at),
            "systemNotification" => assembly.advice(&key, "info", word(block, "msg"), at),
            "image" if role == "user" => said.push("[image]"),
            "image"
            | "redactedThinking"
            | "toolConfirmationRequest"
            | "actionRequired"
            | "contextLengthExceeded"
            | "summarizationRequested" => {}
            kind => assembly.unknown(kind, block.to_string().as_bytes()),
        }
    }
    assembly.prompt(&row.to_string(), &said.join("\n"), at);
}

fn broken(assembly: &mut Assembly, row: i64, content: Option<&str>, why: &str) {
    let (line, bytes) = (row.unsigned_abs(), content.map_or(0, str::len) as u64);
    assembly.broken(BrokenLine { line, offset: 0, bytes, why: why.to_owned() });
}

fn call(assembly: &mut Assembly, block: &Value, at: Option<Timestamp>) {
    let call = path(block, &["toolCall", "value"]);
    let (id, tool) = (word(block, "id"), word(call, "name"));
    let args = field(call, "arguments").clone();
    assembly.call(Call { id, tool, args, at, ..Call::default() });
    let error = path(block, &["toolCall", "error"]).as_str().map(str::to_owned);
    if error.is_some() {
        assembly.settle(id, Outcome { error, at, ..Outcome::default() });
    }
}

fn settle(assembly: &mut Assembly, block: &Value, at: Option<Timestamp>) {
    let result = field(block, "toolResult");
    let value = field(result, "value");
    let blocks = if value.is_array() {
        value.as_array().map_or(&[][..], Vec::as_slice)
    } else {
        items(value, "content")
    };
    let texts: Vec<String> = blocks.iter().map(plain).collect();
    let text = texts.join("\n");
    let error = match word(result, "status") {
        "error" => Some(plain(field(result, "error"))),
        _ if is_set(value, "isError") => Some(text.clone()),
        _ => None,
    };
    let text = if error.is_some() { String::new() } else { text };
    assembly.settle(word(block, "id"), Outcome { text, error, at, ..Outcome::default() });
}

/// A time that SQLite wrote as a text, or an agent as a number.
fn time_of(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(match row.get_ref(column)? {
        rusqlite::types::ValueRef::Text(text) => time_in(&String::from_utf8_lossy(text)),
        rusqlite::types::ValueRef::Integer(number) => crate::json::time(&Value::from(number)),
        rusqlite::types::ValueRef::Null
        | rusqlite::types::ValueRef::Real(_)
        | rusqlite::types::ValueRef::Blob(_) => None,
    })
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
