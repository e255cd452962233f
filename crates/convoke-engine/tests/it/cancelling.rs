//! Stopping a turn, whatever it is in the middle of.

use std::fs;
use std::time::Duration;

use convoke_core::session::{QueueChoice, Refusal, Status};
use convoke_engine::{Activity, Error, Kind};
use convoke_testkit::agent::{Ask, Ignored, Script, Step, Tool};
use serde_json::json;

use crate::crashing::{assistant, quoted, user};
use crate::log::Log;
use crate::prompting::gate;
use crate::world::{AGENT, World, agent, leap};

#[tokio::test]
async fn s8_a_turn_is_cancelled_by_the_agent_and_the_session_goes_on() {
    let script = Script::new().turn([Step::say("working"), Step::Hang]);
    let mut scene = World::with(&script).begin().await;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    let waiting = scene.prompt("next").await;
    let view = scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    assert_eq!(view.stored.summary.status, Status::Active);
    scene.log.until_end_of(waiting).await;
    assert_eq!(
        scene.log.story(),
        [
            "user: work → cancelled",
            "agent: working",
            "turn 1: cancelled",
            "user: next → end_turn",
            "agent: next"
        ]
    );
    let error =
        scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap_err();
    assert!(matches!(error, Error::Refused(Refusal::NoTurn)), "{error}");
    assert_eq!(error.kind(), Kind::Conflict);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_an_agent_that_does_not_stop_its_turn_is_stopped_and_started_again() {
    let script = Script::new()
        .turn([Step::say("working"), Step::Hang, Step::say("still working")])
        .ignoring(Ignored::Cancel);
    let world = World::with(&script);
    let mut scene = world.begin().await;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    let before = scene.processes();
    let next = scene.prompt("next").await;
    scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    // A second wish to stop it is no second wish.
    scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    scene.log.until("user: work → cancelling").await;
    assert_eq!(scene.view().await.activity, Activity::Running);
    scene.rewrite(AGENT, &Script::new());
    // Just before the driver would let go of the turn and leave the agent at work on it.
    leap(Duration::from_secs(9)).await;
    scene.log.until_end_of(next).await;
    let story = scene.log.story();
    assert_eq!(
        story,
        [
            "user: work → cancelled",
            "agent: working",
            "turn 1: cancelled",
            "user: next → end_turn",
            "resumed: native",
            "agent: next"
        ]
    );
    let after = scene.processes();
    assert_eq!(after.len(), 1);
    assert_ne!(after, before);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_a_turn_whose_process_is_still_starting_is_cancelled_at_once() {
    let script = Script::new().capabilities(json!({}));
    let mut world = World::new();
    world.add_gated_agent(AGENT, &script.clone().turn([Step::say("half"), Step::Exit(1)]));
    let gate = world.workspace().join("gate");
    fs::write(&gate, "").unwrap();
    let mut scene = world.begin().await;
    scene.turn("one").await;
    fs::remove_file(&gate).unwrap();
    world.change_script(AGENT, &script.session("another"));
    let two = scene.prompt("two").await;
    let view = scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    assert_eq!((view.activity, view.stored.summary.status), (Activity::Idle, Status::Active));
    scene.log.until_end_of(two).await;
    assert_eq!(scene.log.turn_of(two), "cancelled");
    // The process that starts anyway has no memory, so the next prompt includes the transcript.
    let three = scene.prompt("three").await;
    fs::write(&gate, "").unwrap();
    scene.log.until_end_of(three).await;
    assert_eq!(scene.log.count("resumed: replay"), 1);
    let said = scene.log.line("agent: Between the two marks");
    assert_eq!(quoted(&said), [user("one"), assistant("half")]);
    assert!(said.ends_with("\n\nthree"), "{said}");
    assert_eq!(scene.view().await.stored.agent_session_id.as_deref(), Some("another"));
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_a_process_that_comes_after_its_turn_was_cancelled_is_not_taken_for_one_that_remembers()
{
    let script = Script::new().capabilities(json!({}));
    let mut world = World::new();
    world.add_gated_agent(AGENT, &script.clone().turn([Step::say("half"), Step::Exit(1)]));
    let gate = world.workspace().join("gate");
    fs::write(&gate, "").unwrap();
    let mut scene = world.begin().await;
    scene.turn("one").await;
    fs::remove_file(&gate).unwrap();
    world.change_script(AGENT, &script);
    scene.prompt("two").await;
    scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    fs::write(&gate, "").unwrap();
    // It has started, and no later prompt has requested it.
    scene.log.until("resumed: replay").await;
    let three = scene.prompt("three").await;
    scene.log.until_end_of(three).await;
    let said = scene.log.line("agent: Between the two marks");
    assert!(quoted(&said).contains(&assistant("half")) && said.ends_with("\n\nthree"), "{said}");
    assert_eq!(scene.log.count("resumed: replay"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_cancelling_a_turn_lets_go_of_the_permission_that_it_waits_for() {
    let ask = Ask::new(Tool::named("t1", "Bash", json!({})), &[("y", "allow_once")]);
    let script = Script::new().turn([Step::Ask(ask.then("cancelled", [Step::say("never mind")]))]);
    let mut scene = World::with(&script).begin().await;
    scene.prompt("work").await;
    scene.log.until("permission Bash: pending").await;
    assert_eq!(scene.view().await.activity, Activity::Waiting);
    scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("permission Bash: abandoned"), 1);
    assert_eq!(scene.engine.inbox().list().await.unwrap(), []);
    assert_eq!(scene.view().await.activity, Activity::Idle);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_a_turn_that_waits_for_room_can_be_cancelled() {
    let mut world = World::with(&Script::new().when("work", [gate()]));
    world.settings.pool.processes_max = 1;
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    let other =
        engine.sessions().create(scene.project, Some(agent(AGENT))).await.unwrap().stored.id;
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    let mut log = Log::of(&engine, other).await;
    let turn = engine.sessions().prompt(other, "wait".to_owned()).await.unwrap().message_id;
    log.until("waiting: 1").await;
    let view = engine.sessions().cancel_turn(other, QueueChoice::Send).await.unwrap();
    assert_eq!(view.activity, Activity::Idle);
    log.until_end_of(turn).await;
    // Its next turn takes the place in line.
    let turn = engine.sessions().prompt(other, "wait again".to_owned()).await.unwrap().message_id;
    engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    log.until_end_of(turn).await;
    assert_eq!(log.count("agent: wait again"), 1);
    engine.stop().await;
}

#[tokio::test]
async fn s8_a_session_whose_agent_floods_can_be_completed() {
    let script = Script::new().turn([Step::Flood(1 << 30)]);
    let mut scene = World::with(&script).begin().await;
    scene.prompt("flood").await;
    for _ in 0..100 {
        scene.log.next().await;
    }
    let view = scene.engine.sessions().complete(scene.session).await.unwrap();
    assert_eq!(view.stored.summary.status, Status::Completed);
    scene.log.until("completed: user").await;
    assert_eq!(scene.log.last_seq(), view.stored.summary.last_seq);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_a_session_whose_process_is_starting_can_be_completed() {
    let script = Script::new().turn([Step::Exit(1)]);
    let world = World::with(&script);
    let mut scene = world.begin().await;
    scene.turn("one").await;
    world.change_script(AGENT, &Script::new().on("session/load", [Step::Hang]));
    let two = scene.prompt("two").await;
    scene.log.until("user: two").await;
    scene.engine.sessions().complete(scene.session).await.unwrap();
    scene.log.until("completed: user").await;
    assert_eq!(scene.log.turn_of(two), "cancelled");
    scene.engine.stop().await;
}
