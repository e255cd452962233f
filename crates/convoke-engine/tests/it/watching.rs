//! Readers that come, go, fall behind and never read: all see the same log, and nobody waits for them.

use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::{Event, Notice};
use convoke_core::time::Timestamp;
use convoke_engine::{Around, Engine};
use convoke_testkit::agent::{Script, Step};

use crate::log::{Log, PATIENCE};
use crate::world::{World, now, random};

const COUNT: u64 = 3000;

fn is_end(message: &Message) -> bool {
    let Content::Notice(Notice { event, .. }) = &message.content else { return false };
    matches!(event, Event::TurnEnded { .. })
}

/// Watches until the end of the turn, and now and then goes away and comes back.
async fn restless(engine: Engine, session: SessionId) -> Vec<Message> {
    let mut seen: Vec<Message> = Vec::new();
    loop {
        let after = seen.last().map_or(Seq::START, |message| message.seq);
        let mut watcher = engine.watch(session, after).await.unwrap();
        for _ in 0..1 + usize::from(random()[0]) * 4 {
            // Given up in the middle now and then, which loses nothing.
            let patience = Duration::from_micros(u64::from(random()[0]));
            let Ok(next) = tokio::time::timeout(patience, watcher.next()).await else { continue };
            seen.push(next.unwrap().message.clone());
            if is_end(seen.last().unwrap()) {
                return seen;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_ten_restless_watchers_see_the_same_log() {
    let script = Script::new().turn([Step::Count(COUNT)]);
    let scene = World::with(&script).begin().await;
    let watchers: Vec<_> =
        (0..10).map(|_| tokio::spawn(restless(scene.engine.clone(), scene.session))).collect();
    // And one that never reads.
    let idle = scene.engine.watch(scene.session, Seq::START).await.unwrap();
    scene.prompt("count").await;
    let mut logs = Vec::new();
    for watcher in watchers {
        logs.push(tokio::time::timeout(PATIENCE, watcher).await.expect("it hangs").unwrap());
    }
    let first = &logs[0];
    assert!(first.iter().map(|message| message.seq.get()).eq(1..=first.len() as u64));
    assert!(first.len() as u64 > COUNT);
    for log in &logs {
        assert_eq!(log, first);
    }
    drop(idle);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s2_a_watcher_that_fell_behind_reads_on_without_gap_or_repetition() {
    let script = Script::new().turn([Step::Count(COUNT)]);
    let mut scene = World::with(&script).begin().await;
    let mut slow = scene.engine.watch(scene.session, Seq::START).await.unwrap();
    let text = "count".to_owned();
    let turn = scene.engine.prompt(scene.session, text).await.unwrap().seq;
    assert_eq!(slow.next().await.unwrap().message.seq, Seq::new(1));
    // More goes by than is kept for it, and it was in the middle of waiting.
    scene.log.until_end_of(turn.get()).await;
    let mut seen = vec![Seq::new(1)];
    while seen.last() != Some(&scene.log.last_seq()) {
        seen.push(slow.next().await.unwrap().message.seq);
    }
    assert!(seen.iter().map(|seq| seq.get()).eq(1..=scene.log.last_seq().get()));
    // And from then on it hears of everything at once.
    let turn = scene.prompt("more").await;
    let next = slow.next().await.unwrap();
    assert_eq!(next.message.seq.get(), turn);
    assert_eq!(next.json(), serde_json::to_string(&next.message).unwrap());
    scene.log.until_end_of(turn).await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn s2_a_watcher_of_an_ended_session_hears_when_it_goes_on() {
    let mut scene = World::with(&Script::new()).begin().await;
    scene.engine.complete(scene.session).await.unwrap();
    scene.log.until("completed: user").await;
    let mut late = scene.engine.watch(scene.session, scene.log.last_seq()).await.unwrap();
    assert_eq!(late.session(), scene.session);
    assert_eq!(scene.engine.figures().await.unwrap().watchers, 2);
    scene.engine.resume(scene.session).await.unwrap();
    let next = tokio::time::timeout(PATIENCE, late.next()).await.expect("nothing comes").unwrap();
    assert_eq!(next.message.seq, scene.log.last_seq().next());
    scene.log.until("reopened").await;
    drop(late);
    assert_eq!(scene.engine.figures().await.unwrap().watchers, 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s2_pages_of_a_log_fit_together_from_both_sides() {
    let mut scene = World::with(&Script::new().turn([Step::Count(700)])).begin().await;
    scene.turn("count").await;
    let (engine, session) = (&scene.engine, scene.session);
    let (mut forth, mut after) = (Vec::new(), Seq::START);
    loop {
        let page = engine.messages(session, after, 100).await.unwrap();
        after = page.messages.last().unwrap().seq;
        forth.extend(page.messages);
        if !page.more {
            break;
        }
    }
    let (mut back, mut before) = (Vec::new(), after.next());
    loop {
        let page = engine.messages_before(session, before, 100).await.unwrap();
        before = page.messages[0].seq;
        back.extend(page.messages.into_iter().rev());
        if !page.more {
            break;
        }
    }
    back.reverse();
    assert_eq!(forth, back);
    assert_eq!(forth, scene.log.messages());
    let since = forth[0].timestamp;
    let page = engine.messages_since(session, since, Seq::START, 1000).await.unwrap();
    assert!(page.messages.iter().all(|message| message.timestamp > since));
    engine.stop().await;
}

/// Makes every message that begins so unreadable, and tells how many those are.
fn damage(world: &World, beginning: &str) -> usize {
    let path = world.home().join("convoke.db");
    let mut bytes = fs::read(&path).unwrap();
    let places: Vec<usize> = bytes
        .windows(beginning.len())
        .enumerate()
        .filter(|(_, window)| *window == beginning.as_bytes())
        .map(|(place, _)| place)
        .collect();
    for place in &places {
        bytes[*place] = b'[';
    }
    fs::write(&path, bytes).unwrap();
    places.len()
}

#[tokio::test]
async fn s2_messages_that_cannot_be_read_hide_none_of_the_others() {
    let world = World::with(&Script::new().capabilities(serde_json::json!({})));
    let mut scene = world.begin().await;
    for text in ["one", "damaged", "three"] {
        scene.turn(text).await;
    }
    let (session, last) = (scene.session, scene.log.last_seq());
    let is_damaged = |message: &&Message| matches!(&message.content, Content::Text { text, .. } if text == "damaged");
    let whole = scene.log.messages().iter().filter(|message| !is_damaged(message));
    let whole: Vec<Seq> = whole.map(|message| message.seq).collect();
    scene.engine.stop().await;
    assert_eq!(damage(&world, r#"{"type":"text","text":"damaged""#), 2);

    let engine = world.open().await;
    let mut watcher = engine.watch(session, Seq::START).await.unwrap();
    let mut told = Vec::new();
    while told.last() != Some(&last) {
        told.push(watcher.next().await.unwrap().message.seq);
    }
    assert_eq!(told, whole);
    let page = engine.messages(session, Seq::START, 100).await.unwrap();
    assert_eq!((page.messages[0].seq, page.more), (Seq::new(1), true));
    let newest = engine.messages_before(session, last.next(), 100).await.unwrap().messages;
    assert_eq!(newest.last().unwrap().seq, last);
    // What is left of the conversation is told to an agent that does not remember it.
    engine.prompt(session, "and now?".to_owned()).await.unwrap();
    let said = loop {
        let message = watcher.next().await.unwrap().message.clone();
        if let (Role::Agent, Content::Text { text, .. }) = (message.role, message.content) {
            break text;
        }
    };
    for word in [r#"{"role":"user","text":"one"}"#, r#"{"role":"user","text":"three"}"#, "and now?"]
    {
        assert!(said.contains(word), "no {word} in {said}");
    }
    assert!(!said.contains("damaged"), "{said}");
    engine.stop().await;
}

/// How far the clock of a test is ahead, in milliseconds.
static AHEAD: AtomicI64 = AtomicI64::new(0);

fn shifted() -> Timestamp {
    Timestamp::from_millis(now().as_millis() + AHEAD.load(Ordering::SeqCst))
}

#[tokio::test]
async fn k4_after_a_clock_was_set_back_what_is_later_than_the_last_message_is_still_found() {
    let world = World::with(&Script::new());
    let around = Around { clock: shifted, ..world.around() };
    let engine = Engine::open(world.settings.clone(), around).await.unwrap();
    let project = engine.add_project(&world.workspace(), None).await.unwrap().id;
    AHEAD.store(3_600_000, Ordering::SeqCst);
    let session = engine.create_session(project, None).await.unwrap().stored.id;
    let mut log = Log::of(&engine, session).await;
    let one = engine.prompt(session, "one".to_owned()).await.unwrap().seq.get();
    log.until_end_of(one).await;
    let last = log.messages().last().unwrap().timestamp;
    AHEAD.store(0, Ordering::SeqCst);
    let two = engine.prompt(session, "two".to_owned()).await.unwrap().seq.get();
    log.until_end_of(two).await;
    let later = engine.messages_since(session, last, Seq::START, 100).await.unwrap().messages;
    let seqs: Vec<u64> = later.iter().map(|message| message.seq.get()).collect();
    assert_eq!(seqs, (two..=log.last_seq().get()).collect::<Vec<_>>());
    let times: Vec<_> = log.messages().iter().map(|message| message.timestamp).collect();
    assert!(times.is_sorted(), "{times:?}");
    engine.stop().await;
}
