//! Users: who may use the daemon besides its owner, with which devices, and what everyone did.

use std::collections::HashMap;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{
    Audit, AuditEntry, BrowserSession, Device, DeviceKind, Me, NewToken, NewUser, ProjectRole,
    RoleChange, TokenMade, User, UserLink, Users, code,
};
use convoke_core::explain;
use convoke_core::id::ProjectId;
use convoke_core::time::Timestamp;
use convoke_core::user::{Role, UserName};
use convoke_engine::{AuditFilter, Error, UserToken};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, Written, find_session};
use crate::actor::{Actor, Login};
use crate::app::App;
use crate::auth::{BrowserUser, Revoked, USER_LINK_LIFE, digest};
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::middleware::Caller;
use crate::query::{Query, within};
use crate::search::{self, Day};

/// Characters of a token's id.
const ID_CHARS: usize = 8;
/// Characters that say what a token is for.
const LABEL_CHARS: usize = 200;
/// Entries of the audit trail in one answer.
const ENTRIES: u64 = 100;
const ENTRIES_MAX: u64 = 1000;

/// List the users
#[utoipa::path(
    get,
    path = "/api/users",
    operation_id = "listUsers",
    tag = "users",
    responses((status = 200, description = "All users with their roles and devices, by name", body = Users))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let (names, devices) = (project_names(&app).await?, Devices::read(&app).await?);
    let users = app.engine.users().list().await?;
    let users = users.into_iter().map(|user| shown(user, &names, &devices)).collect();
    Ok(json::ok(&Users { users }))
}

/// Add a user
///
/// The link signs in one browser of theirs, once, within a day.
#[utoipa::path(
    post,
    path = "/api/users",
    operation_id = "addUser",
    tag = "users",
    request_body = NewUser,
    responses(
        (status = 201, description = "The link for their first browser", body = UserLink),
        (status = 409, description = "There is a user of this name"),
    )
)]
pub(super) async fn add(
    State(app): Daemon,
    Extension(caller): Extension<Caller>,
    Json(new): Json<NewUser>,
) -> Result<Response, Failure> {
    refuse_browsers(&caller)?;
    let name: UserName = new.name.parse().map_err(Error::from)?;
    let user = app.engine.users().add(name, new.role.unwrap_or(Role::Member)).await?;
    Ok(json::answer(StatusCode::CREATED, &link_for(&app, user)))
}

/// Make another link for a user
#[utoipa::path(
    post,
    path = "/api/users/{name}/link",
    operation_id = "makeUserLink",
    tag = "users",
    params(("name" = String, Path, description = "The user")),
    responses(
        (status = 201, description = "A link that signs in one browser, once, within a day", body = UserLink),
        (status = 404, description = "There is no such user"),
    )
)]
pub(super) async fn link(
    State(app): Daemon,
    Extension(caller): Extension<Caller>,
    Written(name): Written,
) -> Result<Response, Failure> {
    refuse_browsers(&caller)?;
    let user = app.engine.users().get(&name).await?;
    Ok(json::answer(StatusCode::CREATED, &link_for(&app, user)))
}

/// Change the role of a user
///
/// In general, or in one project. It holds from the next request on.
#[utoipa::path(
    patch,
    path = "/api/users/{name}",
    operation_id = "changeUserRole",
    tag = "users",
    params(("name" = String, Path, description = "The user")),
    request_body = RoleChange,
    responses(
        (status = 200, description = "The user", body = User),
        (status = 404, description = "There is no such user or project"),
        (status = 409, description = "The prefix matches several projects"),
    )
)]
pub(super) async fn change(
    State(app): Daemon,
    Written(name): Written,
    Json(change): Json<RoleChange>,
) -> Result<Response, Failure> {
    let project = match &change.repo_id {
        Some(text) => Some(app.engine.projects().find(text).await?),
        None => None,
    };
    let user = app.engine.users().set_role(&name, project, change.role).await?;
    app.users_changed.send_replace(());
    let (names, devices) = (project_names(&app).await?, Devices::read(&app).await?);
    Ok(json::ok(&shown(user, &names, &devices)))
}

/// Remove a user
///
/// All of their devices are signed out, and their rules are removed. What they did stays in the audit trail.
#[utoipa::path(
    delete,
    path = "/api/users/{name}",
    operation_id = "removeUser",
    tag = "users",
    params(("name" = String, Path, description = "The user")),
    responses(
        (status = 204, description = "The user is removed"),
        (status = 404, description = "There is no such user"),
    )
)]
pub(super) async fn remove(
    State(app): Daemon,
    Written(name): Written,
) -> Result<StatusCode, Failure> {
    let name = app.engine.users().remove(&name).await?;
    app.auth.links.drop_user(&name);
    app.users_changed.send_replace(());
    Ok(StatusCode::NO_CONTENT)
}

/// Sign all devices of a user out
///
/// On all nodes; their tokens are removed.
#[utoipa::path(
    post,
    path = "/api/users/{name}/sign-out",
    operation_id = "signUserOut",
    tag = "users",
    params(("name" = String, Path, description = "The user")),
    responses(
        (status = 204, description = "The devices are signed out"),
        (status = 404, description = "There is no such user"),
    )
)]
pub(super) async fn sign_out(
    State(app): Daemon,
    Written(name): Written,
) -> Result<StatusCode, Failure> {
    let user = app.engine.users().get(&name).await?;
    app.engine.users().sign_out(&name).await?;
    app.auth.links.drop_user(&user.name);
    app.users_changed.send_replace(());
    Ok(StatusCode::NO_CONTENT)
}

/// Make a token with which programs act for a user
#[utoipa::path(
    post,
    path = "/api/users/{name}/tokens",
    operation_id = "makeUserToken",
    tag = "users",
    params(("name" = String, Path, description = "The user")),
    request_body = NewToken,
    responses(
        (status = 201, description = "The token, which is shown this once", body = TokenMade),
        (status = 404, description = "There is no such user"),
    )
)]
pub(super) async fn make_token(
    State(app): Daemon,
    Extension(caller): Extension<Caller>,
    Written(name): Written,
    Json(NewToken { label }): Json<NewToken>,
) -> Result<Response, Failure> {
    refuse_browsers(&caller)?;
    let length = label.trim().chars().count();
    if length == 0 || length > LABEL_CHARS {
        let detail =
            format!("label must say what the token is for, in 1 to {LABEL_CHARS} characters");
        return Err(Failure::invalid(detail));
    }
    let token = app.new_token();
    let id: String = app.new_token().as_str().chars().take(ID_CHARS).collect();
    let (label, digest) = (label.trim().to_owned(), digest(token.as_str()));
    let made = app.engine.users().add_token(&name, id, label, digest).await?;
    let token = token.as_str().to_owned();
    Ok(json::answer(StatusCode::CREATED, &TokenMade { id: made.id, user: made.user, token }))
}

/// Sign one device of a user out
///
/// A token, or a browser that is signed in at this daemon.
#[utoipa::path(
    delete,
    path = "/api/users/{name}/devices/{id}",
    operation_id = "signDeviceOut",
    tag = "users",
    params(
        ("name" = String, Path, description = "The user"),
        ("id" = String, Path, description = "The id of the device"),
    ),
    responses(
        (status = 204, description = "The device is signed out"),
        (status = 404, description = "There is no such user or device"),
    )
)]
pub(super) async fn sign_device_out(
    State(app): Daemon,
    Path((name, id)): Path<(String, String)>,
) -> Result<StatusCode, Failure> {
    let user = app.engine.users().get(&name).await?;
    let browsers = app.auth.browsers.list();
    if browsers.iter().any(|it| it.id == id && it.user.as_ref() == Some(&user.name)) {
        let revoked = app.auth.browsers.revoke(&id).await;
        return match revoked.map_err(|error| Failure::internal(explain(&error)))? {
            Revoked::Done | Revoked::Unknown => Ok(StatusCode::NO_CONTENT),
        };
    }
    app.engine.users().remove_token(&name, &id).await?;
    app.users_changed.send_replace(());
    Ok(StatusCode::NO_CONTENT)
}

/// Tell who asks, and what they may do
#[utoipa::path(
    get,
    path = "/api/me",
    operation_id = "showMe",
    tag = "users",
    responses((status = 200, description = "The user, or the owner of the daemon", body = Me))
)]
pub(super) async fn me(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
) -> Result<Response, Failure> {
    let projects = match actor.projects.is_empty() {
        true => Vec::new(),
        false => project_roles(actor.projects, &project_names(&app).await?),
    };
    Ok(json::ok(&Me { name: actor.name, role: actor.role, projects }))
}

/// Which entries of the audit trail are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only what this user did.
    #[param(pattern = "^[A-Za-z0-9][A-Za-z0-9@_.-]{0,63}$")]
    user: Option<String>,
    /// Only what concerned this session: its id, its canonical id, or a unique prefix of its id.
    session: Option<String>,
    /// Only what was done at this date or time, or later: `2026-11-15` (UTC), or RFC 3339.
    #[param(pattern = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$")]
    since: Option<String>,
    /// Only older entries: `next` of an earlier answer.
    #[serde(default, deserialize_with = "within::<_, 0, 9_007_199_254_740_991>")]
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    before: Option<u64>,
    /// How many; 100 by default.
    #[serde(default, deserialize_with = "within::<_, 1, ENTRIES_MAX>")]
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
}

/// Read the audit trail
///
/// What people did with sessions, requests, rules, settings and users, the newest first: who, when, and from where.
#[utoipa::path(
    get,
    path = "/api/audit",
    operation_id = "readAudit",
    tag = "users",
    params(AuditQuery),
    responses(
        (status = 200, description = "The entries", body = Audit),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn audit(
    State(app): Daemon,
    Query(which): Query<AuditQuery>,
) -> Result<Response, Failure> {
    let session = match &which.session {
        Some(text) => Some(find_session(&app, text).await?),
        None => None,
    };
    let user = which.user.map(|name| name.parse()).transpose().map_err(Error::from)?;
    let since = which.since.map(|text| search::time("since", &text, Day::Begins)).transpose()?;
    let filter = AuditFilter { user, session, before: which.before, since };
    let limit = u32::try_from(which.limit.unwrap_or(ENTRIES)).unwrap_or(u32::MAX);
    let found = app.engine.users().audit(filter, limit).await?;
    let next = found.last().filter(|_| found.len() == limit as usize).map(|entry| entry.n);
    let entries = found.into_iter().map(|entry| AuditEntry {
        at: entry.act.at,
        user: entry.act.user,
        from: entry.act.origin,
        node: entry.node,
        action: entry.act.action,
        subject: entry.act.subject,
        session_id: entry.act.session_id,
        repo_id: entry.act.project_id,
        request_id: entry.act.request_id,
    });
    Ok(json::ok(&Audit { entries: entries.collect(), next }))
}

/// Refuses browsers: a stolen browser session must not become a permanent credential.
fn refuse_browsers(caller: &Caller) -> Result<(), Failure> {
    let Caller::Human(Login::Browser(_)) = caller else { return Ok(()) };
    let detail = "a browser cannot make links and tokens";
    Err(Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail).hint("run `convoke user`"))
}

fn link_for(app: &App, user: convoke_engine::User) -> UserLink {
    let convoke_engine::User { name: user, epoch, .. } = user;
    let of = BrowserUser { name: user.clone(), epoch };
    let url = app.auth.links.make_for_user(&app.identity.shared_url, &app.new_token(), of);
    UserLink { user, url, expires_at: after(app, USER_LINK_LIFE) }
}

fn after(app: &App, life: Duration) -> Timestamp {
    let life = i64::try_from(life.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(app.auth.browsers.now().as_millis().saturating_add(life))
}

/// The tokens of all users, and the browsers that are signed in here.
struct Devices {
    tokens: Vec<UserToken>,
    browsers: Vec<BrowserSession>,
}

impl Devices {
    async fn read(app: &App) -> Result<Self, Error> {
        let tokens = app.engine.users().tokens().await?;
        Ok(Self { tokens, browsers: app.auth.browsers.list() })
    }

    fn of(&self, name: &UserName) -> Vec<Device> {
        let tokens = self.tokens.iter().filter(|token| token.user == *name);
        let tokens = tokens.map(|token| Device {
            id: token.id.clone(),
            kind: DeviceKind::Token,
            label: token.label.clone(),
            created_at: token.created_at,
            last_used_at: token.last_used_at,
        });
        let browsers = self.browsers.iter().filter(|browser| browser.user.as_ref() == Some(name));
        let browsers = browsers.map(|browser| Device {
            id: browser.id.clone(),
            kind: DeviceKind::Browser,
            label: browser.user_agent.clone(),
            created_at: browser.created_at,
            last_used_at: Some(browser.last_used_at),
        });
        browsers.chain(tokens).collect()
    }
}

type ProjectNames = HashMap<ProjectId, String>;

async fn project_names(app: &App) -> Result<ProjectNames, Error> {
    let projects = app.engine.projects().list().await?;
    Ok(projects.into_iter().map(|project| (project.id, project.name)).collect())
}

fn project_roles(roles: Vec<(ProjectId, Role)>, names: &ProjectNames) -> Vec<ProjectRole> {
    let shown = |(repo_id, role)| {
        let project = names.get(&repo_id).cloned().unwrap_or_default();
        ProjectRole { repo_id, project, role }
    };
    roles.into_iter().map(shown).collect()
}

fn shown(user: convoke_engine::User, names: &ProjectNames, devices: &Devices) -> User {
    User {
        devices: devices.of(&user.name),
        name: user.name,
        role: user.role,
        projects: project_roles(user.projects, names),
        created_at: user.created_at,
    }
}
