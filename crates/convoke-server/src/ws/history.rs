//! The entries of a session, read backwards until there are enough, however long the log or one turn of it is.

use std::iter::successors;

use convoke_api::entry::{
    Change, Entries, Entry, EntryBody, Fold, Permission, PromptState, Prompted, QuestionSet,
    Standing, ToolCall, Words, cut, prompt_id,
};
use convoke_core::bounds::{clip, json_bytes};
use convoke_core::content::{Content, ToolStatus};
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Role, Seq};
use convoke_core::request::Status;
use convoke_engine::{Engine, Live, Result, SessionView};

/// Messages that are read at once at most.
const PAGE: u32 = 500;
/// Messages that an entry takes, more or less.
const ENTRY: u32 = 3;
/// Messages that are read at most. Words in more pieces than that are cut.
const MESSAGES_MAX: usize = 20_000;
/// Bytes of messages that are held at most, but for one message more.
const READ_BYTES_MAX: usize = 1 << 20;
/// Bytes of entries that one frame carries at most, but for one entry more.
const ENTRIES_BYTES_MAX: usize = 512 << 10;
/// What is sent of a prompt that waits when a frame is full already; it is sent whole when its turn begins.
const WAITING_BYTES_MAX: usize = 1 << 10;

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
    let (id, seq) = (session.stored.id, session.stored.summary.last_seq);
    let part = Part::before(engine, id, seq.next(), enough).await?;
    let standing = standing(session, engine.live(id));
    let mut entries = Entries::new();
    for entry in standing.entries() {
        entries.upsert(entry.clone());
    }
    let mut fold = Fold::with_standing(standing);
    part.fold_into(&mut fold, &mut entries);
    let queue = fold.queue().map(ToOwned::to_owned).collect();
    let (mut entries, standing) = entries.into_parts();
    let more = part.keep_newest(&mut entries, enough);
    entries.extend(standing.entries().cloned());
    Ok(Newest { entries, queue, fold, seq, more })
}

/// Reads the entries before a place, and whether there are still older ones.
pub(super) async fn page(
    engine: &Engine,
    id: SessionId,
    before: Seq,
    enough: usize,
) -> Result<(Vec<Entry>, bool)> {
    let part = Part::before(engine, id, before, enough).await?;
    let (mut fold, mut entries) = (Fold::new(), Entries::new());
    part.fold_into(&mut fold, &mut entries);
    // What was open at the place is told as it became.
    let (mut last, mut read) = (Seq::new(before.get().saturating_sub(1)), 0);
    for size in sizes(enough) {
        if read >= MESSAGES_MAX || !entries.conversation().iter().any(is_open) {
            break;
        }
        let ahead = engine.messages(id, last, size).await?;
        for message in &ahead.messages {
            for change in fold.apply(message) {
                if is_known(&entries, &change) {
                    entries.apply(change);
                }
            }
            last = message.seq;
        }
        read += ahead.messages.len();
        if !ahead.more {
            break;
        }
    }
    let (mut entries, _) = entries.into_parts();
    entries.retain(|entry| entry.seq < before);
    settle(&mut entries, &engine.live(id));
    let more = part.keep_newest(&mut entries, enough);
    Ok((entries, more))
}

/// What folds the messages after a place as whoever folds all of them does, and from where on it must be fed.
///
/// Reads no further back than it must; what came after the place is on its way to the client anyway.
pub(super) async fn fold_for(
    engine: &Engine,
    session: &SessionView,
    after: Seq,
) -> Result<(Fold, Seq)> {
    let id = session.stored.id;
    let part = Part::before(engine, id, after.next(), 1).await?;
    let first = part.messages.first().map_or(after.next(), |message| message.seq);
    let mut fold = Fold::with_standing(standing(session, engine.live(id)));
    for message in &part.unsettled {
        fold.apply(message);
    }
    Ok((fold, Seq::new(first.get().saturating_sub(1))))
}

/// How things stand, by what the session's task remembers.
fn standing(session: &SessionView, live: Live) -> Standing {
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

/// A part of a log that can be folded on its own.
struct Part {
    /// What was not over where it begins.
    unsettled: Vec<Message>,
    messages: Vec<Message>,
    /// Whether there are messages before it.
    more: bool,
}

impl Part {
    /// Reads backwards from a place until there are so many entries.
    async fn before(engine: &Engine, id: SessionId, place: Seq, enough: usize) -> Result<Self> {
        let (mut first, mut more) = (place, true);
        let (mut pages, mut count, mut bytes, mut entries) = (Vec::new(), 0, 0, 0);
        for size in sizes(enough) {
            let page = engine.messages_before(id, first, size).await?;
            first = page.messages.first().map_or(first, |message| message.seq);
            more = page.more;
            count += page.messages.len();
            bytes += page.messages.iter().map(|message| message.content.bytes()).sum::<usize>();
            // What would be cut off if this were the last one does not count.
            let usable = cut(&page.messages).and_then(|at| page.messages.get(at..));
            let is_enough = usable.is_some_and(|part| entries + count_entries(part) > enough);
            entries += count_entries(&page.messages);
            pages.push(page.messages);
            if is_enough || !more || count >= MESSAGES_MAX || bytes >= READ_BYTES_MAX {
                break;
            }
        }
        let mut messages: Vec<Message> = pages.into_iter().rev().flatten().collect();
        if !more {
            return Ok(Self { unsettled: Vec::new(), messages, more });
        }
        messages.drain(..cut(&messages).unwrap_or_default());
        let first = messages.first().map_or(first, |message| message.seq);
        Ok(Self { unsettled: engine.unsettled(id, first).await?, messages, more })
    }

    fn fold_into(&self, fold: &mut Fold, entries: &mut Entries) {
        for message in self.unsettled.iter().chain(&self.messages) {
            fold.apply(message).into_iter().for_each(|change| entries.apply(change));
        }
    }

    /// Keeps the newest of its entries, and older ones that wait for something; tells whether there are more.
    fn keep_newest(&self, entries: &mut Vec<Entry>, enough: usize) -> bool {
        let begin = self.messages.first().map_or(Seq::START, |message| message.seq);
        // What was over before this part's first entry belongs to an older one.
        entries.retain(|entry| entry.seq >= begin || waits(entry));
        let mut left_out = entries.len().saturating_sub(enough).max(beyond_bytes(entries));
        // Older ones are asked for by the place of the first.
        let same = |at: usize| entries.get(at).map(|entry| entry.seq);
        while left_out > 0 && same(left_out - 1) == same(left_out) {
            left_out -= 1;
        }
        let begin = entries.get(left_out).map_or(begin, |entry| entry.seq.max(begin));
        let mut at = 0;
        entries.retain_mut(|entry| {
            at += 1;
            entry.seq = entry.seq.max(begin);
            if at <= left_out
                && let EntryBody::User(prompted) = &mut entry.body
            {
                prompted.content = clip(&prompted.content, WAITING_BYTES_MAX);
            }
            at > left_out || waits(entry)
        });
        self.more || left_out > 0
    }
}

/// How many of the oldest entries are beyond what one frame carries. The newest one is always within.
fn beyond_bytes(entries: &[Entry]) -> usize {
    let mut bytes = 0;
    let within = entries.iter().rev().take_while(|entry| {
        let is_within = bytes < ENTRIES_BYTES_MAX;
        bytes += json_bytes(entry);
        is_within
    });
    entries.len() - within.count()
}

/// How many messages to read at once for so many entries: about as many as they take, and then ever more.
fn sizes(enough: usize) -> impl Iterator<Item = u32> {
    let wanted = u32::try_from(enough).unwrap_or(PAGE).saturating_mul(ENTRY);
    successors(Some(wanted.clamp(ENTRY, PAGE)), |size| Some((size * 2).min(PAGE)))
}

/// How many entries messages make, or a few more when some of them began earlier.
fn count_entries(messages: &[Message]) -> usize {
    let (mut fold, mut entries) = (Fold::new(), Entries::new());
    messages.iter().flat_map(|message| fold.apply(message)).for_each(|change| match change {
        Change::Upsert(entry) => entries.upsert(*entry),
        Change::Append { .. } | Change::Completed { .. } | Change::Cancelling { .. } => {}
    });
    entries.conversation().len()
}

/// Whether an entry waits for the agent or for the human.
const fn waits(entry: &Entry) -> bool {
    matches!(
        &entry.body,
        EntryBody::User(Prompted { state: PromptState::Queued | PromptState::Running, .. })
            | EntryBody::Permission(Permission { status: Status::Pending, .. })
            | EntryBody::Question(QuestionSet { status: Status::Pending, .. })
    )
}

/// Whether something that the agent does or asks is not over.
const fn is_open(entry: &Entry) -> bool {
    matches!(
        &entry.body,
        EntryBody::Assistant(Words { partial: true, .. })
            | EntryBody::Thinking(Words { partial: true, .. })
            | EntryBody::ToolCall(ToolCall { status: ToolStatus::Running, .. })
            | EntryBody::Permission(Permission { status: Status::Pending, .. })
            | EntryBody::Question(QuestionSet { status: Status::Pending, .. })
    )
}

/// Whether a change is about an entry that is there.
fn is_known(entries: &Entries, change: &Change) -> bool {
    match change {
        Change::Upsert(entry) => entries.get(&entry.entry_id).is_some(),
        Change::Append { .. } | Change::Completed { .. } | Change::Cancelling { .. } => true,
    }
}

/// Prompts whose turns ended long after what was read: they are done, and one that waited then stands further below.
fn settle(entries: &mut Vec<Entry>, live: &Live) {
    let is_running = |entry_id: &str| live.running.is_some_and(|turn| prompt_id(turn) == entry_id);
    let is_queued = |entry_id: &str| live.queue.iter().any(|turn| prompt_id(*turn) == entry_id);
    entries.retain_mut(|Entry { entry_id, body, .. }| {
        let EntryBody::User(prompted) = body else { return true };
        match prompted.state {
            PromptState::Running if !is_running(entry_id) => prompted.state = PromptState::Done,
            PromptState::Queued => return is_queued(entry_id),
            PromptState::Running | PromptState::Done => {}
        }
        true
    });
}
