//! A server that goes away and comes back.

use convoke_core::message::Seq;
use convoke_store::location::{Passwords, Server};
use convoke_store::{Error, Store, Sync};
use convoke_testkit::postgres;

use crate::world::{Talk, add_project, answer, at, new_session};

/// Records until it is stored; returns how often it was tried in vain.
async fn insist(talk: &Talk, store: &Store, batch: &crate::world::Batch) -> usize {
    for tries in 0.. {
        match talk.record(store, batch).await {
            Ok(()) => return tries,
            // The next attempt waits for a while by itself.
            Err(Error::Unreachable { .. }) => {}
            Err(other) => panic!("{other}: {other:?}"),
        }
    }
    unreachable!("it ends when the record is stored")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n5_what_was_acknowledged_survives_a_killed_server_and_what_follows_catches_up() {
    let mut server = postgres::Server::start(&["fsync=on"]).unwrap();
    let database = server.database();
    let location = Server::parse(&database.url, &Passwords::default()).unwrap();
    let store = Store::open(location, at(0)).await.unwrap();
    let project = add_project(&store, "/srv/app").await;
    let new = new_session(project);
    let mut talk = Talk::new(new.id, at(0));
    store.create_session(new).await.unwrap();
    let mut failures = 0;
    for round in 0..3 {
        let killed_at = 10 * round + 7;
        for number in 0..30 {
            if number == killed_at {
                tokio::task::block_in_place(|| server.kill()).unwrap();
                let refused = store.session(talk.id).await;
                assert!(matches!(refused, Err(Error::Unreachable { .. })), "{refused:?}");
            }
            let batch = talk.next([answer(format!("{round}/{number}"))]);
            if number == killed_at {
                let (told, _) = tokio::join!(insist(&talk, &store, &batch), async {
                    tokio::task::block_in_place(|| server.start_again()).unwrap();
                });
                failures += told;
            } else {
                failures += insist(&talk, &store, &batch).await;
            }
        }
    }
    assert!(failures > 0, "records fail with Unreachable while the server is away");
    let page = store.messages(talk.id, Seq::START, 1000).await.unwrap();
    assert_eq!(page.messages, talk.messages, "everything once, in order");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n5_a_killed_server_keeps_everything_that_it_said_is_stored() {
    // With commits that the server may sync later, it would lose the last seconds.
    let mut server = postgres::Server::start(&["fsync=on", "wal_writer_delay=10s"]).unwrap();
    let database = server.database();
    let location = Server::parse(&database.url, &Passwords::default()).unwrap();
    let store = Store::open(location, at(0)).await.unwrap();
    let project = add_project(&store, "/srv/app").await;
    let new = new_session(project);
    let mut talk = Talk::new(new.id, at(0));
    store.create_session(new).await.unwrap();
    for number in 0..20 {
        let batch = talk.next([answer(format!("{number}"))]);
        store.record(talk.id, batch.updates.as_slice(), batch.summary, Sync::Soon).await.unwrap();
    }
    tokio::task::block_in_place(|| {
        server.kill().unwrap();
        server.start_again().unwrap();
    });
    let page = loop {
        match store.messages(talk.id, Seq::START, 1000).await {
            Ok(page) => break page,
            Err(Error::Unreachable { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(page.messages, talk.messages);
    store.close().await;
}
