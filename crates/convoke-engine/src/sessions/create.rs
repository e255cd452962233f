//! Beginning a session: room for it, an agent that is ready, and only then a row in the store.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use convoke_agents::driver::{REPORTS_MAX, Start};
use convoke_agents::pool::Seat;
use convoke_core::id::{AgentName, ProjectId, SessionId};
use convoke_core::session::{EndReason, Report, Status, Summary};
use convoke_store::{
    Archived, NewSession, SessionFilter, SessionKind, SessionOrder, StoredSession, Window,
};
use tokio::sync::mpsc;

use super::spare;
use crate::engine::Shared;
use crate::error::{Error, Result};
use crate::session::start::{self, Errand, Noted, Seating};
use crate::session::{self, Begin, Completed, Place, Reports, Request};
use crate::view::{Activity, AgentStatus, Change, SessionView};

pub(super) async fn create(
    shared: &Arc<Shared>,
    project: ProjectId,
    agent: Option<AgentName>,
) -> Result<SessionView> {
    let found = shared.store.project(project).await?.filter(|found| found.removed_at.is_none());
    let found = found.ok_or_else(|| Error::UnknownProject { text: project.to_string() })?;
    let agent = match agent {
        Some(agent) => shared.agent(agent.as_str())?.name.clone(),
        None => shared.default_agent()?,
    };
    shared.inside_root(found.path.clone()).await?;
    let room = room(shared).await?;
    let spare = spare::take(shared, &agent, project);
    let id = spare.unwrap_or_else(|| SessionId::from_random((shared.around.random)()));
    let errand = Errand {
        session: id,
        key: id.to_string(),
        kind: SessionKind::Session,
        team: None,
        agent,
        project,
        workspace: found.path,
        agent_session: None,
    };
    let started = match (start_agent(shared, &errand).await, spare) {
        // One that was started ahead may have failed for a reason that is gone by now.
        (Err(_), Some(_)) => start_agent(shared, &errand).await?,
        (started, _) => started?,
    };
    let view = begin(shared, &errand, started, room).await?;
    spare::prepare(shared, &errand);
    Ok(view)
}

/// The agent of a session that is not stored yet.
struct StartedAgent {
    /// Held until the session has its task.
    _seat: Seat,
    noted: Noted,
    reports: Reports,
    /// What is to be noted first.
    first: Vec<Report>,
}

/// Starts the agent of a new session.
async fn start_agent(shared: &Arc<Shared>, errand: &Errand) -> Result<StartedAgent> {
    let not_started = |source| Error::NotStarted { agent: errand.agent.clone(), source };
    let start = Start::New { id: SessionId::from_random((shared.around.random)()).to_string() };
    let launch = start::launch(shared, errand, start).await.map_err(not_started)?;
    let mut first = start::confinement_notice(shared, &launch, &errand.agent);
    let reports = mpsc::channel(REPORTS_MAX);
    shared.tell_agent(errand, AgentStatus::Starting);
    let seating = start::seat(shared, errand, reports.0.clone(), None).await;
    let Seating { seat, noted, .. } = seating.map_err(not_started)?;
    let mut noted = noted.ok_or(Error::Broken { session: errand.session })?;
    first.append(&mut noted.reports);
    Ok(StartedAgent { _seat: seat, noted, reports, first })
}

/// Stores a new session, and gives it its task.
async fn begin(
    shared: &Arc<Shared>,
    errand: &Errand,
    started: StartedAgent,
    room: Room,
) -> Result<SessionView> {
    let StartedAgent { _seat, noted, reports, first } = started;
    let now = shared.now();
    let new = NewSession {
        id: errand.session,
        project_id: errand.project,
        agent: errand.agent.clone(),
        kind: errand.kind,
        created_at: now,
    };
    let stored = StoredSession {
        id: new.id,
        project_id: new.project_id,
        agent: new.agent.clone(),
        kind: new.kind,
        created_at: now,
        summary: Summary::new(now),
        agent_session_id: Some(noted.agent_session.clone()),
    };
    // Before the session is in the store: a caller that finds it there must find this task, and start no other.
    let place = Place::reserve(shared, errand.session)?;
    let place = place.ok_or(Error::Broken { session: errand.session })?;
    let kept = async {
        room.fill(shared.store.create_session(new)).await?;
        let why = noted.why.to_owned();
        shared.store.record_agent_session(errand.session, noted.agent_session, why, now).await?;
        Ok::<_, Error>(())
    };
    if let Err(error) = kept.await {
        place.leave();
        shared.pool.release(&errand.key).await;
        return Err(error);
    }
    let view = SessionView { stored: stored.clone(), activity: Activity::Idle };
    let agent_session = stored.agent_session_id.clone();
    place.begin(Begin::New { stored: Box::new(stored), reports, first });
    shared.tell(Change::SessionCreated(view.clone()));
    shared.tell_agent(&Errand { agent_session, ..errand.clone() }, AgentStatus::Ready);
    Ok(view)
}

/// Room among the active sessions, until the session itself is counted.
pub(super) struct Room {
    shared: Arc<Shared>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.shared.reserved.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Room {
    /// Does what makes the session count, and releases the room under the same lock.
    pub(super) async fn fill<T>(self, work: impl Future<Output = T>) -> T {
        let shared = Arc::clone(&self.shared);
        // It is never closed.
        let _turn = shared.admission.acquire().await.ok();
        let done = work.await;
        drop(self);
        done
    }
}

/// What a session is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Return {
    /// Active again.
    FromItsEnd,
    /// Shown again.
    FromTheArchive,
}

/// Room for a session that will count from now on; one that will not, or does already, needs none.
pub(super) async fn admit(
    shared: &Arc<Shared>,
    session: &StoredSession,
    from: Return,
) -> Result<Option<Room>> {
    let will_count = session.kind == SessionKind::Session
        && match (session.summary.status, from) {
            (Status::Completed | Status::Error, Return::FromItsEnd) => !session.summary.archived,
            (Status::Active, Return::FromTheArchive) => session.summary.archived,
            // Whatever else is wrong with it, the session itself says.
            (Status::Active | Status::Cancelled, Return::FromItsEnd)
            | (Status::Completed | Status::Cancelled | Status::Error, Return::FromTheArchive) => {
                false
            }
        };
    if will_count { Ok(Some(room(shared).await?)) } else { Ok(None) }
}

/// Room for one more active session; where there is none, one that has been idle for long makes some.
async fn room(shared: &Arc<Shared>) -> Result<Room> {
    // One at a time, so that two callers cannot take the last place. It is never closed.
    let _turn = shared.admission.acquire().await.map_err(|_| Error::Stopping)?;
    let max = shared.settings.sessions_max;
    loop {
        let reserved = shared.reserved.load(Ordering::SeqCst);
        let active = usize::try_from(shared.active_sessions().await?).unwrap_or(usize::MAX);
        if active.saturating_add(reserved) < max {
            break;
        }
        if make_room(shared).await? == Completed::No {
            return Err(Error::SessionLimit { max });
        }
    }
    shared.reserved.fetch_add(1, Ordering::SeqCst);
    Ok(Room { shared: Arc::clone(shared) })
}

/// Completes the session that has been idle longest, if that is longer than a process is kept for.
async fn make_room(shared: &Arc<Shared>) -> Result<Completed> {
    let filter = SessionFilter {
        statuses: vec![Status::Active],
        archived: Archived::Hidden,
        kind: Some(SessionKind::Session),
        project: None,
    };
    let window = Window::first(Window::LIMIT_MAX);
    let page = shared.store.sessions(filter, SessionOrder::Active, window).await?;
    for candidate in page.sessions.iter().rev() {
        let longer_than = shared.settings.pool.idle_timeout;
        let completed = session::ask(shared, candidate.id, |reply| Request::CompleteIfIdle {
            longer_than,
            reason: EndReason::MadeRoom,
            reply,
        });
        match completed.await {
            Ok(Completed::Yes) => return Ok(Completed::Yes),
            Ok(Completed::No) => {}
            // One that is broken is no reason not to ask the others.
            Err(error) => tracing::warn!(session.id = %candidate.id, "makes no room: {error}"),
        }
    }
    Ok(Completed::No)
}

impl Shared {
    /// Announces what the process of a session did.
    pub(crate) fn tell_agent(&self, errand: &Errand, status: AgentStatus) {
        let Errand { agent, session, agent_session, .. } = errand.clone();
        self.tell(Change::Agent { agent, session, agent_session, status });
    }

    /// The agent for those who name none: Claude Code, else the first that is installed, which the demo agent always is.
    fn default_agent(&self) -> Result<AgentName> {
        let path = self.around.environment.get(std::ffi::OsStr::new("PATH"));
        let path = path.map(std::ffi::OsString::as_os_str);
        let mut agents = self.settings.agents.iter();
        let installed =
            agents.find(|agent| convoke_agents::catalogue::find(&agent.command, path).is_some());
        let installed = installed.ok_or_else(|| Error::UnknownAgent { name: "demo".to_owned() })?;
        Ok(installed.name.clone())
    }
}
