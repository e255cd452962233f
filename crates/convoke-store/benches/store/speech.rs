//! What is said in sessions while recording is measured: prompts by people, and answers by agents in pieces.

use convoke_core::content::Content;
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Draft, Seq};
use convoke_core::session::{Change, Session, Summary};
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{OpenMessages, Update, UpdateStamp, Updates};
use convoke_store::{Store, Sync};
use convoke_testkit::bench::Result;
use convoke_testkit::bench::random::Random;

use crate::database::{moment, session_id};

/// Words of a prompt.
const PROMPT_WORDS: u64 = 12;
/// Words of a piece of an answer.
const PIECE_WORDS: u64 = 4;
/// Pieces of an answer.
const PIECES: usize = 100;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// A human: searched for, shown in lists, and on disk when it is acknowledged.
    Human,
    /// An agent: answers of a hundred pieces, one after the other.
    Agent,
}

/// An update and how its session stands after it.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    /// The session, as the database was made.
    pub(crate) at: usize,
    pub(crate) session: SessionId,
    pub(crate) update: Update,
    pub(crate) summary: Summary,
    pub(crate) changed: Changed,
}

/// How much of the session's row an update changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    /// How far it is.
    Progress,
    /// That, and when it was last active.
    Activity,
    /// All that lists show.
    Whole,
}

/// One session that is talked in.
pub(crate) struct Talk {
    at: usize,
    id: SessionId,
    session: Session,
    open: OpenMessages,
    /// Pieces of the answer so far.
    pieces: usize,
    random: Random,
}

impl Talk {
    /// In the session that the database was made with as this one.
    pub(crate) fn new(at: usize) -> Self {
        Self {
            at,
            id: session_id(at),
            session: Session::new(moment(at)),
            open: OpenMessages::default(),
            pieces: 0,
            random: Random::new(1000 + at as u64),
        }
    }

    /// The next thing that is said.
    pub(crate) fn say(&mut self, speaker: Speaker) -> Result<Said> {
        let before = self.session.summary().clone();
        let changes = match speaker {
            Speaker::Human => vec![self.prompt()],
            Speaker::Agent => self.piece(),
        };
        let mut updates = Updates::default();
        for change in changes {
            updates.push(self.apply(change)?);
        }
        let [update] = updates.as_slice() else { return Err("one update at a time".into()) };
        let summary = self.session.summary().clone();
        let changed = if (&before.title, before.status) != (&summary.title, summary.status) {
            Changed::Whole
        } else if before.last_active_at != summary.last_active_at {
            Changed::Activity
        } else {
            Changed::Progress
        };
        Ok(Said { at: self.at, session: self.id, update: update.clone(), summary, changed })
    }

    fn prompt(&mut self) -> Change {
        let id = MessageId::from_random(self.random.bytes());
        let text = self.random.text(PROMPT_WORDS);
        Change::Begin(Draft::prompt(id, text, Turn::Ended(Stop::EndTurn)))
    }

    /// The first piece begins a message, and the last one closes it.
    fn piece(&mut self) -> Vec<Change> {
        let text = self.random.text(PIECE_WORDS) + " ";
        let seq: Seq = self.session.summary().last_seq;
        self.pieces += 1;
        match self.pieces {
            1 => vec![Change::Begin(Draft::agent(Content::partial_text(text)))],
            PIECES => {
                self.pieces = 0;
                vec![Change::Append { seq, text }, Change::Close { seq }]
            }
            _ => vec![Change::Append { seq, text }],
        }
    }

    fn apply(&mut self, change: Change) -> Result<Update> {
        let rev = self.session.summary().rev.next();
        let now = moment(1_000_000 + usize::try_from(rev.get())?);
        self.session.apply(&change, now);
        let stamp = UpdateStamp {
            session_id: self.id,
            id: MessageId::from_random(self.random.bytes()),
            seq: self.session.summary().last_seq,
            rev,
            at: now,
        };
        Ok(self.open.apply(change, stamp).ok_or("the message is not open")?)
    }

    /// Several of them.
    pub(crate) fn say_many(&mut self, speaker: Speaker, count: usize) -> Result<Vec<Said>> {
        (0..count).map(|_| self.say(speaker)).collect()
    }
}

/// Records what was said; what people say is on disk after it.
pub(crate) async fn record(
    store: &Store,
    said: Said,
    speaker: Speaker,
) -> convoke_store::Result<()> {
    let sync = match speaker {
        Speaker::Human => Sync::Now,
        Speaker::Agent => Sync::Soon,
    };
    store.record(said.session, std::slice::from_ref(&said.update), said.summary, sync).await
}
