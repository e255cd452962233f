//! Sessions as callers handle them: found, listed, created, told what to do.

mod create;
mod import;
pub(crate) mod spare;

use std::sync::Arc;

use convoke_agents::driver::Order;
use convoke_core::id::{AgentName, CanonicalId, MessageId, ProjectId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::session::{Command, EndReason, Refusal, Status};
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_store::{
    HitPage, HitPlace, MessagePage, SearchQuery, SessionFilter, SessionOrder, SessionPiece,
    Snapshot, StoredSession, UpdatePage, Window,
};
use tokio::sync::mpsc;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::session::{self, Carried, Request};
use crate::teams::Origin;
use crate::view::{Live, Moment, SessionView};
use crate::watch::Watcher;
use create::Return;

pub use import::{Import, ImportOutcome, ImportTurn, ImportedInto, Speaker};

/// Characters below which a prefix of an id says too little.
const PREFIX_MIN: usize = 4;
/// Candidates that are named when a prefix is ambiguous.
const CANDIDATES_MAX: u32 = 10;

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The sessions in the window.
    pub sessions: Vec<SessionView>,
    /// How many there are in the whole list.
    pub total: u64,
}

/// A long list that is read piece by piece, as of one moment.
#[derive(Debug)]
pub struct ListPieces {
    engine: Engine,
    pieces: mpsc::Receiver<convoke_store::Result<SessionPiece>>,
}

/// What comes next of a list.
#[derive(Debug)]
pub enum ListPiece {
    /// Some sessions.
    Sessions(Vec<SessionView>),
    /// At the end: how many there are in the whole list.
    Total(u64),
}

impl ListPieces {
    /// The next piece. Nothing comes after the total.
    pub async fn next(&mut self) -> Result<ListPiece> {
        match self.pieces.recv().await.ok_or(Error::Stopping)?? {
            SessionPiece::Sessions(stored) => Ok(ListPiece::Sessions(self.engine.views(stored))),
            SessionPiece::Total(total) => Ok(ListPiece::Total(total)),
        }
    }
}

/// What became of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompted {
    /// The prompt as a message.
    pub message_id: MessageId,
    /// Its place; `None` as long as it waits.
    pub seq: Option<Seq>,
    /// How many prompts are before it.
    pub queued: usize,
    /// The session's revision when it was accepted: all that comes of it is newer.
    pub rev: Rev,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrompt {
    /// What is said.
    pub text: String,
    /// The id of its message, made by the client; the same one is accepted once.
    pub id: Option<MessageId>,
}

impl From<String> for NewPrompt {
    fn from(text: String) -> Self {
        Self { text, id: None }
    }
}

impl Engine {
    /// Begins a session with an agent in a project, as soon as the agent is ready.
    pub async fn create_session(
        &self,
        project: ProjectId,
        agent: Option<AgentName>,
    ) -> Result<SessionView> {
        let shared = Arc::clone(&self.shared);
        // A caller that goes away leaves a whole session behind, or none.
        let created = tokio::spawn(async move { create::create(&shared, project, agent).await });
        created.await.map_err(|error| Error::Io {
            path: self.shared.around.home.clone(),
            source: std::io::Error::other(error),
        })?
    }

    /// Makes the next turns of a transcript part of the session that it becomes.
    pub async fn import(&self, import: Import) -> Result<ImportedInto> {
        import::import(&self.shared, import).await
    }

    /// The id of the session that a text stands for.
    pub async fn find_session(&self, text: &str) -> Result<SessionId> {
        Ok(self.found(text).await?.id)
    }

    /// The session that an id, a canonical id, or the beginning of an id stands for, without its messages.
    pub async fn session_named(&self, text: &str) -> Result<SessionView> {
        let stored = self.found(text).await?;
        let activity = self.shared.registry.live(stored.id).activity;
        Ok(SessionView { stored, activity })
    }

    async fn found(&self, text: &str) -> Result<StoredSession> {
        let unknown = || Error::UnknownSession { text: text.to_owned() };
        if let Ok(id) = text.parse::<SessionId>() {
            return self.shared.store.session(id).await?.ok_or_else(unknown);
        }
        if text.contains(':') {
            let id: CanonicalId = text.parse()?;
            return self.shared.store.session_by_canonical_id(&id).await?.ok_or_else(unknown);
        }
        if text.len() < PREFIX_MIN {
            return Err(unknown());
        }
        let mut found = self.shared.store.sessions_by_prefix(text, CANDIDATES_MAX).await?;
        match (found.pop(), found.as_slice()) {
            (None, _) => Err(unknown()),
            (Some(only), []) => Ok(only),
            (Some(last), others) => Err(Error::Ambiguous {
                prefix: text.to_owned(),
                candidates: others
                    .iter()
                    .chain([&last])
                    .map(|found| found.id.to_string())
                    .collect(),
            }),
        }
    }

    /// A session without its messages.
    pub async fn session(&self, id: SessionId) -> Result<SessionView> {
        let stored = self.shared.store.session(id).await?;
        let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
        let activity = self.shared.registry.live(id).activity;
        Ok(SessionView { stored, activity })
    }

    /// The moment that lasts until anything of any session or project is another.
    pub fn moment(&self) -> Moment {
        Moment { stored: self.shared.store.age(), shown: self.shared.registry.age() }
    }

    /// Lists sessions, newest first. No agent is asked.
    pub async fn sessions(
        &self,
        filter: SessionFilter,
        order: SessionOrder,
        window: Window,
    ) -> Result<Listed> {
        let page = self.shared.store.sessions(filter, order, window).await?;
        Ok(Listed { sessions: self.views(page.sessions), total: page.total })
    }

    /// Lists sessions in the same way, and hands the first ones over while the others are read.
    pub fn sessions_in_pieces(
        &self,
        filter: SessionFilter,
        order: SessionOrder,
        window: Window,
        piece: usize,
    ) -> ListPieces {
        let pieces = self.shared.store.sessions_in_pieces(filter, order, window, piece);
        ListPieces { engine: self.clone(), pieces }
    }

    pub(crate) fn views(&self, stored: Vec<StoredSession>) -> Vec<SessionView> {
        let activities = self.shared.registry.activities(stored.iter().map(|stored| stored.id));
        let view = |(stored, activity)| SessionView { stored, activity };
        stored.into_iter().zip(activities).map(view).collect()
    }

    /// What is known of a session besides its log.
    pub fn live(&self, id: SessionId) -> Live {
        self.shared.registry.live(id)
    }

    /// Some messages after a place.
    pub async fn messages(&self, id: SessionId, after: Seq, limit: u32) -> Result<MessagePage> {
        Ok(self.shared.store.messages(id, after, limit).await?)
    }

    /// Some messages just before a place, oldest first.
    pub async fn messages_before(
        &self,
        id: SessionId,
        before: Seq,
        limit: u32,
    ) -> Result<MessagePage> {
        Ok(self.shared.store.messages_before(id, before, limit).await?)
    }

    /// The newest messages of a session, those that are open, and its state, as of one revision.
    pub async fn snapshot(&self, id: SessionId, limit: u32, bytes_max: usize) -> Result<Snapshot> {
        Ok(self.shared.store.snapshot(id, limit, bytes_max).await?)
    }

    /// What changed after a revision: each changed message once, whole.
    pub async fn updates_after(&self, id: SessionId, after: Rev, limit: u32) -> Result<UpdatePage> {
        Ok(self.shared.store.updates_after(id, after, limit).await?)
    }

    /// The revision after which everything changed later than a time.
    pub async fn rev_at(&self, id: SessionId, time: Timestamp) -> Result<Rev> {
        Ok(self.shared.store.rev_at(id, time).await?)
    }

    /// The state of a session that is not conversation.
    pub async fn session_state(&self, id: SessionId) -> Result<Vec<(Rev, SessionState)>> {
        Ok(self.shared.store.session_state(id).await?)
    }

    /// The generation of all revisions. A revision of another one means nothing.
    pub async fn generation(&self) -> Result<u64> {
        Ok(self.shared.store.generation().await?)
    }

    /// Searches what was said.
    pub async fn search(
        &self,
        query: SearchQuery,
        before: Option<HitPlace>,
        limit: u32,
    ) -> Result<HitPage> {
        Ok(self.shared.store.search(query, before, limit).await?)
    }

    /// Follows a session from a revision on.
    pub async fn watch(&self, id: SessionId, after: Rev) -> Result<Watcher> {
        let found = self.shared.store.session(id).await?;
        found.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
        let live = self.shared.registry.subscribe(id);
        Ok(Watcher::new(self.shared.store.clone(), id, after, live))
    }

    /// Says something to the agent of a session, in the name of a human or of a caller from outside.
    ///
    /// A session that Convoke itself completed, because it was idle or to make room, is resumed by it.
    pub async fn prompt(&self, id: SessionId, prompt: impl Into<NewPrompt>) -> Result<Prompted> {
        let prompt = prompt.into();
        match self.prompt_because_of(id, prompt.clone(), None).await {
            Err(Error::Ended { reason: Some(reason), .. }) if reason.is_resumed_by_prompt() => {
                self.resume_once(id).await?;
                self.prompt_because_of(id, prompt, None).await
            }
            prompted => prompted,
        }
    }

    /// Resumes a session, unless another caller was faster.
    async fn resume_once(&self, id: SessionId) -> Result<()> {
        let _turn = self.shared.resumption.acquire().await.map_err(|_| Error::Stopping)?;
        if self.session(id).await?.stored.summary.status == Status::Active {
            return Ok(());
        }
        match self.resume(id).await {
            Ok(_) | Err(Error::Refused(Refusal::Active)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Changes a prompt that waits.
    pub async fn edit_queued(
        &self,
        id: SessionId,
        prompt: MessageId,
        text: String,
    ) -> Result<SessionView> {
        Ok(self.carry(id, Command::EditQueued { id: prompt, text }).await?.view)
    }

    /// Removes a prompt that waits.
    pub async fn remove_queued(&self, id: SessionId, prompt: MessageId) -> Result<SessionView> {
        Ok(self.carry(id, Command::RemoveQueued { id: prompt }).await?.view)
    }

    /// Sends a prompt that waits next, and stops the running turn for it.
    pub async fn send_queued(&self, id: SessionId, prompt: MessageId) -> Result<SessionView> {
        Ok(self.carry(id, Command::SendQueued { id: prompt }).await?.view)
    }

    /// Says something to the agent of a session, and notes which chain of asks it follows from.
    pub(crate) async fn prompt_because_of(
        &self,
        id: SessionId,
        prompt: NewPrompt,
        origin: Origin,
    ) -> Result<Prompted> {
        let chains = &self.shared.chains;
        chains.expect(id, origin.clone());
        let prompted = self.prompt_in_chain(id, prompt).await;
        chains.arrived(id, prompted.as_ref().ok().map(|prompted| prompted.message_id), origin);
        prompted
    }

    /// Says something to the agent of a session in Convoke's own name, which begins no chain and ends none.
    pub(crate) async fn prompt_in_chain(
        &self,
        id: SessionId,
        prompt: NewPrompt,
    ) -> Result<Prompted> {
        let NewPrompt { text, id: message } = prompt;
        let carried =
            session::ask(&self.shared, id, |reply| Request::Prompt { text, id: message, reply });
        carried.await?.prompt.ok_or(Error::Broken { session: id })
    }

    /// Stops the turn that runs; the session goes on.
    pub async fn cancel_turn(&self, id: SessionId) -> Result<SessionView> {
        Ok(self.carry(id, Command::CancelTurn).await?.view)
    }

    /// Ends a session well.
    pub async fn complete(&self, id: SessionId) -> Result<SessionView> {
        Ok(self.carry(id, Command::Complete { reason: EndReason::User }).await?.view)
    }

    /// Ends a session for good; one that has ended already stays as it is.
    pub async fn cancel(&self, id: SessionId) -> Result<SessionView> {
        match self.carry(id, Command::Cancel { reason: EndReason::User }).await {
            Ok(carried) => Ok(carried.view),
            Err(Error::Ended { .. }) => self.session(id).await,
            Err(error) => Err(error),
        }
    }

    /// Lets an ended session accept prompts again, if there is room for one more.
    pub async fn resume(&self, id: SessionId) -> Result<SessionView> {
        self.bring_back(id, Command::Resume, Return::FromItsEnd).await
    }

    /// Gives a session another title.
    pub async fn rename(&self, id: SessionId, title: String) -> Result<SessionView> {
        Ok(self.carry(id, Command::Rename { title }).await?.view)
    }

    /// Hides a session from lists.
    pub async fn archive(&self, id: SessionId) -> Result<SessionView> {
        Ok(self.carry(id, Command::Archive).await?.view)
    }

    /// Shows a session in lists again, if there is room for one more or it is not active.
    pub async fn unarchive(&self, id: SessionId) -> Result<SessionView> {
        self.bring_back(id, Command::Unarchive, Return::FromTheArchive).await
    }

    async fn bring_back(
        &self,
        id: SessionId,
        command: Command,
        from: Return,
    ) -> Result<SessionView> {
        let session = self.session(id).await?;
        let carried = self.carry(id, command);
        let carried = match create::admit(&self.shared, &session.stored, from).await? {
            Some(room) => room.fill(carried).await,
            None => carried.await,
        };
        Ok(carried?.view)
    }

    /// Puts the agent of a session into another mode.
    pub async fn set_mode(&self, id: SessionId, mode: String) -> Result<()> {
        self.order(id, Order::SetMode { mode }).await
    }

    /// Changes a setting of the agent of a session.
    pub async fn set_setting(&self, id: SessionId, setting: String, choice: String) -> Result<()> {
        self.order(id, Order::SetSetting { setting, choice }).await
    }

    async fn order(&self, id: SessionId, order: Order) -> Result<()> {
        session::ask(&self.shared, id, |reply| Request::Order { order: Some(order), reply }).await
    }

    pub(crate) async fn carry(&self, id: SessionId, command: Command) -> Result<Carried> {
        session::ask(&self.shared, id, |reply| Request::Carry { command, reply }).await
    }
}
