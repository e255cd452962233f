//! Commands on sessions: create, prompt, end and so on; `read` finds and lists them.

pub(crate) mod admission;
mod adoption;
mod create;
mod fork;
pub(crate) mod import;
mod read;
mod recover;
mod spare;
mod stop_agents;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use convoke_agents::driver::Order;
use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::prompt::Prompt;
use convoke_core::session::{Command, EndReason, QueueChoice, Refusal, Status, check_prompt};
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use convoke_files::index;
use convoke_files::reserve::Reserve;
use convoke_store::{SessionKind, Store};
use tokio::sync::{Notify, Semaphore, broadcast};

use crate::attachments::Attachments;
use crate::blocking::panicked;
use crate::error::{Error, Result};
use crate::processes::Processes;
use crate::session::choices::Choices;
use crate::session::history::OwnTimes;
use crate::session::registry::Registry;
use crate::session::{self, CommandOutcome, Request};
use crate::settings::{HostContext, Settings};
use crate::snapshots::Snapshots;
use crate::teams::{Chains, Origin};
use crate::view::{Change, SessionView};
use crate::worktrees::{WantedWorktree, WorktreeError};
use admission::{Admission, Reactivation};
use spare::SparePlace;

pub use adoption::AdoptionError;
pub use fork::ForkAt;
pub use import::{Import, ImportOutcome, ImportTurn, ImportedInto, Speaker};
pub use read::{ListPiece, ListPieces, Listed};
pub use stop_agents::Stopped;

/// All sessions, and what their tasks share.
#[derive(Debug)]
pub struct Sessions {
    pub(crate) settings: Arc<Settings>,
    pub(crate) host: Arc<HostContext>,
    pub(crate) store: Store,
    pub(crate) processes: Processes,
    /// Disk space for decisions of the human on a full disk.
    pub(crate) reserve: Reserve,
    pub(crate) registry: Registry,
    pub(crate) changes: broadcast::Sender<Change>,
    /// Wakes the task that counts the inbox and announces the count.
    pub(crate) inbox_changed: Arc<Notify>,
    /// The chains of asks that prompts belong to.
    pub(crate) chains: Chains,
    pub(crate) counted: Counted,
    pub(crate) attachments: Attachments,
    /// The checkpoints of the projects.
    pub(crate) snapshots: Arc<Snapshots>,
    /// Held while the task of a session is started, which may write files that came along from another machine.
    pub(crate) arriving: Semaphore,
    /// Wakes the task that completes the moves of sessions to this machine.
    pub(crate) arrival_announced: Notify,
    /// Up to when Convoke's own processes wrote conversations that other programs continued.
    pub(crate) own_times: OwnTimes,
    admission: Admission,
    spare: SparePlace,
}

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) prompts: AtomicU64,
    pub(crate) messages: AtomicU64,
    pub(crate) turns_failed: AtomicU64,
}

/// An accepted prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompted {
    /// The id of its message.
    pub message_id: MessageId,
    /// Its seq; `None` while it is queued.
    pub seq: Option<Seq>,
    /// How many prompts are before it.
    pub queued: usize,
    /// The session's revision when it was accepted: everything that it causes is newer.
    pub rev: Rev,
}

/// A session that was created for its first prompt.
#[derive(Debug)]
pub struct Created {
    /// The session.
    pub session: SessionView,
    /// What became of the prompt.
    pub prompted: Result<Prompted>,
}

/// A session to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The project in which its agent works.
    pub project: ProjectId,
    /// The agent; `None` for the default one.
    pub agent: Option<AgentName>,
    /// Its model and mode.
    pub choices: Choices,
    /// The work tree that it is to have for itself.
    pub worktree: Option<WantedWorktree>,
}

/// A prompt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrompt {
    /// What is said. Of attachments only hash and name count.
    pub prompt: Prompt,
    /// The id of its message, chosen by the client; a repeated id is accepted once.
    pub id: Option<MessageId>,
}

impl From<Prompt> for NewPrompt {
    fn from(prompt: Prompt) -> Self {
        Self { prompt, id: None }
    }
}

impl From<String> for NewPrompt {
    fn from(text: String) -> Self {
        Self { prompt: text.into(), id: None }
    }
}

impl Sessions {
    /// Starts without any tasks.
    pub(crate) fn new(
        processes: Processes,
        reserve: Reserve,
        changes: broadcast::Sender<Change>,
    ) -> Arc<Self> {
        let host = &processes.host;
        let attachments = Attachments::new(&host.home, processes.store.clone(), host.random);
        Arc::new(Self {
            snapshots: Snapshots::new(&processes.settings, &processes.host),
            settings: Arc::clone(&processes.settings),
            host: Arc::clone(&processes.host),
            store: processes.store.clone(),
            processes,
            reserve,
            registry: Registry::default(),
            changes,
            inbox_changed: Arc::default(),
            chains: Chains::default(),
            counted: Counted::default(),
            attachments,
            arriving: Semaphore::new(1),
            arrival_announced: Notify::new(),
            own_times: OwnTimes::default(),
            admission: Admission::default(),
            spare: SparePlace::default(),
        })
    }

    /// Creates a session with an agent in a project; returns when the agent is ready.
    pub async fn create(
        self: &Arc<Self>,
        project: ProjectId,
        agent: Option<AgentName>,
    ) -> Result<SessionView> {
        let choices = Choices::default();
        self.begin(NewSession { project, agent, choices, worktree: None }).await
    }

    /// Creates a session whose model and mode may be chosen; returns when the agent is ready.
    pub async fn begin(self: &Arc<Self>, new: NewSession) -> Result<SessionView> {
        let shared = Arc::clone(self);
        // In a task of its own, so that a caller that disconnects leaves a whole session or none.
        let created = tokio::spawn(async move { create::create(&shared, new).await });
        created.await.map_err(panicked)?
    }

    /// Creates a session and sends it its first prompt.
    ///
    /// A prompt that no session accepts fails before the session is created. One that is refused later leaves the session,
    /// and the outcome says so.
    pub async fn create_with_prompt(
        self: &Arc<Self>,
        new: NewSession,
        prompt: NewPrompt,
    ) -> Result<Created> {
        check_prompt(&prompt.prompt)?;
        let prompt = self.checked(new.project, prompt).await?;
        let id = self.begin(new).await?.stored.id;
        let prompted = self.prompt(id, prompt).await;
        Ok(Created { session: self.get(id).await?, prompted })
    }

    /// Imports the next turns of a transcript into its session.
    pub async fn import(self: &Arc<Self>, import: Import) -> Result<ImportedInto> {
        import::import(self, import).await
    }

    /// Sends a prompt to the agent of a session, on behalf of a human or of an external caller.
    ///
    /// A session that Convoke itself completed (idle, to make room, imported) is resumed.
    pub async fn prompt(
        self: &Arc<Self>,
        id: SessionId,
        prompt: impl Into<NewPrompt>,
    ) -> Result<Prompted> {
        let prompt = prompt.into();
        let prompt = match prompt.prompt {
            // Without attachments and files there is nothing to check.
            Prompt { ref attachments, ref files, .. }
                if attachments.is_empty() && files.is_empty() =>
            {
                prompt
            }
            _ => self.checked(self.get(id).await?.stored.project_id, prompt).await?,
        };
        match self.prompt_because_of(id, prompt.clone(), None).await {
            Err(Error::Ended { reason: Some(reason), .. }) if reason.is_resumed_by_prompt() => {
                self.resume_once(id, prompt.prompt.by.clone()).await?;
                self.prompt_because_of(id, prompt, None).await
            }
            prompted => prompted,
        }
    }

    /// The files that are attached to prompts.
    pub const fn attachments(&self) -> &Attachments {
        &self.attachments
    }

    /// A prompt whose attachments are stored, and whose files are in the project.
    async fn checked(&self, project: ProjectId, new: NewPrompt) -> Result<NewPrompt> {
        // The limits are checked before the attachments are looked up.
        check_prompt(&new.prompt)?;
        let prompt = self.attachments.check(new.prompt).await?;
        if !prompt.files.is_empty() {
            let found = self.store.project(project).await?;
            let found = found.ok_or_else(|| Error::UnknownProject { text: project.to_string() })?;
            let out = prompt.files.iter().find(|file| index::inside(&found.path, file).is_none());
            if let Some(path) = out {
                return Err(Error::OutsideProject { path: path.clone() });
            }
        }
        Ok(NewPrompt { prompt, ..new })
    }

    /// Resumes a session, unless a concurrent caller did.
    async fn resume_once(self: &Arc<Self>, id: SessionId, by: Option<UserName>) -> Result<()> {
        let _turn = self.admission.resumption.acquire().await.map_err(|_| Error::Stopping)?;
        if self.get(id).await?.stored.summary.status == Status::Active {
            return Ok(());
        }
        match self.resume(id, by).await {
            Ok(_) | Err(Error::Refused(Refusal::Active)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Changes a queued prompt, which says the words of this user from then on (`None` for the owner).
    pub async fn edit_queued(
        self: &Arc<Self>,
        id: SessionId,
        prompt: MessageId,
        text: String,
        by: Option<UserName>,
    ) -> Result<SessionView> {
        Ok(self.send_command(id, Command::EditQueued { id: prompt, text, by }).await?.view)
    }

    /// Removes a queued prompt.
    pub async fn remove_queued(
        self: &Arc<Self>,
        id: SessionId,
        prompt: MessageId,
    ) -> Result<SessionView> {
        Ok(self.send_command(id, Command::RemoveQueued { id: prompt }).await?.view)
    }

    /// Moves a queued prompt to another place in the queue.
    pub async fn move_queued(
        self: &Arc<Self>,
        id: SessionId,
        prompt: MessageId,
        to: usize,
    ) -> Result<SessionView> {
        Ok(self.send_command(id, Command::MoveQueued { id: prompt, to }).await?.view)
    }

    /// Moves a queued prompt to the front, and cancels the running turn for it.
    pub async fn send_queued(
        self: &Arc<Self>,
        id: SessionId,
        prompt: MessageId,
    ) -> Result<SessionView> {
        Ok(self.send_command(id, Command::SendQueued { id: prompt }).await?.view)
    }

    /// Sends a prompt to the agent of a session, and records the chain of asks that it belongs to.
    pub(crate) async fn prompt_because_of(
        self: &Arc<Self>,
        id: SessionId,
        prompt: NewPrompt,
        origin: Origin,
    ) -> Result<Prompted> {
        let chains = &self.chains;
        chains.expect(id, origin.clone());
        let prompted = self.prompt_in_chain(id, prompt).await;
        chains.arrived(id, prompted.as_ref().ok().map(|prompted| prompted.message_id), origin);
        prompted
    }

    /// Sends a prompt of Convoke's own, which neither begins nor ends a chain of asks.
    pub(crate) async fn prompt_in_chain(
        self: &Arc<Self>,
        id: SessionId,
        prompt: NewPrompt,
    ) -> Result<Prompted> {
        let NewPrompt { prompt, id: message } = prompt;
        let outcome =
            session::ask(self, id, |reply| Request::Prompt { prompt, id: message, reply });
        outcome.await?.prompt.ok_or(Error::Broken { session: id })
    }

    /// Cancels the running turn; the session stays active.
    pub async fn cancel_turn(
        self: &Arc<Self>,
        id: SessionId,
        queue: QueueChoice,
    ) -> Result<SessionView> {
        Ok(self.send_command(id, Command::CancelTurn { queue }).await?.view)
    }

    /// Records that a human has looked at a session.
    pub async fn see(self: &Arc<Self>, id: SessionId) -> Result<SessionView> {
        let session = self.get(id).await?;
        // Usually there is nothing to record, and the session's task need not be started.
        if !session.stored.summary.is_unseen() {
            return Ok(session);
        }
        Ok(self.send_command(id, Command::See).await?.view)
    }

    /// Deletes a session with its messages, requests and search entries. Its agent is stopped first.
    pub async fn erase(self: &Arc<Self>, id: SessionId) -> Result<()> {
        let session = self.get(id).await?.stored;
        match session.kind {
            SessionKind::Team => Err(Error::TeamSession { session: id }),
            SessionKind::Session => {
                // The record of its folder would be lost.
                let own = session.worktree.filter(|own| own.removed.is_none());
                if own.is_some_and(|own| std::path::Path::new(&own.path).exists()) {
                    return Err(WorktreeError::NotFinished.into());
                }
                session::ask(self, id, |reply| Request::Erase { reply }).await
            }
        }
    }

    /// Completes a session.
    pub async fn complete(self: &Arc<Self>, id: SessionId) -> Result<SessionView> {
        Ok(self.send_command(id, Command::Complete { reason: EndReason::User }).await?.view)
    }

    /// Cancels a session for good; does nothing if it has ended.
    pub async fn cancel(self: &Arc<Self>, id: SessionId) -> Result<SessionView> {
        match self.send_command(id, Command::Cancel { reason: EndReason::User }).await {
            Ok(outcome) => Ok(outcome.view),
            Err(Error::Ended { .. }) => self.get(id).await,
            Err(error) => Err(error),
        }
    }

    /// Reopens an ended session for a user (`None` for the owner), if the session limit allows it.
    pub async fn resume(
        self: &Arc<Self>,
        id: SessionId,
        by: Option<UserName>,
    ) -> Result<SessionView> {
        let session = self.get(id).await?;
        adoption::adopt_project(self, &session.stored, by).await?;
        self.reactivate(session, Command::Resume, Reactivation::Resume).await
    }

    /// Changes the title of a session.
    pub async fn rename(self: &Arc<Self>, id: SessionId, title: String) -> Result<SessionView> {
        Ok(self.send_command(id, Command::Rename { title }).await?.view)
    }

    /// Hides a session from lists.
    pub async fn archive(self: &Arc<Self>, id: SessionId) -> Result<SessionView> {
        Ok(self.send_command(id, Command::Archive).await?.view)
    }

    /// Shows a session in lists again; an active one needs room below the session limit.
    pub async fn unarchive(self: &Arc<Self>, id: SessionId) -> Result<SessionView> {
        let session = self.get(id).await?;
        self.reactivate(session, Command::Unarchive, Reactivation::Unarchive).await
    }

    async fn reactivate(
        self: &Arc<Self>,
        session: SessionView,
        command: Command,
        from: Reactivation,
    ) -> Result<SessionView> {
        let outcome = self.send_command(session.stored.id, command);
        let outcome = match admission::admit(self, &session.stored, from).await? {
            Some(room) => room.fill(outcome).await,
            None => outcome.await,
        };
        Ok(outcome?.view)
    }

    /// Sets the mode of a session's agent.
    pub async fn set_mode(self: &Arc<Self>, id: SessionId, mode: String) -> Result<()> {
        self.order(id, Some(Order::SetMode { mode })).await
    }

    /// Changes a setting of a session's agent.
    pub async fn set_setting(
        self: &Arc<Self>,
        id: SessionId,
        setting: String,
        choice: String,
    ) -> Result<()> {
        self.order(id, Some(Order::SetSetting { setting, choice })).await
    }

    /// Makes sure that a process runs, and sends it an order that is not a prompt.
    pub(crate) async fn order(self: &Arc<Self>, id: SessionId, order: Option<Order>) -> Result<()> {
        session::ask(self, id, |reply| Request::Order { order, reply }).await
    }

    pub(crate) async fn send_command(
        self: &Arc<Self>,
        id: SessionId,
        command: Command,
    ) -> Result<CommandOutcome> {
        session::ask(self, id, |reply| Request::Command { command, reply }).await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.host.now()
    }

    /// Why a session's task ended without an answer: the store failed, or the task did.
    pub(crate) fn broken(&self, session: SessionId) -> Error {
        self.store.refusal().map_or(Error::Broken { session }, Error::Store)
    }

    /// Why a request to a session was not answered: the session was erased or moved meanwhile, else
    /// `broken`.
    pub(crate) async fn gone_or_broken(&self, session: SessionId) -> Error {
        match self.store.session(session).await {
            Ok(None) => Error::UnknownSession { text: session.to_string() },
            Ok(Some(stored)) if stored.node != self.store.node() => Error::OtherNode { session },
            Ok(Some(_)) | Err(_) => self.broken(session),
        }
    }

    pub(crate) fn publish(&self, change: Change) {
        // Fails if there are no subscribers.
        self.changes.send(change).ok();
    }
}
