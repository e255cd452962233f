//! Messages: read back as they were recorded, in pages that are bounded every way.

use convoke_core::content::{
    Content, Cost, Diff, PlanStatus, PlanStep, Tool, ToolResult, ToolStatus, Usage,
};
use convoke_core::id::MessageId;
use convoke_core::message::{Draft, Message, Rev, Seq};
use convoke_core::notice::AgentEvent;
use convoke_core::session::{Change, Command, QueueChoice};
use convoke_core::state::SessionState;
use convoke_core::turn::Turn;
use convoke_core::update::Update;
use convoke_store::{Error, MessagePage};

use crate::world::{
    Talk, World, answer, at, bytes, notice, prompt, prompts, receive, says, system,
};

/// One change of every type of content that is no request, and state.
fn one_of_each() -> Vec<Change> {
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
    let words = |content| Change::Begin(Draft::agent(content));
    let usage = Usage { cost, context_used: Some(u64::MAX), ..Usage::default() };
    vec![
        prompt("a prompt with \u{0} and \u{2028} and 🦀"),
        answer("an answer"),
        words(Content::Thinking { text: "hm".to_owned(), partial: true }),
        system(Content::Plan { steps: vec![step] }),
        system(Content::Tool(tool)),
        Change::State(SessionState::Usage(usage)),
        notice(AgentEvent::Compacted),
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
    assert_eq!(talk.messages.len(), 18);
    for _ in 0..2 {
        let page = read(&world, &talk, 0, 1000).await;
        assert_eq!(page, MessagePage { messages: talk.messages.clone(), more: false });
        let state = world.store.session_state(talk.id).await.unwrap();
        assert_eq!(state, talk.state.values().cloned().collect::<Vec<_>>());
        world.reopen().await;
    }
}

#[tokio::test]
async fn messages_are_read_forwards_and_backwards_in_pages() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, (1..=10).map(|n| answer(n.to_string()))).await;
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
async fn s8_changes_since_a_time_are_strictly_later_and_growth_counts() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    for moment in [10, 20, 20, 20, 30, 40] {
        let batch = talk.next_at(at(moment), [answer("word")]);
        talk.record(&world.store, &batch).await.unwrap();
    }
    let since = async |talk: &Talk, since: i64| {
        let rev = world.store.rev_at(talk.id, at(since)).await.unwrap();
        let page = world.store.updates_after(talk.id, rev, 100).await.unwrap();
        let messages = page.updates.into_iter().filter_map(|update| match update {
            Update::Message(message) => Some(message.seq.get()),
            Update::Delta(_) | Update::State { .. } => None,
        });
        messages.collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for moment in [0, 10, 19, 20, 35, 40, 99] {
        seen.push(since(&talk, moment).await);
    }
    let expected: [&[u64]; 7] =
        [&[1, 2, 3, 4, 5, 6], &[2, 3, 4, 5, 6], &[2, 3, 4, 5, 6], &[5, 6], &[6], &[], &[]];
    assert_eq!(seen, expected);

    // An answer that began long ago and grew just now is new.
    let words = Content::partial_text("on".to_owned());
    for (moment, change) in [
        (50, Change::Begin(Draft::agent(words))),
        (60, system(Content::Plan { steps: vec![] })),
        (70, Change::Append { seq: Seq::new(7), text: " and on".to_owned() }),
    ] {
        let batch = talk.next_at(at(moment), [change]);
        talk.record(&world.store, &batch).await.unwrap();
    }
    assert_eq!(since(&talk, 40).await, [8, 7]);
    assert_eq!(since(&talk, 60).await, [7]);
    assert_eq!(since(&talk, 70).await, [0; 0]);
    let empty = world.talk().await;
    assert_eq!(since(&empty, 0).await, [0; 0]);
}

#[tokio::test]
async fn a_page_is_bounded_by_its_bytes_but_never_empty() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let mebibyte = 1024 * 1024;
    for size in [3, 3, 9, 1] {
        talk.say(&world.store, [answer("x".repeat(size * mebibyte))]).await;
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
    talk.say(&world.store, (0..1001).map(|_| answer("word"))).await;
    let page = read(&world, &talk, 0, u32::MAX).await;
    assert_eq!((page.messages.len(), page.more), (1000, true));
}

#[tokio::test]
async fn a_message_that_cannot_be_read_hides_none_of_the_others() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, (1..=5).map(|n| answer(n.to_string()))).await;
    let spoil = "UPDATE messages SET content = '{\"type\":' WHERE seq IN (3, 5)";
    world.database.execute(spoil).unwrap();

    let page = read(&world, &talk, 0, 10).await;
    assert_eq!((seqs(&page.messages), page.more), (vec![1, 2, 4], false));
    let page = read(&world, &talk, 0, 3).await;
    assert_eq!((seqs(&page.messages), page.more), (vec![1, 2], true));
    let page = world.store.messages_before(talk.id, Seq::new(6), 10).await.unwrap();
    assert_eq!((seqs(&page.messages), page.more), (vec![1, 2, 4], false));
    assert_eq!(world.store.message(talk.id, Seq::new(3)).await.unwrap(), None);

    // Whatever the pages, a reader gets to the end.
    for limit in 1..6 {
        let (mut after, mut got) = (Rev::START, Vec::new());
        loop {
            let page = world.store.updates_after(talk.id, after, limit).await.unwrap();
            got.extend(page.updates.iter().map(Update::rev).map(Rev::get));
            assert!(page.rev > after, "the cursor stands still");
            after = page.rev;
            if !page.more {
                break;
            }
        }
        assert_eq!((got, after.get()), (vec![1, 2, 4], 5), "{limit} in a page");
    }
}

#[tokio::test]
async fn the_messages_of_an_unknown_session_are_not_an_empty_list() {
    let world = World::new().await;
    let unknown = convoke_core::id::SessionId::from_random([9; 16]);
    let read = world.store.messages(unknown, Seq::START, 10).await;
    assert!(matches!(read, Err(Error::UnknownSession { id }) if id == unknown));
}

#[tokio::test]
async fn a_prompt_is_found_by_its_id_and_the_newest_one_without() {
    let world = World::new().await;
    let (mut talk, other) = (world.talk().await, world.talk().await);
    talk.turn(&world.store, "one", &["a"]).await;
    talk.turn(&world.store, "two", &["b"]).await;
    let [one, _, two, reply] = &talk.messages[..] else { panic!("{:?}", talk.messages) };
    let find = async |session, id| world.store.prompt(session, id).await.unwrap();
    assert_eq!(find(talk.id, None).await.as_ref(), Some(two));
    assert_eq!(find(talk.id, Some(one.id)).await.as_ref(), Some(one));
    assert_eq!(find(talk.id, Some(reply.id)).await, None, "an answer is no prompt");
    assert_eq!(find(other.id, Some(one.id)).await, None, "it is of another session");
    assert_eq!(find(other.id, None).await, None);
}

#[tokio::test]
async fn all_open_messages_are_found_however_large_and_many_they_are() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.say(&world.store, [prompt("before"), answer("done")]).await;
    let (id, large) = (MessageId::from_random(bytes()), "x".repeat(400 * 1024));
    let running = Change::Begin(Draft::prompt(id, large, Turn::Running));
    let tool = |number: u32| Tool {
        tool_call_id: number.to_string(),
        tool: "read".to_owned(),
        title: None,
        kind: None,
        args: serde_json::Value::Null,
        status: ToolStatus::Running,
        result: None,
    };
    let tools = (0..1020).map(|number| system(Content::Tool(tool(number))));
    talk.say(&world.store, [running].into_iter().chain(tools)).await;
    talk.play(&world.store, says("wo")).await;
    talk.play(&world.store, says("rds")).await;
    let open = world.store.open_messages(talk.id).await.unwrap();
    assert!(open == talk.messages[2..], "{} messages", open.len());
    assert_eq!(open.len(), 1022);
}

#[tokio::test]
async fn m1_an_answer_of_a_hundred_pieces_is_one_message_and_one_row() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    talk.play(&world.store, prompts("tell me")).await;
    let pieces: Vec<String> = (0..100).map(|number| format!("piece {number} ")).collect();
    let count = |world: &World, table: &str| -> u64 {
        world.database.number(&format!("SELECT count(*) FROM {table}"))
    };
    for (number, piece) in pieces.iter().enumerate() {
        talk.play(&world.store, says(piece)).await;
        assert_eq!((count(&world, "messages"), count(&world, "deltas")), (2, number as u64));
    }
    let end = talk.ends();
    talk.play(&world.store, end).await;
    assert_eq!((count(&world, "messages"), count(&world, "deltas")), (2, 0));
    for _ in 0..2 {
        let summary = world.store.session(talk.id).await.unwrap().unwrap().summary;
        assert_eq!((summary.last_seq.get(), &summary), (2, talk.session.summary()));
        let page = read(&world, &talk, 0, 10).await;
        assert_eq!(page.messages, talk.messages);
        let whole = Content::text(pieces.concat());
        assert_eq!(page.messages[1].content, whole);
        world.reopen().await;
    }
}

#[tokio::test]
async fn m1_a_page_is_read_between_two_commits_even_while_an_answer_grows() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    for command in [prompts("go"), says("a"), says("b")] {
        talk.play(&world.store, command).await;
    }
    let page = read(&world, &talk, 0, 10).await;
    let (mut messages, mut state) = (page.messages, talk.state.clone());
    assert_eq!(messages, talk.messages);
    assert_eq!(world.store.message(talk.id, Seq::new(2)).await.unwrap(), messages.last().cloned());
    // A reader that continues from the revision of what it has read gets the rest.
    let rev = talk.session.summary().rev;
    let stop = Command::CancelTurn { queue: QueueChoice::Send };
    for command in [says("c"), stop] {
        talk.play(&world.store, command).await;
    }
    for update in world.store.updates_after(talk.id, rev, 10).await.unwrap().updates {
        receive(&mut messages, &mut state, update);
    }
    assert_eq!((messages, state), (talk.messages, talk.state));
}

#[tokio::test]
async fn s3_a_short_page_is_the_same_whether_its_messages_are_short_long_or_open() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.play(&world.store, prompts("hello")).await;
    talk.play(&world.store, says("a short answer")).await;
    for text in [" and more", &" and much more".repeat(10_000)] {
        talk.play(&world.store, says(text)).await;
        let page = world.store.messages(talk.id, Seq::START, 20).await.unwrap();
        assert_eq!((page.messages, page.more), (talk.messages.clone(), false), "it is open");
    }
    let end = talk.ends();
    talk.play(&world.store, end).await;
    let page = world.store.messages(talk.id, Seq::START, 20).await.unwrap();
    assert_eq!(page.messages, talk.messages);
    let first = world.store.messages(talk.id, Seq::START, 1).await.unwrap();
    assert_eq!((first.messages.len(), first.more), (1, true));
}
