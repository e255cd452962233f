//! What is said in sessions while appending is measured: by people, and by agents in pieces.

use convoke_core::content::Content;
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Draft, Message, Seq};
use convoke_core::session::Summary;
use convoke_testkit::bench::random::Random;

use crate::database::{moment, session_id};

/// Words of a prompt.
const PROMPT_WORDS: u64 = 12;
/// Words of a piece of an answer.
const PIECE_WORDS: u64 = 4;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// A human: searched for, shown in lists, and on disk when it is acknowledged.
    Human,
    /// An agent, in the middle of an answer.
    Agent,
}

/// A message and how its session stands after it.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    /// The session, as the database was made.
    pub(crate) at: usize,
    pub(crate) message: Message,
    pub(crate) summary: Summary,
}

/// One session that is talked in.
pub(crate) struct Talk {
    at: usize,
    session: SessionId,
    summary: Summary,
    random: Random,
}

impl Talk {
    /// In the session that the database was made with as this one.
    pub(crate) fn new(at: usize) -> Self {
        let (session, summary) = (session_id(at), Summary::new(moment(at)));
        Self { at, session, summary, random: Random::new(1000 + at as u64) }
    }

    /// The session's id.
    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// The next thing that is said.
    pub(crate) fn say(&mut self, speaker: Speaker) -> Said {
        let seq = self.summary.last_seq.next();
        let now = moment(1_000_000 + seq.get() as usize);
        self.summary.last_seq = seq;
        self.summary.updated_at = now;
        let draft = match speaker {
            Speaker::Human => {
                let text = self.random.text(PROMPT_WORDS);
                self.summary.last_active_at = now;
                self.summary.settled_seq = Seq::START;
                self.summary.title.get_or_insert_with(|| text.clone());
                Draft::user(text)
            }
            Speaker::Agent => {
                let text = self.random.text(PIECE_WORDS);
                Draft::agent(Content::Text { text, partial: Some(true) })
            }
        };
        let id = MessageId::from_random(self.random.bytes());
        let message = draft.stamp(id, self.session, seq, now);
        Said { at: self.at, message, summary: self.summary.clone() }
    }

    /// Several of them.
    pub(crate) fn say_many(&mut self, speaker: Speaker, count: usize) -> Vec<Said> {
        (0..count).map(|_| self.say(speaker)).collect()
    }
}
