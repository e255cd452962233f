//! Creates the session of a pair, once for all concurrent callers.

use std::sync::Arc;

use convoke_agents::Error as AgentError;
use convoke_agents::catalogue::Protocol;
use convoke_agents::claude;
use convoke_agents::driver::{REPORTS_MAX, Start};
use convoke_core::id::SessionId;
use convoke_core::session::{Command, EndReason, Report, Status};
use convoke_core::team::Pair;
use convoke_core::time::Timestamp;
use convoke_store::{NewSession, PairChange, PairCreation, SessionKind, StoredPair};
use tokio::sync::{mpsc, watch};

use super::{Team, Teams};
use crate::error::{Error, Result};
use crate::session::start::{self, ProcessSpec, REMADE};
use crate::session::{self, Begin, Reports};

/// A new session of a team's agent.
pub(super) struct Made {
    pub(super) agent_session: String,
    /// The reports of its process, if it has one.
    reports: Option<Reports>,
    /// Reports to record first.
    first: Vec<Report>,
}

/// The first stored state of a pair's session.
pub(super) fn new_session(spec: &ProcessSpec, now: Timestamp) -> NewSession {
    NewSession {
        id: spec.session,
        project_id: spec.project,
        agent: spec.agent.clone(),
        kind: spec.kind,
        created_at: now,
    }
}

impl Teams {
    /// Finds or creates a pair; concurrent callers share the result.
    pub async fn get_or_create_pair(&self, pair: &Pair) -> Result<StoredPair> {
        let found = self.cache.get_or(pair, async {
            match self.store.pair_between(pair).await? {
                Some(found) => self.as_configured_now(found).await,
                None => self.create_pair(pair).await,
            }
        });
        // Concurrent callers share the error; only the last holder of the `Arc` can unwrap it.
        found
            .await
            .map_err(|error: Arc<Error>| Arc::try_unwrap(error).unwrap_or_else(Error::Shared))
    }

    async fn create_pair(&self, pair: &Pair) -> Result<StoredPair> {
        let team = self.team(&pair.to)?;
        if let Some(from) = &pair.from {
            self.known(from).await?;
        }
        let spec = self.process_spec(&team, pair.to_string()).await?;
        let made = self.make_agent_session(&team, &spec).await?;
        let session = new_session(&spec, self.host.now());
        match self.store.create_pair(pair.clone(), session).await? {
            PairCreation::Existed(existing) => Ok(existing),
            PairCreation::Created(created) => {
                let agent_session = made.agent_session.clone();
                self.begin_made(&spec, made, "created").await?;
                Ok(StoredPair { agent_session_id: Some(agent_session), ..created })
            }
        }
    }

    /// The pair as it is, if its session has the agent and folder that the team is configured with and was not
    /// cancelled; else the pair with a new session.
    async fn as_configured_now(&self, pair: StoredPair) -> Result<StoredPair> {
        let team = self.team(&pair.pair.to)?;
        let stored = self.store.session(pair.session_id).await?;
        let project = match &stored {
            Some(stored) => self.store.project(stored.project_id).await?,
            None => None,
        };
        let was_cancelled =
            stored.as_ref().is_some_and(|stored| stored.summary.status == Status::Cancelled);
        let is_as_configured = stored.is_some_and(|stored| stored.agent == team.agent)
            && project.is_some_and(|project| project.path == team.path);
        if is_as_configured && !was_cancelled {
            return Ok(pair);
        }
        let why = if was_cancelled { "its session was cancelled" } else { "its team has changed" };
        tracing::warn!("{} continues in a new session, because {why}", pair.pair);
        self.end_session(pair.session_id, EndReason::TeamReconfigured).await?;
        self.processes.pool.release(&pair.pair.to_string()).await;
        let spec = self.process_spec(&team, pair.pair.to_string()).await?;
        let made = self.make_agent_session(&team, &spec).await?;
        self.store.create_session(new_session(&spec, self.host.now())).await?;
        let moved = PairChange::Moved { session_id: spec.session };
        self.store.change_pair(pair.id, moved).await?;
        let agent_session = made.agent_session.clone();
        // The pair is stored first, since the session's task looks it up.
        self.begin_made(&spec, made, "created").await?;
        let moved = self.store.change_pair(pair.id, PairChange::Compacted).await?;
        Ok(StoredPair { agent_session_id: Some(agent_session), ..moved })
    }

    /// What is needed to start a process for a new session of a team.
    pub(super) async fn process_spec(&self, team: &Team, key: String) -> Result<ProcessSpec> {
        let project = self.projects.get_or_add(&team.path, team.name.as_str()).await?;
        Ok(ProcessSpec {
            worktree: None,
            session: SessionId::from_random((self.host.random)()),
            key,
            kind: SessionKind::Team,
            team: Some(team.name.clone()),
            agent: team.agent.clone(),
            project: project.id,
            workspace: project.path,
            agent_session: None,
        })
    }

    /// Has the team's agent create its own session. Claude creates its file by a ping; others need no model for it.
    pub(super) async fn make_agent_session(&self, team: &Team, spec: &ProcessSpec) -> Result<Made> {
        let failed = |source| Error::TeamProcess { team: team.name.to_string(), source };
        let protocol = self.processes.agent(team.agent.as_str())?.protocol;
        loop {
            let id = SessionId::from_random((self.host.random)()).to_string();
            let launch = start::launch(&self.processes, spec, Start::New { id: id.clone() }).await;
            let launch = launch.map_err(failed)?;
            let first = start::confinement_notice(&self.processes, &launch, &spec.agent);
            match protocol {
                Protocol::Claude => match claude::create_session(&launch, &id).await {
                    Ok(_) => return Ok(Made { agent_session: id, reports: None, first }),
                    // The id is taken; retried with another.
                    Err(AgentError::IdTaken { .. }) => {}
                    Err(error) => return Err(failed(error)),
                },
                Protocol::Acp => {
                    let reports = mpsc::channel(REPORTS_MAX);
                    let (place, _) = watch::channel(0);
                    let seat =
                        self.processes.pool.acquire(&spec.key, launch, reports.0.clone(), place);
                    let seat = seat.await.map_err(|error| failed(in_time(error)))?;
                    let started =
                        seat.started.as_ref().map(|started| started.agent_session.clone());
                    if let Some(agent_session) = started {
                        return Ok(Made { agent_session, reports: Some(reports), first });
                    }
                    // The process of a deleted pair; a new one is started.
                    drop(seat);
                    self.processes.pool.release(&spec.key).await;
                }
            }
        }
    }

    /// Records the agent session of a stored session, and starts the session's task.
    pub(super) async fn begin_made(&self, spec: &ProcessSpec, made: Made, why: &str) -> Result<()> {
        let (id, now) = (spec.session, self.host.now());
        let Made { agent_session, reports, mut first } = made;
        self.store.record_agent_session(id, agent_session, why.to_owned(), now).await?;
        if why == REMADE {
            // It was recorded when the session began.
            first.clear();
        }
        let Some(reports) = reports else {
            for report in first {
                self.sessions.send_command(id, Command::Agent(report)).await?;
            }
            return Ok(());
        };
        let stored = self.store.session(id).await?;
        let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
        let stored = Box::new(stored);
        session::begin(&self.sessions, id, Begin::New { stored, reports, first, set_up: None })
    }
}

/// Reports a timeout of any step of the start as a timeout of the session.
fn in_time(error: AgentError) -> AgentError {
    if let AgentError::Timeout { after, .. } = error {
        return AgentError::SessionTimeout { after };
    }
    error
}
