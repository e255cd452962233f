//! The inbox: everything that is asked of the human, in sessions and in files, in one list. The first answer wins.

use std::sync::Arc;
use std::time::Duration;

use convoke_core::id::{RequestId, SessionId};
use convoke_core::notice::{Notice, RuleEvent};
use convoke_core::question::GivenAnswers;
use convoke_core::request::{
    Answers, Choice, QuestionRecord, Request as HumanRequest, State, Verdict,
};
use convoke_core::rule::Effect;
use convoke_core::session::{Command, Report};
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use convoke_files::questions::{Entry, Listing, Questions, Status, Verdict as FileVerdict};
use convoke_files::reserve::Reserve;
use convoke_store::{Project, Store, StoredRequest, Window};

use crate::blocking::blocking;
use crate::error::{Error, Kind, Result, no_request};
use crate::full_disk::make_room;
use crate::prefix::only;
use crate::rules::{NewRule, Rules};
use crate::session::{self, Request};
use crate::sessions::Sessions;
use crate::settings::{HostContext, Settings};
use crate::view::{Change, SessionView};

/// Requests that one list shows.
const ITEMS_MAX: u32 = 1000;
/// How long changes of files are gathered before they are announced.
const GATHER: Duration = Duration::from_millis(50);
/// How long a folder of questions that cannot be watched is left alone.
const PAUSE: Duration = Duration::from_secs(5);

/// Something that is asked of the human.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The request, as it stands.
    pub request: HumanRequest,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The session in which it was asked.
    pub session: Option<SessionView>,
    /// The project of that session.
    pub project: Option<Project>,
    /// Who asked, where it was no session.
    pub asked_by: Option<String>,
    /// Where the asker works, where it was no session.
    pub working_directory: Option<String>,
}

/// Whether an answer holds for the future, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    /// As a rule: this one of those that the request offers, counted from 0.
    Rule(usize),
    /// Only this time.
    No,
}

/// Everything that is asked of the human, by agents and by programs outside.
#[derive(Debug, Clone)]
pub struct Inbox {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) rules: Rules,
    pub(crate) store: Store,
    /// Questions of askers without a session.
    pub(crate) questions: Questions,
    pub(crate) reserve: Reserve,
    pub(crate) settings: Arc<Settings>,
    pub(crate) host: Arc<HostContext>,
}

impl Inbox {
    /// Everything that can be answered, the first asked first: what is waited for, and questions whose asker has left.
    pub async fn list(&self) -> Result<Vec<Item>> {
        let window = Window::first(ITEMS_MAX);
        let mut stored = self.store.pending_requests(window).await?;
        stored.extend(self.store.left_questions(window).await?);
        let mut items = Vec::new();
        for request in stored {
            items.push(self.item(request).await?);
        }
        let folder = self.questions.clone();
        items.extend(blocking(move || in_files(&folder)).await??);
        items.sort_by_key(|item| (item.asked_at, item.request.id()));
        Ok(items)
    }

    /// How many requests an asker waits for.
    pub(crate) async fn count(&self) -> Result<u64> {
        let stored = self.store.count_pending_requests().await?;
        let folder = self.questions.clone();
        let listing = blocking(move || folder.list()).await??;
        Ok(stored + pending(&listing))
    }

    /// A request, with the session in which it was asked; `None` for what a program outside asked, or for what is not
    /// there.
    pub async fn request(&self, id: &str) -> Result<Option<(HumanRequest, Option<SessionId>)>> {
        let Ok(id) = self.find_request(id).await else { return Ok(None) };
        let stored = self.store.request(id).await?;
        Ok(stored.map(|stored| (stored.request, stored.session_id)))
    }

    /// Gives or refuses a permission by one of its options.
    pub async fn choose(
        &self,
        id: &str,
        option_id: String,
        remember: Remember,
        by: Option<UserName>,
    ) -> Result<()> {
        let id = self.find_request(id).await?;
        let stored = self.store.request(id).await?.ok_or_else(|| no_request(id))?;
        let session = stored.session_id.ok_or_else(|| no_request(id))?;
        let rule = match remember {
            Remember::Rule(number) => {
                let rule = self.rule(session, &stored.request, &option_id, number).await?;
                Some(NewRule { user: by.clone(), ..rule })
            }
            Remember::No => None,
        };
        self.settle(session, id, Verdict::Choose(Choice { option_id }), by).await?;
        let Some(new) = rule else { return Ok(()) };
        let made = loop {
            match self.rules.add(new.clone()).await {
                Ok(made) => break made,
                Err(error) => make_room(&self.reserve, error)?,
            }
        };
        let notice =
            Notice::new(RuleEvent::Made { rule_id: Some(made.rule.id), rule: made.text() });
        self.sessions.send_command(session, Command::Agent(Report::Noticed(notice))).await?;
        Ok(())
    }

    /// Answers questions.
    pub async fn answer(
        &self,
        id: &str,
        answers: GivenAnswers,
        by: Option<UserName>,
    ) -> Result<()> {
        let id = self.find_request(id).await?;
        let answers = answers.at(self.host.now());
        match self.store.request(id).await? {
            Some(StoredRequest { session_id: Some(session), .. }) => {
                self.settle(session, id, Verdict::Answer(Answers { answers }), by).await
            }
            Some(_) | None => self.settle_file(id, FileVerdict::Answer(answers)).await,
        }
    }

    /// Rejects questions.
    pub async fn reject(
        &self,
        id: &str,
        reason: Option<String>,
        by: Option<UserName>,
    ) -> Result<()> {
        let id = self.find_request(id).await?;
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        match self.store.request(id).await? {
            Some(StoredRequest { session_id: Some(session), .. }) => {
                self.settle(session, id, Verdict::Reject { reason }, by).await
            }
            Some(_) | None => self.settle_file(id, FileVerdict::Reject { reason }).await,
        }
    }

    /// Settles a request in its session's task, which knows the request's current state.
    async fn settle(
        &self,
        session: SessionId,
        request: RequestId,
        verdict: Verdict,
        by: Option<UserName>,
    ) -> Result<()> {
        let settled = |reply| Request::Verdict { request, verdict, by, reply };
        session::ask(&self.sessions, session, settled).await
    }

    /// The rule that an answer amounts to.
    async fn rule(
        &self,
        session: SessionId,
        request: &HumanRequest,
        option_id: &str,
        number: usize,
    ) -> Result<NewRule> {
        let HumanRequest::Permission(record) = request else {
            return Err(Error::NothingToRemember { number, offered: 0 });
        };
        let offered = record.rules.len();
        let proposal = record.rules.get(number);
        let proposal = proposal.ok_or(Error::NothingToRemember { number, offered })?;
        // An option that is not there is refused when the request is settled, before the rule is made.
        let option = record.options.iter().find(|option| option.option_id == option_id);
        let effect = option.map_or(Effect::Deny, |option| option.kind.effect());
        let project_id = self.sessions.get(session).await?.stored.project_id;
        Ok(NewRule {
            effect,
            matcher: proposal.matcher.clone(),
            agent: None,
            user: None,
            project_id: (!proposal.everywhere).then_some(project_id),
            from: Some((record.request_id, session)),
        })
    }

    async fn item(&self, stored: StoredRequest) -> Result<Item> {
        let session = match stored.session_id {
            Some(id) => Some(self.sessions.get(id).await?),
            None => None,
        };
        let project = match &session {
            Some(session) => self.store.project(session.stored.project_id).await?,
            None => None,
        };
        let (request, asked_at) = (stored.request, stored.asked_at);
        Ok(Item { request, asked_at, session, project, asked_by: None, working_directory: None })
    }

    /// Finds the request with this id or unique prefix.
    async fn find_request(&self, text: &str) -> Result<RequestId> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let stored = self.store.requests_by_prefix(text, 10).await?;
        let mut found: Vec<RequestId> = stored.iter().map(|stored| stored.request.id()).collect();
        let (folder, prefix) = (self.questions.clone(), text.to_owned());
        match blocking(move || folder.find(&prefix)).await? {
            Ok(id) => found.push(id),
            Err(convoke_files::Error::Ambiguous { candidates, .. }) => found.extend(candidates),
            Err(convoke_files::Error::NotFound { .. } | convoke_files::Error::Invalid(_)) => {}
            Err(error) => return Err(error.into()),
        }
        only(text, found, ToString::to_string, Error::UnknownRequest { text: text.to_owned() })
    }

    async fn settle_file(&self, id: RequestId, verdict: FileVerdict) -> Result<()> {
        loop {
            let (folder, now, verdict) = (self.questions.clone(), self.host.now(), verdict.clone());
            match blocking(move || folder.settle(id, verdict, now)).await? {
                Ok(()) => return Ok(()),
                Err(convoke_files::Error::NotFound { .. }) => return Err(no_request(id)),
                Err(convoke_files::Error::Answers(fault)) => return Err(Error::Answers(fault)),
                Err(error) => make_room(&self.reserve, error.into())?,
            }
        }
    }
}

/// What is asked in files and can be answered.
fn in_files(folder: &Questions) -> std::result::Result<Vec<Item>, convoke_files::Error> {
    let mut items = Vec::new();
    for entry in folder.list()?.entries {
        let Some(state) = state(entry.status) else { continue };
        let set = match folder.show(entry.id) {
            Ok(set) => set,
            // Another program has just removed or damaged it; the others are still listed.
            Err(error) => {
                tracing::debug!("question session {} cannot be shown: {error}", entry.id);
                continue;
            }
        };
        let questions = set.request.questions;
        items.push(Item {
            request: HumanRequest::Questions(QuestionRecord {
                by: None,
                request_id: entry.id,
                questions,
                state,
            }),
            asked_at: entry.created_at,
            session: None,
            project: None,
            asked_by: set.request.asked_by,
            working_directory: entry.working_directory,
        });
    }
    Ok(items)
}

/// Announces the number of requests that an asker waits for whenever the inbox may have changed, as
/// long as the engine lives.
///
/// The store counts the requests of sessions; questions in files are counted when their folder
/// changes.
pub(crate) fn announce_changes(shared: &Arc<Sessions>, questions: &Questions) {
    let (weak, changed) = (Arc::downgrade(shared), Arc::clone(&shared.inbox_changed));
    let mut follower = questions.follow();
    tokio::spawn(async move {
        let mut in_files = None;
        loop {
            let listing = blocking(move || {
                let listed = follower.list();
                (follower, listed)
            });
            let Ok((back, listed)) = listing.await else { return };
            follower = back;
            let is_watched = listed.is_ok();
            let counted = match listed {
                Ok(listing) => pending(&listing),
                Err(error) => {
                    tracing::warn!("the folder of questions cannot be watched: {error}");
                    in_files.unwrap_or_default()
                }
            };
            // The first count is no change for a subscriber.
            if in_files.replace(counted).is_some() {
                changed.notify_one();
            }
            let folder_changed = async {
                if is_watched {
                    follower.changed().await;
                    tokio::time::sleep(GATHER).await;
                } else {
                    tokio::time::sleep(PAUSE).await;
                }
            };
            let mut folder_changed = std::pin::pin!(folder_changed);
            loop {
                tokio::select! {
                    () = &mut folder_changed => break,
                    () = changed.notified() => {}
                }
                let Some(shared) = weak.upgrade() else { return };
                shared.announce_inbox(counted).await;
            }
        }
    });
}

impl Sessions {
    async fn announce_inbox(&self, in_files: u64) {
        match self.store.count_pending_requests().await.map_err(Error::from) {
            Ok(stored) => self.publish(Change::Inbox { count: stored + in_files }),
            // The store of an engine that stops is closed.
            Err(error) if error.kind() == Kind::Unavailable => {
                tracing::debug!("the inbox cannot be counted: {error}");
            }
            Err(error) => {
                tracing::warn!("the inbox cannot be counted: {error}");
                tokio::time::sleep(PAUSE).await;
                self.inbox_changed.notify_one();
            }
        }
    }
}

/// How many of the questions in files an asker waits for.
fn pending(listing: &Listing) -> u64 {
    let is_pending = |entry: &&Entry| entry.status == Status::Pending;
    listing.entries.iter().filter(is_pending).count() as u64
}

/// The state of a question in files that can be answered.
const fn state(status: Status) -> Option<State<Answers>> {
    match status {
        Status::Pending => Some(State::Pending),
        Status::TimedOut => Some(State::TimedOut),
        Status::Abandoned => Some(State::Abandoned),
        Status::Completed | Status::Rejected => None,
    }
}
