//! Sessions in which nothing happens, and those in which something does.

use std::time::Duration;

use convoke_core::id::SessionId;
use convoke_core::session::Status;
use convoke_engine::{Asker, Remember};
use convoke_store::{NewSession, SessionKind, Store};
use convoke_testkit::agent::{Script, Step};

use crate::asked::{answers, question};
use crate::log::PATIENCE;
use crate::prompting::gate;
use crate::world::{AGENT, Scene, World, agent, leap, now, random, until};

/// As long as a session may be idle, and a little longer.
const LONG: Duration = Duration::from_secs(30 * 60 + 1);

async fn status(scene: &Scene) -> (Status, Option<String>) {
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
    let ended = (Status::Completed, Some("idle_timeout".to_owned()));
    assert_eq!(status(&scene).await, ended);
    world.empties().await;
    scene.engine.resume(scene.session).await.unwrap();
    scene.turn("still there?").await;
    assert_eq!(scene.log.count("agent: still there?"), 1);
    assert_eq!(scene.log.count("resumed: native"), 1);
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
    scene.engine.cancel_turn(scene.session).await.unwrap();
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
    let id = scene.engine.inbox().await.unwrap()[0].request.id().to_string();
    scene.engine.choose(&id, "go".to_owned(), Remember::No).await.unwrap();
    scene.log.until("agent: went").await;
    scene.log.until_end_of(1).await;

    // A question outside of a turn is waited for as well, and the agent that asked is left alone.
    let asker = Asker::Session(scene.session);
    let mut asked = scene.engine.ask(asker, vec![question()]).await.unwrap();
    until("it is busy", async || scene.engine.figures().await.unwrap().busy > 0).await;
    leap(3 * LONG).await;
    scene.engine.answer(&asked.id().to_string(), answers("Red")).await.unwrap();
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
        // Whoever missed some of them looks again all the same.
        tokio::time::timeout(PATIENCE, changes.recv()).await.expect("some stay active").ok();
    }
    engine.stop().await;
}
