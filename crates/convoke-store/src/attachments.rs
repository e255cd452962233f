//! Which attachments messages and queued prompts refer to.

use std::collections::BTreeSet;

use convoke_core::content::Content;
use convoke_core::prompt::Attachment;
use convoke_core::state::SessionState;

use crate::db::params;
use crate::error::Result;
use crate::store::Store;

impl Store {
    /// The hashes of all attachments that are in use. Looks at every prompt.
    pub async fn attachment_hashes(&self) -> Result<BTreeSet<String>> {
        self.read(move |db| {
            let mut hashes = BTreeSet::new();
            let mut add = |attachments: Vec<Attachment>| {
                hashes.extend(attachments.into_iter().map(|attachment| attachment.hash));
            };
            let sql = "SELECT content FROM messages
                       WHERE role = 'user' AND content LIKE '%\"attachments\":%'";
            let mut statement = db.prepare_cached(sql)?;
            let mut rows = statement.query(params![])?;
            while let Some(row) = rows.next()? {
                // A text that only mentions the word is no content with attachments.
                if let Ok(Content::Text { attachments, .. }) =
                    serde_json::from_str(&row.get::<String>(0)?)
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
            Ok(hashes)
        })
        .await
    }
}
