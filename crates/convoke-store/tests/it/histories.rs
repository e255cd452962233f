//! Conversations of other programs, and the ids by which their agents know them.

use convoke_core::id::{CanonicalId, SessionId};
use convoke_store::{HistoryOutcome, HistoryRecord, Indexing, KnownHistory};

use crate::search_order::history;
use crate::world::{World, at, prompt};

/// Imports a file that claims an agent session id.
async fn import(world: &World, record: HistoryRecord) -> SessionId {
    let imported = world.store.import_histories(&[record], Indexing::Now).await.unwrap();
    match imported[..] {
        [HistoryOutcome::Added(id)] => id,
        [..] => panic!("{imported:?}"),
    }
}

fn file(path: &str, id: &str) -> HistoryRecord {
    let mut record = history(path, at(0), [prompt("hello")]);
    id.clone_into(&mut record.mark.agent_session_id);
    record
}

/// The session that is found by the agent's id.
async fn found(world: &World, id: &str) -> Option<SessionId> {
    let id = CanonicalId { agent: "codex".parse().unwrap(), agent_session: id.to_owned() };
    world.store.session_by_canonical_id(&id).await.unwrap().map(|stored| stored.id)
}

async fn known(world: &World, path: &str) -> KnownHistory {
    let known = world.store.histories("codex".parse().unwrap()).await.unwrap();
    known.into_iter().find(|known| known.key.path == path).unwrap()
}

#[tokio::test]
async fn h2_a_copy_of_a_file_does_not_take_the_id_of_the_session() {
    let world = World::new().await;
    let first = import(&world, file("a", "7")).await;
    let copy = import(&world, file("b", "7")).await;
    assert_eq!(found(&world, "7").await, Some(first));
    let copied = world.store.session(copy).await.unwrap().unwrap();
    assert_eq!(copied.agent_session_id, None);
    // It is followed all the same.
    assert_eq!(known(&world, "b").await.session, Some(copy));
}

#[tokio::test]
async fn h2_a_rewritten_file_keeps_its_id() {
    let world = World::new().await;
    let mut last = import(&world, file("a", "7")).await;
    for _ in 0..2 {
        let rewritten = HistoryRecord { replaces: Some(last), ..file("a", "7") };
        last = import(&world, rewritten).await;
        assert_eq!(found(&world, "7").await, Some(last));
    }
}

#[tokio::test]
async fn h2_a_file_that_continues_another_does_not_take_the_id_of_a_third() {
    let world = World::new().await;
    let first = import(&world, file("a", "7")).await;
    let second = import(&world, file("b", "8")).await;
    let before = known(&world, "b").await;
    world.store.continue_history(file("c", "7").mark, before.clone(), at(1)).await.unwrap();
    assert_eq!(found(&world, "7").await, Some(first));
    world.store.continue_history(file("d", "9").mark, before, at(1)).await.unwrap();
    assert_eq!(found(&world, "9").await, Some(second));
}
