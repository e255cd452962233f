//! Gets a session its process: a warm one, or a new one that resumes the conversation as well as the agent can.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_agents::Error as AgentError;
use convoke_agents::catalogue::{Agent, LoginState, Resume, Sandbox};
use convoke_agents::driver::{HttpServer, Launch, Lease, McpServer, OwnSandbox, Start};
use convoke_agents::launch::{LaunchEnvironment, LaunchParameters, WorktreeOf};
use convoke_agents::pool::Seat;
use convoke_agents::resume::{Begun, PriorSession, resume_or_begin};
pub(crate) use convoke_core::explain;
use convoke_core::files::{ChangeTotals, OwnWorktree};
use convoke_core::id::{AgentName, ProjectId, SessionId};
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::{AgentEvent, Notice, ProcessEvent, Resumed};
use convoke_core::session::Report;
use convoke_core::state::SessionState;
use convoke_core::team::TeamName;
use convoke_git::Access;
use convoke_store::{SessionKind, Window};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::capture::Captured;
use super::choices;
use super::replay::transcript;
use crate::error::Result as EngineResult;
use crate::histories::live;
use crate::processes::Processes;
use crate::projects::inside_root;
use crate::sessions::Sessions;
use crate::view::AgentStatus;
use crate::worktrees::make::branch_folder;

/// The reason recorded with an agent session that replaces a lost one.
pub(crate) const REMADE: &str = "remade";
/// The reason recorded with an agent session whose record was not transferred to this machine: a
/// record with the same id from an earlier stay here is incomplete.
pub(crate) const LEFT_BEHIND: &str = "left behind";
/// The most messages that are searched for a later prompt.
const PROMPTS_SEARCH_MAX: u32 = 1000;

/// What is needed to get a session's process.
#[derive(Debug, Clone)]
pub(crate) struct ProcessSpec {
    pub(crate) session: SessionId,
    /// The key of the process in the pool.
    pub(crate) key: String,
    pub(crate) kind: SessionKind,
    /// The team that answers in the session.
    pub(crate) team: Option<TeamName>,
    pub(crate) agent: AgentName,
    pub(crate) project: ProjectId,
    pub(crate) workspace: PathBuf,
    /// The agent's own session id, once it has one.
    pub(crate) agent_session: Option<String>,
    /// The work tree that the session has for itself, and the project's folder.
    pub(crate) worktree: Option<(OwnWorktree, PathBuf)>,
}

/// Progress of the process that a session waits for.
pub(crate) enum ProcessUpdate {
    /// The position in the pool's queue.
    Place { turn: Seq, place: usize },
    /// A checkpoint was made, or not.
    Captured(Result<ChangeTotals, String>),
    /// The work tree was set up, or not.
    SetUp(Notice),
    /// The process, or why there is none.
    Seated { turn: Seq, outcome: Result<Seating, AgentError> },
}

/// A process for a session.
pub(crate) struct Seating {
    pub(crate) seat: Seat,
    /// What is recorded about a new process.
    pub(crate) noted: Option<StartRecord>,
    /// The conversation so far, if the agent does not remember it.
    pub(crate) transcript: Option<String>,
}

/// What is recorded about a new process.
pub(crate) struct StartRecord {
    pub(crate) agent_session: String,
    pub(crate) why: &'static str,
    pub(crate) reports: Vec<Report>,
}

/// Gets the process for a turn, and sends the outcome to the session's task.
pub(super) async fn for_turn(
    shared: Arc<Sessions>,
    spec: ProcessSpec,
    turn: Seq,
    reports: mpsc::Sender<Report>,
    updates: mpsc::Sender<ProcessUpdate>,
    captured: Option<Captured>,
) {
    if !shared.processes.pool.keys().await.contains(&spec.key) {
        shared.publish_agent_status(&spec, AgentStatus::Starting);
    }
    let outcome = seat(&shared.processes, &spec, reports, Some((turn, updates.clone()))).await;
    if let Some(captured) = captured {
        captured.wait().await;
    }
    // Fails if the session's task has ended, which needs no process.
    updates.send(ProcessUpdate::Seated { turn, outcome }).await.ok();
}

/// Gets the process of a session. Waits for room in the pool and reports the position in the queue; without a
/// listener it waits no longer than the start timeout.
pub(crate) async fn seat(
    processes: &Processes,
    spec: &ProcessSpec,
    reports: mpsc::Sender<Report>,
    listener: Option<(Seq, mpsc::Sender<ProcessUpdate>)>,
) -> Result<Seating, AgentError> {
    let is_forgotten = |error: &AgentError| matches!(error, AgentError::CannotResume { .. });
    let acquire = |start| acquire(processes, spec, start, reports.clone(), listener.clone());
    // The settings of the previous process; a session that is not stored yet has none.
    let before = match processes.store.session_state(spec.session).await {
        Ok(before) => before,
        Err(convoke_store::Error::UnknownSession { .. }) => Vec::new(),
        Err(error) => return Err(AgentError::Settings(error.into())),
    };
    let before: Vec<SessionState> = before.into_iter().map(|(_, state)| state).collect();
    let prior_session = prior_session(processes, spec).await;
    let is_elsewhere = matches!(prior_session, PriorSession::OpenElsewhere(_));
    let (seat, begun) =
        resume_or_begin(prior_session, processes.host.random, is_forgotten, acquire).await?;
    let Some(started) = &seat.started else {
        return Ok(Seating { seat, noted: None, transcript: None });
    };
    processes.remember_offers(&spec.agent, &started.offers);
    for order in choices::again(&before, &started.offers) {
        // A send fails only if the process has exited, which is reported separately.
        seat.send(order).await.ok();
    }
    let before = listener.as_ref().map(|(turn, _)| *turn);
    let (transcript, how, why) = match begun {
        Begun::Resumed => match unremembered(processes, spec, before).await {
            Some(transcript) => (Some(transcript), Some(Resumed::Replay), "resumed"),
            None => (None, Some(Resumed::Native), "resumed"),
        },
        Begun::Forked => (None, Some(Resumed::Forked), "forked"),
        Begun::New => match transcript(processes, spec.session, before).await {
            Ok(Some(transcript)) if is_elsewhere => {
                (Some(transcript), Some(Resumed::ForkedReplay), "replayed")
            }
            Ok(Some(transcript)) => (Some(transcript), Some(Resumed::Replay), "replayed"),
            // A new conversation has nothing to resume.
            Ok(None) => (None, None, "created"),
            Err(error) => {
                tracing::error!(session.id = %spec.session, "no transcript for the agent: {error}");
                (None, Some(Resumed::Afresh), "created")
            }
        },
    };
    let agent_session = started.agent_session.clone();
    let reports = how.map(Report::Resumed).into_iter().collect();
    Ok(Seating { seat, noted: Some(StartRecord { agent_session, why, reports }), transcript })
}

/// What is known of the agent's own session. One with a warm process is open in no other program.
async fn prior_session(processes: &Processes, spec: &ProcessSpec) -> PriorSession {
    // An agent that cannot reliably load its session is given the transcript instead.
    let resume = processes.agent(spec.agent.as_str()).map_or(Resume::Native, |it| it.resume);
    let id = spec.agent_session.clone().filter(|_| resume == Resume::Native);
    let Some(id) = id else { return PriorSession::Nothing };
    if processes.pool.keys().await.contains(&spec.key) {
        return PriorSession::Session(id);
    }
    match processes.store.agent_session_records(spec.session, Window::first(1)).await {
        Ok(records) if records.first().is_some_and(|it| it.why == LEFT_BEHIND) => {
            return PriorSession::Nothing;
        }
        Ok(_) => {}
        Err(error) => {
            tracing::warn!(session.id = %spec.session, "it is unknown what the agent has: {error}");
            return PriorSession::Nothing;
        }
    }
    match live::is_open_elsewhere(processes, spec.session, &id).await {
        Ok(true) => PriorSession::OpenElsewhere(id),
        Ok(false) => PriorSession::Session(id),
        Err(error) => {
            tracing::warn!(session.id = %spec.session, "it is unknown who has it open: {error}");
            PriorSession::OpenElsewhere(id)
        }
    }
}

/// The turns that a resuming agent does not remember, because its own session was recreated after them.
async fn unremembered(
    processes: &Processes,
    spec: &ProcessSpec,
    before: Option<Seq>,
) -> Option<String> {
    let look = async || -> EngineResult<Option<String>> {
        let records = processes.store.agent_session_records(spec.session, Window::first(1)).await?;
        let Some(record) = records.first().filter(|record| record.why == REMADE) else {
            return Ok(None);
        };
        let end = match before {
            Some(before) => before,
            None => match processes.store.session(spec.session).await? {
                Some(stored) => stored.summary.last_seq.next(),
                None => return Ok(None),
            },
        };
        let recent = processes.store.messages_before(spec.session, end, PROMPTS_SEARCH_MAX).await?;
        let is_prompt_since = |message: &Message| {
            message.role == Role::User && message.timestamp > record.recorded_at
        };
        if recent.messages.iter().any(is_prompt_since) {
            return Ok(None);
        }
        transcript(processes, spec.session, before).await
    };
    match look().await {
        Ok(transcript) => transcript,
        Err(error) => {
            tracing::error!(session.id = %spec.session, "no transcript for the agent: {error}");
            None
        }
    }
}

async fn acquire(
    processes: &Processes,
    spec: &ProcessSpec,
    start: Start,
    reports: mpsc::Sender<Report>,
    listener: Option<(Seq, mpsc::Sender<ProcessUpdate>)>,
) -> Result<Seat, AgentError> {
    let launch = launch(processes, spec, start).await?;
    let (after, begun) = (launch.start_timeout, Instant::now());
    let (place, mut places) = watch::channel(0);
    let acquiring = processes.pool.acquire(&spec.key, launch, reports, place);
    tokio::pin!(acquiring);
    let mut last_place = 0;
    loop {
        tokio::select! {
            outcome = &mut acquiring => return outcome,
            () = sleep_until(begun + after), if listener.is_none() && last_place > 0 => {
                return Err(AgentError::NoRoom { after });
            }
            Ok(()) = places.changed() => {
                // The pool sends the position whenever it checks its queue.
                let place = *places.borrow_and_update();
                let is_same = std::mem::replace(&mut last_place, place) == place;
                if let Some((turn, updates)) = listener.as_ref().filter(|_| !is_same) {
                    // Fails if the session's task has ended.
                    updates.send(ProcessUpdate::Place { turn: *turn, place }).await.ok();
                }
            }
        }
    }
}

/// How the process of a session is started.
pub(crate) async fn launch(
    processes: &Processes,
    spec: &ProcessSpec,
    start: Start,
) -> Result<Launch, AgentError> {
    let agent = processes.agent(spec.agent.as_str()).map_err(|_| AgentError::NotInstalled {
        agent: spec.agent.clone(),
        command: spec.agent.to_string(),
        install: None,
    })?;
    // The folder may have been moved, or replaced by a link, since it became a project.
    let not_there = |source| AgentError::Workspace { path: spec.workspace.clone(), source };
    let workspace = match spec.kind {
        SessionKind::Session if spec.worktree.is_some() => {
            inside_root(spec.workspace.clone(), &processes.settings.worktrees.root).await
        }
        SessionKind::Session => {
            inside_root(spec.workspace.clone(), &processes.settings.workspace_root).await
        }
        // The folder of a team comes from its configuration.
        SessionKind::Team => Ok(spec.workspace.clone()),
    };
    let workspace = workspace.map_err(|error| not_there(std::io::Error::other(error)))?;
    if workspace != spec.workspace {
        // Even inside the root, it could be the folder of another project.
        let where_to = format!("its links lead to {}", workspace.display());
        return Err(not_there(std::io::Error::other(where_to)));
    }
    let temp = processes.temp.inside((processes.host.random)()).map_err(|source| {
        convoke_agents::Error::Temporary { path: processes.temp.path().to_owned(), source }
    })?;
    let around = LaunchEnvironment {
        environment: processes.host.environment.clone(),
        convoke: processes.host.program.clone(),
        home: processes.host.home.clone(),
        temp: Arc::new(temp),
        sandbox: processes.settings.sandbox.clone(),
    };
    let (mcp_servers, lease) = tool_server(processes, spec.session).unzip();
    let mcp_servers = mcp_servers.into_iter().collect();
    let worktree = match spec.worktree.clone() {
        Some((own, project)) => Some(worktree_of(spec.session, own, project).await?),
        None => None,
    };
    let parameters = LaunchParameters { workspace, start, mcp_servers, worktree };
    let mut launch = Launch::of(agent, &around, parameters)?;
    launch.lease = lease;
    if let SessionKind::Team = spec.kind {
        processes.as_configured(spec, &mut launch);
    }
    Ok(launch)
}

/// What an agent in a work tree needs of its repository.
async fn worktree_of(
    session: SessionId,
    own: OwnWorktree,
    project: PathBuf,
) -> Result<WorktreeOf, AgentError> {
    let path = PathBuf::from(&own.path);
    let folder = branch_folder(session, &own.branch);
    let access = move || Access::of(Path::new(&own.path), &own.branch, folder);
    let found = tokio::task::spawn_blocking(access);
    let found = found.await.map_err(std::io::Error::other)?;
    let unusable = |error: convoke_git::Error| AgentError::Workspace {
        path,
        source: std::io::Error::other(explain(&error)),
    };
    let Access { writable, protected, readable } = found.map_err(unusable)?;
    Ok(WorktreeOf { project, writable, protected, readable })
}

impl Processes {
    /// Applies the start timeout of the team. Agents are never started with permissions skipped:
    /// they ask, so that a rule can deny, and the session's task answers.
    fn as_configured(&self, spec: &ProcessSpec, launch: &mut Launch) {
        let settings = Arc::clone(&self.teams.borrow());
        launch.start_timeout = settings.init_timeout;
        let team = spec.team.as_ref().and_then(|name| settings.team(name));
        let Some(team) = team else { return };
        launch.start_timeout = team.init_timeout.unwrap_or(settings.init_timeout);
    }
}

/// The notice about the confinement of a new session's agent.
pub(crate) fn confinement_notice(
    processes: &Processes,
    launch: &Launch,
    agent: &AgentName,
) -> Vec<Report> {
    let wanted = processes.agent(agent.as_str()).map(|agent| agent.sandbox);
    if !matches!(wanted, Ok(Sandbox::Workspace)) {
        return Vec::new();
    }
    if !launch.confinement.confines() {
        return vec![Report::Noticed(Notice::new(ProcessEvent::Unconfined))];
    }
    let missing = launch.missing.iter().map(|it| format!("{it} ({})", it.layer.loss()));
    let missing: Vec<String> = missing.collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let mut text = format!("The agent is only partly sandboxed: {}.", missing.join("; "));
    if launch.own_sandbox == OwnSandbox::Off {
        text.push_str(" Its own sandbox cannot work here and is off, so that it runs commands without asking.");
    }
    vec![Report::Noticed(Notice::worded(ProcessEvent::Unconfined, text))]
}

/// The notice of a new session that its agent seems to be logged out: its credentials file is missing. The agent may
/// have other credentials, so it is started all the same.
pub(crate) fn login_notice(processes: &Processes, agent: &AgentName) -> Option<Report> {
    let agent: &Agent = processes.agent(agent.as_str()).ok()?;
    let hint = &agent.login.as_ref()?.hint;
    match agent.login_state(&processes.host.environment) {
        LoginState::LoggedOut => {
            let text = format!("{} is not logged in: {hint}.", agent.title);
            let event = AgentEvent::Advice { severity: "warning".to_owned() };
            Some(Report::Noticed(Notice::worded(event, text)))
        }
        LoginState::LoggedIn | LoginState::Unknown | LoginState::NotNeeded => None,
    }
}

/// The MCP server with Convoke's tools. Its key ends with the process.
fn tool_server(processes: &Processes, session: SessionId) -> Option<(McpServer, Lease)> {
    let endpoint = processes.host.mcp.as_ref()?;
    let key = endpoint.keys.issue(session);
    let env = [
        ("CONVOKE_MCP_URL".to_owned(), endpoint.url.clone()),
        ("CONVOKE_MCP_TOKEN".to_owned(), key.token().to_owned()),
    ];
    let server = McpServer {
        name: "convoke".to_owned(),
        command: processes.host.program.clone(),
        args: vec!["mcp".to_owned()],
        env: env.into(),
        http: Some(HttpServer { url: endpoint.url.clone(), token: key.token().to_owned() }),
    };
    Some((server, Arc::new(key)))
}
