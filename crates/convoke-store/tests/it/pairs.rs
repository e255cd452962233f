//! Pairs of teams: one lasting session for each, however many ask at once.

use convoke_core::session::Status;
use convoke_core::team::{Pair, PairStatus, TeamName};
use convoke_store::{
    Asker, Error, NewSession, PairChange, PairCreation, PairFilter, PairId, PairStats,
    SessionFilter, SessionKind, StoredPair, Window,
};
use tokio::task::JoinSet;

use crate::world::{World, at, new_session};

fn team(name: &str) -> TeamName {
    name.parse().unwrap()
}

fn pair(from: Option<&str>, to: &str, thread: Option<&str>) -> Pair {
    Pair { from: from.map(team), to: team(to), thread: thread.map(str::to_owned) }
}

fn session(world: &World, created: i64) -> NewSession {
    let (kind, created_at) = (SessionKind::Team, at(created));
    NewSession { kind, created_at, ..new_session(world.project) }
}

async fn create(world: &World, pair: Pair, created: i64) -> StoredPair {
    match world.store.create_pair(pair, session(world, created)).await.unwrap() {
        PairCreation::Created(stored) => stored,
        PairCreation::Existed(stored) => panic!("{stored:?} was there"),
    }
}

#[tokio::test]
async fn t1_each_directed_pair_has_its_own_session_and_null_counts_as_one() {
    let world = World::new().await;
    let pairs = [
        pair(None, "backend", None),
        pair(Some("frontend"), "backend", None),
        pair(Some("backend"), "frontend", None),
        pair(None, "backend", Some("api")),
        pair(Some("frontend"), "backend", Some("api")),
    ];
    for (moment, pair) in pairs.into_iter().enumerate() {
        let stored = create(&world, pair.clone(), moment as i64).await;
        let second = world.store.create_pair(pair.clone(), session(&world, 99)).await.unwrap();
        assert_eq!(second, PairCreation::Existed(stored.clone()));
        assert_eq!(world.store.pair_between(&pair).await.unwrap(), Some(stored.clone()));
        assert_eq!(world.store.pair(stored.id).await.unwrap(), Some(stored.clone()));
        assert_eq!(world.store.pair_in(stored.session_id).await.unwrap(), Some(stored));
    }
    // The second creation left no session behind.
    assert_eq!(world.store.count_sessions(&SessionFilter::all()).await.unwrap(), 5);
    let twice = world.database.execute(
        "INSERT INTO team_pairs (to_team, session_id, created_at, last_used_at, message_count, status)
         SELECT 'backend', id, 0, 0, 0, 'active' FROM agent_sessions LIMIT 1",
    );
    assert!(twice.unwrap_err().to_lowercase().contains("unique"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn t1_one_of_many_simultaneous_first_asks_wins_and_all_get_its_session() {
    let world = World::new().await;
    let mut asks = JoinSet::new();
    for _ in 0..64 {
        let (store, session) = (world.store.clone(), session(&world, 0));
        asks.spawn(async move { store.create_pair(pair(None, "backend", None), session).await });
    }
    let (mut created, mut got) = (0, Vec::new());
    while let Some(outcome) = asks.join_next().await {
        let stored = match outcome.unwrap().unwrap() {
            PairCreation::Created(stored) => {
                created += 1;
                stored
            }
            PairCreation::Existed(stored) => stored,
        };
        got.push(stored);
    }
    got.dedup();
    assert_eq!((created, got.len()), (1, 1));
    assert_eq!(world.store.count_sessions(&SessionFilter::all()).await.unwrap(), 1);
}

#[tokio::test]
async fn t5_pairs_are_listed_by_every_filter_last_used_first() {
    let world = World::new().await;
    let given = [
        (pair(None, "backend", None), 10, 100),
        (pair(Some("frontend"), "backend", None), 20, 90),
        (pair(Some("frontend"), "mobile", None), 30, 80),
        (pair(None, "mobile", Some("beta")), 40, 70),
    ];
    let mut ids = Vec::new();
    for (pair, created, used) in given {
        let stored = create(&world, pair, created).await;
        let change = PairChange::Used { messages: 1, at: at(used) };
        world.store.change_pair(stored.id, change).await.unwrap();
        ids.push(stored.id);
    }
    let change = PairChange::Status { status: PairStatus::Idle, error: None };
    world.store.change_pair(ids[2], change).await.unwrap();
    let all = PairFilter::all;
    let cases = [
        (all(), vec![0, 1, 2, 3]),
        (PairFilter { from: Asker::External, ..all() }, vec![0, 3]),
        (PairFilter { from: Asker::Team(team("frontend")), ..all() }, vec![1, 2]),
        (PairFilter { to: Some(team("mobile")), ..all() }, vec![2, 3]),
        (PairFilter { from: Asker::External, to: Some(team("mobile")), ..all() }, vec![3]),
        (PairFilter { status: Some(PairStatus::Idle), ..all() }, vec![2]),
        (PairFilter { created_after: Some(at(20)), ..all() }, vec![2, 3]),
        (PairFilter { used_after: Some(at(80)), ..all() }, vec![0, 1]),
    ];
    for (filter, expected) in cases {
        let listed = world.store.pairs(filter.clone(), Window::first(100)).await.unwrap();
        let listed: Vec<PairId> = listed.iter().map(|stored| stored.id).collect();
        let expected: Vec<PairId> = expected.into_iter().map(|at: usize| ids[at]).collect();
        assert_eq!(listed, expected, "{filter:?}");
    }
    let window = Window { limit: 2, offset: 1 };
    let listed = world.store.pairs(all(), window).await.unwrap();
    assert_eq!(listed.iter().map(|stored| stored.id).collect::<Vec<_>>(), ids[1..3]);
}

#[tokio::test]
async fn t6_every_use_is_counted_and_compaction_begins_anew() {
    let world = World::new().await;
    let stored = create(&world, pair(None, "backend", None), 0).await;
    for (messages, moment) in [(2, 10), (3, 30), (1, 20)] {
        let change = PairChange::Used { messages, at: at(moment) };
        world.store.change_pair(stored.id, change).await.unwrap();
    }
    let used = world.store.pair(stored.id).await.unwrap().unwrap();
    let expected = StoredPair { message_count: 6, last_used_at: at(30), ..stored };
    assert_eq!(used, expected);
    let compacted = world.store.change_pair(used.id, PairChange::Compacted).await.unwrap();
    assert_eq!(compacted, StoredPair { message_count: 0, ..expected });
}

#[tokio::test]
async fn t7_a_pair_can_stand_every_way_and_the_figures_follow() {
    let world = World::new().await;
    for (index, status) in PairStatus::ALL.into_iter().enumerate() {
        let stored = create(&world, pair(None, &format!("team-{index}"), None), 0).await;
        let change = PairChange::Used { messages: 10, at: at(1) };
        world.store.change_pair(stored.id, change).await.unwrap();
        let error = (status == PairStatus::Error).then(|| "it broke".to_owned());
        let change = PairChange::Status { status, error: error.clone() };
        let changed = world.store.change_pair(stored.id, change).await.unwrap();
        assert_eq!((changed.status, changed.error), (status, error));
    }
    let expected =
        PairStats { total: 7, active: 1, compact_pending: 1, archived: 1, total_messages: 70 };
    assert_eq!(world.store.pair_stats().await.unwrap(), expected);
}

#[tokio::test]
async fn t16_an_archived_pair_stays_beside_its_successor() {
    let world = World::new().await;
    let old = create(&world, pair(None, "backend", None), 0).await;
    let archived = PairChange::Status { status: PairStatus::Archived, error: None };
    world.store.change_pair(old.id, archived).await.unwrap();
    assert_eq!(world.store.pair_between(&old.pair).await.unwrap(), None);
    let new = create(&world, old.pair.clone(), 1).await;
    assert_eq!(world.store.pair_between(&old.pair).await.unwrap().unwrap().id, new.id);
    let back = PairChange::Status { status: PairStatus::Active, error: None };
    let refused = world.store.change_pair(old.id, back).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is another pair external->backend");
}

#[tokio::test]
async fn t4_a_pair_can_move_to_another_session() {
    let world = World::new().await;
    let stored = create(&world, pair(None, "backend", None), 0).await;
    let successor = session(&world, 1);
    let unknown = PairChange::Moved { session_id: successor.id };
    let refused = world.store.change_pair(stored.id, unknown.clone()).await;
    assert!(matches!(refused, Err(Error::UnknownSession { .. })));
    world.store.create_session(successor.clone()).await.unwrap();
    let record = world.store.record_agent_session(successor.id, "x".into(), "new".into(), at(1));
    record.await.unwrap();
    let moved = world.store.change_pair(stored.id, unknown).await.unwrap();
    let agent_session_id = Some("x".to_owned());
    assert_eq!(moved, StoredPair { session_id: successor.id, agent_session_id, ..stored });
}

#[tokio::test]
async fn t9_a_deleted_pair_leaves_its_session_and_its_number_is_never_used_again() {
    let world = World::new().await;
    let stored = create(&world, pair(None, "backend", None), 0).await;
    assert_eq!(world.store.delete_pair(stored.id).await.unwrap(), stored);
    assert_eq!(world.store.pair(stored.id).await.unwrap(), None);
    let gone = world.store.delete_pair(stored.id).await;
    assert!(matches!(gone, Err(Error::UnknownPair { id }) if id == stored.id));
    let kept = world.store.session(stored.session_id).await.unwrap().unwrap();
    assert_eq!((kept.kind, kept.summary.status), (SessionKind::Team, Status::Active));
    assert!(create(&world, pair(None, "backend", None), 1).await.id > stored.id);
}
