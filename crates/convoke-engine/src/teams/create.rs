//! Creating a pair's session, once, however many ask for it at the same time.

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

/// A session that a team's agent began.
pub(super) struct Made {
    pub(super) agent_session: String,
    /// What its process says, if it has one already.
    reports: Option<Reports>,
    /// What is to be noted first.
    first: Vec<Report>,
}

/// A session of a pair, as it is stored first.
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
    /// Finds the pair that joins these teams, or creates it; of many callers one creates it and all get the same.
    pub async fn get_or_create_pair(&self, pair: &Pair) -> Result<StoredPair> {
        let found = self.cache.get_or(pair, async {
            match self.store.pair_between(pair).await? {
                Some(found) => self.as_configured_now(found).await,
                None => self.create_pair(pair).await,
            }
        });
        // All who waited share the error; the first of them has its only copy.
        found
            .await
            .map_err(|error: Arc<Error>| Arc::try_unwrap(error).unwrap_or_else(Error::Shared))
    }

    async fn create_pair(&self, pair: &Pair) -> Result<StoredPair> {
        let team = self.team(&pair.to)?;
        if let Some(from) = &pair.from {
            self.team(from)?;
        }
        let spec = self.process_spec(&team, pair.to_string()).await?;
        let made = self.make_agent_session(&team, &spec).await?;
        let session = new_session(&spec, self.around.now());
        match self.store.create_pair(pair.clone(), session).await? {
            PairCreation::Existed(existing) => Ok(existing),
            PairCreation::Created(created) => {
                let agent_session = made.agent_session.clone();
                self.begin_made(&spec, made, "created").await?;
                Ok(StoredPair { agent_session_id: Some(agent_session), ..created })
            }
        }
    }

    /// The pair as it is, if its session is with the agent and in the folder that the team is configured with and was
    /// not cancelled; else it goes on in a new session.
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
        self.store.create_session(new_session(&spec, self.around.now())).await?;
        let moved = PairChange::Moved { session_id: spec.session };
        self.store.change_pair(pair.id, moved).await?;
        let agent_session = made.agent_session.clone();
        // Only now, since a task looks for the pair whose session it has.
        self.begin_made(&spec, made, "created").await?;
        let moved = self.store.change_pair(pair.id, PairChange::Compacted).await?;
        Ok(StoredPair { agent_session_id: Some(agent_session), ..moved })
    }

    /// What a new session of a team's needs a process for.
    pub(super) async fn process_spec(&self, team: &Team, key: String) -> Result<ProcessSpec> {
        let project = self.projects.get_or_add(&team.path, team.name.as_str()).await?;
        Ok(ProcessSpec {
            session: SessionId::from_random((self.around.random)()),
            key,
            kind: SessionKind::Team,
            team: Some(team.name.clone()),
            agent: team.agent.clone(),
            project: project.id,
            workspace: project.path,
            agent_session: None,
        })
    }

    /// Has the team's agent begin a session of its own. Claude makes its file by a ping; others need no model for it.
    pub(super) async fn make_agent_session(&self, team: &Team, spec: &ProcessSpec) -> Result<Made> {
        let failed = |source| Error::TeamProcess { team: team.name.to_string(), source };
        let protocol = self.processes.agent(team.agent.as_str())?.protocol;
        loop {
            let id = SessionId::from_random((self.around.random)()).to_string();
            let launch = start::launch(&self.processes, spec, Start::New { id: id.clone() }).await;
            let launch = launch.map_err(failed)?;
            let first = start::confinement_notice(&self.processes, &launch, &spec.agent);
            match protocol {
                Protocol::Claude => match claude::create_session(&launch, &id).await {
                    Ok(_) => return Ok(Made { agent_session: id, reports: None, first }),
                    // The id is taken; another one is as good.
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
                    // A process of a pair that was deleted; this one begins afresh.
                    drop(seat);
                    self.processes.pool.release(&spec.key).await;
                }
            }
        }
    }

    /// Records what an agent began for a stored session, and lets the session hear of it.
    pub(super) async fn begin_made(&self, spec: &ProcessSpec, made: Made, why: &str) -> Result<()> {
        let (id, now) = (spec.session, self.around.now());
        let Made { agent_session, reports, mut first } = made;
        self.store.record_agent_session(id, agent_session, why.to_owned(), now).await?;
        if why == REMADE {
            // It was noted when the session began.
            first.clear();
        }
        let Some(reports) = reports else {
            for report in first {
                self.sessions.carry(id, Command::Agent(report)).await?;
            }
            return Ok(());
        };
        let stored = self.store.session(id).await?;
        let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
        session::begin(&self.sessions, id, Begin::New { stored: Box::new(stored), reports, first })
    }
}

/// Too slow is too slow, whatever the agent was in the middle of.
fn in_time(error: AgentError) -> AgentError {
    if let AgentError::Timeout { after, .. } = error {
        return AgentError::SessionTimeout { after };
    }
    error
}
