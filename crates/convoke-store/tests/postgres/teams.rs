//! What the teams of several daemons ask each other.

use convoke_core::id::ChainId;
use convoke_store::BegunWait;
use tokio::task::JoinSet;

use crate::database::Database;
use crate::nodes::Daemon;
use crate::world::bytes;

#[tokio::test]
async fn n4_asks_of_one_chain_that_two_daemons_count_at_once_are_counted_once_each() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let (chain, other) = (ChainId::from_random(bytes()), ChainId::from_random(bytes()));
    let mut counting = JoinSet::new();
    for _ in 0..20 {
        for store in [&one.store, &two.store] {
            let store = store.clone();
            counting.spawn(async move { store.count_ask(chain).await.unwrap().unwrap() });
        }
    }
    let mut numbers = counting.join_all().await;
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<u64>>());
    assert_eq!(one.store.count_ask(other).await.unwrap(), Some(1), "another chain");
}

#[tokio::test]
async fn n4_a_circle_of_waits_is_refused_with_all_its_members() {
    let database = Database::new();
    let (one, two) = (Daemon::start(&database, "one").await, Daemon::start(&database, "two").await);
    let wait = async |daemon: &Daemon, of: &str, for_pair: &str| {
        daemon.store.begin_wait(of.to_owned(), for_pair.to_owned()).await.unwrap()
    };
    assert!(matches!(wait(&one, "a", "b").await, BegunWait::Waits(_)));
    // Two at once for the same, and a wait that leads nowhere.
    let BegunWait::Waits(first) = wait(&two, "b", "c").await else { panic!("it waits") };
    let BegunWait::Waits(second) = wait(&two, "b", "c").await else { panic!("it waits") };
    assert!(matches!(wait(&two, "b", "x").await, BegunWait::Waits(_)));
    let circle = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!(wait(&one, "c", "a").await, BegunWait::Circle(circle));
    assert_eq!(wait(&one, "c", "c").await, BegunWait::Circle(vec!["c".to_owned()]));
    two.store.end_wait(first).await.unwrap();
    assert!(matches!(wait(&one, "c", "a").await, BegunWait::Circle(_)), "the other one waits");
    two.store.end_wait(second).await.unwrap();
    assert!(matches!(wait(&one, "c", "a").await, BegunWait::Waits(_)));
}
