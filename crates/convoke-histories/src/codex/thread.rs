//! Titles of sessions, from the database beside Codex's files.

use std::collections::HashMap;

use crate::assembly::Titled;
use crate::database::{Database, ID_BYTES_MAX, ROWS_MAX};
use crate::store::SideMetadata;

/// The beginning of a title that is read. Without a name, the title is the whole first prompt.
const TITLE_MAX: usize = 4096;
/// The longest path on Linux.
const CWD_MAX: usize = 4096;

/// All of them, by id.
pub(crate) fn threads(database: &Database) -> rusqlite::Result<HashMap<String, SideMetadata>> {
    let has_names = database.has_column("threads", "name")?;
    let name = if has_names { "coalesce(name, '')" } else { "''" };
    let sql = format!(
        "SELECT id, substr(title, 1, {TITLE_MAX}), substr(cwd, 1, {CWD_MAX}),
             substr({name}, 1, {TITLE_MAX})
         FROM threads WHERE octet_length(id) <= {ID_BYTES_MAX} LIMIT {ROWS_MAX} + 1"
    );
    let mut statement = database.connection().prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let (id, title): (String, String) = (row.get(0)?, row.get(1)?);
        let (cwd, name): (String, String) = (row.get(2)?, row.get(3)?);
        // Without a name the title is the whole first prompt.
        let (title, titled) = match name.as_str() {
            "" => (title.lines().next().unwrap_or_default().to_owned(), Titled::ByAgent),
            _ => (name, Titled::ByUser),
        };
        Ok((id, SideMetadata { title, titled, cwd, parent: None }))
    })?;
    rows.collect()
}
