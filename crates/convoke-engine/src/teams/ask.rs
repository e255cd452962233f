//! Asking a team: prompts the session of its pair, and returns the whole answer or a status that is not an answer.

use std::sync::Arc;
use std::time::Duration;

use convoke_core::id::{ChainId, MessageId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::prompt::Prompt;
use convoke_core::session::{Command, EndReason, Refusal, Status};
use convoke_core::team::{AnswerStatus, Pair, TeamName};
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use convoke_store::StoredPair;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::Teams;
use super::chain::Chain;
use super::follow::{AnswerSoFar, Ended, follow};
use super::thread::checked_thread;
use crate::error::{Error, Result};
use crate::session::start::explain;
use crate::sessions::{NewPrompt, Prompted};
use crate::watch::Watcher;

/// How long a caller that does not wait for the answer waits for the question to be logged. Creating a pair may take
/// longer; the question is then logged without the caller.
const LOG_GRACE: Duration = Duration::from_millis(250);

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// An external caller, which may speak for a team.
    Outside {
        /// The team.
        team: Option<TeamName>,
    },
    /// The agent of a session, which speaks for the team that the session belongs to.
    Session(SessionId),
}

/// A question to a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamAsk {
    /// Who asks.
    pub caller: Caller,
    /// The team that is asked.
    pub to: TeamName,
    /// The thread of the pair.
    pub thread: Option<String>,
    /// The question.
    pub question: String,
    /// The user behind a caller outside of sessions; `None` for the owner of the daemon.
    pub by: Option<UserName>,
    /// How long the caller waits.
    pub wait: Wait,
}

/// How long a caller waits. The turn continues in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until there is an answer.
    ForEver,
    /// Not at all.
    No,
    /// At most this long.
    For(Duration),
}

impl Wait {
    /// From milliseconds, as on the wire: 0 waits for ever, -1 not at all.
    pub const fn from_millis(millis: i64) -> Option<Self> {
        match millis {
            0 => Some(Self::ForEver),
            -1 => Some(Self::No),
            1.. => Some(Self::For(Duration::from_millis(millis.unsigned_abs()))),
            ..=-2 => None,
        }
    }

    /// The deadlines for logging the question and for its answer.
    pub(super) fn deadlines(self, begun: Instant) -> (Option<Instant>, Option<Instant>) {
        match self {
            Self::ForEver => (None, None),
            Self::No => (Some(begun + LOG_GRACE), Some(begun)),
            // A deadline that the clock cannot represent is never reached.
            Self::For(limit) => (begun.checked_add(limit), begun.checked_add(limit)),
        }
    }
}

/// The result of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamAnswer {
    /// The pair.
    pub pair: Pair,
    /// The session of the pair; `None` while it is being created.
    pub session_id: Option<SessionId>,
    /// The agent's own id of that session.
    pub agent_session_id: Option<String>,
    /// The id of the question's message, once it was accepted.
    pub message_id: Option<MessageId>,
    /// Its seq; `None` while it is queued.
    pub seq: Option<Seq>,
    /// The status.
    pub status: AnswerStatus,
    /// The answer; after a timeout, the part that there is.
    pub response: String,
    /// What went wrong.
    pub error: Option<String>,
    /// How many questions are before this one, if it was queued.
    pub queued: usize,
    /// How long the caller waited.
    pub duration: Duration,
    /// The time of this result.
    pub at: Timestamp,
}

/// A question in the log of its session.
pub(super) struct Placed {
    pub(super) pair: StoredPair,
    pub(super) prompted: Prompted,
    /// The session's revision before it.
    pub(super) after: Rev,
    pub(super) answer_so_far: watch::Receiver<AnswerSoFar>,
    pub(super) ended: oneshot::Receiver<Ended>,
}

impl Teams {
    /// Asks a team, and waits for the answer as long as `ask.wait` says.
    pub async fn ask(self: &Arc<Self>, ask: TeamAsk) -> Result<TeamAnswer> {
        let begun = Instant::now();
        let (pair, chain) = self.admit(&ask).await?;
        let waiting = self.begin_wait(&ask, &pair, self.store.node()).await?;
        let (placed_by, answered_by) = ask.wait.deadlines(begun);
        let prompt = Prompt { by: self.user_behind(&ask).await?, ..ask.question.into() };
        let id = Some(self.new_question(&ask.caller, &pair));
        let placing = self.place(pair.clone(), chain, NewPrompt { prompt, id });
        let mut answer = self.unanswered(pair, ask.wait);
        if let Some(placed) = until(placed_by, placing).await {
            let placed = placed.unwrap_or(Err(Error::Stopping))?;
            self.wait_for(placed, answered_by, &mut answer).await?;
        } else if let Some(known) = self.store.pair_between(&answer.pair).await? {
            answer.session_id = Some(known.session_id);
            answer.agent_session_id = known.agent_session_id;
        }
        if let Some(waiting) = waiting {
            waiting.end().await;
        }
        answer.duration = begun.elapsed();
        answer.at = self.host.now();
        Ok(answer)
    }

    /// What is answered as long as nothing is known of a question.
    pub(super) fn unanswered(&self, pair: Pair, wait: Wait) -> TeamAnswer {
        TeamAnswer {
            pair,
            session_id: None,
            agent_session_id: None,
            message_id: None,
            seq: None,
            status: match wait {
                Wait::No => AnswerStatus::Queued,
                Wait::ForEver | Wait::For(_) => AnswerStatus::TimedOut,
            },
            response: String::new(),
            error: None,
            queued: 0,
            duration: Duration::ZERO,
            at: self.host.now(),
        }
    }

    /// The team that a caller speaks for.
    pub async fn speaks_for(&self, caller: &Caller) -> Result<Option<TeamName>> {
        let session = match caller {
            Caller::Outside { team } => return Ok(team.clone()),
            Caller::Session(session) => *session,
        };
        match self.sessions.pair_of(session).await? {
            Some((pair, _)) => Ok(Some(pair.to)),
            None => self.team_in_project_of(session).await,
        }
    }

    /// The pair and the chain of an ask, if the limits allow it.
    pub(super) async fn admit(&self, ask: &TeamAsk) -> Result<(Pair, Chain)> {
        if ask.question.trim().is_empty() {
            return Err(Error::Refused(Refusal::EmptyPrompt));
        }
        let thread = checked_thread(ask.thread.as_deref())?;
        self.node_of(&ask.to).await?;
        let from = self.speaks_for(&ask.caller).await?;
        if let Some(from) = &from {
            self.known(from).await?;
        }
        let limits = self.settings().limits;
        let new = Chain::from(ChainId::from_random((self.host.random)()), from.clone());
        let chain = match &ask.caller {
            Caller::Outside { .. } => new,
            Caller::Session(session) => {
                let running = self.sessions.live(*session).running;
                self.sessions.chains.of(*session, running.map(|turn| turn.id), new)
            }
        };
        let chain = chain.ask(&ask.to, limits)?;
        let on_all_nodes = self.store.count_ask(chain.parts().0).await?;
        chain.check_asks(on_all_nodes.unwrap_or_else(|| chain.count()), limits)?;
        // All threads of a pair share one budget.
        let pair = Pair { from, to: ask.to.clone(), thread: None };
        self.sessions.chains.count(&pair, None, limits)?;
        Ok((Pair { thread, ..pair }, chain))
    }

    /// Logs a question in its session, even if the caller disconnects.
    pub(super) fn place(
        self: &Arc<Self>,
        pair: Pair,
        chain: Chain,
        question: NewPrompt,
    ) -> oneshot::Receiver<Result<Placed>> {
        let (teams, name) = (Arc::clone(self), pair.to_string());
        let (to_caller, placed) = oneshot::channel();
        tokio::spawn(async move {
            let outcome = teams.place_now(pair, chain, question).await;
            if let Err(Err(error)) = to_caller.send(outcome) {
                tracing::warn!("a question of {name} is not asked: {}", explain(&error));
            }
        });
        placed
    }

    pub(super) async fn wait_for(
        &self,
        placed: Placed,
        deadline: Option<Instant>,
        answer: &mut TeamAnswer,
    ) -> Result<()> {
        let Placed { pair, prompted, answer_so_far, ended, after: _ } = placed;
        let ended = until(deadline, ended).await.map(|ended| ended.unwrap_or_else(|_| stopped()));
        answer.session_id = Some(pair.session_id);
        answer.agent_session_id = self.sessions.get(pair.session_id).await?.stored.agent_session_id;
        (answer.message_id, answer.seq) = (Some(prompted.message_id), prompted.seq);
        answer.queued = prompted.queued;
        match ended {
            Some(Ended { text, error, .. }) => {
                let is_answer = error.is_none();
                answer.status =
                    if is_answer { AnswerStatus::Answered } else { AnswerStatus::Failed };
                (answer.response, answer.error) = (text, error);
            }
            None if answer.status == AnswerStatus::TimedOut => {
                answer.response.clone_from(&answer_so_far.borrow().text);
            }
            None => {}
        }
        Ok(())
    }

    /// The pair with an active session, and that session's revision.
    pub(super) async fn wake_pair(&self, pair: &Pair) -> Result<(StoredPair, Rev)> {
        let found = self.get_or_create_pair(pair).await?;
        match self.wake_session(found.session_id).await {
            Ok(last) => Ok((found, last)),
            Err(Error::Refused(Refusal::Cancelled)) => {
                // The human cancelled the session while the pair was cached; the pair gets a new session.
                self.cache.invalidate(pair).await;
                let found = self.get_or_create_pair(pair).await?;
                let last = self.wake_session(found.session_id).await?;
                Ok((found, last))
            }
            Err(error) => Err(error),
        }
    }

    /// Resumes an ended session, unless a human ended it. Returns its revision before that.
    pub(super) async fn wake_session(&self, session: SessionId) -> Result<Rev> {
        let summary = self.sessions.get(session).await?.stored.summary;
        match (summary.status, summary.reason) {
            (Status::Active, _) => Ok(summary.rev),
            (status @ Status::Completed, reason @ Some(EndReason::User)) => {
                Err(Error::Ended { session, status, reason })
            }
            (Status::Completed | Status::Cancelled | Status::Error, _) => {
                match self.sessions.send_command(session, Command::Resume).await {
                    // A concurrent question resumed it.
                    Ok(_) | Err(Error::Refused(Refusal::Active)) => Ok(summary.rev),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Finds or creates the pair, and sends the question to its session.
    async fn place_now(
        self: &Arc<Self>,
        pair: Pair,
        chain: Chain,
        question: NewPrompt,
    ) -> Result<Placed> {
        let lock = self.cache.lock_shared(&pair).await?;
        let (pair, after) = self.wake_pair(&pair).await?;
        let session = pair.session_id;
        let live = self.sessions.registry.subscribe(session);
        let watcher = Watcher::expecting(self.store.clone(), session, after, live);
        let prompted = self.sessions.prompt_because_of(session, question, Some(chain)).await;
        drop(lock);
        let prompted = prompted?;
        let (answer_so_far_to, answer_so_far) = watch::channel(AnswerSoFar::default());
        let (ended_to, ended) = oneshot::channel();
        let prompt = prompted.message_id;
        tokio::spawn(follow(
            Arc::clone(self),
            pair.clone(),
            prompt,
            watcher,
            answer_so_far_to,
            ended_to,
        ));
        Ok(Placed { pair, prompted, after, answer_so_far, ended })
    }

    /// The team whose folder is the project of a session.
    async fn team_in_project_of(&self, session: SessionId) -> Result<Option<TeamName>> {
        let stored = self.store.session(session).await?;
        let stored = stored.ok_or_else(|| Error::UnknownSession { text: session.to_string() })?;
        let Some(project) = self.store.project(stored.project_id).await? else { return Ok(None) };
        let settings = self.settings();
        let found = settings.teams.iter().find(|team| team.path == project.path);
        Ok(found.map(|team| team.name.clone()))
    }
}

fn stopped() -> Ended {
    Ended { text: String::new(), error: Some("the daemon is stopping".to_owned()), usage: None }
}

/// Waits for a future, at most until a deadline.
pub(super) async fn until<T>(
    deadline: Option<Instant>,
    something: impl Future<Output = T>,
) -> Option<T> {
    match deadline {
        None => Some(something.await),
        Some(deadline) => tokio::time::timeout_at(deadline, something).await.ok(),
    }
}
