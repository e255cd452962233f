//! What takes more messages than a server is filled with in a few seconds.

use convoke_store::{SearchOrder, SearchQuery};

use crate::search_order::{all_pages, words};
use crate::world::{World, prompt};

#[tokio::test]
async fn h7_the_best_of_the_newest_10_000_come_first_and_then_the_older_ones() {
    const NEWEST: u64 = 10_000;
    let world = World::new().await;
    let mut talk = world.talk().await;
    let filler = "and so on ".repeat(10);
    talk.say(&world.store, ["roof roof", "roof", "roof roof"].map(prompt)).await;
    for _ in 0..NEWEST / 1000 {
        talk.say(&world.store, (0..1000).map(|_| prompt(format!("roof {filler}")))).await;
    }
    let best = SearchQuery { order: SearchOrder::Best, ..words("roof") };
    let newest_first: Vec<u64> = (1..=NEWEST + 3).rev().collect();
    assert_eq!(all_pages(&world.store, &best, 100).await, newest_first);
    talk.say(&world.store, ["roof roof", "nothing", "nothing"].map(prompt)).await;
    let page = world.store.search(best, None, 3).await.unwrap();
    let seen: Vec<u64> = page.hits.iter().map(|hit| hit.seq.get()).collect();
    assert_eq!(seen, [NEWEST + 4, NEWEST + 3, NEWEST + 2]);
}
