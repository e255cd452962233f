//! Sign-in of browsers: one-time links, and the browser sessions that they create.

use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link to make: `POST /api/browser-links`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBrowserLink {
    /// How the link is handed over.
    #[serde(default)]
    pub r#as: LinkForm,
}

/// How a one-time link is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LinkForm {
    /// As a URL.
    #[default]
    Url,
    /// As a file that leads a browser there. Other users see the arguments of a process, and cannot read this file.
    File,
}

/// A one-time link: it signs in one browser, once, until it expires.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserLink {
    /// The link itself, unless a file was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The HTML file to open, if one was asked for. It is removed when the link is used or expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// When it stops working.
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for BrowserLink {
    /// Without the link, which is a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrowserLink").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// What a page signs in with: `POST /api/browser-sessions`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignIn {
    /// The secret part of a one-time link.
    pub link: String,
}

impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignIn(…)")
    }
}

/// A browser that is signed in. The cookie that comes with this answer is worth nothing without the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedIn {
    /// The browser session.
    pub id: String,
    /// What the page sends with every request, in the header `X-Convoke-Browser` and in the socket's first frame. Absent
    /// when the browser was signed in before and keeps the secret that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

impl std::fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedIn").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A browser that may use the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserSession {
    /// Its id.
    pub id: String,
    /// When it signed in.
    pub created_at: Timestamp,
    /// When it was last seen.
    pub last_used_at: Timestamp,
    /// What it calls itself; at most 200 characters.
    pub user_agent: String,
    /// The user; absent for the owner of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
}

/// All browsers that may use the page: `GET /api/browser-sessions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserSessions {
    /// The browsers, the last used first.
    pub browser_sessions: Vec<BrowserSession>,
}
