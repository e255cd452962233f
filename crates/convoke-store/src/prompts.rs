//! The prompts of a session, which begin its turns. Their texts are among the messages.

use convoke_core::id::SessionId;
use convoke_core::message::Seq;

use crate::db::SqlResult;
use crate::error::Result;
use crate::store::Store;

impl Store {
    /// The seqs of all prompts of a session, in order.
    pub async fn prompt_seqs(&self, session: SessionId) -> Result<Vec<Seq>> {
        self.read_session(session, move |db, n| {
            let sql = "SELECT seq FROM messages WHERE session = ?1 AND role = 'user' ORDER BY seq";
            let mut statement = db.prepare_cached(sql)?;
            let seqs = statement.query_map([n], |row| row.get(0))?;
            let seqs = seqs.collect::<SqlResult<Vec<u64>>>()?;
            Ok(seqs.into_iter().map(Seq::new).collect())
        })
        .await
    }
}
