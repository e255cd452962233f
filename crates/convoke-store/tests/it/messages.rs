//! Logs: read back as they were written, in pages that are bounded every way.

use convoke_core::content::{
    Content, Cost, Diff, PlanStatus, PlanStep, Tool, ToolResult, ToolStatus, Usage,
};
use convoke_core::message::{Draft, Message, Seq};
use convoke_core::notice::{Event, Notice};
use convoke_core::turn::Stop;
use convoke_store::{Error, MessagePage};

use crate::world::{Talk, World, at, closing, piece};

/// One draft of every type of content that is no request.
fn one_of_each() -> Vec<Draft> {
    let tool = Tool {
        tool_call_id: "call_1".to_owned(),
        tool: "edit".to_owned(),
        title: Some("Edit \"a\u{0}b\"".to_owned()),
        kind: None,
        args: serde_json::json!({"path": "größe.txt", "deep": [1, 2.5, null, {"a": "\u{1F980}"}]}),
        status: ToolStatus::Complete,
        result: Some(ToolResult {
            text: Some("line\r\nline".to_owned()),
            diffs: vec![Diff { path: "a".to_owned(), old_text: None, new_text: "b".to_owned() }],
            error: None,
        }),
    };
    let step = PlanStep { content: "do".to_owned(), status: PlanStatus::Pending, priority: None };
    let cost = Some(Cost { amount: 0.1 + 0.2, currency: "USD".to_owned() });
    vec![
        Draft::user("a prompt with \u{0} and \u{2028} and 🦀"),
        piece("an"),
        closing(),
        Draft::agent(Content::Thinking { text: "hm".to_owned(), partial: true }),
        Draft::system(Content::Plan { steps: vec![step] }),
        Draft::system(Content::Tool(tool)),
        Draft::system(Content::Usage(Usage {
            cost,
            context_used: Some(u64::MAX),
            ..Usage::default()
        })),
        Draft::system(Notice::new(Event::Compacted)),
    ]
}

async fn read(world: &World, talk: &Talk, after: u64, limit: u32) -> MessagePage {
    world.store.messages(talk.id, Seq::new(after), limit).await.unwrap()
}

fn seqs(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.seq.get()).collect()
}

#[tokio::test]
async fn s2_messages_read_back_in_order_exactly_as_they_were() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    for _ in 0..3 {
        talk.say(&world.store, one_of_each()).await;
    }
    for _ in 0..2 {
        let page = read(&world, &talk, 0, 1000).await;
        assert_eq!(page, MessagePage { messages: talk.log.clone(), more: false });
        world.reopen().await;
    }
}

#[tokio::test]
async fn a_log_is_read_forwards_and_backwards_in_pages() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, (1..=10).map(|n| piece(&n.to_string()))).await;
    let mut seen = Vec::new();
    for (after, limit) in [(0, 4), (4, 4), (8, 4), (8, 2), (10, 4), (0, 0), (99, 4)] {
        let page = read(&world, &talk, after, limit).await;
        seen.push((seqs(&page.messages), page.more));
    }
    let expected = [
        (vec![1, 2, 3, 4], true),
        (vec![5, 6, 7, 8], true),
        (vec![9, 10], false),
        (vec![9, 10], false),
        (vec![], false),
        (vec![], true),
        (vec![], false),
    ];
    assert_eq!(seen, expected);

    let mut seen = Vec::new();
    for (before, limit) in [(11, 4), (7, 4), (3, 4), (3, 2), (1, 4), (u64::MAX >> 1, 1)] {
        let page = world.store.messages_before(talk.id, Seq::new(before), limit).await.unwrap();
        seen.push((seqs(&page.messages), page.more));
    }
    let expected = [
        (vec![7, 8, 9, 10], true),
        (vec![3, 4, 5, 6], true),
        (vec![1, 2], false),
        (vec![1, 2], false),
        (vec![], false),
        (vec![10], true),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn s8_messages_since_a_moment_are_strictly_later() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    for moment in [10, 20, 20, 20, 30, 40] {
        let (messages, summary) = talk.next_at(at(moment), [piece("word")]);
        world.store.append(talk.id, messages, summary).await.unwrap();
    }
    let mut seen = Vec::new();
    for (since, after) in [(0, 0), (10, 0), (19, 0), (20, 0), (10, 3), (35, 0), (40, 0), (99, 0)] {
        let page =
            world.store.messages_since(talk.id, at(since), Seq::new(after), 10).await.unwrap();
        seen.push(seqs(&page.messages));
    }
    let expected: [&[u64]; 8] = [
        &[1, 2, 3, 4, 5, 6],
        &[2, 3, 4, 5, 6],
        &[2, 3, 4, 5, 6],
        &[5, 6],
        &[4, 5, 6],
        &[6],
        &[],
        &[],
    ];
    assert_eq!(seen, expected);
    let page = world.store.messages_since(talk.id, at(10), Seq::START, 2).await.unwrap();
    assert_eq!((seqs(&page.messages), page.more), (vec![2, 3], true));
    let empty = world.talk().await;
    let page = world.store.messages_since(empty.id, at(0), Seq::START, 2).await.unwrap();
    assert_eq!(page, MessagePage { messages: vec![], more: false });
}

#[tokio::test]
async fn a_page_is_bounded_by_its_bytes_but_never_empty() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let mebibyte = 1024 * 1024;
    for size in [3, 3, 9, 1] {
        talk.say(&world.store, [piece(&"x".repeat(size * mebibyte))]).await;
    }
    let mut pages = Vec::new();
    let mut after = 0;
    loop {
        let page = read(&world, &talk, after, 1000).await;
        pages.push(seqs(&page.messages));
        after = page.messages.last().unwrap().seq.get();
        if !page.more {
            break;
        }
    }
    assert_eq!(pages, [[1], [2], [3], [4]]);
    let page = world.store.messages_before(talk.id, Seq::new(3), 1000).await.unwrap();
    assert_eq!((seqs(&page.messages), page.more), (vec![2], true));
}

#[tokio::test]
async fn a_page_has_at_most_a_thousand_messages() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, (0..1001).map(|_| piece("word"))).await;
    let page = read(&world, &talk, 0, u32::MAX).await;
    assert_eq!((page.messages.len(), page.more), (1000, true));
}

#[tokio::test]
async fn a_message_that_cannot_be_read_hides_none_of_the_others() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, (1..=5).map(|n| piece(&n.to_string()))).await;
    world
        .raw()
        .execute("UPDATE agent_messages SET content = '{\"type\":' WHERE seq = 3", [])
        .unwrap();

    let page = read(&world, &talk, 0, 10).await;
    assert_eq!((seqs(&page.messages), page.more), (vec![1, 2], true));
    let error = world.store.messages(talk.id, Seq::new(2), 10).await.unwrap_err();
    assert_eq!(error.to_string(), format!("message 3 of session {} cannot be read", talk.id));
    let Error::UnreadableMessage { seq, .. } = error else { panic!("{error}") };
    let page = read(&world, &talk, seq.get(), 10).await;
    assert_eq!((seqs(&page.messages), page.more), (vec![4, 5], false));

    let page = world.store.messages_before(talk.id, Seq::new(6), 10).await.unwrap();
    assert_eq!((seqs(&page.messages), page.more), (vec![4, 5], true));
    let error = world.store.messages_before(talk.id, Seq::new(4), 10).await.unwrap_err();
    assert!(matches!(error, Error::UnreadableMessage { seq, .. } if seq.get() == 3));
}

#[tokio::test]
async fn the_log_of_an_unknown_session_is_not_an_empty_one() {
    let world = World::new().await;
    let unknown = convoke_core::id::SessionId::from_random([9; 16]);
    let read = world.store.messages(unknown, Seq::START, 10).await;
    assert!(matches!(read, Err(Error::UnknownSession { id }) if id == unknown));
}

#[tokio::test]
async fn the_newest_notices_of_an_event_are_found_wherever_they_are() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let renamed =
        |title: &str| Draft::system(Notice::new(Event::Renamed { title: title.to_owned() }));
    talk.say(&world.store, [renamed("one"), piece("\"event\":\"renamed\""), renamed("two")]).await;
    talk.say(&world.store, (0..1500).map(|_| piece("word"))).await;
    let found = world.store.newest_notices(talk.id, "renamed", 5).await.unwrap();
    assert_eq!(seqs(&found), [3, 1]);
    let found = world.store.newest_notices(talk.id, "renamed", 1).await.unwrap();
    assert_eq!(seqs(&found), [3]);
    assert_eq!(world.store.newest_notices(talk.id, "archived", 1).await.unwrap(), []);
}

#[tokio::test]
async fn what_was_not_over_at_a_place_is_found_however_long_its_turn_is() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let ended = |turn: u64| {
        let (turn, stop) = (Seq::new(turn), Stop::EndTurn);
        Draft::system(Notice::new(Event::TurnEnded { turn, stop }))
    };
    // Prompts stand at 1, 3 and 5; the second ran from 4 on, and the third waited.
    talk.say(&world.store, [Draft::user("one"), piece("a"), Draft::user("two"), ended(1)]).await;
    talk.say(&world.store, [Draft::user("three")]).await;
    talk.say(&world.store, (0..1500).map(|_| piece("\"event\":\"turn_ended\""))).await;
    talk.say(&world.store, [ended(3), piece("b")]).await;
    let unsettled =
        async |before| seqs(&world.store.unsettled(talk.id, Seq::new(before)).await.unwrap());
    assert_eq!(unsettled(1).await, [0; 0]);
    assert_eq!(unsettled(4).await, [1, 3]);
    assert_eq!(unsettled(5).await, [3]);
    assert_eq!(unsettled(1000).await, [3, 5]);
    assert_eq!(unsettled(1507).await, [5]);
}
