//! Agents that the kernel confines, and what is said where it cannot.

use convoke_agents::catalogue::Sandbox;
use convoke_agents::sandbox::landlock_generation;
use convoke_core::session::Status;
use convoke_testkit::agent::{Script, Step};
use convoke_testkit::host::example;

use crate::log::Log;
use crate::teams::{CLAUDE, Teams, settings, team};
use crate::world::{AGENT, World};

/// An agent that leaves a file beside its workspace, and one in it.
fn script(world_file: &str) -> Script {
    Script::new()
        .when("inside", [Step::Spawn("inside".to_owned()), Step::say("written")])
        .when("outside", [Step::Spawn(world_file.to_owned()), Step::say("written")])
}

#[tokio::test]
async fn s6_an_agent_is_confined_where_the_kernel_can_and_the_session_says_where_it_cannot() {
    let mut world = World::new();
    let outside = world.root().join("outside");
    world.add_agent("confined", &script(outside.to_str().unwrap()));
    world.settings.agents[0].sandbox = Sandbox::Workspace;
    world.program = example("engine_convoke");
    let mut scene = world.begin().await;
    scene.turn("inside").await;
    assert!(world.workspace().join("inside").exists());
    let turn = scene.prompt("outside").await;
    scene.log.until_end_of(turn).await;
    if landlock_generation().is_some() {
        assert_eq!(scene.log.story()[0], "user: inside → end_turn");
        assert_eq!(scene.log.count("unconfined"), 0);
        assert!(!outside.exists());
        // The next process is confined as well.
        scene.log.take();
        scene.turn("hello").await;
        assert_eq!(scene.log.count("agent: hello"), 1);
        let turn = scene.prompt("outside").await;
        scene.log.until_end_of(turn).await;
        assert!(!outside.exists());
    } else {
        assert_eq!(scene.log.story()[0], "unconfined");
        assert!(outside.exists());
    }
    assert_eq!(scene.view().await.stored.summary.status, Status::Active);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s6_an_agent_that_is_not_to_be_confined_is_not_and_nothing_is_said() {
    let mut world = World::new();
    let outside = world.root().join("outside");
    world.add_agent("free", &script(outside.to_str().unwrap()));
    let mut scene = world.begin().await;
    scene.turn("outside").await;
    assert!(outside.exists());
    assert_eq!(scene.log.story(), ["user: outside → end_turn", "agent: written"]);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s6_a_team_whose_agent_the_kernel_cannot_confine_gets_one_notice() {
    let mut world = World::with(&Script::new());
    crate::teams::add_claude(&mut world, &Script::new());
    for agent in &mut world.settings.agents {
        agent.sandbox = Sandbox::Workspace;
    }
    world.program = example("engine_convoke");
    let claude_home = crate::teams::home(&world);
    world.settings.agents[1].writable =
        vec![claude_home.join(".claude"), claude_home.join("claude.log")];
    std::fs::create_dir_all(claude_home.join(".claude")).unwrap();
    std::fs::write(claude_home.join("claude.log"), "").unwrap();
    let both = vec![team(&world, "acp", AGENT), team(&world, "claude", CLAUDE)];
    let teams = Teams::open_as(world, settings(both)).await;
    let expected = usize::from(landlock_generation().is_none());
    for to in ["acp", "claude"] {
        for question in ["one", "two"] {
            assert_eq!(teams.ask(to, question).await.response, question);
        }
        let answered = teams.ask(to, "three").await;
        let mut log = Log::of(&teams.engine, answered.session_id.unwrap()).await;
        log.until_end_of(answered.message_id.unwrap()).await;
        assert_eq!(log.count("unconfined"), expected, "{to}");
    }
    teams.engine.stop().await;
}
