//! The human behind a request or a socket: the owner of the daemon or a user, with their role, and
//! the audit trail.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use convoke_api::bodies::code;
use convoke_api::frames::{ClientFrame, FrameSubject};
use convoke_core::id::{ProjectId, RequestId, SessionId};
use convoke_core::request::{Request as HumanRequest, State};
use convoke_core::team::TeamName;
use convoke_core::user::{Role, UserName};
use convoke_engine::{Act, Error, Kind};
use serde_json::Value;

use crate::access::{AccessRule, RoleScope};
use crate::app::App;
use crate::auth::Visit;
use crate::failure::Failure;
use crate::json;
use crate::rest::moving;

/// The largest body that is read to find the subject of a request.
pub(crate) const BODY_MAX: usize = 4 << 20;
/// How often an open stream is checked for a sign-out. Changes on this daemon are noticed at once;
/// this is for changes on other nodes.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// Characters of a subject in the audit trail.
const SUBJECT_CHARS: usize = 300;

/// What a human is signed in with. The user is read again for every request and every frame, so
/// that a changed role takes effect at once.
#[derive(Clone)]
pub(crate) enum Login {
    /// The daemon's own token.
    Owner,
    /// A browser of the owner or of a user.
    Browser(Visit),
    /// The token of a user, by its digest.
    Token(String),
}

/// A human who sends a request.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    /// The user; the owner of the daemon without one.
    pub(crate) name: Option<UserName>,
    pub(crate) role: Role,
    pub(crate) projects: Vec<(ProjectId, Role)>,
    origin: String,
}

impl Actor {
    /// The owner of the daemon, at a device.
    pub(crate) const fn owner(origin: String) -> Self {
        Self { name: None, role: Role::Owner, projects: Vec::new(), origin }
    }

    /// A human whom another node has authorised.
    pub(crate) fn at_node(name: Option<UserName>) -> Self {
        Self { name, ..Self::owner(String::new()) }
    }

    /// Refuses what their role does not allow.
    pub(crate) fn check(
        &self,
        rule: AccessRule,
        project: Option<ProjectId>,
    ) -> Result<(), Failure> {
        let own = self.projects.iter().find(|(id, _)| Some(*id) == project);
        let role = match rule.scope {
            RoleScope::Project => own.map_or(self.role, |(_, role)| *role),
            RoleScope::Anywhere => {
                let roles = self.projects.iter().map(|(_, role)| *role);
                roles.fold(self.role, Role::max)
            }
        };
        if role >= rule.role {
            return Ok(());
        }
        let (name, needed) = (self.name.as_ref().map_or("", UserName::as_str), rule.role);
        tracing::warn!(target: "security", user = name, action = rule.action, "refused a user");
        let detail = format!("{name} is {} here, and this needs {}", a(role), a(needed));
        Err(Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail).hint(format!(
            "the owner of the daemon can change that: `convoke user role {name} {needed}`"
        )))
    }

    /// Whether the subject's project must be known to check the role.
    pub(crate) fn has_project_roles(&self) -> bool {
        !self.projects.is_empty()
    }
}

impl App {
    /// The human who is signed in with this; `None` after a sign-out.
    pub(crate) async fn actor(&self, login: &Login, peer: IpAddr) -> Result<Option<Actor>, Error> {
        let (user, origin) = match login {
            Login::Owner => return Ok(Some(Actor::owner("command line".to_owned()))),
            Login::Browser(visit) => {
                let origin = format!("browser {} at {peer}", visit.id);
                let Some(signed_in) = &visit.user else { return Ok(Some(Actor::owner(origin))) };
                let user = self.engine.users().find(signed_in.name.clone()).await?;
                (user.filter(|user| user.epoch == signed_in.epoch), origin)
            }
            Login::Token(digest) => match self.engine.users().of_token(digest.clone()).await? {
                Some((user, token)) => (Some(user), format!("token {} at {peer}", token.id)),
                None => (None, String::new()),
            },
        };
        Ok(user.map(|user| {
            let (role, projects) = (user.role, user.projects);
            Actor { name: Some(user.name), role, projects, origin }
        }))
    }

    /// Completes when this login is signed out.
    pub(crate) async fn signed_out(&self, login: &Login, peer: IpAddr) {
        let mut changes = self.users_changed.subscribe();
        loop {
            let (revoked, is_user) = match login {
                Login::Owner => return std::future::pending().await,
                Login::Browser(visit) => (visit.revoked.clone(), visit.user.is_some()),
                Login::Token(_) => (tokio_util::sync::CancellationToken::new(), true),
            };
            tokio::select! {
                () = revoked.cancelled() => return,
                changed = changes.changed(), if is_user => if changed.is_err() { return },
                () = tokio::time::sleep(CHECK_INTERVAL), if is_user => {}
            }
            match self.actor(login, peer).await {
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(error) => tracing::warn!("cannot check who is signed in: {error}"),
            }
        }
    }

    /// Adds an act to the audit trail. The response does not wait for it: messages and decisions
    /// are stored with the user's name already.
    pub(crate) fn record(self: &Arc<Self>, actor: Actor, action: &'static str, about: Subject) {
        let app = Arc::clone(self);
        self.recording.spawn(async move { app.add_act(&actor, action, &about).await });
    }

    async fn add_act(&self, actor: &Actor, action: &str, about: &Subject) {
        let subject: String = self.describe(about).await.chars().take(SUBJECT_CHARS).collect();
        let act = Act {
            at: self.auth.browsers.now(),
            user: actor.name.clone(),
            origin: actor.origin.clone(),
            action: action.to_owned(),
            session_id: about.session,
            project_id: about.project,
            request_id: about.request,
            subject,
        };
        if let Err(error) = self.engine.users().record(act).await {
            let user = actor.name.as_ref().map_or("the owner", UserName::as_str);
            tracing::error!(target: "security", user, action, "cannot write the audit trail: {error}");
        }
    }

    /// The subject as text. For a request to a human, with the decision.
    async fn describe(&self, about: &Subject) -> String {
        let Some(request) = about.request else { return about.text.clone() };
        match self.engine.inbox().request(&request.to_string()).await {
            Ok(Some((HumanRequest::Permission(record), _))) => {
                let chosen = match &record.state {
                    State::Answered(choice) => {
                        let mut options = record.options.iter();
                        let option = options.find(|it| it.option_id == choice.option_id);
                        option.map_or(choice.option_id.clone(), |option| option.name.clone())
                    }
                    State::Rejected { .. } => "rejected".to_owned(),
                    State::Pending | State::TimedOut | State::Abandoned => return record.title,
                };
                format!("{}: {chosen}", record.title)
            }
            Ok(Some((HumanRequest::Questions(record), _))) => {
                record.questions.first().map(|it| it.prompt.clone()).unwrap_or_default()
            }
            Ok(None) | Err(_) => about.text.clone(),
        }
    }
}

/// A role with its article.
const fn a(role: Role) -> &'static str {
    match role {
        Role::Viewer => "a viewer",
        Role::Member => "a member",
        Role::Owner => "an owner",
    }
}

/// The subject of a request or a frame.
#[derive(Debug, Default)]
pub(crate) struct Subject {
    pub(crate) session: Option<SessionId>,
    pub(crate) project: Option<ProjectId>,
    request: Option<RequestId>,
    /// The title of the session, the name of the project, or the last part of the path.
    text: String,
}

impl Subject {
    /// The subject of a REST request, which is returned. Ids that do not exist are left to the
    /// route.
    pub(crate) async fn of_request(
        app: &App,
        request: Request,
    ) -> Result<(Request, Self), Failure> {
        let path = request.uri().path().to_owned();
        let mut parts = path.split('/').skip(2);
        let (what, id) = (parts.next().unwrap_or_default(), parts.next());
        let id = id.map(|id| percent_encoding::percent_decode_str(id).decode_utf8_lossy());
        let subject = match (what, id.as_deref()) {
            ("sessions", Some(id))
                if path.ends_with("/move") && request.method() == Method::POST =>
            {
                let subject = Self::of_session(app, id).await?;
                let (request, body) = with_body(request).await?;
                let text = moving::audited(&subject.text, &body);
                return Ok((request, Self { text, ..subject }));
            }
            ("sessions" | "worktrees", Some(id)) => Self::of_session(app, id).await?,
            ("repos", Some(id)) => Self::of_project(app, id).await?,
            ("inbox", Some(id)) => Self::of_decision(app, id).await?,
            ("comparisons", Some(id)) => match found(app.engine.comparisons().get(id).await)? {
                Some(comparison) => Self::of_project(app, &comparison.project.to_string()).await?,
                None => Self::default(),
            },
            ("sessions" | "comparisons", None) if request.method() == Method::POST => {
                let (request, body) = with_body(request).await?;
                let project = body.get("repoId").and_then(Value::as_str).unwrap_or_default();
                return Ok((request, Self::of_project(app, project).await?));
            }
            ("users" | "repos" | "rules" | "config", None) if request.method() != Method::GET => {
                let (request, body) = with_body(request).await?;
                return Ok((request, Self { text: new_thing(&body), ..Self::default() }));
            }
            ("teams", Some(team)) => Self::of_team(app, team).await?,
            (_, id) => Self { text: id.unwrap_or_default().to_owned(), ..Self::default() },
        };
        Ok((request, subject))
    }

    /// The subject of a frame.
    pub(crate) async fn of_frame(app: &App, frame: &ClientFrame) -> Result<Self, Error> {
        match frame.subject() {
            FrameSubject::Session(session) => Self::of_session(app, session).await,
            FrameSubject::Request(request) => Self::of_decision(app, request).await,
            FrameSubject::Project(project) => Self::of_project(app, project).await,
            FrameSubject::Other => {
                let fields = serde_json::to_value(frame).unwrap_or_default();
                Ok(Self { text: new_thing(&fields), ..Self::default() })
            }
        }
    }

    async fn of_session(app: &App, text: &str) -> Result<Self, Error> {
        let Some(session) = found(app.engine.sessions().named(text).await)? else {
            return Ok(Self::default());
        };
        let stored = session.stored;
        let text = stored.summary.title.clone().unwrap_or_default();
        Ok(Self { session: Some(stored.id), project: Some(stored.project_id), request: None, text })
    }

    async fn of_project(app: &App, text: &str) -> Result<Self, Error> {
        let Some(id) = found(app.engine.projects().find(text).await)? else {
            return Ok(Self::default());
        };
        let projects = app.engine.projects().list().await?;
        let name = projects.into_iter().find(|project| project.id == id).map(|it| it.name);
        Ok(Self { project: Some(id), text: name.unwrap_or_default(), ..Self::default() })
    }

    /// The subject of a team: its project. A path segment that is no team's name is described as it
    /// is.
    pub(crate) async fn of_team(app: &App, team: &str) -> Result<Self, Error> {
        let project = match team.parse::<TeamName>() {
            Ok(name) => app.engine.teams().project_of(&name).await?,
            Err(_) => None,
        };
        Ok(Self { project, text: team.to_owned(), ..Self::default() })
    }

    async fn of_decision(app: &App, text: &str) -> Result<Self, Error> {
        let Some((request, session)) = app.engine.inbox().request(text).await? else {
            return Ok(Self { text: text.to_owned(), ..Self::default() });
        };
        let of = match session {
            Some(session) => Self::of_session(app, &session.to_string()).await?,
            None => Self::default(),
        };
        Ok(Self { request: Some(request.id()), ..of })
    }
}

/// What a lookup found; `None` for an id that is wrong, which the route then reports. Any other
/// error ends the request: roles and nodes must not be guessed when the database cannot be read.
pub(crate) fn found<T>(lookup: Result<T, Error>) -> Result<Option<T>, Error> {
    match lookup {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.kind() {
            Kind::NotFound | Kind::Invalid | Kind::Forbidden | Kind::Conflict => Ok(None),
            Kind::Busy | Kind::Agent | Kind::Unavailable | Kind::Internal => Err(error),
        },
    }
}

/// What a body adds or changes: a name, a path, a rule, or the names of settings.
fn new_thing(body: &Value) -> String {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
    let rule = || {
        let (effect, matcher) = (text("effect")?, body.get("matcher")?);
        Some(format!("{effect} {matcher}"))
    };
    let settings = || {
        let changes = body.get("changes")?.as_object()?;
        Some(changes.keys().cloned().collect::<Vec<_>>().join(", "))
    };
    text("name").or_else(|| text("path")).or_else(rule).or_else(settings).unwrap_or_default()
}

/// A request, and its body if it is JSON.
pub(crate) async fn with_body(request: Request) -> Result<(Request, Value), Failure> {
    let (parts, body) = request.into_parts();
    let bytes = json::collect(body, BODY_MAX).await?;
    let value = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok((Request::from_parts(parts, Body::from(bytes)), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_id_is_left_to_the_route_and_an_error_of_the_database_is_not() {
        let unknown = Error::UnknownSession { text: "7".to_owned() };
        assert!(found::<()>(Err(unknown)).is_ok_and(|it| it.is_none()));
        assert!(found::<()>(Err(Error::Stopping)).is_err());
        assert!(found(Ok(1)).is_ok_and(|it| it == Some(1)));
    }
}
