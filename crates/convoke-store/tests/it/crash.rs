//! After a kill at any time, nothing that was acknowledged is missing and nothing is torn.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use convoke_core::content::Content;
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Rev, Seq};
use convoke_core::session::{Command, Interruption, Report, Session, ToolUpdate};
use convoke_core::update::{OpenMessages, UpdateStamp, Updates};
use convoke_store::{Store, StoredSession, Sync, schema};
use convoke_testkit::host::example;
use rusqlite::Connection;

use crate::world::{World, at, bytes, prompts, says};

/// Lives that the program gets; each ends by SIGKILL.
const ROUNDS: u32 = 60;

/// Numbers that are different every time.
fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Lets the program run until it has acknowledged so many messages, then kills it; returns all it acknowledged.
fn run_and_kill(path: &Path, lines: usize) -> Vec<Message> {
    let mut command = std::process::Command::new(example("append_until_killed"));
    let mut child = command.arg(path).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut read = Vec::new();
    for _ in 0..lines {
        let length = output.read_until(b'\n', &mut read).unwrap();
        assert_ne!(length, 0, "the program ended by itself: {:?}", child.wait().unwrap());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it said between our last reading and its death was acknowledged too, except for a torn last line.
    let mut rest = Vec::new();
    while output.read_until(b'\n', &mut rest).unwrap() > 0 && rest.ends_with(b"\n") {
        read.append(&mut rest);
    }
    read.split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// All messages of a session.
async fn read(store: &Store, id: SessionId) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    loop {
        let after = messages.last().map_or(Seq::START, |message| message.seq);
        let page = store.messages(id, after, 1000).await.unwrap();
        messages.extend(page.messages);
        if !page.more {
            return messages;
        }
    }
}

/// The words of a prompt, an answer or a thought.
fn words(message: &Message) -> Option<&str> {
    match &message.content {
        Content::Text { text, .. } | Content::Thinking { text, .. } => Some(text),
        Content::Plan { .. }
        | Content::Tool(_)
        | Content::Permission(_)
        | Content::Question(_)
        | Content::Notice(_) => None,
    }
}

/// Whether a message is what became of another version of it: the same one, or one that went on from there.
fn goes_on(stored: &Message, known: &Message) -> bool {
    let text = |message| words(message).expect("the program says words only");
    stored == known
        || (known.is_open()
            && (stored.id, stored.seq) == (known.id, known.seq)
            && stored.rev > known.rev
            && text(stored).starts_with(text(known)))
}

/// The list agrees with the messages, and no delta is left of a message that is whole.
async fn assert_whole(store: &Store, stored: &StoredSession, messages: &[Message]) {
    let places: Vec<u64> = messages.iter().map(|message| message.seq.get()).collect();
    assert_eq!(places, (1..=stored.summary.last_seq.get()).collect::<Vec<_>>());
    let state = store.session_state(stored.id).await.unwrap();
    let revs = messages.iter().map(|message| message.rev).chain(state.iter().map(|(rev, _)| *rev));
    assert_eq!(stored.summary.rev, revs.max().unwrap_or(Rev::START));
    let is_open = messages.iter().any(Message::is_open);
    assert_eq!(stored.summary.is_settled(), !is_open);
}

fn orphaned_deltas(path: &Path) -> u64 {
    let sql = "SELECT count(*) FROM deltas AS d WHERE NOT EXISTS (SELECT 1 FROM messages AS m
               WHERE m.session = d.session AND m.seq = d.seq AND m.open = 1)";
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn law_3_m3_a_kill_at_any_time_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convoke.db");
    let mut sessions: BTreeMap<SessionId, Vec<Message>> = BTreeMap::new();
    let (mut acknowledged_in_all, mut open_in_all) = (0, 0);
    for round in 0..ROUNDS {
        // Now and then before it could even open the database.
        let lines = usize::try_from(random() % 150).unwrap() * usize::from(round % 8 != 0);
        let acknowledged = run_and_kill(&path, lines);
        acknowledged_in_all += acknowledged.len();

        schema::check(&path).unwrap();
        let store = Store::open(&path, at(0)).await.unwrap();
        let before = std::mem::take(&mut sessions);
        for id in (0..6).map(|number| SessionId::from_random([number; 16])) {
            let Some(stored) = store.session(id).await.unwrap() else { continue };
            let messages = read(&store, id).await;
            assert_whole(&store, &stored, &messages).await;
            open_in_all += messages.iter().filter(|message| message.is_open()).count();
            sessions.insert(id, messages);
        }
        for message in before.values().flatten().chain(&acknowledged) {
            let stored = sessions.get(&message.session_id).expect("its session is there");
            let stored = stored.get(usize::try_from(message.seq.get() - 1).unwrap());
            assert!(
                stored.is_some_and(|stored| goes_on(stored, message)),
                "lost in round {round}: {message:?}, there is {stored:?}"
            );
        }
        // A revision that readers may have seen before the kill is never used again.
        for message in &acknowledged {
            let newest = before.get(&message.session_id).into_iter().flatten().map(|it| it.rev);
            assert!(newest.max() < Some(message.rev), "{message:?}");
        }
        store.close().await;
        assert_eq!(orphaned_deltas(&path), 0);
    }
    assert!(acknowledged_in_all > 1000, "the test proves little with {acknowledged_in_all}");
    assert!(open_in_all > 10, "the test proves little with {open_in_all} open messages");
}

/// What a kill would leave of a database that is open.
fn left_by_a_kill(world: &World) -> (tempfile::TempDir, PathBuf) {
    let left = tempfile::tempdir().unwrap();
    for name in ["convoke.db", "convoke.db-wal"] {
        fs::copy(world.folder().join(name), left.path().join(name)).unwrap();
    }
    let path = left.path().join("convoke.db");
    (left, path)
}

#[tokio::test]
async fn m3_an_open_answer_keeps_every_delta_and_recovery_closes_it() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let tool = ToolUpdate { tool_call_id: "t".to_owned(), ..ToolUpdate::default() };
    let commands = [
        prompts("go"),
        Command::Agent(Report::Thought("hm".to_owned())),
        Command::Agent(Report::Thought("m 🦀".to_owned())),
        Command::Agent(Report::ToolCalled(tool)),
        says("half "),
        prompts("meanwhile"),
        says("a "),
        says("sentence"),
    ];
    for (number, command) in commands.into_iter().enumerate() {
        talk.play(&world.store, command).await;
        let (_folder, path) = left_by_a_kill(&world);
        let store = Store::open(&path, at(0)).await.unwrap();
        assert_eq!(read(&store, talk.id).await, talk.messages, "after command {number}");
        let stored = store.session(talk.id).await.unwrap().unwrap();
        assert_eq!(stored.summary, *talk.session.summary());

        let open = store.open_messages(talk.id).await.unwrap();
        let state: Vec<_> = store.session_state(talk.id).await.unwrap();
        assert_eq!(state, talk.state.values().cloned().collect::<Vec<_>>());
        let state = state.into_iter().map(|(_, state)| state).collect();
        let mut session = Session::restore(stored.summary, &open, state);
        session.skip_lost_revisions();
        let mut open = OpenMessages::restore(open);
        let mut updates = Updates::default();
        for change in session.handle(Command::Recover(Interruption::Ended)).unwrap().changes {
            session.apply(&change, at(100));
            let (seq, rev) = (session.summary().last_seq, session.summary().rev);
            let id = MessageId::from_random(bytes());
            let stamp = UpdateStamp { session_id: talk.id, id, seq, rev, at: at(100) };
            updates.push(open.apply(change, stamp).unwrap());
        }
        let summary = session.summary().clone();
        store.record(talk.id, updates.as_slice(), summary, Sync::Now).await.unwrap();
        // Only the prompt that waited may be open: its turn has begun.
        let open = store.open_messages(talk.id).await.unwrap();
        assert!(open.iter().all(|message| message.seq.get() > talk.messages.len() as u64));
        let recovered = read(&store, talk.id).await;
        for (stored, known) in recovered.iter().zip(&talk.messages) {
            assert_eq!(words(stored), words(known), "after command {number}");
        }
        store.close().await;
        let deltas = "SELECT count(*) FROM deltas";
        let left: u64 =
            Connection::open(&path).unwrap().query_row(deltas, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "after command {number}");
    }
}
