//! The limit of active sessions: what to end so that there is room.

use convoke_api::bodies::{Activity, code};
use convoke_api::{Client, Error, SessionQuery};
use convoke_core::id::short;
use convoke_core::session::Status;

/// No more sessions can be active.
#[derive(Debug, thiserror::Error)]
#[error("{detail}{}", in_words(*needed))]
pub(crate) struct SessionLimit {
    detail: String,
    needed: usize,
    /// The session that has been idle longest.
    idle: Option<String>,
}

impl SessionLimit {
    /// How to make room.
    pub(crate) fn hint(&self) -> String {
        let id = self.idle.as_deref().unwrap_or("ID");
        format!("end one with `convoke session complete {id}`, or raise sessions.max_active")
    }
}

/// The error of a call that needs some sessions, with the session to end if the limit is reached.
pub(crate) async fn explain(client: &Client, error: Error, needed: usize) -> anyhow::Error {
    let Some(problem) = error.problem().filter(|it| it.code == code::TOO_MANY_SESSIONS) else {
        return error.into();
    };
    let detail = problem.detail.clone();
    let query = SessionQuery { statuses: vec![Status::Active], ..SessionQuery::default() };
    // Without the list, the hint has no id.
    let listed = client.sessions(&query).await.map(|listed| listed.sessions).unwrap_or_default();
    let idle = listed.iter().filter(|session| session.activity == Activity::Idle);
    let idle = idle.min_by_key(|session| session.last_active_at).map(|session| short(session.id));
    SessionLimit { detail, needed, idle }.into()
}

fn in_words(count: usize) -> String {
    match count {
        1 => String::new(),
        count => format!("; the comparison needs {count}"),
    }
}
