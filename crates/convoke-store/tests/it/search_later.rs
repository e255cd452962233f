//! Conversations that are stored first and searched later.

use convoke_store::Indexing;

use crate::search_order::{history, search, texts, words};
use crate::world::{World, answer, at, prompt};

#[tokio::test]
async fn h7_conversations_of_a_large_import_are_found_once_the_index_is_filled() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    let records = [
        history("one", at(-3000), [prompt("an old roof"), answer("of straw")]),
        history("two", at(-2000), [prompt("a roof")]),
    ];
    world.store.import_histories(&records, Indexing::Later).await.unwrap();
    // What is said meanwhile is found at once, also between two ranges of messages that are not.
    talk.say(&world.store, [prompt("the roof of today")]).await;
    let more = [history("three", at(-1000), [prompt("a roof, too")])];
    world.store.import_histories(&more, Indexing::Later).await.unwrap();
    let page = world.store.search(words("roof"), None, 10).await.unwrap();
    assert_eq!((page.hits.len(), page.incomplete), (1, true));
    assert_eq!(world.database.number("SELECT count(*) FROM search_refill"), 2);

    world.store.index_imported();
    let expected = ["the roof of today", "a roof, too", "a roof", "an old roof"];
    assert_eq!(texts(&world.store, &words("roof")).await, expected);
    assert_eq!(texts(&world.store, &words("straw")).await, ["of straw"]);

    // What is left when the store is closed is done at the next start.
    let last = [history("four", at(-500), [prompt("the last roof")])];
    world.store.import_histories(&last, Indexing::Later).await.unwrap();
    world.store.close().await;
    world.reopen().await;
    let found = search(&world.store, &words("roof")).await.hits.len();
    assert_eq!((found, world.database.number("SELECT count(*) FROM search_refill")), (5, 0));
}

#[tokio::test]
async fn h7_as_many_messages_of_one_millisecond_as_there_are_keys_are_in_order() {
    const MESSAGES: usize = 5000;
    let world = World::new().await;
    let said = (0..MESSAGES).map(|n| prompt(format!("word w{n}")));
    let records = [history("one", at(0), said), history("two", at(1), [prompt("word last")])];
    world.store.import_histories(&records, Indexing::Later).await.unwrap();
    world.store.index_imported();
    let newest = texts(&world.store, &words("w4999")).await;
    assert_eq!(newest, ["word w4999"]);
    let keys = "SELECT count(DISTINCT key) FROM searched_messages";
    assert_eq!(world.database.number(keys), MESSAGES as u64 + 1);
}
