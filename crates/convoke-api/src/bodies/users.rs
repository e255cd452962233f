//! People who use the daemon besides its owner, and the audit trail.

use convoke_core::id::{ProjectId, RequestId, SessionId};
use convoke_core::time::Timestamp;
use convoke_core::user::{Role, UserName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NOT_BLANK, USER_NAME};

/// All users: `GET /api/users`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Users {
    /// By name. The owner of the daemon is not among them.
    pub users: Vec<User>,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Their name.
    pub name: UserName,
    /// What they may do, unless a project says otherwise.
    pub role: Role,
    /// Their roles in single projects.
    pub projects: Vec<ProjectRole>,
    /// Their tokens, and their browsers that are signed in at this daemon.
    pub devices: Vec<Device>,
    /// When they were added.
    pub created_at: Timestamp,
}

/// A role in one project, in place of the general one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRole {
    /// The project.
    pub repo_id: ProjectId,
    /// Its name.
    pub project: String,
    /// What they may do there.
    pub role: Role,
}

/// Something that a user is signed in with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// Its id, which is no secret.
    pub id: String,
    /// What it is.
    pub kind: DeviceKind,
    /// What a browser calls itself; what a token is for.
    pub label: String,
    /// When it signed in or was made.
    pub created_at: Timestamp,
    /// When it was last used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

/// What a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeviceKind {
    /// A browser.
    Browser,
    /// A token of a program.
    Token,
}

/// A user to add: `POST /api/users`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewUser {
    /// Letters, digits, `-`, `_`, `.` and `@`; at most 64.
    #[schemars(extend("pattern" = USER_NAME))]
    pub name: String,
    /// What they may do; `member`, by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// A one-time link that signs in one browser of a user.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserLink {
    /// The user.
    pub user: UserName,
    /// The link, which is a secret.
    pub url: String,
    /// When it stops working.
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for UserLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserLink").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Another role for a user: `PATCH /api/users/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleChange {
    /// The role; `null` removes the one in the project, so that the general one holds there, and changes nothing without a
    /// project.
    pub role: Option<Role>,
    /// The project that it is for; in general, without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
}

/// A token to make: `POST /api/users/{name}/tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToken {
    /// What it is for; at most 200 characters.
    #[schemars(extend("pattern" = NOT_BLANK, "maxLength" = 200))]
    pub label: String,
}

/// A new token. It is shown this once; only its digest is stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenMade {
    /// Its id.
    pub id: String,
    /// The user.
    pub user: UserName,
    /// The token, which is a secret: `Authorization: Bearer …`.
    pub token: String,
}

impl std::fmt::Debug for TokenMade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenMade").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Who asks: `GET /api/me`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// The user; absent for the owner of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<UserName>,
    /// What they may do, unless a project says otherwise.
    pub role: Role,
    /// Their roles in single projects.
    pub projects: Vec<ProjectRole>,
}

/// The audit trail: `GET /api/audit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// The newest first.
    pub entries: Vec<AuditEntry>,
    /// `before` for older ones, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Something that a human did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// The user; absent for the owner of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
    /// The device and the address.
    pub from: String,
    /// The daemon, if several share the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What was done, such as `prompt` or `answer request`.
    pub action: String,
    /// What it was about, such as the title of a permission and the option that was chosen.
    pub subject: String,
    /// The session that it concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The project that it concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<ProjectId>,
    /// The request that it decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
