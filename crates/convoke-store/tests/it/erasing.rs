//! Erasing a session, and what lists show of agents' work.

use convoke_store::{Error, SearchQuery, Unseen, UnseenCount};

use crate::world::{World, at, prompts, says};

/// Tables that are empty without a session.
const TABLES: [&str; 6] = [
    "agent_sessions",
    "agent_session_ids",
    "messages",
    "deltas",
    "session_state",
    "human_requests",
];

/// How many rows each of them has, if any.
fn rows(world: &World) -> Vec<(&'static str, u64)> {
    let count =
        |name: &'static str| (name, world.database.number(&format!("SELECT count(*) FROM {name}")));
    TABLES.into_iter().map(count).filter(|(_, count)| *count > 0).collect()
}

#[tokio::test]
async fn p5_an_erased_session_leaves_no_row_and_no_search_entry() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "walnut", &["wal", "nut"]).await;
    // Open words, a queue, and the agent's own ids.
    for command in [prompts("again"), says("half a "), says("wal"), prompts("later")] {
        talk.play(&world.store, command).await;
    }
    for id in ["a", "b"] {
        let record = world.store.record_agent_session(talk.id, id.into(), "created".into(), at(1));
        record.await.unwrap();
    }
    assert!(rows(&world).len() >= 5, "{:?}", rows(&world));
    assert_eq!(world.database.hits("walnut"), 2);
    world.store.erase_session(talk.id).await.unwrap();
    assert_eq!(rows(&world), []);
    assert_eq!(world.database.hits("walnut"), 0);
    assert_eq!(world.store.session(talk.id).await.unwrap(), None);
    let query = SearchQuery { text: "walnut".to_owned(), ..SearchQuery::default() };
    assert_eq!(world.store.search(query, None, 10).await.unwrap().hits, []);
    let again = world.store.erase_session(talk.id).await.unwrap_err();
    assert!(matches!(again, Error::UnknownSession { .. }), "{again}");
    world.database.check();
}

#[tokio::test]
async fn p5_the_agents_ids_of_a_session_that_exists_are_never_deleted() {
    let world = World::new().await;
    let talk = world.talk().await;
    world.store.record_agent_session(talk.id, "a".into(), "created".into(), at(1)).await.unwrap();
    let error = world.database.execute("DELETE FROM agent_session_ids").unwrap_err();
    assert!(error.contains("only ever appended"), "{error}");
}

#[tokio::test]
async fn p4_what_was_seen_is_stored_and_counted() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "hello", &["All done.\n"]).await;
    let stored = world.store.session(talk.id).await.unwrap().unwrap();
    assert_eq!(&stored.summary, talk.session.summary(), "everything that lists show is stored");
    assert_eq!(stored.summary.work.last_line.as_deref(), Some("All done."));
    let unseen = |which| {
        let store = world.store.clone();
        async move { store.unseen_sessions(which, 10).await.unwrap().len() }
    };
    assert_eq!((unseen(Unseen::Finished).await, unseen(Unseen::Failed).await), (1, 0));
    let counted = world.store.count_unseen_sessions().await.unwrap();
    assert_eq!(counted, UnseenCount { finished: 1, failed: 0 });
    world.store.mark_seen(talk.id, stored.summary.rev).await.unwrap();
    world.reopen().await;
    let stored = world.store.session(talk.id).await.unwrap().unwrap();
    assert!(!stored.summary.is_unseen());
    assert_eq!(world.store.count_unseen_sessions().await.unwrap(), UnseenCount::default());
}
