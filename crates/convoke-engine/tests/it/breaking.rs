//! A mistake of Convoke's own in one session, which must stay there.

use convoke_core::session::Status;
use convoke_engine::{Activity, Error, Kind, Remember};
use convoke_testkit::agent::{Script, Step};

use crate::log::Log;
use crate::prompting::gate;
use crate::world::{World, agent, break_randomness};

#[tokio::test]
async fn a_panic_in_one_session_fails_its_turn_and_nothing_else() {
    let mut world = World::with(&Script::new().when("work", [gate(), Step::say("went")]));
    world.add_agent("other", &Script::new().when("work", [gate(), Step::say("went on")]));
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    let other =
        engine.sessions().create(scene.project, Some(agent("other"))).await.unwrap().stored.id;
    engine.sessions().prompt(other, "work".to_owned()).await.unwrap();
    let mut neighbour = Log::of(&engine, other).await;
    neighbour.until("permission gate: pending").await;

    for _ in 0..3 {
        scene.log.take();
        scene.prompt("work").await;
        scene.log.until("permission gate: pending").await;
        let two = scene.prompt("two").await;
        let items = engine.inbox().list().await.unwrap();
        let of = |id| items.iter().find(|item| item.session.as_ref().unwrap().stored.id == id);
        let id = of(scene.session).unwrap().request.id().to_string();
        break_randomness(1);
        let error =
            engine.inbox().choose(&id, "go".to_owned(), Remember::No, None).await.unwrap_err();
        assert!(matches!(error, Error::Broken { session } if session == scene.session));
        assert_eq!(error.kind(), Kind::Internal);
        // At once: no recovery has run yet.
        let three = scene.prompt("three").await;
        scene.log.until_end_of(three).await;
        let story = scene.log.take();
        let of_two = scene.log.messages().into_iter().find(|message| message.id == two).unwrap();
        let failed = of_two.seq.get() - 4;
        assert_eq!(
            story,
            [
                "user: work → failed(internal)",
                "tool gate: error",
                "permission gate: abandoned",
                &format!("turn {failed}: failed(internal)"),
                "user: two → end_turn",
                "resumed: native",
                "agent: two",
                "user: three → end_turn",
                "agent: three"
            ]
        );
        let view = scene.view().await;
        let stands = (view.stored.summary.status, view.activity);
        assert_eq!(stands, (Status::Active, Activity::Idle));
        assert_eq!(scene.processes().len(), 2);
    }

    let id = engine.inbox().list().await.unwrap()[0].request.id().to_string();
    engine.inbox().choose(&id, "go".to_owned(), Remember::No, None).await.unwrap();
    neighbour.until("agent: went on").await;
    engine.stop().await;
}

#[tokio::test]
async fn a_session_whose_task_panics_on_a_report_is_restored() {
    let script = Script::new().when("work", [gate(), Step::say("one"), Step::Hang]);
    let mut scene = World::with(&script).begin().await;
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    let id = scene.engine.inbox().list().await.unwrap()[0].request.id().to_string();
    scene.engine.inbox().choose(&id, "go".to_owned(), Remember::No, None).await.unwrap();
    scene.log.until("permission gate: answered").await;
    // The next thing that the agent says breaks it.
    break_randomness(1);
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("turn 1: failed(internal)"), 1);
    scene.turn("again").await;
    assert_eq!(scene.log.count("agent: again"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s1_a_session_that_breaks_while_it_is_recovered_does_not_keep_the_daemon_from_starting() {
    let script = Script::new().when("work", [Step::say("working"), Step::Hang]);
    let world = World::with(&script);
    let mut scene = world.begin().await;
    let session = scene.session;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    scene.engine.stop().await;
    break_randomness(1);
    let mut scene = world.begin_again(session).await;
    scene.log.until_end_of(1).await;
    scene.turn("hello").await;
    scene.engine.stop().await;
}
