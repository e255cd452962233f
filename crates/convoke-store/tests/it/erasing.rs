//! Erasing a session, and what lists show of agents' work.

use convoke_store::{Error, SearchQuery, Unseen, UnseenCount};
use rusqlite::Connection;

use crate::world::{World, at, prompts, says};

/// How many rows each table has that is not part of the schema's own bookkeeping or the search index.
fn rows(world: &World) -> Vec<(String, i64)> {
    let db = Connection::open(world.path()).unwrap();
    let mut statement = db
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
             AND name NOT LIKE 'message_search_%' AND name NOT IN
                 ('schema_migrations', 'projects', 'generation', 'session_counts', 'message_search')
             ORDER BY name",
        )
        .unwrap();
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(|name| name.unwrap()).collect();
    let count = |name: &String| {
        let sql = format!("SELECT count(*) FROM {name}");
        (name.clone(), db.query_row(&sql, [], |row| row.get(0)).unwrap())
    };
    names.iter().map(count).filter(|(_, count)| *count > 0).collect()
}

fn hits(world: &World) -> i64 {
    let db = Connection::open(world.path()).unwrap();
    let sql = "SELECT count(*) FROM message_search WHERE message_search MATCH 'walnut'";
    db.query_row(sql, [], |row| row.get(0)).unwrap()
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
    assert_eq!(hits(&world), 2);
    world.store.erase_session(talk.id).await.unwrap();
    assert_eq!(rows(&world), []);
    assert_eq!(hits(&world), 0);
    assert_eq!(world.store.session(talk.id).await.unwrap(), None);
    let query = SearchQuery { text: "walnut".to_owned(), ..SearchQuery::default() };
    assert_eq!(world.store.search(query, None, 10).await.unwrap().hits, []);
    let again = world.store.erase_session(talk.id).await.unwrap_err();
    assert!(matches!(again, Error::UnknownSession { .. }), "{again}");
    convoke_store::schema::check(&world.path()).unwrap();
}

#[tokio::test]
async fn p5_the_agents_ids_of_a_session_that_exists_are_never_deleted() {
    let world = World::new().await;
    let talk = world.talk().await;
    world.store.record_agent_session(talk.id, "a".into(), "created".into(), at(1)).await.unwrap();
    let db = Connection::open(world.path()).unwrap();
    let error = db.execute("DELETE FROM agent_session_ids", []).unwrap_err();
    assert!(error.to_string().contains("only ever appended"), "{error}");
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
