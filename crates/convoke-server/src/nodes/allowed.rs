//! The commands that a node executes for another one: those that are about its sessions, projects, requests and teams.
//!
//! Everything else is refused: settings name programs that run outside of the sandbox, and who can write the database
//! must not be able to add projects.

use axum::http::{Method, Uri};
use convoke_api::frames::ClientFrame;

/// Whether a node executes this request for another one.
pub(crate) fn is_allowed_request(method: &str, uri: &str) -> bool {
    // The path as the router reads it.
    let Ok(uri) = uri.parse::<Uri>() else { return false };
    let Some(path) = uri.path().strip_prefix("/api/") else { return false };
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["sessions"] => method == Method::POST,
        ["sessions", _] => method == Method::PATCH || method == Method::DELETE,
        ["sessions", _, rest @ ..] => is_allowed_for_session(method, rest),
        ["repos", _] => method == Method::DELETE,
        ["repos", _, "files"] => is_read(method),
        ["inbox", _, "answer" | "reject"] => method == Method::POST,
        ["teams", "sessions", _] => method == Method::DELETE,
        ["teams", "sessions", _, "compact"] => method == Method::POST,
        ["teams", _, "report"] => is_read(method),
        ["teams", _, "cancel" | "sleep" | "wake"] => method == Method::POST,
        _ => false,
    }
}

fn is_allowed_for_session(method: &str, rest: &[&str]) -> bool {
    match rest {
        ["changes"] | ["changes", "file"] => is_read(method),
        ["queue", _] => method == Method::PATCH || method == Method::DELETE,
        [
            "prompt" | "cancel" | "complete" | "erase" | "finish" | "fork" | "mode" | "move"
            | "restore" | "resume" | "revert" | "seen" | "setting" | "undo",
        ]
        | ["queue", _, "send"] => method == Method::POST,
        _ => false,
    }
}

fn is_read(method: &str) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// Whether a node executes this frame for another one.
pub(super) const fn is_allowed_frame(frame: &ClientFrame) -> bool {
    use ClientFrame as F;
    match frame {
        F::SessionCreate { .. }
        | F::SessionSend { .. }
        | F::SessionCancel { .. }
        | F::SessionSeen { .. }
        | F::SessionErase { .. }
        | F::SessionArchive { .. }
        | F::SessionUnarchive { .. }
        | F::SessionRename { .. }
        | F::SessionResume { .. }
        | F::SessionEnd { .. }
        | F::SessionMode { .. }
        | F::SessionSetting { .. }
        | F::QueueEdit { .. }
        | F::QueueRemove { .. }
        | F::QueueMove { .. }
        | F::QueueSend { .. }
        | F::PermissionAnswer { .. }
        | F::QuestionAnswer { .. }
        | F::QuestionReject { .. }
        | F::FileComplete { .. }
        | F::ProjectRemove { .. } => true,
        F::ProjectList {}
        | F::ProjectAdd { .. }
        | F::FolderComplete { .. }
        | F::FileOpen { .. }
        | F::AgentList {}
        | F::SessionList { .. }
        | F::SessionOpen { .. }
        | F::SessionPage { .. }
        | F::SessionClose { .. }
        | F::RuleList {}
        | F::RuleAdd { .. }
        | F::RuleRemove { .. }
        | F::InboxList {}
        | F::HomeList {}
        | F::Search { .. }
        | F::ConfigGet {}
        | F::ConfigSet { .. }
        | F::Ping {} => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n3_k1_the_path_is_the_one_that_the_router_reads() {
        assert!(is_allowed_request("GET", "/api/teams/a/report?from=b"));
        for (method, uri) in [
            ("POST", "/api/teams/reload#/cancel"),
            ("POST", "/api/repos"),
            ("POST", "/api/repos?/x/prompt"),
            ("POST", "/api/sessions/../config"),
            ("PATCH", "/api/config#/sessions/x"),
            ("POST", "/mcp"),
            ("POST", ""),
            ("post", "/api/sessions"),
        ] {
            assert!(!is_allowed_request(method, uri), "{method} {uri}");
        }
    }
}
