//! Prompts that wait can be changed, and a prompt that is sent twice is accepted once.

use convoke_core::id::MessageId;
use convoke_core::message::{Role, Seq};
use convoke_core::session::{QueueChoice, Refusal};
use convoke_core::state::{SessionState, StateKind};
use convoke_core::turn::Turn;
use convoke_core::update::Update;
use convoke_engine::{Error, Kind, NewPrompt, Prompted};
use convoke_testkit::agent::{Script, Step};

use crate::crashing::open_gate;
use crate::log::Log;
use crate::prompting::gate;
use crate::world::{AGENT, Scene, World, random};

fn working() -> Script {
    Script::new().when("work", [Step::say("working"), Step::Hang])
}

/// A session whose turn runs until it is stopped.
async fn busy(script: &Script) -> Scene {
    let mut scene = World::with(script).begin().await;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    scene
}

/// The queued prompts, as readers receive them.
fn waiting(scene: &Scene) -> Vec<(MessageId, String)> {
    match scene.log.state(StateKind::Queue) {
        Some((_, SessionState::Queue { prompts, .. })) => {
            prompts.into_iter().map(|prompt| (prompt.id, prompt.text)).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

fn is_not_queued(error: &Error, prompt: MessageId) -> bool {
    matches!(error, Error::Refused(Refusal::NotQueued { id }) if *id == prompt)
}

#[tokio::test]
async fn s8_a_prompt_that_waits_is_edited_and_removed() {
    let mut scene = busy(&working()).await;
    let (engine, session) = (scene.engine.clone(), scene.session);
    let one = scene.prompt("one").await;
    let two = scene.prompt("two").await;
    let three = scene.prompt("three").await;
    engine.sessions().edit_queued(session, two, "two, but better".to_owned(), None).await.unwrap();
    engine.sessions().remove_queued(session, one).await.unwrap();
    scene.log.catch_up().await;
    let left = [(two, "two, but better".to_owned()), (three, "three".to_owned())];
    assert_eq!(waiting(&scene), left);
    assert_eq!(engine.sessions().live(session).queue, [two, three]);
    // What is refused changes nothing: an empty text, one that is gone, the one that runs, and one that never was.
    let empty =
        engine.sessions().edit_queued(session, two, " ".to_owned(), None).await.unwrap_err();
    assert!(matches!(empty, Error::Refused(Refusal::EmptyPrompt)), "{empty}");
    let running = engine.sessions().live(session).running.unwrap().id;
    for id in [one, running, MessageId::from_random(random())] {
        for error in [
            engine.sessions().edit_queued(session, id, "x".to_owned(), None).await.unwrap_err(),
            engine.sessions().remove_queued(session, id).await.unwrap_err(),
            engine.sessions().send_queued(session, id).await.unwrap_err(),
        ] {
            assert!(is_not_queued(&error, id), "{error}");
            assert_eq!(error.kind(), Kind::Conflict);
        }
    }
    engine.sessions().cancel_turn(session, QueueChoice::Send).await.unwrap();
    scene.log.until_end_of(three).await;
    assert_eq!(
        scene.log.story(),
        [
            "user: work → cancelled",
            "agent: working",
            "turn 1: cancelled",
            "user: two, but better → end_turn",
            "agent: two, but better",
            "user: three → end_turn",
            "agent: three"
        ]
    );
    // Its id is the one that it waited with.
    let said = scene.log.messages().into_iter().filter(|message| message.role == Role::User);
    assert_eq!(said.skip(1).map(|message| message.id).collect::<Vec<_>>(), [two, three]);
    assert_eq!(waiting(&scene), []);
    engine.stop().await;
}

#[tokio::test]
async fn s8_a_prompt_that_waits_is_sent_at_once_and_the_others_wait_on() {
    let mut scene = busy(&working()).await;
    let (engine, session) = (scene.engine.clone(), scene.session);
    let one = scene.prompt("one").await;
    let two = scene.prompt("two").await;
    engine.sessions().send_queued(session, two).await.unwrap();
    // A second click is no second wish.
    match engine.sessions().send_queued(session, two).await {
        Ok(_) => {}
        Err(error) => assert!(is_not_queued(&error, two), "{error}"),
    }
    scene.log.until_end_of(one).await;
    assert_eq!(
        scene.log.story(),
        [
            "user: work → cancelled",
            "agent: working",
            "turn 1: cancelled",
            "user: two → end_turn",
            "agent: two",
            "user: one → end_turn",
            "agent: one"
        ]
    );
    engine.stop().await;
}

#[tokio::test]
async fn s8_the_queue_is_bounded_in_bytes_also_by_edits() {
    let mut scene = busy(&working()).await;
    let (engine, session) = (scene.engine.clone(), scene.session);
    let half = "x".repeat(600 << 10);
    let one = scene.prompt(&half).await;
    let error = engine.sessions().prompt(session, half.clone()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Busy, "{error}");
    let two = scene.prompt("two").await;
    let error = engine.sessions().edit_queued(session, two, half.clone(), None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Busy, "{error}");
    scene.log.catch_up().await;
    assert_eq!(waiting(&scene), [(one, half), (two, "two".to_owned())]);
    // One that was too long for the others can be made shorter.
    engine.sessions().edit_queued(session, one, "short".to_owned(), None).await.unwrap();
    engine.stop().await;
}

#[tokio::test]
async fn s1_the_queue_outlives_the_daemon_and_can_still_be_edited() {
    let world = World::with(&working());
    let mut scene = world.begin().await;
    let session = scene.session;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    scene.prompt("work").await;
    let two = scene.prompt("two").await;
    let three = scene.prompt("three").await;
    scene.engine.stop().await;
    // The first one that waited runs, and hangs like the one before.
    let mut scene = world.begin_again(session).await;
    scene.log.until("queue: 2").await;
    let engine = scene.engine.clone();
    engine.sessions().edit_queued(session, three, "three again".to_owned(), None).await.unwrap();
    engine.sessions().remove_queued(session, two).await.unwrap();
    engine.sessions().send_queued(session, three).await.unwrap();
    scene.log.until_end_of(three).await;
    assert_eq!(scene.log.count("user: work → failed(interrupted)"), 1);
    assert_eq!(scene.log.count("user: work → cancelled"), 1);
    assert_eq!(scene.log.count("agent: three again"), 1);
    assert_eq!(scene.log.count("user: two"), 0);
    engine.stop().await;
}

/// Sends a prompt, and returns its id, its place, and how many are before it. A reader that follows from the returned
/// revision receives the prompt, whatever has become of it.
async fn send(scene: &Scene, id: MessageId, text: &str) -> (MessageId, Option<Seq>, usize) {
    let prompt = NewPrompt { prompt: text.into(), id: Some(id) };
    let Prompted { message_id, seq, queued, rev } =
        scene.engine.sessions().prompt(scene.session, prompt).await.unwrap();
    // Read first: a turn that has ended by now must be among the updates.
    let message =
        scene.engine.sessions().messages(scene.session, Seq::START, 1000).await.unwrap().messages;
    let message = message.into_iter().find(|message| message.id == id);
    let has_ended = message.is_some_and(|message| !message.is_open());
    let newer =
        scene.engine.sessions().updates_after(scene.session, rev, 1000).await.unwrap().updates;
    let of_prompt = newer.iter().find_map(|update| match update {
        Update::Message(message) if message.id == id => Some(&message.turn),
        Update::Message(_) | Update::Delta(_) | Update::State { .. } => None,
    });
    let is_over = of_prompt.is_some_and(|turn| turn.as_ref().is_some_and(Turn::is_over));
    assert!(is_over || !has_ended, "{newer:#?} after {rev}");
    (message_id, seq, queued)
}

fn new_id() -> MessageId {
    MessageId::from_random(random())
}

#[tokio::test]
async fn m1_a_prompt_that_is_sent_again_is_accepted_once() {
    let script = Script::new().when("work", [gate(), Step::say("done")]);
    let world = World::with(&script);
    let mut scene = world.begin().await;
    let (one, two) = (new_id(), new_id());
    // While its turn runs, and while it waits.
    let first = send(&scene, one, "work").await;
    assert_eq!(first, (one, Some(Seq::new(1)), 0));
    scene.log.until("permission gate: pending").await;
    assert_eq!(send(&scene, one, "work").await, first);
    let waits = send(&scene, two, "two").await;
    assert_eq!(waits, (two, None, 1));
    scene.prompt("three").await;
    assert_eq!(send(&scene, two, "two").await, waits);
    assert_eq!(send(&scene, one, "work").await, first);
    open_gate(&mut scene).await;
    scene.log.until("agent: three").await;
    // After its turn, also when another text is sent with it.
    assert_eq!(send(&scene, one, "something else").await, first);
    let done = send(&scene, two, "two").await;
    assert_eq!((done.0, done.2), (two, 0));
    assert!(done.1 > first.1);
    // After a restart, and in a session that was completed meanwhile.
    let session = scene.session;
    scene.engine.stop().await;
    let mut scene = world.begin_again(session).await;
    assert_eq!(send(&scene, one, "work").await, first);
    assert_eq!(send(&scene, two, "two").await, done);
    scene.engine.sessions().complete(session).await.unwrap();
    assert_eq!(send(&scene, two, "two").await, done);
    assert_eq!(scene.engine.figures().await.unwrap().prompts, 0);
    scene.log.until("completed: user").await;
    scene.log.catch_up().await;
    assert_eq!(
        scene.log.story(),
        [
            "user: work → end_turn",
            "tool gate: error",
            "permission gate: answered",
            "agent: done",
            "user: two → end_turn",
            "agent: two",
            "user: three → end_turn",
            "agent: three",
            "completed: user"
        ]
    );
    scene.engine.stop().await;
}

#[tokio::test]
async fn m1_a_prompt_whose_daemon_was_stopped_before_its_turn_is_accepted_once() {
    let world = World::with(&working());
    let mut scene = world.begin().await;
    let (session, id) = (scene.session, new_id());
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    assert_eq!(send(&scene, id, "two").await.2, 1);
    scene.engine.stop().await;
    world.change_script(AGENT, &Script::new());
    let mut scene = world.begin_again(session).await;
    let again = send(&scene, id, "two").await;
    assert_eq!((again.0, again.2), (id, 0));
    scene.log.until_end_of(id).await;
    assert_eq!(scene.log.count("user: two"), 1);
    assert_eq!(scene.log.count("agent: two"), 1);
    scene.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn m1_of_many_at_once_with_the_same_id_one_is_said() {
    let mut scene = World::with(&Script::new()).begin().await;
    for round in 0..5 {
        let id = new_id();
        let mut sent = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let (engine, session) = (scene.engine.clone(), scene.session);
            let prompt = NewPrompt { prompt: format!("round {round}").into(), id: Some(id) };
            sent.spawn(async move { engine.sessions().prompt(session, prompt).await.unwrap() });
        }
        let sent = sent.join_all().await;
        assert!(sent.iter().all(|prompted| prompted.message_id == id), "{sent:?}");
        assert!(sent.iter().all(|prompted| prompted.seq == sent[0].seq), "{sent:?}");
        scene.log.until_end_of(id).await;
        assert_eq!(scene.log.count(&format!("agent: round {round}")), 1);
    }
    assert_eq!(scene.engine.figures().await.unwrap().prompts, 5);
    scene.engine.stop().await;
}

#[tokio::test]
async fn m1_an_id_counts_in_its_session_only() {
    let mut scene = World::with(&Script::new()).begin().await;
    let id = new_id();
    send(&scene, id, "hello").await;
    scene.log.until_end_of(id).await;
    let other = scene.engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    let prompt = NewPrompt { prompt: "hello".into(), id: Some(id) };
    scene.engine.sessions().prompt(other, prompt).await.unwrap();
    let mut log = Log::of(&scene.engine, other).await;
    log.until_end_of(id).await;
    assert_eq!(log.story(), ["user: hello → end_turn", "agent: hello"]);
    assert_eq!(scene.turn("again").await.len(), 4);
    scene.engine.stop().await;
}
