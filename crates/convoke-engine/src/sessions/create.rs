//! Creates a session: reserves room, starts the agent, and only then stores the session.

use std::sync::Arc;

use convoke_agents::driver::{REPORTS_MAX, Start};
use convoke_agents::pool::Seat;
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::notice::{FilesEvent, Notice};
use convoke_core::session::{Activity, Report, Status, Summary};
use convoke_store::{
    Archived, NodeScope, Project, SessionFilter, SessionKind, SessionOrder, StoredSession, Window,
};
use tokio::sync::mpsc;

use super::admission::{self, Reservation};
use super::{NewSession, Sessions};
use crate::error::{Error, Result};
use crate::projects::inside_root;
use crate::session::choices::Choices;
use crate::session::start::{self, ProcessSpec, Seating, StartRecord};
use crate::session::{Begin, Reports, ReservedTask};
use crate::view::{AgentStatus, Change, SessionView};
use crate::worktrees::make;

/// Active sessions of a project that are checked; the limit of active sessions is 5 by default.
const LOOKED_AT: u32 = 100;

pub(super) async fn create(shared: &Arc<Sessions>, new: NewSession) -> Result<SessionView> {
    let NewSession { project, agent, choices, worktree } = new;
    let found = own_project(shared, project).await?;
    let agent = match agent {
        Some(agent) => shared.processes.agent(agent.as_str())?.name.clone(),
        None => shared.processes.default_agent()?,
    };
    inside_root(found.path.clone(), &shared.settings.workspace_root).await?;
    let room = admission::room(shared).await?;
    // A spare process runs in the project's folder, not in a work tree.
    let spare = if worktree.is_none() { shared.spare.take(&agent, project) } else { None };
    let id = spare.unwrap_or_else(|| SessionId::from_random((shared.host.random)()));
    let made = match worktree {
        Some(wanted) => Some(make::make(shared, &found, id, wanted, None).await?),
        None => None,
    };
    let own = made.as_ref().map(|made| made.own.clone());
    let spec = ProcessSpec {
        session: id,
        key: id.to_string(),
        kind: SessionKind::Session,
        team: None,
        agent,
        project,
        workspace: own.as_ref().map_or_else(|| found.path.clone(), |own| own.path.clone().into()),
        agent_session: None,
        worktree: own.map(|own| (own, found.path.clone())),
    };
    let notice = match &made {
        Some(made) => Some(made.event()),
        None => folder_shared(shared, &found).await?,
    };
    let notice = notice.map(|event| Report::Noticed(Notice::new(event)));
    match start_and_begin(shared, &spec, &choices, spare, (room, notice)).await {
        Ok(view) => Ok(view),
        Err(error) => {
            if made.is_some() {
                make::take_back(shared, id).await;
            }
            Err(error)
        }
    }
}

/// A project whose folder is on this machine: the path of another machine's project names something else here.
pub(super) async fn own_project(shared: &Sessions, id: ProjectId) -> Result<Project> {
    let found = shared.store.project(id).await?.filter(|found| found.removed_at.is_none());
    let found = found.ok_or_else(|| Error::UnknownProject { text: id.to_string() })?;
    let Some(other) = found.node.filter(|node| Some(*node) != shared.store.node()) else {
        return Ok(found);
    };
    let known = shared.store.nodes(Some(other)).await?.into_iter().next();
    let node = known.map_or_else(|| other.to_string(), |node| node.name);
    Err(Error::OtherNodesProject { project: found.name, node })
}

/// Starts the agent, and stores the session.
async fn start_and_begin(
    shared: &Arc<Sessions>,
    spec: &ProcessSpec,
    choices: &Choices,
    spare: Option<SessionId>,
    (room, notice): (Reservation, Option<Report>),
) -> Result<SessionView> {
    let mut started = match (start_agent(shared, spec).await, spare) {
        // The spare process may have failed for a temporary reason.
        (Err(_), Some(_)) => start_agent(shared, spec).await?,
        (started, _) => started?,
    };
    started.first.extend(notice);
    if let Err(error) = choose(spec, choices, &started.seat).await {
        drop(started);
        shared.processes.pool.release(&spec.key).await;
        return Err(error);
    }
    let view = begin(shared, spec, started, room).await?;
    match spec.worktree {
        Some(_) => make::kept(shared, spec.session),
        None => shared.spare.prepare(&shared.processes, spec),
    }
    shared.snapshots.warm_up(spec.project, spec.workspace.clone());
    Ok(view)
}

/// The notice that another session works in the project's folder: one with a running turn and without a work tree of its
/// own.
async fn folder_shared(shared: &Sessions, project: &Project) -> Result<Option<FilesEvent>> {
    let filter = SessionFilter {
        project: Some(project.id),
        statuses: vec![Status::Active],
        archived: Archived::Hidden,
        kind: Some(SessionKind::Session),
        of: NodeScope::Own,
    };
    let window = Window::first(LOOKED_AT);
    let page = shared.store.sessions(filter, SessionOrder::Active, window).await?;
    let works = |it: &&StoredSession| it.worktree.is_none() && shared.live(it.id).running.is_some();
    let Some(other) = page.sessions.iter().find(works) else { return Ok(None) };
    let git = project.path.join(".git").exists();
    Ok(Some(FilesEvent::FolderShared { session: other.id, git }))
}

/// Sets the chosen model and mode of a new agent.
async fn choose(spec: &ProcessSpec, choices: &Choices, seat: &Seat) -> Result<()> {
    let offers = seat.started.as_ref().map_or(&[][..], |started| &started.offers);
    for order in choices.orders(&spec.agent, offers)? {
        seat.send(order).await.map_err(|_| Error::NotRunning)?;
    }
    Ok(())
}

/// The agent of a session that is not stored yet.
struct StartedAgent {
    /// Held until the session has its task.
    seat: Seat,
    noted: StartRecord,
    reports: Reports,
    /// Reports to record first.
    first: Vec<Report>,
}

/// Starts the agent of a new session.
async fn start_agent(shared: &Arc<Sessions>, spec: &ProcessSpec) -> Result<StartedAgent> {
    let not_started = |source| Error::NotStarted { agent: spec.agent.clone(), source };
    let start = Start::New { id: SessionId::from_random((shared.host.random)()).to_string() };
    let launch = start::launch(&shared.processes, spec, start).await.map_err(not_started)?;
    let mut first = start::confinement_notice(&shared.processes, &launch, &spec.agent);
    first.extend(start::login_notice(&shared.processes, &spec.agent));
    let reports = mpsc::channel(REPORTS_MAX);
    shared.publish_agent_status(spec, AgentStatus::Starting);
    let seating = start::seat(&shared.processes, spec, reports.0.clone(), None).await;
    let Seating { seat, noted, .. } = seating.map_err(not_started)?;
    let mut noted = noted.ok_or(Error::Broken { session: spec.session })?;
    first.append(&mut noted.reports);
    Ok(StartedAgent { seat, noted, reports, first })
}

/// Stores a new session and starts its task.
async fn begin(
    shared: &Arc<Sessions>,
    spec: &ProcessSpec,
    started: StartedAgent,
    room: Reservation,
) -> Result<SessionView> {
    let StartedAgent { seat: _seat, noted, reports, first } = started;
    let now = shared.now();
    let new = convoke_store::NewSession {
        id: spec.session,
        project_id: spec.project,
        agent: spec.agent.clone(),
        kind: spec.kind,
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
        changes: None,
        worktree: spec.worktree.as_ref().map(|(own, _)| own.clone()),
        node: shared.store.node(),
        is_asking: false,
    };
    let set_up = spec
        .worktree
        .as_ref()
        .and_then(|(_, project)| shared.settings.worktrees.set_up.get(project).cloned());
    // Registered before the session is stored, so that a caller that finds the session uses this
    // task and starts no other.
    let place = ReservedTask::reserve(shared, spec.session)?;
    let place = place.ok_or(Error::Broken { session: spec.session })?;
    let kept = async {
        room.fill(shared.store.create_session(new)).await?;
        if let Some(own) = &stored.worktree {
            shared.store.set_worktree(spec.session, Some(own)).await?;
        }
        let why = noted.why.to_owned();
        shared.store.record_agent_session(spec.session, noted.agent_session, why, now).await?;
        Ok::<_, Error>(())
    };
    if let Err(error) = kept.await {
        place.leave();
        shared.processes.pool.release(&spec.key).await;
        return Err(error);
    }
    let view = SessionView { stored: stored.clone(), activity: Activity::Idle };
    let agent_session = stored.agent_session_id.clone();
    place.begin(Begin::New { stored: Box::new(stored), reports, first, set_up });
    shared.publish(Change::SessionCreated(Box::new(view.clone())));
    shared.publish_agent_status(&ProcessSpec { agent_session, ..spec.clone() }, AgentStatus::Ready);
    Ok(view)
}

impl Sessions {
    /// Announces a status of a session's process.
    pub(crate) fn publish_agent_status(&self, spec: &ProcessSpec, status: AgentStatus) {
        let ProcessSpec { agent, session, agent_session, .. } = spec.clone();
        self.publish(Change::Agent { agent, session, agent_session, status });
    }
}
