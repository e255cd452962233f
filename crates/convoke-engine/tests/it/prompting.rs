//! Creating sessions, prompting them, and finding them again.

use convoke_core::id::{ProjectId, SessionId};
use convoke_core::message::{Rev, Role, Seq};
use convoke_core::session::{QUEUE_MAX, QueueChoice, Refusal, Status};
use convoke_engine::{
    Activity, Archived, Error, Kind, RunningTurn, SessionFilter, SessionOrder, Window,
};
use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::json;

use crate::log::Log;
use crate::world::{AGENT, World, agent, random};

/// A turn that waits for the word `go`.
pub(crate) fn gate() -> Step {
    let tool = Tool::named("t1", "gate", json!({}));
    Step::Ask(Ask::new(tool, &[("go", "allow_once"), ("no", "reject_once")]))
}

#[tokio::test]
async fn s8_a_session_begins_with_an_agent_that_is_ready() {
    let world = World::with(&Script::new().session("ses_1"));
    let scene = world.begin().await;
    let view = scene.view().await;
    assert_eq!(view.stored.agent_session_id.as_deref(), Some("ses_1"));
    assert_eq!((view.stored.agent.as_str(), view.activity), (AGENT, Activity::Idle));
    assert_eq!(view.stored.summary.status, Status::Active);
    assert_eq!((view.stored.summary.title, view.stored.summary.last_seq), (None, Seq::START));
    assert_eq!(world.processes().len(), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s2_what_is_said_is_numbered_without_gaps_and_read_back_in_order() {
    let pieces = ["Once ", "upon ", "a time"].map(str::to_owned).to_vec();
    let call = Tool::named("t1", "read", json!({"path": "x"}));
    let script = Script::new().turn([
        Step::Think("hm".to_owned()),
        Step::Stream(pieces),
        Step::Call(call.clone()),
        Step::Update(call.done("text")),
        Step::Plan(vec!["one".to_owned(), "two".to_owned()]),
        Step::say("done"),
    ]);
    let mut scene = World::with(&script).begin().await;
    let created = scene.view().await;
    let prompted =
        scene.engine.sessions().prompt(scene.session, "tell a story".to_owned()).await.unwrap();
    assert_eq!((prompted.seq, prompted.queued), (Some(Seq::new(1)), 0));
    scene.log.until_end_of(1).await;
    assert_eq!(
        scene.log.story(),
        [
            "user: tell a story → end_turn",
            "thought: hm",
            "agent: Once upon a time",
            "tool read: complete",
            "plan of 2 steps",
            "agent: done"
        ]
    );
    let page = scene.engine.sessions().messages(scene.session, Seq::START, 1000).await.unwrap();
    assert_eq!(page.messages, scene.log.messages());
    assert_eq!(page.messages[0].id, prompted.message_id);
    assert!(page.messages.is_sorted_by_key(|message| (message.seq, message.timestamp)));
    let view = scene.view().await;
    assert_eq!(view.stored.summary.title.as_deref(), Some("tell a story"));
    assert_eq!(view.stored.summary.last_seq, scene.log.last_seq());
    // The end of the turn is the last change.
    assert!(page.messages.iter().all(|message| message.rev <= page.messages[0].rev));
    let last = page.messages[0].updated_at;
    assert_eq!(view.stored.summary.last_active_at, last);
    assert!(last >= created.stored.summary.last_active_at);
    assert_eq!(view.activity, Activity::Idle);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_a_second_prompt_waits_for_the_turn_to_end_and_then_runs() {
    let mut scene = World::with(&Script::new().turn([gate()])).begin().await;
    let one = scene.prompt("one").await;
    scene.log.until("permission gate: pending").await;
    let second = scene.engine.sessions().prompt(scene.session, "two".to_owned()).await.unwrap();
    let third = scene.engine.sessions().prompt(scene.session, "three".to_owned()).await.unwrap();
    assert_eq!((second.queued, third.queued), (1, 2));
    let live = scene.engine.sessions().live(scene.session);
    assert_eq!(live.running, Some(RunningTurn { id: one, seq: Seq::new(1) }));
    assert_eq!(live.queue, [second.message_id, third.message_id]);
    // They have no place before their turns begin.
    assert_eq!((second.seq, third.seq), (None, None));
    scene.log.until("queue: 2").await;
    assert_eq!(live.activity, Activity::Waiting);
    let item = &scene.engine.inbox().list().await.unwrap()[0];
    let id = item.request.id().to_string();
    scene
        .engine
        .inbox()
        .choose(&id, "go".to_owned(), convoke_engine::Remember::No, None)
        .await
        .unwrap();
    scene.log.until_end_of(third.message_id).await;
    assert_eq!(
        scene.log.story(),
        [
            "user: one → end_turn",
            "tool gate: error",
            "permission gate: answered",
            "user: two → end_turn",
            "agent: two",
            "user: three → end_turn",
            "agent: three"
        ]
    );
    scene.log.until("queue: 0").await;
    assert_eq!(scene.engine.figures().await.unwrap().prompts, 3);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_a_33rd_waiting_prompt_is_refused_and_nothing_of_it_is_stored() {
    let mut scene =
        World::with(&Script::new().turn([Step::say("working"), Step::Hang])).begin().await;
    scene.prompt("one").await;
    scene.log.until("agent: working").await;
    for number in 1..=QUEUE_MAX {
        let text = format!("waiting {number}");
        let prompted = scene.engine.sessions().prompt(scene.session, text).await.unwrap();
        assert_eq!(prompted.queued, number);
    }
    let before = scene.view().await.stored.summary;
    let error =
        scene.engine.sessions().prompt(scene.session, "too much".to_owned()).await.unwrap_err();
    assert!(matches!(error, Error::QueueFull { max: QUEUE_MAX }), "{error}");
    assert_eq!(error.kind(), Kind::Busy);
    assert_eq!(scene.view().await.stored.summary, before);
    // Once the running turn is out of the way, all the others run.
    scene.engine.sessions().cancel_turn(scene.session, QueueChoice::Send).await.unwrap();
    scene.log.until("agent: waiting 32").await;
    let last = scene.log.messages().into_iter().rfind(|it| it.role == Role::User).unwrap();
    scene.log.until_end_of(last.id).await;
    let said = scene.log.story().into_iter().filter(|line| line.starts_with("agent: waiting"));
    assert!(said.eq((1..=QUEUE_MAX).map(|number| format!("agent: waiting {number}"))));
    scene.settle().await;
    assert_eq!(scene.engine.sessions().live(scene.session).queue, []);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s8_an_empty_prompt_and_unknown_ids_are_told_apart() {
    let scene = World::with(&Script::new()).begin().await;
    let engine = &scene.engine;
    let error = engine.sessions().prompt(scene.session, " \n".to_owned()).await.unwrap_err();
    assert!(matches!(error, Error::Refused(Refusal::EmptyPrompt)), "{error}");
    assert_eq!(error.kind(), Kind::Invalid);
    let missing = SessionId::from_random(random());
    let nothing = ProjectId::from_random(random());
    for error in [
        engine.sessions().prompt(missing, "hello".to_owned()).await.map(drop).unwrap_err(),
        engine.sessions().get(missing).await.map(drop).unwrap_err(),
        engine.sessions().watch(missing, Rev::START).await.map(drop).unwrap_err(),
        engine.sessions().messages(missing, Seq::START, 10).await.map(drop).unwrap_err(),
        engine.sessions().complete(missing).await.map(drop).unwrap_err(),
        engine.sessions().resume(missing, None).await.map(drop).unwrap_err(),
        engine.sessions().set_mode(missing, "x".to_owned()).await.unwrap_err(),
        engine.sessions().find(&missing.to_string()).await.map(drop).unwrap_err(),
        engine.sessions().find("ffff").await.map(drop).unwrap_err(),
        engine.sessions().find("abc").await.map(drop).unwrap_err(),
        engine.sessions().find("scripted:nobody").await.map(drop).unwrap_err(),
        engine.sessions().create(nothing, None).await.map(drop).unwrap_err(),
        engine.sessions().create(scene.project, Some(agent("nobody"))).await.map(drop).unwrap_err(),
        engine.projects().get(nothing).await.map(drop).unwrap_err(),
        engine.projects().find("ffff").await.map(drop).unwrap_err(),
        engine.inbox().reject("ffff", None, None).await.unwrap_err(),
        engine
            .inbox()
            .choose(&missing.to_string(), "x".to_owned(), convoke_engine::Remember::No, None)
            .await
            .unwrap_err(),
    ] {
        assert_eq!(error.kind(), Kind::NotFound, "{error}");
    }
    let error = engine.sessions().find("not an agent:x").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid, "{error}");
    engine.stop().await;
}

#[tokio::test]
async fn w1_a_session_is_found_by_its_id_its_canonical_id_and_a_prefix() {
    let world = World::with(&Script::new().session("a:b"));
    let scene = world.begin().await;
    let id = scene.session.to_string();
    let prefix = id[..8].to_owned();
    for text in [&id, &id.to_uppercase(), "scripted:a:b", &prefix, &prefix.to_uppercase()] {
        let found = scene.engine.sessions().find(text).await;
        assert_eq!(found.unwrap(), scene.session, "{text}");
    }
    scene.engine.stop().await;
}

#[tokio::test]
async fn a_prefix_of_several_ids_names_them() {
    let mut world = World::with(&Script::new());
    world.settings.sessions_max = 400;
    let engine = world.open().await;
    // Two ids with the same first two characters, made for certain.
    fn alike() -> [u8; 16] {
        let mut bytes = random();
        bytes[..2].copy_from_slice(&[0xab, 0xcd]);
        bytes
    }
    engine.stop().await;
    let host = convoke_engine::HostContext { random: alike, ..world.host() };
    let engine = convoke_engine::Engine::open(world.settings.clone(), host).await.unwrap();
    let project = engine.projects().add(&world.workspace(), None).await.unwrap();
    let other = engine.projects().add(&world.make_folder("other"), None).await.unwrap();
    let one = engine.sessions().create(project.id, None).await.unwrap().stored.id;
    let two = engine.sessions().create(project.id, None).await.unwrap().stored.id;
    let Err(Error::Ambiguous { prefix, candidates }) = engine.sessions().find("abcd").await else {
        panic!("found")
    };
    assert_eq!(prefix, "abcd");
    let mut expected = [one.to_string(), two.to_string()];
    expected.sort();
    assert_eq!(candidates, expected);
    let Err(Error::Ambiguous { candidates, .. }) = engine.projects().find("abcd").await else {
        panic!("found")
    };
    assert_eq!(candidates, [project.id.to_string(), other.id.to_string()]);
    engine.stop().await;
}

#[tokio::test]
async fn s4_a_list_shows_activity_and_hides_what_is_archived() {
    let mut world = World::with(&Script::new());
    world.add_agent("slow", &Script::new().turn([Step::say("working"), Step::Hang]));
    let scene = world.begin().await;
    let engine = &scene.engine;
    let busy =
        engine.sessions().create(scene.project, Some(agent("slow"))).await.unwrap().stored.id;
    let hidden = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    engine.sessions().prompt(busy, "work".to_owned()).await.unwrap();
    Log::of(engine, busy).await.until("agent: working").await;
    engine.sessions().archive(hidden).await.unwrap();
    let filter = SessionFilter { archived: Archived::Hidden, ..SessionFilter::all() };
    let listed =
        engine.sessions().list(filter, SessionOrder::Created, Window::first(20)).await.unwrap();
    let shown: Vec<_> = listed.sessions.iter().map(|it| (it.stored.id, it.activity)).collect();
    assert_eq!(shown, [(busy, Activity::Running), (scene.session, Activity::Idle)]);
    assert_eq!(listed.total, 2);
    engine.stop().await;
}

#[tokio::test]
async fn w2_a_session_can_be_renamed_archived_and_brought_back() {
    let mut scene = World::with(&Script::new()).begin().await;
    scene.turn("hello").await;
    let engine = &scene.engine;
    let before = scene.view().await.stored.summary.last_active_at;
    let view =
        engine.sessions().rename(scene.session, "  A better name ".to_owned()).await.unwrap();
    assert_eq!(view.stored.summary.title.as_deref(), Some("A better name"));
    assert!(engine.sessions().archive(scene.session).await.unwrap().stored.summary.archived);
    let twice = engine.sessions().archive(scene.session).await.unwrap();
    assert_eq!(twice.stored.summary.last_seq, scene.view().await.stored.summary.last_seq);
    assert!(!engine.sessions().unarchive(scene.session).await.unwrap().stored.summary.archived);
    assert_eq!(scene.view().await.stored.summary.last_active_at, before);
    let error = engine.sessions().rename(scene.session, " ".to_owned()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    let story = scene.log.until("unarchived").await.story();
    assert_eq!(story[2..], ["renamed: A better name", "archived", "unarchived"]);
    // Prompts are welcome in the archive, too.
    engine.sessions().archive(scene.session).await.unwrap();
    scene.turn("still there?").await;
    scene.engine.stop().await;
}
