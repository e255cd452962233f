//! Homes in which much was said, without an agent for each word of it.

use std::path::Path;
use std::sync::Arc;

use convoke_core::content::Content;
use convoke_core::id::{MessageId, ProjectId, SessionId};
use convoke_core::message::{Message, Role};
use convoke_core::session::{Status, Summary};
use convoke_core::time::Timestamp;
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::Update;
use convoke_store::{NewProject, NewSession, SessionKind, Store, Sync};
use convoke_testkit::bench::Result;
use convoke_testkit::bench::random::Random;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

/// Sessions that are filled at the same time, and messages that are stored at once.
const AT_ONCE: usize = 128;
const MESSAGES_AT_ONCE: usize = 1000;
/// Words of a message.
const WORDS: u64 = 12;

/// Puts so many sessions into the store of a home, each with so many messages, and returns their ids.
pub(crate) async fn fill(home: &Path, sessions: usize, messages: usize) -> Result<Vec<SessionId>> {
    let store = Store::open(home.join("convoke.db"), moment(0)).await?;
    let project = ProjectId::from_random(Random::new(1).bytes());
    let (name, path) = ("web".to_owned(), home.join("web"));
    store.add_project(NewProject { id: project, name, path, added_at: moment(0) }).await?;
    let filled = stream::iter(0..sessions)
        .map(|at| fill_session(&store, project, at, messages))
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    store.close().await;
    Ok(filled)
}

async fn fill_session(
    store: &Store,
    project: ProjectId,
    at: usize,
    messages: usize,
) -> Result<SessionId> {
    let mut random = Random::new(1000 + at as u64);
    let id = SessionId::from_random(random.bytes());
    let agent = "bench".parse()?;
    let kind = SessionKind::Session;
    let session = NewSession { id, project_id: project, agent, kind, created_at: moment(at) };
    store.create_session(session).await?;
    let mut summary = Summary::new(moment(at));
    summary.title = Some(random.text(WORDS / 2));
    summary.status = Status::Completed;
    let mut left = messages;
    while left > 0 {
        let count = left.min(MESSAGES_AT_ONCE);
        let said = (0..count).map(|_| say(id, &mut summary, &mut random));
        let said: Vec<Update> = said.map(|message| Update::Message(Arc::new(message))).collect();
        store.record(id, &said, summary.clone(), Sync::Soon).await?;
        left -= count;
    }
    Ok(id)
}

/// The messages of one session.
pub(crate) fn conversation(messages: usize) -> Vec<Message> {
    let (mut random, mut summary) = (Random::new(7), Summary::new(moment(0)));
    let session = SessionId::from_random(random.bytes());
    (0..messages).map(|_| say(session, &mut summary, &mut random)).collect()
}

/// The next message: a prompt first, and then what the agent answers.
fn say(session_id: SessionId, summary: &mut Summary, random: &mut Random) -> Message {
    let is_first = summary.last_seq.get() == 0;
    (summary.last_seq, summary.rev) = (summary.last_seq.next(), summary.rev.next());
    summary.settled_seq = summary.last_seq;
    Message {
        id: MessageId::from_random(random.bytes()),
        session_id,
        seq: summary.last_seq,
        rev: summary.rev,
        role: if is_first { Role::User } else { Role::Agent },
        content: Content::text(random.text(WORDS)),
        turn: is_first.then_some(Turn::Ended(Stop::EndTurn)),
        timestamp: summary.updated_at,
        updated_at: summary.updated_at,
    }
}

/// This many milliseconds after a fixed time in 2026.
fn moment(millis: usize) -> Timestamp {
    Timestamp::from_millis(1_794_736_800_000 + i64::try_from(millis).unwrap_or_default())
}
