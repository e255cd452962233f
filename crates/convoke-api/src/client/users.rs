//! Users, their devices, and the audit trail.

use hyper::Method;

use super::query::segment;
use super::{Call, Client};
use crate::bodies::{Audit, NewToken, NewUser, RoleChange, TokenMade, User, UserLink, Users};
use crate::error::Result;

/// Which entries of the audit trail to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// What one user did.
    pub user: Option<String>,
    /// What concerned one session.
    pub session: Option<String>,
    /// At this date or time, or later.
    pub since: Option<String>,
    /// Older than this, the `next` of the page before.
    pub before: Option<u64>,
    /// How many at most.
    pub limit: Option<u64>,
}

impl Client {
    /// All users.
    pub async fn users(&self) -> Result<Users> {
        self.fetch(Call::get("/api/users")).await
    }

    /// Adds a user; the link signs in their first browser.
    pub async fn add_user(&self, new: &NewUser) -> Result<UserLink> {
        self.fetch(Call::post("/api/users").json(new)).await
    }

    /// Changes the role of a user.
    pub async fn change_user_role(&self, name: &str, change: &RoleChange) -> Result<User> {
        self.fetch(Call::new(Method::PATCH, path(name, "")).json(change)).await
    }

    /// Makes another link for a user.
    pub async fn user_link(&self, name: &str) -> Result<UserLink> {
        self.fetch(Call::post(path(name, "/link"))).await
    }

    /// Makes a token for a user.
    pub async fn make_user_token(&self, name: &str, new: &NewToken) -> Result<TokenMade> {
        self.fetch(Call::post(path(name, "/tokens")).json(new)).await
    }

    /// Signs one device of a user out.
    pub async fn sign_device_out(&self, name: &str, device: &str) -> Result<()> {
        let path = path(name, &format!("/devices/{}", segment(device)));
        self.done(Call::new(Method::DELETE, path)).await
    }

    /// Signs all devices of a user out.
    pub async fn sign_user_out(&self, name: &str) -> Result<()> {
        self.done(Call::post(path(name, "/sign-out"))).await
    }

    /// Removes a user.
    pub async fn remove_user(&self, name: &str) -> Result<()> {
        self.done(Call::new(Method::DELETE, path(name, ""))).await
    }

    /// The audit trail, the newest first.
    pub async fn audit(&self, query: &AuditQuery) -> Result<Audit> {
        let given = [
            ("user", query.user.clone()),
            ("session", query.session.clone()),
            ("since", query.since.clone()),
            ("before", query.before.map(|before| before.to_string())),
            ("limit", query.limit.map(|limit| limit.to_string())),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let given = given.map(|(name, value)| format!("{name}={}", segment(&value)));
        let query = given.collect::<Vec<_>>().join("&");
        self.fetch(Call::get(format!("/api/audit?{query}"))).await
    }
}

fn path(name: &str, rest: &str) -> String {
    format!("/api/users/{}{rest}", segment(name))
}
