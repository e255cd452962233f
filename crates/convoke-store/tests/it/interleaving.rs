//! Any interleaving of appends reads back the same, whatever the pages.

use convoke_core::message::{Draft, Message, Seq};
use convoke_store::Store;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::world::{Talk, World, closing, piece};

/// One append: to which session, and what.
#[derive(Debug, Clone)]
struct Said {
    session: usize,
    texts: Vec<(u8, String)>,
}

fn said() -> impl Strategy<Value = Said> {
    let text = prop_oneof![".{0,20}", "[a-z ]{0,2000}"];
    (0..3_usize, vec((0..4_u8, text), 1..6)).prop_map(|(session, texts)| Said { session, texts })
}

fn draft((kind, text): (u8, String)) -> Draft {
    match kind {
        0 => Draft::user(text),
        1 => closing(),
        _ => piece(&text),
    }
}

async fn read_forwards(store: &Store, talk: &Talk, limit: u32) -> Vec<Message> {
    let (mut read, mut after) = (Vec::new(), Seq::START);
    loop {
        let page = store.messages(talk.id, after, limit).await.unwrap();
        read.extend(page.messages);
        after = read.last().map_or(after, |message: &Message| message.seq);
        if !page.more {
            return read;
        }
    }
}

async fn read_backwards(store: &Store, talk: &Talk, limit: u32) -> Vec<Message> {
    let mut read: Vec<Message> = Vec::new();
    loop {
        let before = read.first().map_or(Seq::new(1_000_000), |message| message.seq);
        let page = store.messages_before(talk.id, before, limit).await.unwrap();
        read.splice(0..0, page.messages);
        if !page.more {
            return read;
        }
    }
}

#[test]
fn any_interleaving_of_appends_reads_back_equal_and_in_order() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // One file for all cases: whatever else is in it makes no difference.
    let mut world = runtime.block_on(World::new());
    let mut runner = TestRunner::new(Config { cases: 32, ..Config::default() });
    let cases = (vec(said(), 0..12), 1..12_u32);
    let property = |(script, limit)| runtime.block_on(holds(&world, script, limit));
    runner.run(&cases, property).unwrap();
    runtime.block_on(world.reopen());
    runtime.block_on(world.store.close());
    convoke_store::schema::check(&world.path()).unwrap();
}

async fn holds(world: &World, script: Vec<Said>, limit: u32) -> Result<(), TestCaseError> {
    let mut talks = [world.talk().await, world.talk().await, world.talk().await];
    for Said { session, texts } in script {
        talks[session].say(&world.store, texts.into_iter().map(draft)).await;
    }
    for talk in &talks {
        prop_assert_eq!(&read_forwards(&world.store, talk, limit).await, &talk.log);
        prop_assert_eq!(&read_backwards(&world.store, talk, limit).await, &talk.log);
        let stored = world.store.session(talk.id).await.unwrap().unwrap();
        prop_assert_eq!(&stored.summary, talk.state.summary());
    }
    Ok(())
}
