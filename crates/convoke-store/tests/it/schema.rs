//! The schema: made by migrations, and taken back by them.

use convoke_store::Store;
use convoke_store::schema::{self, Migration};
use rusqlite::Connection;

use crate::world::{World, at, prompt};

/// Every table, index and trigger that is not the migrations' own.
fn objects(path: &std::path::Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut statement = db
        .prepare("SELECT name FROM sqlite_schema WHERE tbl_name <> 'schema_migrations' ORDER BY 1")
        .unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(|name| name.unwrap()).collect()
}

/// Every migration, first to last.
fn all(applied_at: Option<i64>) -> [Migration; 8] {
    let applied_at = applied_at.map(at);
    [
        (1, "foundation"),
        (2, "whole_messages"),
        (3, "rules"),
        (4, "attention"),
        (5, "changes"),
        (6, "histories"),
        (7, "search_by_time"),
        (8, "users"),
    ]
    .map(|(version, name)| Migration { version, name, applied_at })
}

/// Every migration, last to first.
fn reversed(applied_at: i64) -> Vec<Migration> {
    all(Some(applied_at)).into_iter().rev().collect()
}

#[test]
fn s11_migrations_run_and_roll_back_and_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convoke.db");
    for round in 0..3 {
        assert_eq!(schema::status(&path).unwrap(), all(None));
        assert_eq!(schema::migrate(&path, at(round)).unwrap(), all(Some(round)));
        assert_eq!(schema::migrate(&path, at(99)).unwrap(), []);
        assert_eq!(schema::status(&path).unwrap(), all(Some(round)));
        schema::check(&path).unwrap();
        assert!(objects(&path).len() > 20);
        assert_eq!(schema::rollback(&path, 0).unwrap(), []);
        assert_eq!(schema::rollback(&path, 9).unwrap(), reversed(round));
        assert_eq!(schema::rollback(&path, 9).unwrap(), []);
        assert_eq!(objects(&path), ["sqlite_sequence"]);
        schema::check(&path).unwrap();
    }
}

#[tokio::test]
async fn s11_a_schema_full_of_messages_rolls_back_too_and_opening_brings_it_up_again() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "hello", &["wor", "ld"]).await;
    let record = world.store.record_agent_session(talk.id, "x".into(), "created".into(), at(1));
    record.await.unwrap();
    world.store.close().await;
    assert_eq!(schema::rollback(world.path(), 9).unwrap(), reversed(0));
    assert_eq!(objects(&world.path()), ["sqlite_sequence"]);
    let store = Store::open(world.path(), at(7)).await.unwrap();
    assert_eq!(schema::status(world.path()).unwrap(), all(Some(7)));
    assert_eq!(store.session(talk.id).await.unwrap(), None);
    store.close().await;
}

#[tokio::test]
async fn s11_what_is_looked_up_often_has_an_index() {
    let world = World::new().await;
    world.talk().await.say(&world.store, [prompt("hello")]).await;
    let db = world.raw();
    let plan = |sql: &str| -> String {
        let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let lines = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        lines.map(|line| line.unwrap()).collect::<Vec<_>>().join(" · ")
    };
    let plans = [
        "SELECT content FROM messages WHERE session = 1 AND seq > 5 ORDER BY seq LIMIT 5",
        "SELECT content FROM messages WHERE session = 1 AND rev > 5 ORDER BY rev LIMIT 5",
        "SELECT content FROM messages WHERE session = 1 AND open = 1 ORDER BY seq",
        "SELECT content FROM messages WHERE id = x'00' AND role = 'user' AND session = 1",
        "SELECT text FROM deltas WHERE session = 1 AND rev > 5 AND seq = 5 ORDER BY rev",
        "SELECT body FROM session_state WHERE session = 1 AND rev > 5 ORDER BY rev",
        "SELECT n FROM agent_sessions WHERE project_id = 'p'",
        "SELECT n FROM agent_sessions WHERE archived = 0 AND kind = 'session' AND status = 'active'",
        "SELECT n FROM agent_sessions WHERE settled_seq <> last_seq AND n > 5 ORDER BY n",
        "SELECT n FROM agent_session_ids WHERE agent_session_id = 'x' ORDER BY n DESC",
        "SELECT id FROM human_requests WHERE status = 'pending' ORDER BY asked_at",
        "SELECT id FROM human_requests WHERE status = 'pending' AND session = 1 ORDER BY asked_at",
        "SELECT id FROM human_requests WHERE kind = 'questions'
             AND status IN ('timed_out', 'abandoned') ORDER BY asked_at",
        "SELECT id FROM team_pairs WHERE to_team = 'b' AND coalesce(from_team, '') = ''
             AND coalesce(thread, '') = '' AND status <> 'archived'",
        "SELECT id FROM team_pairs ORDER BY last_used_at DESC LIMIT 5",
        "SELECT id FROM projects WHERE path = '/' AND removed_at IS NULL",
    ]
    .map(plan);
    insta::assert_snapshot!(plans.join("\n"), @r"
    SEARCH messages USING INDEX sqlite_autoindex_messages_1 (session=? AND seq>?)
    SEARCH messages USING INDEX messages_by_rev (session=? AND rev>?)
    SEARCH messages USING INDEX messages_open (session=?)
    SEARCH messages USING INDEX messages_prompts (id=?)
    SEARCH deltas USING PRIMARY KEY (session=? AND rev>?)
    SEARCH session_state USING PRIMARY KEY (session=?) · USE TEMP B-TREE FOR ORDER BY
    SEARCH agent_sessions USING COVERING INDEX agent_sessions_by_project_and_activity (project_id=?)
    SEARCH agent_sessions USING COVERING INDEX agent_sessions_by_activity (archived=? AND kind=? AND status=?)
    SEARCH agent_sessions USING INDEX agent_sessions_unsettled (n>?)
    SEARCH agent_session_ids USING COVERING INDEX agent_session_ids_by_id (agent_session_id=?)
    SCAN human_requests USING INDEX human_requests_pending
    SEARCH human_requests USING INDEX human_requests_pending_by_session (session=?)
    SCAN human_requests USING INDEX human_requests_left
    SEARCH team_pairs USING INDEX team_pairs_once (to_team=? AND <expr>=? AND <expr>=?)
    SCAN team_pairs USING COVERING INDEX team_pairs_by_use
    SEARCH projects USING INDEX projects_by_path (path=?)
    ");
}
