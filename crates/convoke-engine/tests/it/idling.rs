//! Sessions in which nothing happens, and those in which something does.

use std::time::Duration;

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::session::{EndReason, QueueChoice, Status};
use convoke_engine::{Asker, Error, Kind, Remember};
use convoke_store::{NewSession, SessionKind, Store};
use convoke_testkit::agent::{Script, Step};

use crate::asked::{answers, question};
use crate::log::TIMEOUT;
use crate::prompting::gate;
use crate::world::{AGENT, Scene, World, agent, leap, now, random, until};

/// As long as a session may be idle, and a little longer.
const LONG: Duration = Duration::from_secs(30 * 60 + 1);

async fn status(scene: &Scene) -> (Status, Option<EndReason>) {
    let summary = scene.view().await.stored.summary;
    (summary.status, summary.reason)
}

#[tokio::test]
async fn s10_an_idle_session_is_completed_and_can_be_resumed() {
    let mut world = World::with(&Script::new());
    world.settings.idle_timeout = Duration::from_millis(300);
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    scene.log.until("completed: idle_timeout").await;
    let ended = (Status::Completed, Some(EndReason::IdleTimeout));
    assert_eq!(status(&scene).await, ended);
    world.empties().await;
    scene.engine.sessions().resume(scene.session, None).await.unwrap();
    scene.turn("still there?").await;
    assert_eq!(scene.log.count("agent: still there?"), 1);
    assert_eq!(scene.log.count("resumed: native"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s2_s10_a_prompt_resumes_a_session_that_convoke_completed_itself() {
    let mut world = World::with(&Script::new());
    world.settings.idle_timeout = Duration::from_millis(300);
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    scene.log.until("completed: idle_timeout").await;
    world.empties().await;
    scene.turn("still there?").await;
    assert_eq!(
        scene.log.story()[..7],
        [
            "user: hello → end_turn",
            "agent: hello",
            "completed: idle_timeout",
            "reopened",
            "user: still there? → end_turn",
            "resumed: native",
            "agent: still there?"
        ]
    );
    // Again by the next daemon, and by as many callers at once as there are.
    scene.engine.stop().await;
    let mut scene = world.begin_again(scene.session).await;
    scene.log.until_message(|message| message.seq > Seq::new(7)).await;
    assert_eq!(status(&scene).await, (Status::Completed, Some(EndReason::IdleTimeout)));
    scene.log.take();
    let mut prompts = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (engine, session) = (scene.engine.clone(), scene.session);
        let text = format!("number {number}");
        prompts.spawn(
            async move { engine.sessions().prompt(session, text).await.unwrap().message_id },
        );
    }
    for prompt in prompts.join_all().await {
        scene.log.until_end_of(prompt).await;
    }
    assert_eq!(scene.log.count("reopened"), 1);
    for number in 0..8 {
        assert_eq!(scene.log.count(&format!("agent: number {number}")), 1);
    }
    scene.engine.stop().await;
}

#[tokio::test]
async fn s10_an_idle_session_is_cancelled_at_its_agent_before_its_process_is_let_go() {
    let mut world = World::with_heard(&Script::new());
    world.settings.idle_timeout = Duration::from_millis(300);
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    scene.log.until("completed: idle_timeout").await;
    world.empties().await;
    let methods = world.heard();
    assert_eq!(methods, ["initialize", "session/new", "session/prompt", "session/cancel"]);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s2_s10_a_prompt_to_a_session_that_a_human_ended_is_refused() {
    let mut scene = World::with(&Script::new()).begin().await;
    scene.turn("hello").await;
    scene.engine.sessions().complete(scene.session).await.unwrap();
    let refused = async |expected: Status| {
        let error =
            scene.engine.sessions().prompt(scene.session, "more".to_owned()).await.unwrap_err();
        let is_ended = matches!(error, Error::Ended { status, .. } if status == expected);
        assert!(is_ended && error.kind() == Kind::Conflict, "{error}");
    };
    refused(Status::Completed).await;
    // What a human resumed and then completed is completed by a human, too.
    scene.engine.sessions().resume(scene.session, None).await.unwrap();
    scene.engine.sessions().complete(scene.session).await.unwrap();
    refused(Status::Completed).await;
    scene.engine.sessions().resume(scene.session, None).await.unwrap();
    scene.engine.sessions().cancel(scene.session).await.unwrap();
    refused(Status::Cancelled).await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn s9_s10_a_prompt_resumes_a_session_that_made_room_only_if_there_is_room_again() {
    let mut world = World::with(&Script::new());
    world.settings.sessions_max = 1;
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    scene.turn("hello").await;
    scene.settle().await;
    leap(Duration::from_secs(6 * 60)).await;
    let second = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    assert_eq!(status(&scene).await, (Status::Completed, Some(EndReason::MadeRoom)));
    let error = engine.sessions().prompt(scene.session, "more".to_owned()).await.unwrap_err();
    assert!(matches!(error, Error::SessionLimit { max: 1 }), "{error}");
    engine.sessions().complete(second).await.unwrap();
    scene.turn("more").await;
    assert_eq!(scene.log.count("agent: more"), 1);
    assert_eq!(status(&scene).await, (Status::Active, None));
    engine.stop().await;
}

#[tokio::test]
async fn s10_activity_resets_the_clock() {
    let mut scene = World::with(&Script::new()).begin().await;
    for _ in 0..3 {
        leap(LONG - Duration::from_secs(10)).await;
        scene.turn("hello").await;
    }
    assert_eq!(status(&scene).await, (Status::Active, None));
    leap(LONG).await;
    scene.log.until("completed: idle_timeout").await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn s10_a_running_turn_and_a_waiting_prompt_are_not_idle() {
    let script = Script::new().turn([Step::say("working"), Step::Hang]);
    let mut scene = World::with(&script).begin().await;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    let next = scene.prompt("next").await;
    leap(3 * LONG).await;
    scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    scene.log.until_end_of(next).await;
    assert_eq!(status(&scene).await, (Status::Active, None));
    leap(LONG).await;
    scene.log.until("completed: idle_timeout").await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn s10_waiting_for_a_human_is_not_idle() {
    let mut scene = World::with(&Script::new().turn([gate(), Step::say("went")])).begin().await;
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    let process = scene.processes();
    leap(3 * LONG).await;
    let id = scene.engine.inbox().list().await.unwrap()[0].request.id().to_string();
    scene.engine.inbox().choose(&id, "go".to_owned(), Remember::No, None).await.unwrap();
    scene.log.until("agent: went").await;
    scene.log.until_end_of(1).await;

    // A question outside of a turn is waited for as well, and the agent that asked is left alone.
    let asker = Asker::Session(scene.session);
    let mut asked = scene.engine.inbox().ask(asker, vec![question()]).await.unwrap();
    until("it is busy", async || scene.engine.figures().await.unwrap().busy > 0).await;
    leap(3 * LONG).await;
    scene.engine.inbox().answer(&asked.id().to_string(), answers("Red"), None).await.unwrap();
    asked.wait().await.unwrap();
    assert_eq!(status(&scene).await, (Status::Active, None));
    assert_eq!(scene.processes(), process);
    leap(LONG).await;
    scene.log.until("completed: idle_timeout").await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn s10_the_clock_goes_on_while_the_daemon_is_away() {
    let mut world = World::with(&Script::new());
    let scene = world.begin().await;
    let session = scene.session;
    scene.engine.stop().await;
    world.settings.idle_timeout = Duration::from_millis(1);
    let mut scene = world.begin_again(session).await;
    scene.log.until("completed: idle_timeout").await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn s10_however_many_were_active_all_have_their_clock_again() {
    let mut world = World::with(&Script::new());
    let scene = world.begin().await;
    scene.engine.stop().await;
    // More than are listed at once.
    let store = Store::open(world.home().join("convoke.db"), now()).await.unwrap();
    for _ in 0..250 {
        let id = SessionId::from_random(random());
        let (agent, kind, created_at) = (agent(AGENT), SessionKind::Session, now());
        let new = NewSession { id, project_id: scene.project, agent, kind, created_at };
        store.create_session(new).await.unwrap();
    }
    store.close().await;
    world.settings.idle_timeout = Duration::from_millis(1);
    let engine = world.open().await;
    let mut changes = engine.follow();
    while engine.figures().await.unwrap().active_sessions > 0 {
        // A lagged receiver counts again as well.
        tokio::time::timeout(TIMEOUT, changes.recv()).await.expect("some stay active").ok();
    }
    engine.stop().await;
}
