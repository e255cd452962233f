//! People who use the daemon besides its owner, their tokens, and the audit trail.

use convoke_core::id::{ProjectId, RequestId, SessionId};
use convoke_core::time::Timestamp;
use convoke_core::user::{Role, UserName};

use crate::db::{Db, Optional as _, Param, Row, SqlResult, ToParam as _, params};
use crate::error::{Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::users::{
    AddToken, AddUser, RecordAct, RemoveToken, RemoveUser, SetRole, SignOut, TouchToken,
};

/// The most users and tokens that are listed.
const LISTED_MAX: u32 = 10_000;

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Their name.
    pub name: UserName,
    /// What they may do, unless a project says otherwise.
    pub role: Role,
    /// When they were added.
    pub created_at: Timestamp,
    /// The epoch that a browser's sign-in must carry; signing out increases it.
    pub epoch: i64,
    /// Their roles in single projects.
    pub projects: Vec<(ProjectId, Role)>,
}

/// A token with which programs act for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserToken {
    /// Its id, which is no secret.
    pub id: String,
    /// The user.
    pub user: UserName,
    /// What it is for.
    pub label: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
}

/// Something that a human did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// When.
    pub at: Timestamp,
    /// The user; the owner of the daemon without one.
    pub user: Option<UserName>,
    /// The device and the address.
    pub origin: String,
    /// What was done.
    pub action: String,
    /// The session that it concerned.
    pub session_id: Option<SessionId>,
    /// The project that it concerned.
    pub project_id: Option<ProjectId>,
    /// The request that it decided.
    pub request_id: Option<RequestId>,
    /// A description.
    pub subject: String,
}

/// An act in the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number; later ones have higher numbers.
    pub n: u64,
    /// The act.
    pub act: Act,
    /// The name of the daemon that did it, if several share the database.
    pub node: Option<String>,
}

/// Which acts are listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// Of this user.
    pub user: Option<UserName>,
    /// In this session.
    pub session: Option<SessionId>,
    /// Before this one.
    pub before: Option<u64>,
    /// At this time or later.
    pub since: Option<Timestamp>,
}

impl Store {
    /// Adds a user; returns whether the name was free.
    pub async fn add_user(&self, name: UserName, role: Role, at: Timestamp) -> Result<bool> {
        self.make(AddUser { name, role, at }).await
    }

    /// Changes a user's general role, or the role in a project, where `None` removes it. Returns
    /// whether the user exists.
    pub async fn set_role(
        &self,
        name: UserName,
        project: Option<ProjectId>,
        role: Option<Role>,
    ) -> Result<bool> {
        self.make(SetRole { name, project, role }).await
    }

    /// Signs all browsers of a user out and removes their tokens. Returns whether the user exists.
    pub async fn sign_out_user(&self, name: UserName, at: Timestamp) -> Result<bool> {
        self.make(SignOut { name, at }).await
    }

    /// Removes a user; the audit trail keeps their acts. Returns whether the user existed.
    pub async fn remove_user(&self, name: UserName) -> Result<bool> {
        self.make(RemoveUser { name }).await
    }

    /// Lists all users, by name.
    pub async fn users(&self) -> Result<Vec<User>> {
        self.read(|db| {
            let sql = "SELECT name, role, created_at, epoch FROM users ORDER BY name LIMIT ?1";
            let mut statement = db.prepare_cached(sql)?;
            let users = statement.query_map(params![LISTED_MAX], user)?;
            let users: Vec<User> = users.collect::<SqlResult<_>>()?;
            users.into_iter().map(|user| with_projects(db, user)).collect()
        })
        .await
    }

    /// Finds a user.
    pub async fn user(&self, name: UserName) -> Result<Option<User>> {
        self.read(move |db| find(db, "name = ?1", name.as_str())).await
    }

    /// Stores a token by the digest of its text.
    pub async fn add_user_token(&self, token: UserToken, digest: String) -> Result<()> {
        self.make(AddToken { token, digest }).await
    }

    /// Finds the user of a token, and the token's id, by the digest of its text.
    pub async fn user_of_token(&self, digest: String) -> Result<Option<(User, UserToken)>> {
        self.read(move |db| {
            let sql = "SELECT id, user_name, label, created_at, last_used_at
                       FROM user_tokens WHERE digest = ?1";
            let found = db.prepare_cached(sql)?.query_row([digest], token).optional()?;
            let Some(token) = found else { return Ok(None) };
            let user = find(db, "name = ?1", token.user.as_str())?;
            Ok(user.map(|user| (user, token)))
        })
        .await
    }

    /// Records that a token was used.
    pub async fn touch_user_token(&self, id: String, at: Timestamp) -> Result<()> {
        self.make(TouchToken { id, at }).await
    }

    /// Lists the tokens of all users, by user, the newest first.
    pub async fn user_tokens(&self) -> Result<Vec<UserToken>> {
        self.read(|db| {
            let sql = "SELECT id, user_name, label, created_at, last_used_at FROM user_tokens
                       ORDER BY user_name, created_at DESC, id LIMIT ?1";
            let mut statement = db.prepare_cached(sql)?;
            let tokens = statement.query_map(params![LISTED_MAX], token)?;
            Ok(tokens.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Removes a token of a user; returns whether it existed.
    pub async fn remove_user_token(&self, user: UserName, id: String) -> Result<bool> {
        self.make(RemoveToken { user, id }).await
    }

    /// Adds to the audit trail.
    pub async fn record_act(&self, act: Act) -> Result<()> {
        self.make(RecordAct(act)).await
    }

    /// Reads the audit trail, the newest first.
    pub async fn audit(&self, filter: AuditFilter, limit: u32) -> Result<Vec<AuditEntry>> {
        self.read(move |db| {
            let before = filter.before.and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MAX);
            let user = filter.user.as_ref().map(UserName::as_str);
            let session = filter.session.map(|id| id.to_string());
            let since = filter.since.map(Timestamp::as_millis);
            let given = [
                ("a.user_name = ", user.to_param()),
                ("a.session_id = ", session.to_param()),
                ("a.at >= ", since.to_param()),
            ];
            let (mut filters, mut params) = (String::new(), params![before, limit].to_vec());
            for (filter, value) in given.into_iter().filter(|(_, value)| *value != Param::Null) {
                params.push(value);
                filters.push_str(&format!("AND {filter}?{} ", params.len()));
            }
            let (node, nodes) = match db {
                Db::Sqlite(_) => ("NULL", ""),
                Db::Postgres(_) => ("d.name", "LEFT JOIN nodes AS d ON d.id = a.node"),
            };
            let sql = format!(
                "SELECT a.n, a.at, a.user_name, a.origin, a.action, a.session_id, a.project_id,
                     a.request_id, a.subject, {node}
                 FROM audit AS a {nodes} WHERE a.n < ?1 {filters} ORDER BY a.n DESC LIMIT ?2"
            );
            let mut statement = db.prepare_cached(&sql)?;
            let entries = statement.query_map(params.as_slice(), entry)?;
            Ok(entries.collect::<SqlResult<_>>()?)
        })
        .await
    }
}

fn find(db: Db<'_>, which: &str, value: &str) -> Result<Option<User>, Fault> {
    let sql = format!("SELECT name, role, created_at, epoch FROM users WHERE {which}");
    let found = db.prepare_cached(&sql)?.query_row([value], user).optional()?;
    found.map(|user| with_projects(db, user)).transpose()
}

fn with_projects(db: Db<'_>, user: User) -> Result<User, Fault> {
    let sql =
        "SELECT project_id, role FROM user_roles WHERE user_name = ?1 ORDER BY project_id LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let projects = statement.query_map(params![user.name.as_str(), LISTED_MAX], |row| {
        Ok((row::text(row, 0)?, row::word(row, 1, &Role::ALL, Role::as_str)?))
    })?;
    let projects = projects.collect::<SqlResult<_>>()?;
    Ok(User { projects, ..user })
}

fn user(row: &Row<'_>) -> SqlResult<User> {
    Ok(User {
        name: row::text(row, 0)?,
        role: row::word(row, 1, &Role::ALL, Role::as_str)?,
        created_at: row::timestamp(row, 2)?,
        epoch: row.get(3)?,
        projects: Vec::new(),
    })
}

fn token(row: &Row<'_>) -> SqlResult<UserToken> {
    Ok(UserToken {
        id: row.get(0)?,
        user: row::text(row, 1)?,
        label: row.get(2)?,
        created_at: row::timestamp(row, 3)?,
        last_used_at: row.get::<Option<i64>>(4)?.map(Timestamp::from_millis),
    })
}

fn entry(row: &Row<'_>) -> SqlResult<AuditEntry> {
    let n: i64 = row.get(0)?;
    Ok(AuditEntry {
        n: n.unsigned_abs(),
        act: Act {
            at: row::timestamp(row, 1)?,
            user: row::optional_text(row, 2)?,
            origin: row.get(3)?,
            action: row.get(4)?,
            session_id: row::optional_text(row, 5)?,
            project_id: row::optional_text(row, 6)?,
            request_id: row::optional_text(row, 7)?,
            subject: row.get(8)?,
        },
        node: row.get(9)?,
    })
}
