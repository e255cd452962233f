//! Watchers that connect, disconnect, fall behind and never read: all see the same log, and no
//! session waits for them.

use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Rev, Role, Seq};
use convoke_core::session::Status;
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_core::turn::Turn;
use convoke_core::update::Update;
use convoke_engine::{Activity, Archiving, Change, Engine, HostContext};
use convoke_testkit::agent::{Script, Step, Tool};
use serde_json::json;
use tokio::sync::watch;

use crate::log::{Conversation, Log, TIMEOUT};
use crate::world::{World, now, random};

const COUNT: u64 = 3000;

/// Whether an update says that the turn of a prompt has ended.
fn is_end(update: &Update) -> bool {
    let Update::Message(message) = update else { return false };
    message.turn.as_ref().is_some_and(Turn::is_over)
}

/// Watches until the end of the turn, and now and then goes away and comes back.
async fn restless(engine: Engine, session: SessionId) -> (Conversation, Rev) {
    let (mut seen, mut rev) = (Conversation::default(), Rev::START);
    loop {
        let mut watcher = engine.sessions().watch(session, rev).await.unwrap();
        for _ in 0..1 + usize::from(random()[0]) * 4 {
            // Given up in the middle now and then, which loses nothing.
            let limit = Duration::from_micros(u64::from(random()[0]));
            let Ok(next) = tokio::time::timeout(limit, watcher.next()).await else { continue };
            let next = next.unwrap();
            assert!(next.update.rev() > rev, "{:?} after {rev}", next.update);
            rev = next.update.rev();
            seen.apply(&next.update);
            if is_end(&next.update) {
                return (seen, rev);
            }
        }
    }
}

/// A session as the store has it.
async fn stored(engine: &Engine, session: SessionId) -> (Vec<Message>, Vec<(Rev, SessionState)>) {
    let messages = engine.sessions().messages(session, Seq::START, 1000).await.unwrap();
    assert!(!messages.more);
    let mut state = engine.sessions().state(session).await.unwrap();
    state.sort_by_key(|(_, state)| state.kind());
    (messages.messages, state)
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_ten_reconnecting_watchers_see_the_same_log() {
    let script = Script::new().turn([Step::Count(COUNT)]);
    let scene = World::with(&script).begin().await;
    let watchers: Vec<_> =
        (0..10).map(|_| tokio::spawn(restless(scene.engine.clone(), scene.session))).collect();
    // And one that never reads.
    let idle = scene.engine.sessions().watch(scene.session, Rev::START).await.unwrap();
    scene.prompt("count").await;
    let mut ends = Vec::new();
    for watcher in watchers {
        ends.push(tokio::time::timeout(TIMEOUT, watcher).await.expect("it hangs").unwrap());
    }
    let (messages, state) = stored(&scene.engine, scene.session).await;
    // An answer is one message, however many pieces it came in.
    assert_eq!(messages.len(), 2);
    assert!(messages[0].rev.get() > COUNT);
    for (seen, rev) in &ends {
        assert_eq!((seen.messages(), seen.state()), (messages.clone(), state.clone()));
        assert_eq!(*rev, messages[0].rev);
    }
    drop(idle);
    scene.engine.stop().await;
}

/// Some turns in which everything happens that changes messages, in an order that a number decides.
fn random_turns(seed: &mut u64) -> Vec<Vec<Step>> {
    let mut next = |below: u64| {
        // Xorshift; good enough to mix some steps.
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed % below
    };
    let mut turns = Vec::new();
    for _ in 0..6 {
        let mut steps = Vec::new();
        for number in 0..12 {
            let call = Tool::named(&format!("t{number}"), "read", json!({"path": "x"}));
            match next(8) {
                0 => steps.push(Step::Think("hm ".repeat(20))),
                1 => steps.extend([Step::Call(call.clone()), Step::Update(call.done("text"))]),
                // One that is larger than what is kept for slow watchers.
                2 => steps.push(Step::Update(call.done(&"large ".repeat(2000)))),
                3 => steps.push(Step::Plan(vec!["one".to_owned(), format!("{number}")])),
                4 => steps.push(Step::Tell(
                    json!({"sessionUpdate": "usage_update", "used": next(1000), "size": 1000}),
                )),
                5 => steps.push(Step::Call(call)),
                _ => steps.push(Step::Count(50 + next(300))),
            }
        }
        turns.push(steps);
    }
    turns
}

/// Reads until the end is known and read. Goes away, falls behind, and forgets everything at random moments, and keeps what
/// it knew at some revisions.
async fn reader(
    engine: Engine,
    session: SessionId,
    mut end: watch::Receiver<Option<Rev>>,
) -> Vec<(Rev, Conversation)> {
    let (mut seen, mut rev) = (Conversation::default(), Rev::START);
    let mut kept = Vec::new();
    loop {
        if random()[0] < 16 {
            (seen, rev) = (Conversation::default(), Rev::START);
        }
        let mut watcher = engine.sessions().watch(session, rev).await.unwrap();
        for _ in 0..1 + usize::from(random()[0]) * 8 {
            if end.borrow().is_some_and(|end| rev >= end) {
                kept.push((rev, seen));
                return kept;
            }
            if random()[0] < 2 {
                kept.push((rev, seen.clone()));
            }
            if random()[0] < 2 {
                // More goes by than is kept for it.
                let pause = Duration::from_millis(u64::from(random()[0] % 50));
                tokio::time::timeout(pause, std::future::pending::<()>()).await.ok();
            }
            let next = tokio::select! {
                next = watcher.next() => next.unwrap(),
                changed = end.changed() => { changed.unwrap(); continue }
            };
            assert!(next.update.rev() > rev, "{:?} after {rev}", next.update);
            rev = next.update.rev();
            seen.apply(&next.update);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m2_reconnecting_and_slow_watchers_end_with_the_stored_state() {
    let begun = u64::from_be_bytes(random()[..8].try_into().unwrap());
    let mut seed = begun | 1;
    let turns = random_turns(&mut seed);
    let script = turns.into_iter().fold(Script::new(), Script::turn);
    let mut scene = World::with(&script).begin().await;
    let (engine, session) = (scene.engine.clone(), scene.session);
    let (end_to, end) = watch::channel(None);
    let readers: Vec<_> =
        (0..8).map(|_| tokio::spawn(reader(engine.clone(), session, end.clone()))).collect();
    let mut last = None;
    for number in 0..6 {
        last = Some(scene.prompt(&format!("turn {number}")).await);
    }
    // The log falls behind, too, and still receives the end of the last turn.
    scene.log.until_end_of(last.unwrap()).await;
    scene.settle().await;
    let rev = engine.sessions().get(session).await.unwrap().stored.summary.rev;
    end_to.send_replace(Some(rev));
    let (messages, state) = stored(&engine, session).await;
    assert!(messages.iter().all(|message| !message.is_open()), "{messages:#?}");
    let mut kept = vec![(Rev::START, Conversation::default())];
    for reader in readers {
        let of_one = tokio::time::timeout(TIMEOUT, reader).await.expect("it hangs").unwrap();
        let (at, seen) = of_one.last().unwrap();
        assert_eq!(*at, rev, "seed {begun}");
        assert_eq!(seen.messages(), messages, "seed {begun}");
        assert_eq!(seen.state(), state, "seed {begun}");
        kept.extend(of_one);
    }
    // From whatever revision: what changed since then makes what is stored, in pages of any size.
    for (at, mut seen) in kept {
        let (mut after, limit) = (at, 1 + u32::from(random()[0] % 40));
        loop {
            let page = engine.sessions().updates_after(session, after, limit).await.unwrap();
            page.updates.iter().for_each(|update| seen.apply(update));
            after = page.rev;
            if !page.more {
                break;
            }
        }
        assert_eq!(seen.messages(), messages, "after {at}, seed {begun}");
        assert_eq!(seen.state(), state, "after {at}, seed {begun}");
    }
    engine.stop().await;
}

#[tokio::test]
async fn s2_a_watcher_that_fell_behind_reads_on_without_gap_or_repetition() {
    // At most 64 pieces become one update, and 256 updates are kept.
    let script = Script::new().turn([Step::Count(64 * 260)]);
    let mut scene = World::with(&script).begin().await;
    let mut slow = scene.engine.sessions().watch(scene.session, Rev::START).await.unwrap();
    let turn = scene.prompt("count").await;
    let first = slow.next().await.unwrap();
    assert_eq!(first.update.rev(), Rev::new(1));
    let mut seen = Conversation::default();
    seen.apply(&first.update);
    // More goes by than is kept for it, and it was in the middle of waiting.
    scene.log.until_end_of(turn).await;
    let mut rev = Rev::START;
    let mut read = 0;
    while rev < scene.log.rev() {
        let next = slow.next().await.unwrap();
        assert!(next.update.rev() > rev);
        rev = next.update.rev();
        seen.apply(&next.update);
        read += 1;
    }
    assert_eq!(seen, *scene.log.conversation());
    // It gets each message once, whole, however many pieces it missed; the beginning of the answer may have been read
    // with the prompt.
    assert!((2..=3).contains(&read), "{read} updates");
    // And from then on it hears of everything at once.
    let turn = scene.prompt("more").await;
    let next = slow.next().await.unwrap();
    let Update::Message(message) = &next.update else { panic!("{next:?}") };
    assert_eq!(message.id, turn);
    assert_eq!(next.json(), serde_json::to_string(&**message).unwrap());
    scene.log.until_end_of(turn).await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn s2_a_watcher_of_an_ended_session_sees_its_resumption() {
    let mut scene = World::with(&Script::new()).begin().await;
    scene.engine.sessions().complete(scene.session).await.unwrap();
    scene.log.until("completed: user").await;
    let mut late = scene.engine.sessions().watch(scene.session, scene.log.rev()).await.unwrap();
    assert_eq!(late.session(), scene.session);
    assert_eq!(scene.engine.figures().await.unwrap().watchers, 2);
    scene.engine.sessions().resume(scene.session, None).await.unwrap();
    let next = tokio::time::timeout(TIMEOUT, late.next()).await.expect("nothing comes").unwrap();
    let Update::Message(message) = &next.update else { panic!("{next:?}") };
    assert_eq!((message.seq, message.rev), (scene.log.last_seq().next(), scene.log.rev().next()));
    scene.log.until("reopened").await;
    drop(late);
    assert_eq!(scene.engine.figures().await.unwrap().watchers, 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn w2_what_is_announced_of_a_session_says_what_changed() {
    let script = Script::new().when("work", [Step::say("working"), Step::Hang]);
    let scene = World::with(&script).begin().await;
    let (engine, session) = (&scene.engine, scene.session);
    let mut changes = engine.follow();
    let mut next = async || loop {
        let change = tokio::time::timeout(TIMEOUT, changes.recv()).await.expect("nothing changes");
        if let Change::SessionChanged(change) = change.unwrap() {
            return change;
        }
    };
    engine.sessions().rename(session, "Parser".to_owned()).await.unwrap();
    let renamed = next().await;
    assert_eq!((renamed.new_title(), renamed.archiving()), (Some("Parser"), None));
    assert_eq!(renamed.before.stored.summary.title, None);
    engine.sessions().archive(session).await.unwrap();
    let archived = next().await;
    assert_eq!((archived.new_title(), archived.archiving()), (None, Some(Archiving::Archived)));
    engine.sessions().unarchive(session).await.unwrap();
    assert_eq!(next().await.archiving(), Some(Archiving::Unarchived));
    engine.sessions().prompt(session, "work".to_owned()).await.unwrap();
    let running = next().await;
    assert_eq!((running.new_title(), running.archiving()), (None, None));
    let activity = (running.before.activity, running.now.activity);
    assert_eq!(activity, (Activity::Idle, Activity::Running));
    engine.sessions().complete(session).await.unwrap();
    let completed = next().await;
    let statuses = [&completed.before, &completed.now].map(|view| view.stored.summary.status);
    assert_eq!(statuses, [Status::Active, Status::Completed]);
    engine.stop().await;
}

#[tokio::test]
async fn s2_pages_of_a_log_fit_together_from_both_sides() {
    let mut scene = World::with(&Script::new()).begin().await;
    for number in 0..17 {
        scene.turn(&format!("turn {number}")).await;
    }
    let (engine, session) = (&scene.engine, scene.session);
    let (mut forth, mut after) = (Vec::new(), Seq::START);
    loop {
        let page = engine.sessions().messages(session, after, 10).await.unwrap();
        after = page.messages.last().unwrap().seq;
        forth.extend(page.messages);
        if !page.more {
            break;
        }
    }
    let (mut back, mut before) = (Vec::new(), after.next());
    loop {
        let page = engine.sessions().messages_before(session, before, 10).await.unwrap();
        before = page.messages[0].seq;
        back.extend(page.messages.into_iter().rev());
        if !page.more {
            break;
        }
    }
    back.reverse();
    assert_eq!(forth, back);
    assert_eq!(forth, scene.log.messages());
    // The same by revision: each message once, in the order of the changes, and then nothing.
    let (mut changed, mut after) = (Conversation::default(), Rev::START);
    let mut count = 0;
    loop {
        let page = engine.sessions().updates_after(session, after, 10).await.unwrap();
        assert!(page.updates.is_sorted_by_key(Update::rev));
        assert!(page.updates.iter().all(|update| after < update.rev() && update.rev() <= page.rev));
        count += page.updates.len();
        page.updates.iter().for_each(|update| changed.apply(update));
        after = page.rev;
        if !page.more {
            break;
        }
    }
    assert_eq!((changed.messages(), count), (forth.clone(), forth.len()));
    assert_eq!(engine.sessions().updates_after(session, after, 10).await.unwrap().updates, []);
    let since = forth[9].updated_at;
    let rev = engine.sessions().rev_at(session, since).await.unwrap();
    let later = engine.sessions().updates_after(session, rev, 1000).await.unwrap().updates;
    let is_later = forth.iter().filter(|message| message.updated_at > since).count();
    assert_eq!(later.len(), is_later);
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
    let messages = scene.log.messages();
    let whole: Vec<Seq> =
        messages.iter().filter(|message| !is_damaged(message)).map(|message| message.seq).collect();
    scene.engine.stop().await;
    assert_eq!(damage(&world, r#"{"type":"text","text":"damaged""#), 2);

    let engine = world.open().await;
    let mut watcher = engine.sessions().watch(session, Rev::START).await.unwrap();
    let mut told = Vec::new();
    while told.len() < whole.len() {
        let next = watcher.next().await.unwrap();
        let Update::Message(message) = &next.update else { panic!("{next:?}") };
        told.push(message.seq);
    }
    told.sort();
    assert_eq!(told, whole);
    let page = engine.sessions().messages(session, Seq::START, 100).await.unwrap();
    let seqs: Vec<Seq> = page.messages.iter().map(|message| message.seq).collect();
    assert_eq!((seqs, page.more), (whole.clone(), false));
    let newest =
        engine.sessions().messages_before(session, last.next(), 100).await.unwrap().messages;
    assert_eq!(newest.last().unwrap().seq, last);
    // The rest of the conversation is given to an agent that does not remember it.
    engine.sessions().prompt(session, "and now?".to_owned()).await.unwrap();
    let said = loop {
        let next = watcher.next().await.unwrap();
        let Update::Message(message) = &next.update else { continue };
        if let (Role::Agent, Content::Text { text, partial: false, .. }) =
            (message.role, &message.content)
        {
            break text.clone();
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
    let host = HostContext { clock: shifted, ..world.host() };
    let engine = Engine::open(world.settings.clone(), host).await.unwrap();
    let project = engine.projects().add(&world.workspace(), None).await.unwrap().id;
    AHEAD.store(3_600_000, Ordering::SeqCst);
    let session = engine.sessions().create(project, None).await.unwrap().stored.id;
    let mut log = Log::of(&engine, session).await;
    let one = engine.sessions().prompt(session, "one".to_owned()).await.unwrap().message_id;
    log.until_end_of(one).await;
    let last = log.messages().iter().map(|message| message.updated_at).max().unwrap();
    AHEAD.store(0, Ordering::SeqCst);
    let two = engine.sessions().prompt(session, "two".to_owned()).await.unwrap();
    log.until_end_of(two.message_id).await;
    let rev = engine.sessions().rev_at(session, last).await.unwrap();
    let later = engine.sessions().updates_after(session, rev, 100).await.unwrap().updates;
    let mut changed = Conversation::default();
    later.iter().for_each(|update| changed.apply(update));
    let seqs: Vec<Seq> = changed.messages().iter().map(|message| message.seq).collect();
    assert_eq!(seqs, [two.seq.unwrap(), log.last_seq()]);
    let messages = log.messages();
    assert!(messages.is_sorted_by_key(|message| message.timestamp), "{messages:#?}");
    let mut by_rev = messages;
    by_rev.sort_by_key(|message| message.rev);
    assert!(by_rev.is_sorted_by_key(|message| message.updated_at), "{by_rev:#?}");
    engine.stop().await;
}
