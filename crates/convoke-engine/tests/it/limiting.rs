//! How many sessions may be active, and who makes room.

use std::time::{Duration, Instant};

use convoke_core::bounds::json_bytes;
use convoke_core::content::Content;
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::session::{EndReason, Status};
use convoke_core::turn::Stop;
use convoke_engine::{Engine, Error, Kind, SessionFilter, SessionOrder, Window};
use convoke_store::{NewSession, SessionKind, Store};
use convoke_testkit::agent::{Script, Step, Tool};
use serde_json::json;
use tokio::task::JoinSet;

use crate::log::Log;
use crate::prompting::gate;
use crate::world::{AGENT, World, agent, leap, now, random};

async fn create(engine: &Engine, project: ProjectId) -> Result<SessionId, Error> {
    engine.sessions().create(project, None).await.map(|view| view.stored.id)
}

fn assert_full(result: Result<SessionId, Error>, expected: usize) {
    match result {
        Err(error @ Error::SessionLimit { max }) => {
            assert_eq!((max, error.kind()), (expected, Kind::Busy));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s9_of_twenty_at_once_exactly_as_many_begin_as_may() {
    let mut world = World::with(&Script::new());
    world.settings.sessions_max = 7;
    let engine = world.open().await;
    let project = engine.projects().add(&world.workspace(), None).await.unwrap().id;
    let mut creations = JoinSet::new();
    for _ in 0..20 {
        let engine = engine.clone();
        creations.spawn(async move { create(&engine, project).await });
    }
    let results = creations.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 7);
    for result in results.into_iter().filter(Result::is_err) {
        assert_full(result, 7);
    }
    assert_eq!(engine.figures().await.unwrap().active_sessions, 7);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s9_the_last_place_is_never_refused_while_it_is_free() {
    let mut world = World::with(&Script::new());
    world.settings.sessions_max = 12;
    let engine = world.open().await;
    let project = engine.projects().add(&world.workspace(), None).await.unwrap().id;
    // Two at a time, so that one is being counted while the other looks for room.
    let mut creations = JoinSet::new();
    for _ in 0..2 {
        let engine = engine.clone();
        creations.spawn(async move {
            for _ in 0..6 {
                create(&engine, project).await.unwrap();
            }
        });
    }
    creations.join_all().await;
    assert_full(create(&engine, project).await, 12);
    engine.stop().await;
}

#[tokio::test]
async fn s9_room_is_free_as_soon_as_a_session_ends() {
    let script = Script::new().when("crash", [Step::Exit(1)]);
    let mut world = World::with(&script);
    world.settings.sessions_max = 1;
    let mut scene = world.begin().await;
    let (engine, project) = (scene.engine.clone(), scene.project);
    assert_full(create(&engine, project).await, 1);

    engine.sessions().complete(scene.session).await.unwrap();
    let second = create(&engine, project).await.unwrap();
    // The first one would be one too many.
    assert_full(engine.sessions().resume(scene.session, None).await.map(|view| view.stored.id), 1);
    assert_eq!(scene.view().await.stored.summary.status, Status::Completed);

    engine.sessions().cancel(second).await.unwrap();
    engine.sessions().resume(scene.session, None).await.unwrap();
    assert_full(create(&engine, project).await, 1);

    scene.log.until("reopened").await;
    scene.turn("crash").await;
    assert_full(create(&engine, project).await, 1);
    scene.rewrite(AGENT, &Script::new().on("initialize", [Step::Exit(1)]));
    scene.prompt("again").await;
    scene.log.until("failed").await;
    scene.rewrite(AGENT, &Script::new());
    create(&engine, project).await.unwrap();
    assert_full(engine.sessions().resume(scene.session, None).await.map(|view| view.stored.id), 1);
    engine.stop().await;
}

#[tokio::test]
async fn s9_archived_sessions_do_not_count_until_they_are_brought_back() {
    let mut world = World::with(&Script::new());
    world.settings.sessions_max = 1;
    let scene = world.begin().await;
    let engine = &scene.engine;
    engine.sessions().archive(scene.session).await.unwrap();
    let second = create(engine, scene.project).await.unwrap();
    assert_full(engine.sessions().unarchive(scene.session).await.map(|view| view.stored.id), 1);
    assert!(scene.view().await.stored.summary.archived);
    engine.sessions().complete(second).await.unwrap();
    engine.sessions().unarchive(scene.session).await.unwrap();
    assert_full(create(engine, scene.project).await, 1);
    // One that has ended needs no room in the lists.
    engine.sessions().archive(second).await.unwrap();
    engine.sessions().unarchive(second).await.unwrap();
    engine.stop().await;
}

#[tokio::test]
async fn s9_sessions_of_teams_do_not_count() {
    let mut world = World::with(&Script::new());
    world.settings.sessions_max = 1;
    let engine = world.open().await;
    let project = engine.projects().add(&world.workspace(), None).await.unwrap().id;
    engine.stop().await;
    let store = Store::open(world.home().join("convoke.db"), now()).await.unwrap();
    for _ in 0..3 {
        let id = SessionId::from_random(random());
        let (agent, kind, created_at) = (agent(AGENT), SessionKind::Team, now());
        let new = NewSession { id, project_id: project, agent, kind, created_at };
        store.create_session(new).await.unwrap();
    }
    store.close().await;
    let engine = world.open().await;
    create(&engine, project).await.unwrap();
    assert_full(create(&engine, project).await, 1);
    let all =
        engine.sessions().list(SessionFilter::all(), SessionOrder::Created, Window::first(9)).await;
    assert_eq!(all.unwrap().total, 4);
    engine.stop().await;
}

#[tokio::test]
async fn s9_a_session_that_was_idle_for_long_makes_room() {
    let mut world = World::with(&Script::new());
    world.add_agent("slow", &Script::new().turn([Step::say("working"), Step::Hang]));
    world.settings.sessions_max = 3;
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    let busy =
        engine.sessions().create(scene.project, Some(agent("slow"))).await.unwrap().stored.id;
    engine.sessions().prompt(busy, "work".to_owned()).await.unwrap();
    Log::of(&engine, busy).await.until("agent: working").await;
    let late = create(&engine, scene.project).await.unwrap();
    assert_full(create(&engine, scene.project).await, 3);

    leap(Duration::from_secs(4 * 60)).await;
    assert_full(create(&engine, scene.project).await, 3);
    // A session that was used since is not completed.
    scene.turn("hello").await;
    leap(Duration::from_secs(2 * 60)).await;
    let fourth = create(&engine, scene.project).await.unwrap();
    let view = engine.sessions().get(late).await.unwrap();
    assert_eq!(view.stored.summary.status, Status::Completed);
    assert_eq!(view.stored.summary.reason, Some(EndReason::MadeRoom));
    for active in [scene.session, busy, fourth] {
        let view = engine.sessions().get(active).await.unwrap();
        assert_eq!(view.stored.summary.status, Status::Active);
    }
    assert_full(create(&engine, scene.project).await, 3);
    engine.stop().await;
}

/// Begins a session that does not come, and tells why it did not. Time leaps as soon as `until` holds.
async fn given_up(engine: &Engine, project: ProjectId, until: impl AsyncFn() -> bool) -> String {
    let creator = engine.clone();
    let creation = tokio::spawn(async move { create(&creator, project).await });
    crate::world::until("time may leap", until).await;
    leap(convoke_agents::launch::TIMEOUT).await;
    let error = creation.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Agent);
    format!("{error}: {}", std::error::Error::source(&error).unwrap())
}

#[tokio::test]
async fn s3_a_session_whose_agent_is_stuck_is_given_up_in_time() {
    let mut world = World::new();
    world.add_gated_agent(AGENT, &Script::new());
    let engine = world.open().await;
    let project = engine.projects().add(&world.workspace(), None).await.unwrap().id;
    let error = given_up(&engine, project, async || !world.processes().is_empty()).await;
    assert_eq!(
        error,
        "the agent scripted did not start: /bin/sh was not ready within 30 seconds and was killed"
    );
    world.empties().await;
    let figures = engine.figures().await.unwrap();
    assert_eq!((figures.active_sessions, figures.processes), (0, 0));
    engine.stop().await;
}

#[tokio::test]
async fn s3_a_session_for_which_there_is_no_process_is_given_up_in_time() {
    let mut world = World::with(&Script::new().when("work", [gate()]));
    world.settings.pool.processes_max = 1;
    let mut scene = world.begin().await;
    let engine = scene.engine.clone();
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    let waits = async || engine.figures().await.unwrap().waiting == 1;
    let error = given_up(&engine, scene.project, waits).await;
    assert_eq!(
        error,
        "the agent scripted did not start: no agent process became available within 30 seconds"
    );
    assert_eq!(engine.figures().await.unwrap().active_sessions, 1);
    assert_eq!(scene.processes().len(), 1);
    engine.stop().await;
}

#[tokio::test]
async fn k4_a_turn_that_says_more_than_it_may_is_cancelled_and_says_how_to_raise_the_limit() {
    let mut world = World::with(&Script::new().turn([Step::Flood(4 << 20), Step::Hang]));
    world.settings.limits.turn_bytes = 256 << 10;
    let mut scene = world.begin().await;
    let one = scene.prompt("flood").await;
    assert_eq!(scene.log.until_end_of(one).await, Stop::Cancelled);
    assert_eq!(scene.log.count("turn limit: 262144"), 1);
    let messages = scene.log.messages();
    let text = messages.iter().find_map(|message| match &message.content {
        Content::Notice(notice) => {
            notice.text.contains("limits.turn_bytes").then_some(&notice.text)
        }
        Content::Text { .. }
        | Content::Thinking { .. }
        | Content::Plan { .. }
        | Content::Tool(_)
        | Content::Permission(_)
        | Content::Question(_) => None,
    });
    assert!(text.is_some(), "it is said how to raise the limit");
    let bytes: usize = scene.log.messages().iter().map(|it| json_bytes(&it.content)).sum();
    assert!(bytes < 1 << 20, "{bytes} bytes were stored");
    // The session goes on, and its next turn may say as much again.
    scene.turn("hello").await;
    assert_eq!(scene.log.count("agent: hello"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn k4_the_progress_of_a_tool_call_is_written_ten_times_a_second_at_most() {
    let progress = |number: u32| {
        let output = format!("{number} {}", "x".repeat(4000));
        let status = Some("in_progress".to_owned());
        Step::Update(Tool { status, output: Some(output), ..Tool::bare("t") })
    };
    let mut steps = vec![Step::Call(Tool::named("t", "build", json!({})))];
    steps.extend((0..1000).map(progress));
    steps.push(Step::Update(Tool::bare("t").done("built")));
    let world = World::with(&Script::new().when("build", steps));
    let mut scene = world.begin().await;
    scene.turn("hello").await;
    let (start, stored) = (Instant::now(), scene.engine.stored());
    scene.turn("build").await;
    let writes = scene.engine.stored() - stored;
    let paced = start.elapsed().as_millis() / 100;
    assert!(u128::from(writes) <= paced + 20, "{writes} writes in {paced} times 100 ms");
    scene.engine.stop().await;
}

#[tokio::test]
async fn k4_a_turn_within_its_limit_is_left_alone() {
    let mut world = World::with(&Script::new().turn([Step::Flood(200 << 10)]));
    world.settings.limits.turn_bytes = 256 << 10;
    let mut scene = world.begin().await;
    let one = scene.prompt("flood").await;
    assert_eq!(scene.log.until_end_of(one).await, Stop::EndTurn);
    scene.engine.stop().await;
}

#[tokio::test]
async fn k4_a_session_that_holds_as_much_as_it_may_refuses_further_prompts_by_name_of_the_setting()
{
    let mut world = World::with(&Script::new().turn([Step::Flood(300 << 10)]));
    world.settings.limits.session_bytes = 256 << 10;
    let mut scene = world.begin().await;
    scene.turn("flood").await;
    let session = scene.session;
    let refused = |error: Error| {
        assert!(matches!(error, Error::SessionFull { max: 262_144, .. }), "{error}");
        assert!(error.to_string().contains("limits.session_bytes"), "{error}");
        assert_eq!(error.kind(), Kind::Conflict);
    };
    refused(scene.engine.sessions().prompt(session, "more".to_owned()).await.unwrap_err());
    scene.engine.stop().await;
    // What was stored counts, not what this process has seen.
    let engine = world.open().await;
    refused(engine.sessions().prompt(session, "more".to_owned()).await.unwrap_err());
    engine.stop().await;
    world.settings.limits.session_bytes = 1 << 30;
    let engine = world.open().await;
    engine.sessions().prompt(session, "more".to_owned()).await.unwrap();
    engine.stop().await;
}

#[tokio::test]
async fn k4_a_prompt_that_is_too_long_is_refused_with_a_way_out() {
    let scene = World::with(&Script::new()).begin().await;
    let long = "x".repeat((1 << 20) + 1);
    let error = scene.engine.sessions().prompt(scene.session, long).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(error.to_string().contains("put it into a file"), "{error}");
    scene.engine.stop().await;
}
