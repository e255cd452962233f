//! Many at once: writers that share commits, readers beside them, and mistakes that stay with who made them.

use convoke_core::message::Seq;
use convoke_store::{Error, SessionFilter, SessionOrder, Store, Window};
use tokio::task::JoinSet;

use crate::world::{Talk, World, answer, prompt, prompts, says};

/// Records one piece at a time; every tenth of them twice, which is a mistake.
async fn speak(store: Store, mut talk: Talk) -> Talk {
    for number in 0..100 {
        let command = match number % 7 {
            0 => prompts("prompt"),
            6 => talk.ends(),
            _ => says("word"),
        };
        let batch = talk.decide(command);
        talk.record(&store, &batch).await.unwrap();
        if number % 10 == 0 {
            let again = talk.record(&store, &batch).await;
            assert!(matches!(again, Err(Error::OutOfOrder { .. })));
        }
    }
    talk
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_callers_mistakes_never_fail_another_and_readers_see_whole_commits() {
    let world = World::new().await;
    let mut speakers = JoinSet::new();
    for _ in 0..32 {
        speakers.spawn(speak(world.store.clone(), world.talk().await));
    }
    let mut talks = Vec::new();
    while !speakers.is_empty() {
        tokio::select! {
            Some(talk) = speakers.join_next() => talks.push(talk.unwrap()),
            () = look(&world.store) => {}
        }
    }
    assert_eq!(talks.len(), 32);
    for talk in talks {
        let page = world.store.messages(talk.id, Seq::START, 1000).await.unwrap();
        assert_eq!(page.messages, talk.messages);
        let stored = world.store.session(talk.id).await.unwrap().unwrap();
        assert_eq!(stored.summary, *talk.session.summary());
    }
}

/// A reader sees a snapshot between commits: a session's row is consistent with its messages.
async fn look(store: &Store) {
    let page = store.sessions(SessionFilter::all(), SessionOrder::Active, Window::first(20));
    for session in page.await.unwrap().sessions {
        let known = session.summary.last_seq;
        let page = store.messages_before(session.id, known.next(), 1).await.unwrap();
        assert_eq!(page.messages.last().map_or(Seq::START, |message| message.seq), known);
    }
}

#[tokio::test]
async fn a_caller_that_stops_waiting_takes_nothing_back() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let batch = talk.next([prompt("hello")]);
    tokio::select! {
        biased;
        recorded = talk.record(&world.store, &batch) => recorded.unwrap(),
        () = std::future::ready(()) => {}
    }
    // The next one follows it, so it was stored.
    talk.say(&world.store, [answer("hello")]).await;
    let page = world.store.messages(talk.id, Seq::START, 10).await.unwrap();
    assert_eq!(page.messages, talk.messages);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn h7_n1_writers_that_share_every_millisecond_do_not_refuse_each_other() {
    const WRITERS: u64 = 48;
    const MESSAGES: u64 = 40;
    let world = World::new().await;
    let mut speakers = JoinSet::new();
    for _ in 0..WRITERS {
        let (store, mut talk) = (world.store.clone(), world.talk().await);
        speakers.spawn(async move {
            for number in 0..MESSAGES {
                // The clocks of all writers are equal, so that they all want the same keys of the index.
                talk.say(&store, [prompt(format!("word {number}"))]).await;
            }
        });
    }
    while let Some(spoken) = speakers.join_next().await {
        spoken.unwrap();
    }
    let keys = "SELECT count(DISTINCT key) FROM searched_messages";
    assert_eq!(world.database.number(keys), WRITERS * MESSAGES);
}
