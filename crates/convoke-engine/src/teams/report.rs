//! Reports on questions, even if no caller waited for the answer.

use convoke_core::content::Content;
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Role, Seq};
use convoke_core::state::{QueuedPrompt, SessionState};
use convoke_core::team::Pair;
use convoke_store::StoredPair;

use super::Teams;
use super::compaction::COMPACT;
use super::compaction::successor::{SUMMARISE, TAKE_OVER, predecessor};
use super::follow::{Reading, failure};
use crate::error::{Error, Result};

/// The page size of reads.
const PAGE: u32 = 500;
/// The most predecessor sessions that are searched for a question; older questions are only in the log.
const GENERATIONS_MAX: usize = 100;
/// How many messages at the start of a session are searched for the name of its predecessor.
const BEGINNING: u32 = 10;

/// Selects a question of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichQuestion {
    /// The newest question.
    Last,
    /// The question with this seq in the pair's session.
    At(Seq),
    /// The question with this message id.
    Message(MessageId),
}

/// A question of a pair, and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamReport {
    /// The pair.
    pub pair: StoredPair,
    /// The question; `None` if nothing was asked yet.
    pub question: Option<ReportedQuestion>,
}

/// A question and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedQuestion {
    /// The session in which it was asked.
    pub session_id: SessionId,
    /// The id of its message.
    pub message_id: MessageId,
    /// Its seq; `None` while it is queued.
    pub seq: Option<Seq>,
    /// The question.
    pub text: String,
    /// Its state.
    pub status: QuestionStatus,
    /// The answer so far.
    pub response: String,
    /// What went wrong.
    pub error: Option<String>,
}

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionStatus {
    /// There is an answer.
    Answered,
    /// There is no answer, and none will come.
    Failed,
    /// The team works on it.
    Working,
    /// It is queued.
    Queued {
        /// How many questions are before it.
        place: usize,
    },
}

impl Teams {
    /// A question of a pair with its answer, even if no caller waited for it.
    pub async fn report(&self, pair: &Pair, which: WhichQuestion) -> Result<TeamReport> {
        let stored = self.pair_between(pair).await?;
        let stored = stored.ok_or_else(|| Error::UnknownPair { text: pair.to_string() })?;
        let mut session = stored.session_id;
        for _ in 0..GENERATIONS_MAX {
            let asked = match which {
                WhichQuestion::At(seq) => self.question_at(session, seq).await?,
                WhichQuestion::Message(id) => self.question_with_id(session, id).await?,
                WhichQuestion::Last => self.last_question(session).await?,
            };
            if let Some(question) = asked {
                return Ok(TeamReport { pair: stored, question: Some(question) });
            }
            let beginning = self.sessions.messages(session, Seq::START, BEGINNING).await?;
            let Some(before) = beginning.messages.iter().find_map(predecessor) else { break };
            session = before;
        }
        let unknown = |which| Err(Error::UnknownQuestion { pair: pair.to_string(), which });
        match which {
            WhichQuestion::At(seq) => unknown(format!("at seq {seq}")),
            WhichQuestion::Message(id) => unknown(format!("with the id {id}")),
            WhichQuestion::Last => Ok(TeamReport { pair: stored, question: None }),
        }
    }

    async fn question_at(&self, session: SessionId, seq: Seq) -> Result<Option<ReportedQuestion>> {
        match self.store.message(session, seq).await?.filter(is_question) {
            Some(prompt) => Ok(Some(self.reported(session, &prompt).await?)),
            None => Ok(None),
        }
    }

    async fn question_with_id(
        &self,
        session: SessionId,
        id: MessageId,
    ) -> Result<Option<ReportedQuestion>> {
        if let Some(queued) = self.queued_question(session, |prompt| prompt.id == id).await? {
            return Ok(Some(queued));
        }
        match self.store.prompt(session, Some(id)).await?.filter(is_question) {
            Some(prompt) => Ok(Some(self.reported(session, &prompt).await?)),
            None => Ok(None),
        }
    }

    /// The newest question: the last queued one, else the last one that began.
    async fn last_question(&self, session: SessionId) -> Result<Option<ReportedQuestion>> {
        let is_question = |prompt: &QueuedPrompt| !is_ours(&prompt.text);
        if let Some(queued) = self.queued_question(session, is_question).await? {
            return Ok(Some(queued));
        }
        let mut before = self.sessions.get(session).await?.stored.summary.last_seq.next();
        loop {
            let page = self.sessions.messages_before(session, before, PAGE).await?;
            if let Some(prompt) = page.messages.iter().rev().find(|it| self::is_question(it)) {
                return Ok(Some(self.reported(session, prompt).await?));
            }
            let Some(first) = page.messages.first().filter(|_| page.more) else { return Ok(None) };
            before = first.seq;
        }
    }

    /// The last queued prompt that `is_wanted` accepts.
    async fn queued_question(
        &self,
        session: SessionId,
        is_wanted: impl Fn(&QueuedPrompt) -> bool,
    ) -> Result<Option<ReportedQuestion>> {
        let states = self.sessions.state(session).await?;
        let prompts = states.into_iter().find_map(|(_, state)| match state {
            SessionState::Queue { prompts, .. } => Some(prompts),
            SessionState::Commands { .. }
            | SessionState::Modes { .. }
            | SessionState::Settings { .. }
            | SessionState::Usage(_) => None,
        });
        let prompts = prompts.unwrap_or_default();
        let last = prompts.iter().enumerate().rfind(|(_, prompt)| is_wanted(prompt));
        Ok(last.map(|(place, prompt)| ReportedQuestion {
            session_id: session,
            message_id: prompt.id,
            seq: None,
            text: prompt.text.clone(),
            status: QuestionStatus::Queued { place: place + 1 },
            response: String::new(),
            error: None,
        }))
    }

    async fn reported(&self, session: SessionId, prompt: &Message) -> Result<ReportedQuestion> {
        let mut reading = Reading::of(prompt.id);
        reading.put(prompt);
        reading.read_answers(&self.store, session).await?;
        let error = reading.stop.as_ref().and_then(failure);
        let status = match (&reading.stop, &error) {
            (Some(_), None) => QuestionStatus::Answered,
            (Some(_), Some(_)) => QuestionStatus::Failed,
            (None, _) => QuestionStatus::Working,
        };
        let Content::Text { text, .. } = &prompt.content else {
            return Err(Error::Broken { session });
        };
        Ok(ReportedQuestion {
            session_id: session,
            message_id: prompt.id,
            seq: Some(prompt.seq),
            text: text.clone(),
            status,
            response: reading.text(),
            error,
        })
    }
}

/// Whether a message is a question, and not one of Convoke's own prompts.
fn is_question(message: &Message) -> bool {
    let Content::Text { text, .. } = &message.content else { return false };
    message.role == Role::User && !is_ours(text)
}

fn is_ours(text: &str) -> bool {
    text == COMPACT || text == SUMMARISE || text.starts_with(TAKE_OVER)
}
