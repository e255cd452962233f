//! Permissions: asked by agents, answered by humans, once or once and for all.

use convoke_core::request::{PermissionKind, Request};
use convoke_engine::{Activity, Asker, Change, Kind, Outcome, Remember};
use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::json;

use crate::log::TIMEOUT;
use crate::world::{Scene, World, until};

/// Asks whether a tool may be used, and says what came of it.
fn may(tool: &str) -> Step {
    let choices = [("yes", "allow_once"), ("always", "allow_always"), ("no", "reject_once")];
    let ask = Ask::new(Tool::named(tool, tool, json!({"command": "ls"})), &choices);
    let ask = ["yes", "always", "no"]
        .into_iter()
        .fold(ask, |ask, choice| ask.then(choice, [Step::Say(format!("{tool}: {choice}"))]));
    Step::Ask(ask.then("cancelled", [Step::Say(format!("{tool}: cancelled"))]))
}

async fn asked(scene: &mut Scene, tool: &str) -> String {
    scene.log.until(&format!("permission {tool}: ls: pending")).await;
    scene.settle().await;
    let items = scene.engine.inbox().list().await.unwrap();
    assert_eq!(items.len(), 1, "{items:#?}");
    assert_eq!(items[0].session.as_ref().unwrap().stored.id, scene.session);
    assert_eq!(items[0].session.as_ref().unwrap().activity, Activity::Waiting);
    assert_eq!(items[0].project.as_ref().unwrap().id, scene.project);
    items[0].request.id().to_string()
}

#[tokio::test]
async fn s6_a_permission_is_answered_from_the_inbox_and_the_first_answer_wins() {
    let mut scene = World::with(&Script::new().turn([may("Bash")])).begin().await;
    let engine = scene.engine.clone();
    scene.prompt("work").await;
    let id = asked(&mut scene, "Bash").await;
    let error =
        engine.inbox().choose(&id, "perhaps".to_owned(), Remember::No, None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid, "{error}");
    let error = engine.inbox().answer(&id, crate::asked::answers("yes"), None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid, "{error}");
    // A beginning of the id is enough.
    engine.inbox().choose(&id[..8], "yes".to_owned(), Remember::No, None).await.unwrap();
    for option in ["yes", "no", "perhaps"] {
        let error =
            engine.inbox().choose(&id, option.to_owned(), Remember::No, None).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict, "{error}");
    }
    assert_eq!(engine.inbox().reject(&id, None, None).await.unwrap_err().kind(), Kind::Conflict);
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("agent: Bash: yes"), 1);
    assert_eq!(scene.log.count("permission Bash: ls: answered"), 1);
    assert_eq!(engine.inbox().list().await.unwrap(), []);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s6_of_many_answers_at_once_exactly_one_wins() {
    let mut scene = World::with(&Script::new().turn([may("Bash")])).begin().await;
    scene.prompt("work").await;
    let id = asked(&mut scene, "Bash").await;
    let mut answers = tokio::task::JoinSet::new();
    for number in 0..10 {
        let (engine, id) = (scene.engine.clone(), id.clone());
        let option = if number % 2 == 0 { "yes" } else { "no" };
        answers.spawn(async move {
            engine.inbox().choose(&id, option.to_owned(), Remember::No, None).await
        });
    }
    let answers = answers.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("permission Bash: ls: answered"), 1);
    scene.engine.stop().await;
}

#[tokio::test]
async fn s6_a_rejected_permission_is_a_no_to_the_agent() {
    let mut scene = World::with(&Script::new().turn([may("Bash")])).begin().await;
    scene.prompt("work").await;
    let id = asked(&mut scene, "Bash").await;
    scene.engine.inbox().reject(&id, Some("not today".to_owned()), None).await.unwrap();
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("agent: Bash: no"), 1);
    let messages = scene.log.messages();
    let mut rejected = messages.iter().map(|it| serde_json::to_string(it).unwrap());
    assert!(rejected.any(|text| text.contains("not today")));
    scene.engine.stop().await;
}

/// What an agent would hold for good is neither offered nor chosen, also when it offers nothing else that allows.
#[tokio::test]
async fn k7_an_agents_own_always_is_never_chosen() {
    let choices = [("always", "allow_always"), ("never", "reject_always"), ("no", "reject_once")];
    let ask = Ask::new(Tool::named("t", "Bash", json!({"command": "ls"})), &choices);
    let ask = ask.then("no", [Step::say("not now")]);
    let mut scene = World::with(&Script::new().turn([Step::Ask(ask)])).begin().await;
    let engine = scene.engine.clone();
    scene.prompt("work").await;
    until("a permission is asked for", async || {
        scene.settle().await;
        !engine.inbox().list().await.unwrap().is_empty()
    })
    .await;
    let item = engine.inbox().list().await.unwrap().pop().unwrap();
    let Request::Permission(record) = &item.request else { panic!("no permission") };
    let offered: Vec<&str> = record.options.iter().map(|option| &*option.option_id).collect();
    assert_eq!(offered, ["no"]);
    assert!(record.title.contains("offers no way to allow it once"), "{}", record.title);
    let id = record.request_id.to_string();
    for option in ["always", "never"] {
        let error =
            engine.inbox().choose(&id, option.to_owned(), Remember::No, None).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid, "{error}");
    }
    engine.inbox().reject(&id, None, None).await.unwrap();
    scene.log.until_end_of(1).await;
    assert_eq!(scene.log.count("agent: not now"), 1);
    engine.stop().await;
}

#[tokio::test]
async fn s6_a_permission_that_is_asked_between_turns_reaches_the_human_and_its_answer_the_agent() {
    let script = Script::new().turn([
        Step::say("done"),
        Step::stop("end_turn"),
        may("Bash"),
        Step::say(" after all"),
    ]);
    let mut scene = World::with(&script).begin().await;
    scene.turn("work").await;
    let id = asked(&mut scene, "Bash").await;
    until("it is busy", async || scene.engine.figures().await.unwrap().busy > 0).await;
    scene.engine.inbox().choose(&id, "yes".to_owned(), Remember::No, None).await.unwrap();
    scene.log.until("agent: Bash: yes after all").await;
    scene.engine.stop().await;
}

/// Waits until so many requests in the inbox are announced.
async fn inbox_has(changes: &mut tokio::sync::broadcast::Receiver<Change>, expected: u64) {
    let announced = async {
        while !matches!(changes.recv().await.unwrap(), Change::Inbox { count } if count == expected)
        {
        }
    };
    tokio::time::timeout(TIMEOUT, announced).await.expect("no such count is announced");
}

#[tokio::test]
async fn s6_a_tool_can_ask_for_permission_on_behalf_of_a_session() {
    let scene = World::with(&Script::new()).begin().await;
    let (engine, asker) = (&scene.engine, Asker::Session(scene.session));
    let mut changes = engine.follow();
    for (option, outcome) in
        [("allow", Outcome::Allowed), ("deny", Outcome::Rejected { reason: None })]
    {
        let input = json!({"command": "rm -rf /"});
        let mut asked =
            engine.inbox().ask_permission(asker.clone(), "Bash".to_owned(), &input).await.unwrap();
        inbox_has(&mut changes, 1).await;
        let item = &engine.inbox().list().await.unwrap()[0];
        let Request::Permission(record) = &item.request else { panic!("no permission") };
        assert!(record.title.contains("rm -rf /"), "{}", record.title);
        assert_eq!(record.tool.as_deref(), Some("Bash"));
        let kinds: Vec<_> = record.options.iter().map(|option| option.kind).collect();
        assert_eq!(kinds, [PermissionKind::AllowOnce, PermissionKind::RejectOnce]);
        let id = asked.id().to_string();
        let (waited, chosen) = tokio::join!(
            asked.wait(),
            engine.inbox().choose(&id, option.to_owned(), Remember::No, None)
        );
        chosen.unwrap();
        assert_eq!(waited.unwrap(), outcome);
        inbox_has(&mut changes, 0).await;
    }
    let mut asked =
        engine.inbox().ask_permission(asker.clone(), "Bash".to_owned(), &json!({})).await.unwrap();
    inbox_has(&mut changes, 1).await;
    let id = asked.id().to_string();
    let reason = Some("no".to_owned());
    engine.inbox().reject(&id, reason.clone(), None).await.unwrap();
    assert_eq!(asked.wait().await.unwrap(), Outcome::Rejected { reason });
    // What is allowed for good is allowed at once.
    let list = json!({"command": "ls"});
    let asked =
        engine.inbox().ask_permission(asker.clone(), "Bash".to_owned(), &list).await.unwrap();
    engine
        .inbox()
        .choose(&asked.id().to_string(), "allow".to_owned(), Remember::Rule(0), None)
        .await
        .unwrap();
    let mut asked = engine.inbox().ask_permission(asker, "Bash".to_owned(), &list).await.unwrap();
    assert_eq!(asked.wait().await.unwrap(), Outcome::Allowed);
    assert_eq!(engine.inbox().list().await.unwrap(), []);
    inbox_has(&mut changes, 0).await;
    engine.stop().await;
}

#[tokio::test]
async fn s6_an_external_caller_can_ask_for_permission() {
    let world = World::with(&Script::new());
    let engine = world.open().await;
    let asker = || Asker::Outside {
        name: Some("cron".to_owned()),
        working_directory: Some(world.workspace()),
        call_id: Some("c1".to_owned()),
    };
    let custom = r#"{"0": {"customText": "never"}}"#;
    for (answer, outcome) in [
        (r#"{"0": {"selectedOption": "Allow"}}"#, Outcome::Allowed),
        (r#"{"0": {"selectedOption": "Deny"}}"#, Outcome::Rejected { reason: None }),
        (custom, Outcome::Rejected { reason: Some("never".to_owned()) }),
    ] {
        let asked =
            engine.inbox().ask_permission(asker(), "Bash".to_owned(), &json!({"x": 1})).await;
        let mut asked = asked.unwrap();
        let item = &engine.inbox().list().await.unwrap()[0];
        assert_eq!((item.session.as_ref(), item.asked_by.as_deref()), (None, Some("cron")));
        assert_eq!(item.working_directory.as_deref(), world.workspace().to_str());
        let id = asked.id().to_string();
        engine.inbox().answer(&id, serde_json::from_str(answer).unwrap(), None).await.unwrap();
        assert_eq!(asked.wait().await.unwrap(), outcome);
    }
    engine.stop().await;
}
