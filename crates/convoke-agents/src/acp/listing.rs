//! The sessions that an agent lists.

use std::path::PathBuf;

use serde_json::Value;

use super::text::cut_to;
use crate::driver::{Listed, Page};

/// The longest title; longer ones are cut.
const TITLE_BYTES_MAX: usize = 4 << 10;

/// One page of the answer to `session/list`.
pub(super) fn page(result: &Value) -> Page {
    let sessions = result.get("sessions").and_then(Value::as_array).map(Vec::as_slice);
    let sessions = sessions.unwrap_or_default().iter().filter_map(listed).collect();
    let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
    Page { sessions, next }
}

fn listed(session: &Value) -> Option<Listed> {
    let field = |name: &str| session.get(name).and_then(Value::as_str);
    Some(Listed {
        agent_session: field("sessionId")?.to_owned(),
        workspace: field("cwd").map(PathBuf::from),
        title: field("title").map(|title| cut_to(title, TITLE_BYTES_MAX)),
        updated_at: field("updatedAt").map(str::to_owned),
    })
}
