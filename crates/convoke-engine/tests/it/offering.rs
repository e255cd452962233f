//! Modes, settings and commands: what agents offer, and what people choose.

use convoke_core::message::Rev;
use convoke_core::state::{SessionState, StateKind};
use convoke_engine::{Error, Kind};
use convoke_testkit::agent::{Script, Step};
use serde_json::{Value, json};

use crate::crashing::kill;
use crate::crashing::{assistant, quoted, user};
use crate::prompting::gate;
use crate::world::{AGENT, Scene, World};

/// What an agent offers when its session is opened.
fn offers() -> Value {
    json!({
        "sessionId": "s1",
        "modes": {
            "currentModeId": "ask",
            "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
        },
        "configOptions": [{
            "id": "effort", "name": "Effort", "type": "select", "currentValue": "low",
            "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
        }],
    })
}

fn commands() -> Step {
    let commands = json!([{"name": "plan", "description": "makes a plan"}]);
    Step::Tell(json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}))
}

fn offering() -> Script {
    Script::new()
        .on("session/new", [Step::Answer(offers()), commands()])
        .on("session/load", [Step::Answer(offers()), commands()])
}

async fn current_mode(scene: &Scene) -> (String, usize) {
    scene.settle().await;
    let state = scene.engine.sessions().state(scene.session).await.unwrap();
    let mode = state.into_iter().find_map(|(_, state)| {
        let SessionState::Modes { current, available } = state else { return None };
        Some((current, available.len()))
    });
    mode.expect("modes are offered")
}

/// Since when commands, modes and settings are as they are.
async fn offered_since(scene: &Scene) -> [Rev; 3] {
    scene.settle().await;
    let state = scene.engine.sessions().state(scene.session).await.unwrap();
    [StateKind::Commands, StateKind::Modes, StateKind::Settings].map(|kind| {
        let found = state.iter().find(|(_, state)| state.kind() == kind);
        found.expect("all of it is offered").0
    })
}

async fn set_mode(scene: &Scene, mode: &str) {
    scene.engine.sessions().set_mode(scene.session, mode.to_owned()).await.unwrap();
}

#[tokio::test]
async fn what_an_agent_offers_is_noted_when_it_changes_and_not_before() {
    let script = offering().turn([commands(), Step::say("same")]);
    let mut scene = World::with(&script).begin().await;
    scene.log.until("mode: ask").await;
    scene.log.until("settings: 1").await;
    scene.log.until("commands: 1").await;
    assert_eq!(current_mode(&scene).await, ("ask".to_owned(), 2));
    let since = offered_since(&scene).await;
    scene.turn("again").await;
    assert_eq!(offered_since(&scene).await, since);
    // A new process offers the same again, which is no news.
    kill(scene.processes()[0]);
    scene.log.until("exited: signal 9").await;
    scene.turn("and again").await;
    assert_eq!(offered_since(&scene).await, since);
    // The readers were told the same.
    for (rev, kind) in
        since.into_iter().zip([StateKind::Commands, StateKind::Modes, StateKind::Settings])
    {
        assert_eq!(scene.log.state(kind).map(|(since, _)| since), Some(rev));
    }
    assert_eq!(scene.log.count("resumed: native"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn a_mode_is_set_in_a_warm_process_in_a_running_turn_and_in_a_cold_one() {
    let script = offering().when("work", [gate(), Step::say("done")]);
    let mut scene = World::with(&script).begin().await;
    set_mode(&scene, "code").await;
    scene.log.until("mode: code").await;
    // Only the current one changed; the others are still on offer.
    assert_eq!(current_mode(&scene).await, ("code".to_owned(), 2));
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    set_mode(&scene, "ask").await;
    crate::crashing::open_gate(&mut scene).await;
    scene.log.until("agent: done").await;
    kill(scene.processes()[0]);
    scene.log.until("exited: signal 9").await;
    scene.log.take();
    set_mode(&scene, "code").await;
    scene.log.until("mode: code").await;
    assert_eq!(scene.log.count("resumed: native"), 1);
    let effort = ("effort".to_owned(), "high".to_owned());
    scene.engine.sessions().set_setting(scene.session, effort.0, effort.1).await.unwrap();
    scene.turn("hello").await;
    assert_eq!(scene.log.count("agent: hello"), 1);
    assert_eq!(scene.processes().len(), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn a_mode_that_starts_a_forgetful_agent_does_not_cost_it_the_transcript() {
    let script = offering().capabilities(json!({}));
    let world = World::with(&script.clone().turn([Step::say("half"), Step::Exit(1)]));
    let mut scene = world.begin().await;
    scene.turn("one").await;
    world.change_script(AGENT, &script);
    set_mode(&scene, "code").await;
    scene.log.until("resumed: replay").await;
    scene.turn("two").await;
    let said = scene.log.line("agent: Between the two marks");
    assert_eq!(quoted(&said), [user("one"), assistant("half")]);
    assert!(said.ends_with("\n\ntwo"), "{said}");
    assert_eq!(scene.log.count("resumed: replay"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn a_mode_set_while_the_process_starts_is_applied_or_refused() {
    let mut world = World::new();
    world.add_gated_agent(AGENT, &offering().turn([Step::Exit(1)]));
    let gate = world.workspace().join("gate");
    std::fs::write(&gate, "").unwrap();
    let mut scene = world.begin().await;
    scene.turn("crash").await;
    let [_, before, _] = offered_since(&scene).await;
    std::fs::remove_file(&gate).unwrap();
    world.change_script(AGENT, &offering());
    let (engine, session) = (scene.engine.clone(), scene.session);
    let set = |mode: &'static str| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.sessions().set_mode(session, mode.to_owned()).await })
    };
    // The session is free for others meanwhile.
    let one = set("code");
    let turn = scene.prompt("hello").await;
    let two = set("ask");
    engine.sessions().rename(session, "Waiting".to_owned()).await.unwrap();
    std::fs::write(&gate, "").unwrap();
    scene.log.until_end_of(turn).await;
    one.await.unwrap().unwrap();
    two.await.unwrap().unwrap();
    // Both reached the agent, in this order.
    assert_eq!(current_mode(&scene).await, ("ask".to_owned(), 2));
    let [_, mode, _] = offered_since(&scene).await;
    assert!(mode.get() >= before.get() + 2, "{before} {mode}");
    assert_eq!(scene.log.count("agent: hello"), 1);
    assert_eq!(scene.log.count("resumed: native"), 1);

    // Callers that wait for a process get the error if it does not start.
    std::fs::remove_file(&gate).unwrap();
    kill(scene.processes()[0]);
    scene.log.until("exited: signal 9").await;
    let waiting = set("code");
    while engine.figures().await.unwrap().processes == 0 {
        tokio::task::yield_now().await;
    }
    engine.sessions().complete(session).await.unwrap();
    let error = waiting.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::NotRunning), "{error}");
    let error = engine.sessions().set_mode(session, "ask".to_owned()).await.unwrap_err();
    assert!(matches!(error, Error::Ended { .. }), "{error}");
    assert_eq!(error.kind(), Kind::Conflict);
    engine.stop().await;
}

#[tokio::test]
async fn a_mode_for_an_agent_that_cannot_start_fails_and_the_session_does_not() {
    let world = World::with(&offering().turn([Step::Exit(1)]));
    let mut scene = world.begin().await;
    scene.turn("crash").await;
    world.change_script(AGENT, &Script::new().on("initialize", [Step::Exit(3)]));
    let error =
        scene.engine.sessions().set_mode(scene.session, "code".to_owned()).await.unwrap_err();
    assert!(matches!(error, Error::NotStarted { .. }), "{error}");
    world.change_script(AGENT, &offering());
    scene.turn("hello").await;
    assert_eq!(scene.log.count("agent: hello"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn what_an_agent_offers_is_not_noted_again_by_the_next_daemon() {
    let world = World::with(&offering());
    let mut scene = world.begin().await;
    for line in ["mode: ask", "settings: 1", "commands: 1"] {
        scene.log.until(line).await;
    }
    set_mode(&scene, "code").await;
    scene.log.until("mode: code").await;
    let [commands, mode, settings] = offered_since(&scene).await;
    let session = scene.session;
    scene.engine.stop().await;

    // The new process begins in its first mode and is put back into the chosen one; that it offers the same is not noted.
    let mut scene = world.begin_again(session).await;
    scene.turn("hello").await;
    let [commands_now, mode_now, settings_now] = offered_since(&scene).await;
    assert_eq!((commands_now, settings_now), (commands, settings));
    assert!(mode_now > mode);
    assert_eq!(current_mode(&scene).await, ("code".to_owned(), 2));
    scene.engine.stop().await;

    let mut scene = world.begin_again(session).await;
    scene.turn("hello").await;
    let [commands_later, _, settings_later] = offered_since(&scene).await;
    assert_eq!((commands_later, settings_later), (commands, settings));
    assert_eq!(current_mode(&scene).await, ("code".to_owned(), 2));
    // What has changed is noted.
    let commands =
        Step::Tell(json!({"sessionUpdate": "available_commands_update", "availableCommands": []}));
    let script = offering().on("session/load", [Step::Answer(offers()), commands]);
    scene.rewrite(AGENT, &script);
    kill(scene.processes()[0]);
    scene.log.until("exited: signal 9").await;
    scene.turn("hello").await;
    scene.log.until("commands: 0").await;
    scene.engine.stop().await;
}
