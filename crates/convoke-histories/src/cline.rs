//! Cline: `sessions/<session>/<session>.messages.json`, one document per session, with metadata in
//! a file and a database beside it.

use std::collections::HashMap;
use std::path::PathBuf;

use convoke_core::content::Cost;
use serde_json::Value;

use crate::assembly::{Assembly, Titled};
use crate::blocks;
use crate::database::{Database, ID_BYTES_MAX, ROWS_MAX};
use crate::environment::Environment;
use crate::importer::{Form, Importer, LoadKnown, file_name, folder_name};
use crate::item::Tokens;
use crate::json::{count, field, path, text, time, word};
use crate::store::{SiblingFiles, SideMetadata};
use crate::wrapped::{unwrapped, without};

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["sessions/*/*.messages.json"],
    beside: &["sessions/*/*.json", "db/sessions.db"],
    locks: &[],
    programs: &["cline"],
    form: Form::Document { begin, element },
    known: Some(LoadKnown { table: "sessions", load: sessions }),
};

/// How files of messages are called.
const SUFFIX: &str = ".messages.json";
/// The longest path on Linux.
const CWD_MAX: usize = 4096;
/// The longest metadata of a session in the database; only a title is read from it.
const METADATA_BYTES_MAX: usize = 64 << 10;

fn roots(environment: &Environment) -> Vec<PathBuf> {
    if let Some(sessions) = environment.folder("CLINE_SESSION_DATA_DIR")
        && let Some(data) = sessions.parent()
    {
        return vec![data.to_owned()];
    }
    let moved = environment.folder("CLINE_DATA_DIR");
    let moved = moved.or_else(|| environment.folder("CLINE_DIR").map(|folder| folder.join("data")));
    vec![moved.unwrap_or_else(|| environment.in_home(".cline/data"))]
}

fn begin(assembly: &mut Assembly, path: &str, beside: &mut SiblingFiles<'_>) {
    let id = file_name(path).trim_end_matches(SUFFIX).to_owned();
    let folder = folder_name(path, 1);
    if folder != id {
        assembly.state.identity.parent = Some(folder.to_owned());
    }
    let session = beside.json(&format!("sessions/{folder}/{id}.json"));
    let metadata = field(&session, "metadata");
    assembly.title(prompt(word(metadata, "title")), Titled::ByAgent);
    assembly.cwd(word(&session, "cwd"));
    assembly.model(word(&session, "model"));
    assembly.seen_at(time(field(&session, "started_at")));
    assembly.seen_at(time(field(&session, "ended_at")));
    if let Some(amount) = field(metadata, "totalCost").as_f64() {
        let cost = Cost { amount, currency: "USD".to_owned() };
        assembly.state.identity.usage.cost = Some(cost);
    }
    beside.apply_known(&id, assembly);
    assembly.state.identity.id = id;
}

fn element(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let message: Value = serde_json::from_slice(bytes)?;
    // Another field of the document.
    if message.get("role").is_none() {
        assembly.seen_at(time(field(&message, "updated_at")));
        return Ok(());
    }
    let key = text(&message, "id").unwrap_or_else(|| format!("message/{}", assembly.line));
    let at = time(field(&message, "ts"));
    blocks::add(assembly, &message, &key, at, prompt);
    assembly.model(path(&message, &["modelInfo", "id"]).as_str().unwrap_or_default());
    let metrics = field(&message, "metrics");
    if !metrics.is_null() {
        assembly.used(Tokens {
            input: count(metrics, "inputTokens"),
            output: count(metrics, "outputTokens"),
            cache_read: count(metrics, "cacheReadTokens"),
            cache_write: count(metrics, "cacheWriteTokens"),
        });
    }
    Ok(())
}

/// The text that the user typed, from what was sent to the model.
fn prompt(text: &str) -> String {
    let text = without(text, &["environment_details", "system-reminder"]);
    unwrapped(&text, "user_input").to_owned()
}

fn sessions(database: &Database) -> rusqlite::Result<HashMap<String, SideMetadata>> {
    let sql = format!(
        "SELECT session_id, substr(cwd, 1, {CWD_MAX}),
             iif(octet_length(metadata_json) <= {METADATA_BYTES_MAX}, metadata_json, ''),
             substr(parent_session_id, 1, {ID_BYTES_MAX})
         FROM sessions WHERE octet_length(session_id) <= {ID_BYTES_MAX} LIMIT {ROWS_MAX} + 1"
    );
    let mut statement = database.connection().prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let (id, cwd): (String, String) = (row.get(0)?, row.get(1)?);
        let metadata: String = row.get(2)?;
        let metadata: Value = serde_json::from_str(&metadata).unwrap_or_default();
        let (title, titled) = (prompt(word(&metadata, "title")), Titled::ByAgent);
        Ok((id, SideMetadata { title, titled, cwd, parent: row.get(3)? }))
    })?;
    rows.collect()
}
