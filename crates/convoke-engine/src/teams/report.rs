//! What became of a question, also when nobody waited for the answer.

use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::team::Pair;
use convoke_store::StoredPair;

use super::ask::AnswerStatus;
use super::compaction::COMPACT;
use super::compaction::successor::{SUMMARISE, TAKE_OVER, predecessor};
use super::follow::{Reading, failure};
use crate::engine::Engine;
use crate::error::{Error, Result};

/// Messages that are read at once.
const PAGE: u32 = 500;
/// Sessions that a conversation may have gone through; older questions are only in the log.
const GENERATIONS_MAX: usize = 100;
/// Messages at the beginning of a session among which it says where it goes on from.
const BEGINNING: u32 = 10;

/// A question of a pair, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamReport {
    /// The pair.
    pub pair: StoredPair,
    /// The question; `None` when nothing was asked yet.
    pub question: Option<ReportedQuestion>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedQuestion {
    /// The session in which it was asked.
    pub session_id: SessionId,
    /// Its place there.
    pub seq: Seq,
    /// What was asked.
    pub text: String,
    /// What became of it.
    pub standing: QuestionStanding,
    /// What was said, so far.
    pub response: String,
    /// What went wrong, if it did.
    pub error: Option<String>,
}

/// How a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionStanding {
    /// There is an answer.
    Answered,
    /// There is no answer, and none will come.
    Failed,
    /// The team works on it.
    Working,
    /// It waits.
    Queued {
        /// How many are before it.
        place: usize,
    },
}

impl QuestionStanding {
    /// The word that wires use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => AnswerStatus::Answered.as_str(),
            Self::Failed => AnswerStatus::Failed.as_str(),
            Self::Working => "working",
            Self::Queued { .. } => AnswerStatus::Queued.as_str(),
        }
    }
}

impl Engine {
    /// The last question of a pair and its answer, also when nobody waited for it; or the one at a place.
    pub async fn team_report(&self, pair: &Pair, seq: Option<Seq>) -> Result<TeamReport> {
        let stored = self.pair_between(pair).await?;
        let stored = stored.ok_or_else(|| Error::UnknownPair { text: pair.to_string() })?;
        let mut session = stored.session_id;
        for _ in 0..GENERATIONS_MAX {
            let asked = match seq {
                Some(seq) => self.question_at(session, seq).await?,
                None => self.last_question(session).await?,
            };
            if let Some((seq, text)) = asked {
                let question = self.reported(session, seq, text).await?;
                return Ok(TeamReport { pair: stored, question: Some(question) });
            }
            let beginning = self.messages(session, Seq::START, BEGINNING).await?;
            let Some(before) = beginning.messages.iter().find_map(predecessor) else { break };
            session = before;
        }
        match seq {
            Some(seq) => Err(Error::UnknownQuestion { pair: pair.to_string(), seq: seq.get() }),
            None => Ok(TeamReport { pair: stored, question: None }),
        }
    }

    async fn question_at(&self, session: SessionId, seq: Seq) -> Result<Option<(Seq, String)>> {
        let before = Seq::new(seq.get().saturating_sub(1));
        let page = self.messages(session, before, 1).await?;
        Ok(page.messages.iter().find(|message| message.seq == seq).and_then(question))
    }

    async fn last_question(&self, session: SessionId) -> Result<Option<(Seq, String)>> {
        let mut before = self.session(session).await?.stored.summary.last_seq.next();
        loop {
            let page = self.messages_before(session, before, PAGE).await?;
            if let Some(found) = page.messages.iter().rev().find_map(question) {
                return Ok(Some(found));
            }
            let Some(first) = page.messages.first().filter(|_| page.more) else { return Ok(None) };
            before = first.seq;
        }
    }

    async fn reported(
        &self,
        session: SessionId,
        seq: Seq,
        text: String,
    ) -> Result<ReportedQuestion> {
        let live = self.live(session);
        let mut reading = Reading::of(seq);
        let mut after = seq;
        'log: loop {
            let page = self.messages(session, after, PAGE).await?;
            for message in &page.messages {
                after = message.seq;
                reading.hear(message);
                if reading.stop.is_some() {
                    break 'log;
                }
            }
            if !page.more {
                break;
            }
        }
        let error = reading.stop.as_ref().and_then(failure);
        let place = live.queue.iter().position(|queued| *queued == seq);
        let standing = match (&reading.stop, &error, place) {
            (Some(_), None, _) => QuestionStanding::Answered,
            (Some(_), Some(_), _) => QuestionStanding::Failed,
            (None, _, Some(place)) => QuestionStanding::Queued { place: place + 1 },
            (None, _, None) => QuestionStanding::Working,
        };
        let response = match standing {
            // What was said meanwhile belongs to the question before.
            QuestionStanding::Queued { .. } => String::new(),
            QuestionStanding::Answered | QuestionStanding::Failed | QuestionStanding::Working => {
                reading.into_text()
            }
        };
        Ok(ReportedQuestion { session_id: session, seq, text, standing, response, error })
    }
}

/// The question that a message is. What Convoke itself says to agents is none.
fn question(message: &Message) -> Option<(Seq, String)> {
    let Content::Text { text, .. } = &message.content else { return None };
    let is_ours = text == COMPACT || text == SUMMARISE || text.starts_with(TAKE_OVER);
    (message.role == Role::User && !is_ours).then(|| (message.seq, text.clone()))
}
