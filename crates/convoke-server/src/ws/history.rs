//! The entries of a session, read backwards in whole turns until there are enough, however long the log is.

use convoke_api::entry::{Change, Entries, Entry, Fold, Standing, boundary};
use convoke_core::content::Content;
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Role, Seq};
use convoke_engine::{Engine, Result, SessionView};

/// Messages that are read at once.
const PAGE: u32 = 500;
/// Messages that are read at most. A turn that is longer than that is cut, and what was open at the cut may show twice.
const MESSAGES_MAX: usize = 20_000;

/// The newest part of a session.
pub(super) struct Newest {
    /// The entries, first to last, and then how things stand.
    pub(super) entries: Vec<Entry>,
    /// The prompts that wait, by the names of their entries.
    pub(super) queue: Vec<String>,
    /// What folds the messages that come.
    pub(super) fold: Fold,
    /// The newest place that is in it.
    pub(super) seq: Seq,
    /// Whether there are older entries.
    pub(super) more: bool,
}

/// Reads the newest entries of a session.
pub(super) async fn newest(
    engine: &Engine,
    session: &SessionView,
    enough: usize,
) -> Result<Newest> {
    let (id, summary) = (session.stored.id, &session.stored.summary);
    // Whatever runs or waits now began after the newest place at which nothing did.
    let running = (!summary.is_settled()).then(|| summary.settled_seq.next());
    let mut reading = Reading::new(id, summary.last_seq.next(), running);
    let more = reading.until(engine, enough).await?;
    let mut entries = Entries::new();
    let standing = standing(engine, session);
    for entry in standing.entries() {
        entries.upsert(entry.clone());
    }
    let mut fold = Fold::with_standing(standing);
    reading.messages().flat_map(|message| fold.apply(message)).for_each(|it| entries.apply(it));
    let queue = fold.queue().map(ToOwned::to_owned).collect();
    Ok(Newest { entries: entries.into_history(), queue, fold, seq: summary.last_seq, more })
}

/// Reads the entries before a place, and whether there are still older ones.
pub(super) async fn page(
    engine: &Engine,
    id: SessionId,
    before: Seq,
    enough: usize,
) -> Result<(Vec<Entry>, bool)> {
    let mut reading = Reading::new(id, before, None);
    let more = reading.until(engine, enough).await?;
    let (mut fold, mut entries) = (Fold::new(), Entries::new());
    reading.messages().flat_map(|message| fold.apply(message)).for_each(|it| entries.apply(it));
    Ok((entries.conversation().to_vec(), more))
}

/// What folds the messages after a place as whoever folds all of them does, and from where on it must be fed.
///
/// Reads no further back than to the turn of that place; what came after it is on its way to the client anyway.
pub(super) async fn fold_for(
    engine: &Engine,
    session: &SessionView,
    after: Seq,
) -> Result<(Fold, Seq)> {
    if after == Seq::START {
        return Ok((Fold::new(), Seq::START));
    }
    let (id, summary) = (session.stored.id, &session.stored.summary);
    let running = (!summary.is_settled()).then(|| summary.settled_seq.next());
    let mut reading = Reading::new(id, summary.last_seq.next(), running);
    while reading.first_whole().is_none_or(|first| first > after.next()) {
        if !reading.back(engine).await? {
            break;
        }
        reading.forget();
    }
    let first = reading.first_whole().unwrap_or(after.next());
    let from = Seq::new(first.get().saturating_sub(1));
    Ok((Fold::with_standing(standing(engine, session)), from))
}

/// How things stand, by what the session's task remembers.
fn standing(engine: &Engine, session: &SessionView) -> Standing {
    let live = engine.live(session.stored.id);
    let mut standing = Standing::default();
    let contents =
        live.offers.into_iter().map(Content::Notice).chain(live.usage.map(Content::Usage));
    for content in contents {
        // No message of the log: it stands before all of them, so that any of them beats it.
        standing.apply(&Message {
            id: MessageId::from_random([0; 16]),
            session_id: session.stored.id,
            seq: Seq::START,
            role: Role::System,
            content,
            timestamp: session.stored.created_at,
        });
    }
    standing
}

/// Reading a log backwards.
struct Reading {
    id: SessionId,
    /// What is read next comes before this.
    before: Seq,
    running: Option<Seq>,
    /// Turns, each from a boundary to the next, the newest first.
    whole: Vec<Vec<Message>>,
    first_whole: Option<Seq>,
    /// What has been read before them, and has no boundary yet.
    begun: Vec<Message>,
    count: usize,
}

impl Reading {
    fn new(id: SessionId, before: Seq, running: Option<Seq>) -> Self {
        let (whole, begun) = (Vec::new(), Vec::new());
        Self { id, before, running, whole, first_whole: None, begun, count: 0 }
    }

    /// Reads until there are so many entries; tells whether there are more.
    async fn until(&mut self, engine: &Engine, enough: usize) -> Result<bool> {
        let (mut entries, mut counted) = (0, 0);
        loop {
            let more = self.back(engine).await? || !self.begun.is_empty();
            while let Some(turn) = self.whole.get(counted) {
                entries += count(turn);
                counted += 1;
                if entries >= enough {
                    let left = self.whole.len() > counted;
                    self.whole.truncate(counted);
                    return Ok(more || left);
                }
            }
            if !more {
                return Ok(false);
            }
            if self.count >= MESSAGES_MAX {
                let begun = std::mem::take(&mut self.begun);
                self.whole.push(begun);
                return Ok(more);
            }
        }
    }

    /// Reads one page; tells whether there is another before it.
    async fn back(&mut self, engine: &Engine) -> Result<bool> {
        let page = engine.messages_before(self.id, self.before, PAGE).await?;
        let Some(first) = page.messages.first() else { return Ok(false) };
        self.before = first.seq;
        self.count += page.messages.len();
        let mut read = page.messages;
        read.append(&mut self.begun);
        match boundary(&read, self.running) {
            Some(at) => {
                let part = read.split_off(at);
                self.first_whole = part.first().map(|message| message.seq);
                // What is left ends right before a boundary, where nothing runs.
                self.whole.extend(turns(part, self.running.take()));
                self.begun = read;
            }
            None => self.begun = read,
        }
        Ok(page.more)
    }

    /// Lets go of what need not be folded.
    fn forget(&mut self) {
        self.whole.clear();
    }

    const fn first_whole(&self) -> Option<Seq> {
        self.first_whole
    }

    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.whole.iter().rev().flatten()
    }
}

/// Cuts messages that begin at a boundary at every other boundary; the newest first.
fn turns(messages: Vec<Message>, running: Option<Seq>) -> Vec<Vec<Message>> {
    let (mut messages, mut running, mut turns) = (messages, running, Vec::new());
    for index in (1..messages.len()).rev() {
        let rest = messages.get(index..).unwrap_or_default();
        // Only a prompt can be one, and looking takes as long as the turn is.
        let is_prompt = rest.first().is_some_and(|message| message.role == Role::User);
        if is_prompt && boundary(rest, running) == Some(0) {
            turns.push(messages.split_off(index));
            running = None;
        }
    }
    turns.push(messages);
    turns
}

/// How many entries messages make.
fn count(messages: &[Message]) -> usize {
    let (mut fold, mut entries) = (Fold::new(), Entries::new());
    messages.iter().flat_map(|message| fold.apply(message)).for_each(|change| match change {
        Change::Upsert(entry) => entries.upsert(*entry),
        Change::Append { .. } | Change::Completed { .. } | Change::Cancelling { .. } => {}
    });
    entries.conversation().len()
}
