//! Killed at any moment, nothing that was acknowledged is missing and nothing is torn.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use convoke_core::id::SessionId;
use convoke_core::message::{Message, Seq};
use convoke_core::session::Session;
use convoke_store::{Store, StoredSession, schema};

use crate::world::at;

/// Lives that the program gets; each ends by SIGKILL.
const ROUNDS: u32 = 60;

/// The program, which cargo builds along with the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/append_until_killed");
    assert!(program.exists(), "{} is missing: build the examples too", program.display());
    program
}

/// Numbers that are different every time.
fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Lets the program run until it has acknowledged so many messages, then kills it; returns all it acknowledged.
fn run_and_kill(path: &Path, lines: usize) -> Vec<Message> {
    let mut child = Command::new(program()).arg(path).stdout(Stdio::piped()).spawn().unwrap();
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

/// What the test knows of one session.
struct Known {
    state: Session,
    log: Vec<Message>,
}

/// Reads what is new in a session's log and folds it.
async fn catch_up(store: &Store, stored: &StoredSession, known: &mut Known) {
    loop {
        let after = known.state.summary().last_seq;
        let page = store.messages(stored.id, after, 1000).await.unwrap();
        for message in page.messages {
            assert_eq!(message.seq, known.state.summary().last_seq.next(), "the log has a gap");
            known.state.apply(&message);
            known.log.push(message);
        }
        if !page.more {
            return;
        }
    }
}

#[tokio::test]
async fn law_3_a_kill_at_any_moment_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convoke.db");
    let mut sessions: BTreeMap<SessionId, Known> = BTreeMap::new();
    let mut acknowledged_in_all = 0;
    for round in 0..ROUNDS {
        // Now and then before it could even open the database.
        let lines = usize::try_from(random() % 150).unwrap() * usize::from(round % 8 != 0);
        let acknowledged = run_and_kill(&path, lines);
        acknowledged_in_all += acknowledged.len();

        schema::check(&path).unwrap();
        let store = Store::open(&path, at(0)).await.unwrap();
        for id in (0..6).map(|number| SessionId::from_random([number; 16])) {
            let Some(stored) = store.session(id).await.unwrap() else { continue };
            let known = sessions.entry(id).or_insert_with(|| Known {
                state: Session::new(stored.created_at),
                log: Vec::new(),
            });
            catch_up(&store, &stored, known).await;
            assert_eq!(stored.summary, *known.state.summary(), "the list disagrees with the log");
        }
        for message in acknowledged {
            let known =
                sessions.get(&message.session_id).expect("an acknowledged session is there");
            let place = usize::try_from(message.seq.get() - 1).unwrap();
            assert_eq!(known.log.get(place), Some(&message), "lost in round {round}");
        }
        store.close().await;
    }
    assert!(acknowledged_in_all > 1000, "the test proves little with {acknowledged_in_all}");

    // What was read along the way is still all there.
    let store = Store::open(&path, at(0)).await.unwrap();
    for (id, known) in sessions {
        let mut log: Vec<Message> = Vec::new();
        loop {
            let after = log.last().map_or(Seq::START, |message| message.seq);
            let page = store.messages(id, after, 1000).await.unwrap();
            log.extend(page.messages);
            if !page.more {
                break;
            }
        }
        assert_eq!(log, known.log);
    }
    store.close().await;
}
