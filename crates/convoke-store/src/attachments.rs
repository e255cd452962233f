//! Which attachments messages and queued prompts refer to.

use std::collections::BTreeSet;

use convoke_core::content::Content;
use convoke_core::prompt::Attachment;
use convoke_core::state::SessionState;

use crate::db::{Db, SqlResult, params};
use crate::error::{Fault, Result};
use crate::location::Location;
use crate::sqlite::open::DatabasePaths;
use crate::store::Store;

impl Store {
    /// The hashes of all attachments that are in use. Reads every prompt with attachments.
    pub async fn attachment_hashes(&self) -> Result<BTreeSet<String>> {
        self.read(move |db| Ok(hashes(db)?)).await
    }
}

/// As `attachment_hashes`, for a database that no daemon has open. Blocking; for commands.
pub fn hashes_in_use(location: &Location) -> Result<BTreeSet<String>> {
    match location {
        Location::File(path) => {
            let paths = DatabasePaths::at(path)?;
            let db = paths.connect_reader().map_err(|fault| fault.at(path))?;
            hashes(Db::Sqlite(&db)).map_err(|error| Fault::from(error).at(path))
        }
        Location::Server(server) => {
            let session = server.connect();
            let found = session.and_then(|session| hashes(Db::Postgres(&session)));
            found.map_err(|error| Fault::from(error).at(server.as_path()))
        }
    }
}

fn hashes(db: Db<'_>) -> SqlResult<BTreeSet<String>> {
    let mut hashes = BTreeSet::new();
    let mut add = |attachments: Vec<Attachment>| {
        hashes.extend(attachments.into_iter().map(|attachment| attachment.hash));
    };
    let sql = "SELECT content FROM messages
               WHERE role = 'user' AND content LIKE '%\"attachments\":%'";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![])?;
    while let Some(row) = rows.next()? {
        // A text that only contains the word does not parse as content with attachments.
        if let Ok(Content::Text { attachments, .. }) = serde_json::from_str(&row.get::<String>(0)?)
        {
            add(attachments);
        }
    }
    let sql = "SELECT body FROM session_state WHERE kind = 'queue'";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![])?;
    while let Some(row) = rows.next()? {
        if let Ok(SessionState::Queue { prompts, .. }) =
            serde_json::from_str(&row.get::<String>(0)?)
        {
            prompts.into_iter().for_each(|prompt| add(prompt.attachments));
        }
    }
    if let Db::Postgres(_) = db {
        // Prompts that are queued for a node that is away. The store does not know their format, so
        // everything that looks like a hash counts.
        let sql = "SELECT request FROM node_commands
                   WHERE finished_at IS NULL AND request LIKE '%attachments%'";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query(params![])?;
        while let Some(row) = rows.next()? {
            let request = row.get::<String>(0)?;
            let words = request.split(|c: char| !c.is_ascii_alphanumeric());
            hashes.extend(words.filter(|word| Attachment::is_hash(word)).map(str::to_owned));
        }
    }
    Ok(hashes)
}
