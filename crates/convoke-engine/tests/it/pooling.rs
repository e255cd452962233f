//! Few processes for many sessions, and one to spare.

use convoke_agents::catalogue::Weight;
use convoke_engine::{AgentStatus, Change, Spare};
use convoke_testkit::agent::{Script, Step};

use crate::crashing::open_gate;
use crate::log::Log;
use crate::prompting::gate;
use crate::world::{AGENT, World, leap, until};

#[tokio::test]
async fn t10_a_turn_waits_for_a_process_and_says_so() {
    let mut world = World::with(&Script::new().when("work", [gate(), Step::say("done")]));
    world.settings.pool.processes_max = 1;
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    let mut others = Vec::new();
    for _ in 0..2 {
        let id = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
        others.push((id, Log::of(&engine, id).await));
    }
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    for (id, log) in &mut others {
        engine.sessions().prompt(*id, "me too".to_owned()).await.unwrap();
        log.until("user: me too").await;
    }
    others[0].1.until("waiting: 1").await;
    others[1].1.until("waiting: 2").await;
    let figures = engine.figures().await.unwrap();
    assert_eq!((figures.processes, figures.busy, figures.waiting), (1, 1, 2));
    open_gate(&mut scene).await;
    scene.log.until_end_of(1).await;
    for (_, log) in &mut others {
        log.until_end_of(1).await;
        assert_eq!(log.count("agent: me too"), 1);
    }
    // One message shows the place in the queue, however often it changes.
    assert_eq!(
        others[1].1.story(),
        ["user: me too → end_turn", "waiting: 1", "resumed: native", "agent: me too"]
    );
    assert_eq!(scene.processes().len(), 1);
    // The first process was evicted, now and when the others started, and the session is resumed.
    scene.turn("hello").await;
    assert_eq!(scene.log.count("resumed: native"), 2);
    engine.stop().await;
}

#[tokio::test]
async fn t10_a_busy_process_is_never_stopped_to_make_room() {
    let mut world = World::with(&Script::new().when("work", [gate(), Step::say("done")]));
    world.settings.pool.processes_max = 2;
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    for _ in 0..3 {
        let id = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
        engine.sessions().prompt(id, "hello".to_owned()).await.unwrap();
        // Its first message is the notice that another session works in the folder.
        Log::of(&engine, id).await.until_end_of(2).await;
    }
    open_gate(&mut scene).await;
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("agent: done"), 1);
    assert_eq!(scene.log.count("resumed: native"), 0);
    engine.stop().await;
}

#[tokio::test]
async fn t10_an_idle_process_is_stopped_and_the_session_does_not_notice() {
    let world = World::with(&Script::new());
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    scene.settle().await;
    let mut changes = scene.engine.follow();
    leap(world.settings.pool.idle_timeout).await;
    world.empties().await;
    // The supervisor ends after the agent does.
    until("it is gone", async || scene.engine.figures().await.unwrap().processes == 0).await;
    assert_eq!(scene.engine.figures().await.unwrap().active_sessions, 1);
    scene.turn("still there?").await;
    let story = scene.log.story();
    assert_eq!(
        story[2..],
        ["user: still there? → end_turn", "resumed: native", "agent: still there?"]
    );
    // Subscribers see its exit and the next start, and a turn with a warm process starts none.
    let started = |changes: &mut tokio::sync::broadcast::Receiver<Change>| {
        let mut statuses = Vec::new();
        while let Ok(change) = changes.try_recv() {
            if let Change::Agent { status, .. } = change {
                statuses.push(status);
            }
        }
        statuses
    };
    assert_eq!(
        started(&mut changes),
        [AgentStatus::Exited, AgentStatus::Starting, AgentStatus::Ready]
    );
    scene.turn("warm").await;
    assert_eq!(started(&mut changes), []);
    // So is the end that comes with the session's.
    scene.engine.sessions().complete(scene.session).await.unwrap();
    assert_eq!(started(&mut changes), [AgentStatus::Exited]);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_the_next_session_finds_a_process_that_is_ready() {
    let mut world = World::with_counted(&Script::new());
    world.settings.spare = Spare::One;
    let scene = world.begin().await;
    let engine = scene.engine.clone();
    // The first session's own, and one to spare.
    until("there is a spare process", async || {
        world.starts() >= 2 && engine.figures().await.unwrap().processes >= 2
    })
    .await;
    let second = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    until("3 processes were started", async || world.starts() >= 3).await;
    engine.sessions().prompt(second, "hello".to_owned()).await.unwrap();
    let mut log = Log::of(&engine, second).await;
    log.until_end_of(1).await;
    assert_eq!(log.story(), ["user: hello → end_turn", "agent: hello"]);
    assert_eq!(
        engine.sessions().get(second).await.unwrap().stored.agent_session_id.as_deref(),
        Some("s1")
    );
    assert_eq!(world.starts(), 3);

    // In another project the spare one is of no use, and is replaced.
    let other = engine.projects().add(&world.make_folder("other"), None).await.unwrap().id;
    engine.sessions().create(other, None).await.unwrap();
    until("5 processes were started", async || world.starts() >= 5).await;
    until("the old spare process is gone", async || scene.processes().len() <= 2).await;
    engine.stop().await;
}

#[tokio::test]
async fn s8_a_spare_process_that_was_killed_is_replaced() {
    let mut world = World::with_counted(&Script::new());
    world.settings.spare = Spare::One;
    let engine = world.open().await;
    let project = engine.projects().add(&world.workspace(), None).await.unwrap().id;
    engine.sessions().create(project, None).await.unwrap();
    until("2 processes were started", async || world.starts() >= 2).await;
    // It is killed, and the session that takes it gets another one.
    for pid in world.processes() {
        crate::crashing::kill(pid);
    }
    let second = engine.sessions().create(project, None).await.unwrap().stored.id;
    engine.sessions().prompt(second, "hello".to_owned()).await.unwrap();
    Log::of(&engine, second).await.until("agent: hello").await;
    engine.stop().await;
}

#[tokio::test]
async fn l1_an_agent_that_takes_much_memory_has_no_spare_process() {
    let mut world = World::with_counted(&Script::new());
    world.settings.spare = Spare::One;
    world.settings.agents.last_mut().unwrap().weight = Weight::Heavy;
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    scene.engine.sessions().create(scene.project, None).await.unwrap();
    let figures = scene.engine.figures().await.unwrap();
    assert_eq!((world.starts(), figures.processes), (2, 2));
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_without_a_spare_process_there_is_none() {
    let world = World::with_counted(&Script::new());
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    scene.engine.sessions().create(scene.project, None).await.unwrap();
    let figures = scene.engine.figures().await.unwrap();
    assert_eq!((world.starts(), figures.processes), (2, 2));
    assert_eq!(scene.view().await.stored.agent.as_str(), AGENT);
    scene.engine.stop().await;
}
