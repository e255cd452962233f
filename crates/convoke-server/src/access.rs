//! The access table: the role that every route and every frame needs, and its name in the audit
//! trail.
//!
//! A route that is not listed needs an owner.

use axum::http::Method;
use convoke_api::frames::ClientFrame;
use convoke_core::user::Role;

/// The access rule of a route or a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccessRule {
    /// The least role that is allowed.
    pub(crate) role: Role,
    /// The name in the audit trail; `None` for reads, and for changes that are not decisions.
    pub(crate) action: Option<&'static str>,
    /// Where that role is needed.
    pub(crate) scope: RoleScope,
}

/// Where a role is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleScope {
    /// In the project that it concerns; in general if it concerns none.
    Project,
    /// In general or in any project; the handler checks the project itself.
    Anywhere,
}

const fn read() -> AccessRule {
    AccessRule { role: Role::Viewer, action: None, scope: RoleScope::Project }
}

const fn member(action: &'static str) -> AccessRule {
    AccessRule { role: Role::Member, action: Some(action), scope: RoleScope::Project }
}

const fn owner(action: &'static str) -> AccessRule {
    AccessRule { role: Role::Owner, action: Some(action), scope: RoleScope::Project }
}

/// Reads by owners only.
const OWNER_READS: AccessRule =
    AccessRule { role: Role::Owner, action: None, scope: RoleScope::Project };
/// Frequent actions of members, which the audit trail leaves out.
const MEMBER_UNRECORDED: AccessRule =
    AccessRule { role: Role::Member, action: None, scope: RoleScope::Project };
/// Requests that name no project, by members of any project: uploads for a prompt, and the tools of
/// MCP, which check the project themselves.
const MEMBER_ANYWHERE: AccessRule =
    AccessRule { role: Role::Member, action: None, scope: RoleScope::Anywhere };

/// The access rule of a route; `path` is its pattern.
#[expect(clippy::too_many_lines, reason = "one line per route")]
pub(crate) fn of_route(method: &Method, path: &str) -> AccessRule {
    match (method.as_str(), path) {
        (
            "GET" | "HEAD",
            "/ws"
            | "/metrics"
            | "/healthz"
            | "/api/agents"
            | "/api/blobs/{hash}"
            | "/api/comparisons"
            | "/api/comparisons/{id}"
            | "/api/home"
            | "/api/inbox"
            | "/api/me"
            | "/api/nodes"
            | "/api/openapi.json"
            | "/api/repos"
            | "/api/repos/{id}/files"
            | "/api/rules"
            | "/api/search"
            | "/api/sessions"
            | "/api/sessions/{id}"
            | "/api/sessions/{id}/changes"
            | "/api/sessions/{id}/changes/file"
            | "/api/sessions/{id}/events"
            | "/api/sessions/{id}/messages"
            | "/api/sessions/{id}/move"
            | "/api/sessions/{id}/state"
            | "/api/status"
            | "/api/teams"
            | "/api/teams/sessions"
            | "/api/teams/analytics"
            | "/api/teams/stats"
            | "/api/teams/{team}/report"
            | "/api/teams/{team}/status"
            | "/api/worktrees",
        ) => read(),
        ("POST", "/mcp" | "/api/blobs") => MEMBER_ANYWHERE,
        ("POST", "/api/sessions/{id}/seen") => MEMBER_UNRECORDED,
        ("POST", "/api/sessions") => member("begin session"),
        ("PATCH", "/api/sessions/{id}") => member("change session"),
        ("DELETE", "/api/sessions/{id}") => member("cancel session"),
        ("POST", "/api/sessions/{id}/prompt") => member("prompt"),
        ("PATCH", "/api/sessions/{id}/queue/{prompt}") => member("edit queued prompt"),
        ("DELETE", "/api/sessions/{id}/queue/{prompt}") => member("remove queued prompt"),
        ("POST", "/api/sessions/{id}/queue/{prompt}/send") => member("send queued prompt"),
        ("POST", "/api/sessions/{id}/cancel") => member("cancel turn"),
        ("POST", "/api/sessions/{id}/complete") => member("complete session"),
        ("POST", "/api/sessions/{id}/resume") => member("resume session"),
        ("POST", "/api/sessions/{id}/mode") => member("change mode"),
        ("POST", "/api/sessions/{id}/setting") => member("change setting of agent"),
        ("POST", "/api/sessions/{id}/restore") => member("restore files"),
        ("POST", "/api/sessions/{id}/undo") => member("undo restore"),
        ("POST", "/api/sessions/{id}/revert") => member("revert changes"),
        ("POST", "/api/sessions/{id}/fork") => member("fork session"),
        ("POST", "/api/sessions/{id}/move") => member("move session"),
        ("POST", "/api/sessions/{id}/finish") => member("finish work tree"),
        ("POST", "/api/worktrees/{id}/restore") => member("restore work tree"),
        ("DELETE", "/api/worktrees/{id}") => member("remove work tree"),
        ("POST", "/api/comparisons") => member("begin comparison"),
        ("POST", "/api/comparisons/{id}/keep") => member("keep result"),
        ("POST", "/api/inbox/{id}/answer") => member("answer request"),
        ("POST", "/api/inbox/{id}/reject") => member("reject request"),
        ("POST", "/api/teams/{team}/ask") => member("ask team"),
        ("POST", "/api/teams/{team}/send") => member("message team"),
        ("POST", "/api/teams/{team}/cancel") => member("cancel question to team"),
        ("POST", "/api/teams/{team}/sleep") => member("put team to sleep"),
        ("POST", "/api/teams/{team}/wake") => member("wake team"),
        ("POST", "/api/sessions/{id}/erase") => owner("erase session"),
        ("POST", "/api/repos") => owner("add project"),
        ("DELETE", "/api/repos/{id}") => owner("remove project"),
        ("POST", "/api/rules") => owner("add rule"),
        ("DELETE", "/api/rules/{id}") => owner("remove rule"),
        ("PATCH", "/api/config") => owner("change settings"),
        ("POST", "/api/imports" | "/api/histories/import") => owner("import"),
        ("POST", "/api/backups") => owner("back up"),
        ("POST", "/api/agents/stop") => owner("stop all agents"),
        ("POST", "/api/teams/reload") => owner("reload teams"),
        ("DELETE", "/api/teams/sessions/{id}") => owner("delete session of teams"),
        ("POST", "/api/teams/sessions/{id}/compact") => owner("compact session of teams"),
        ("POST", "/api/browser-links") => owner("make link for browser"),
        ("DELETE", "/api/browser-sessions/{id}") => owner("sign browser out"),
        ("POST", "/api/users") => owner("add user"),
        ("PATCH", "/api/users/{name}") => owner("change role of user"),
        ("DELETE", "/api/users/{name}") => owner("remove user"),
        ("POST", "/api/users/{name}/link") => owner("make link for user"),
        ("POST", "/api/users/{name}/tokens") => owner("make token for user"),
        ("POST", "/api/users/{name}/sign-out") => owner("sign user out"),
        ("DELETE", "/api/users/{name}/devices/{id}") => owner("sign device out"),
        _ => OWNER_READS,
    }
}

/// The access rule of a frame.
pub(crate) const fn of_frame(frame: &ClientFrame) -> AccessRule {
    use ClientFrame as F;
    match frame {
        F::ProjectList {}
        | F::FileComplete { .. }
        | F::AgentList {}
        | F::SessionList { .. }
        | F::SessionOpen { .. }
        | F::SessionPage { .. }
        | F::SessionClose { .. }
        | F::RuleList {}
        | F::InboxList {}
        | F::HomeList {}
        | F::Search { .. }
        | F::Ping {} => read(),
        F::SessionSeen { .. } => MEMBER_UNRECORDED,
        F::SessionCreate { .. } => member("begin session"),
        F::SessionSend { .. } => member("prompt"),
        F::QueueEdit { .. } => member("edit queued prompt"),
        F::QueueRemove { .. } => member("remove queued prompt"),
        F::QueueMove { .. } => member("move queued prompt"),
        F::QueueSend { .. } => member("send queued prompt"),
        F::SessionCancel { .. } => member("cancel turn"),
        F::SessionArchive { .. } | F::SessionUnarchive { .. } | F::SessionRename { .. } => {
            member("change session")
        }
        F::SessionResume { .. } => member("resume session"),
        F::SessionEnd { .. } => member("end session"),
        F::SessionMode { .. } => member("change mode"),
        F::SessionSetting { .. } => member("change setting of agent"),
        F::PermissionAnswer { .. } | F::QuestionAnswer { .. } => member("answer request"),
        F::QuestionReject { .. } => member("reject request"),
        F::SessionErase { .. } => owner("erase session"),
        F::ProjectAdd { .. } => owner("add project"),
        F::ProjectRemove { .. } => owner("remove project"),
        F::FileOpen { .. } => owner("open file in editor"),
        F::RuleAdd { .. } => owner("add rule"),
        F::RuleRemove { .. } => owner("remove rule"),
        F::ConfigSet { .. } => owner("change settings"),
        F::FolderComplete { .. } | F::ConfigGet {} => OWNER_READS,
    }
}
