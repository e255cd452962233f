//! Questions that agents ask through tools, in sessions and in files.

use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_core::message::Role;
use convoke_core::request::{Request, Status};
use convoke_engine::{Activity, Asker, Change, Engine, Error, Kind, Outcome, PendingRequest};
use convoke_files::questions::{NewSet, Questions};
use convoke_testkit::agent::{Script, Step};

use crate::asked::{answers, question};
use crate::log::{Log, TIMEOUT};
use crate::world::{AGENT, Scene, World, now, random};

/// A second, and some more for a machine with other things to do.
const SOON: Duration = Duration::from_secs(5);

fn outside() -> Asker {
    Asker::Outside { name: None, working_directory: None, call_id: None }
}

async fn ask(scene: &Scene) -> PendingRequest {
    let asker = Asker::Session(scene.session);
    scene.engine.inbox().ask(asker, vec![question()]).await.unwrap()
}

fn labels(outcome: Outcome) -> Vec<String> {
    let Outcome::Answered(answers) = outcome else { panic!("{outcome:?}") };
    answers.into_iter().filter_map(|answer| answer.selected_option).collect()
}

/// Waits until the inbox has changed.
async fn inbox_changes(changes: &mut tokio::sync::broadcast::Receiver<Change>) {
    while !matches!(
        tokio::time::timeout(TIMEOUT, changes.recv()).await.expect("nothing changes").unwrap(),
        Change::Inbox { .. }
    ) {}
}

#[tokio::test]
async fn q19_a_question_in_a_session_is_answered_from_the_inbox() {
    let mut scene = World::with(&Script::new()).begin().await;
    let engine = scene.engine.clone();
    let mut asked = ask(&scene).await;
    assert_eq!(asked.questions(), [question()]);
    scene.log.until("question: pending").await;
    assert_eq!(scene.view().await.activity, Activity::Waiting);
    let items = engine.inbox().list().await.unwrap();
    assert_eq!((items.len(), items[0].request.id()), (1, asked.id()));
    let id = asked.id().to_string();
    for (wrong, kind) in [
        (r#"{"0": {"selectedOption": "Green"}}"#, Kind::Invalid),
        (r#"{"7": {"selectedOption": "Red"}}"#, Kind::Invalid),
        ("{}", Kind::Invalid),
    ] {
        let error = engine
            .inbox()
            .answer(&id, serde_json::from_str(wrong).unwrap(), None)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{wrong}: {error}");
    }
    engine.inbox().answer(&id, answers("Red"), None).await.unwrap();
    assert_eq!(labels(asked.wait().await.unwrap()), ["Red"]);
    let error = engine.inbox().answer(&id, answers("Blue"), None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict, "{error}");
    assert_eq!(engine.inbox().list().await.unwrap(), []);
    scene.log.until("question: answered").await;
    // An answer that the asker heard is no prompt.
    assert_eq!(scene.log.story(), ["question: answered"]);
    assert_eq!(scene.view().await.activity, Activity::Idle);
    engine.stop().await;
}

#[tokio::test]
async fn q10_a_rejection_carries_its_reason_and_a_time_out_is_none() {
    let mut world = World::with(&Script::new());
    world.settings.question_timeout = Some(Duration::from_millis(200));
    let mut scene = world.begin().await;
    for reason in [Some("ask me later".to_owned()), None] {
        let mut asked = ask(&scene).await;
        scene.engine.inbox().reject(&asked.id().to_string(), reason.clone(), None).await.unwrap();
        assert_eq!(asked.wait().await.unwrap(), Outcome::Rejected { reason });
    }
    let mut asked = ask(&scene).await;
    assert_eq!(asked.wait().await.unwrap(), Outcome::TimedOut);
    scene.log.until("question: timed_out").await;
    // The asker no longer waits, but the question can still be answered.
    let items = scene.engine.inbox().list().await.unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].request.status(), Status::TimedOut);
    scene.engine.inbox().answer(&asked.id().to_string(), answers("Red"), None).await.unwrap();
    scene.log.until("question: answered").await;
    let prompt = scene.log.until_message(|message| message.role == Role::User).await;
    scene.log.until_end_of(prompt.id).await;
    scene.engine.stop().await;
}

#[tokio::test]
async fn q4_an_asker_that_goes_away_leaves_a_question_whose_answer_is_the_next_turn() {
    let mut scene = World::with(&Script::new()).begin().await;
    let engine = scene.engine.clone();
    let asked = ask(&scene).await;
    let id = asked.id().to_string();
    drop(asked);
    let gone = scene.log.until("question: abandoned");
    tokio::time::timeout(SOON, gone).await.expect("it takes long");
    assert_eq!(scene.view().await.activity, Activity::Idle);
    let items = engine.inbox().list().await.unwrap();
    assert_eq!(items[0].request.status(), Status::Abandoned);
    engine.inbox().answer(&id, answers("Blue"), None).await.unwrap();
    scene.log.until("question: answered").await;
    let prompt = scene.log.until_message(|message| message.role == Role::User).await;
    scene.log.until_end_of(prompt.id).await;
    let told = scene.log.line("user: You asked the user earlier");
    assert!(told.contains("Which colour?") && told.contains("→ Blue"), "{told}");
    let said = scene.log.line("agent: ").replacen("agent: ", "user: ", 1);
    assert_eq!(format!("{said} → end_turn"), told);
    let error = engine.inbox().answer(&id, answers("Red"), None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict, "{error}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q4_of_many_late_answers_exactly_one_wins() {
    let mut scene = World::with(&Script::new()).begin().await;
    for _ in 0..5 {
        let asked = ask(&scene).await;
        let id = asked.id().to_string();
        // Some of them come before the session's task has noticed that the asker disconnected.
        drop(asked);
        let mut late = tokio::task::JoinSet::new();
        for number in 0..8 {
            let (engine, id) = (scene.engine.clone(), id.clone());
            let label = if number % 2 == 0 { "Red" } else { "Blue" };
            late.spawn(async move { engine.inbox().answer(&id, answers(label), None).await });
        }
        let results = late.join_all().await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        for error in results.into_iter().filter_map(Result::err) {
            assert_eq!(error.kind(), Kind::Conflict, "{error}");
        }
    }
    scene.engine.sessions().complete(scene.session).await.unwrap();
    scene.log.until("completed: user").await;
    assert_eq!(scene.log.count("question: answered"), 5);
    scene.engine.stop().await;
}

#[tokio::test]
async fn q4_an_answer_in_an_ended_session_is_stored_without_a_prompt() {
    let mut scene = World::with(&Script::new()).begin().await;
    let mut asked = ask(&scene).await;
    let id = asked.id().to_string();
    scene.engine.sessions().complete(scene.session).await.unwrap();
    assert_eq!(asked.wait().await.unwrap(), Outcome::Abandoned);
    // An ended session asks for nothing.
    assert_eq!(scene.engine.inbox().list().await.unwrap(), []);
    scene.engine.inbox().answer(&id, answers("Red"), None).await.unwrap();
    scene.log.until("question: answered").await;
    assert_eq!(scene.log.story(), ["question: answered", "completed: user"]);
    let asker = Asker::Session(scene.session);
    let error = scene.engine.inbox().ask(asker, vec![question()]).await.map(drop).unwrap_err();
    assert!(matches!(error, Error::Ended { .. }), "{error}");
    scene.engine.stop().await;
}

#[tokio::test]
async fn q4_an_asker_does_not_wait_for_what_its_agent_cannot_hear_any_more() {
    let script = Script::new().turn([crate::prompting::gate(), Step::Exit(1)]);
    let mut scene = World::with(&script).begin().await;
    scene.prompt("work").await;
    scene.log.until("permission gate: pending").await;
    let mut asked = ask(&scene).await;
    let items = scene.engine.inbox().list().await.unwrap();
    let gate = items.iter().map(|item| item.request.id()).find(|id| *id != asked.id()).unwrap();
    let go = convoke_engine::Remember::No;
    scene.engine.inbox().choose(&gate.to_string(), "go".to_owned(), go, None).await.unwrap();
    scene.log.until_end_of(1).await;
    let outcome = tokio::time::timeout(TIMEOUT, asked.wait()).await.expect("it waits for ever");
    assert_eq!(outcome.unwrap(), Outcome::Abandoned);
    assert_eq!(scene.engine.inbox().list().await.unwrap()[0].request.status(), Status::Abandoned);
    scene.engine.stop().await;
}

#[tokio::test]
async fn q19_questions_can_be_left_to_the_human_and_fetched_later() {
    let scene = World::with(&Script::new()).begin().await;
    let engine = scene.engine.clone();
    for asker in [Asker::Session(scene.session), outside()] {
        let asked = engine.inbox().ask(asker.clone(), vec![question()]).await.unwrap();
        let id = asked.id();
        asked.leave();
        let text = id.to_string();
        let (found, questions, outcome) = engine.inbox().asked(&asker, &text[..8]).await.unwrap();
        assert_eq!((found, questions, outcome), (id, vec![question()], None));
        let again = {
            let (engine, asker) = (engine.clone(), asker.clone());
            tokio::spawn(async move { engine.inbox().asked_again(&asker, id).await })
        };
        engine.inbox().answer(&text, answers("Red"), None).await.unwrap();
        let outcome = tokio::time::timeout(TIMEOUT, again).await.expect("it waits for ever");
        assert_eq!(labels(outcome.unwrap().unwrap()), ["Red"]);
        let (_, _, outcome) = engine.inbox().asked(&asker, &text).await.unwrap();
        assert_eq!(labels(outcome.unwrap()), ["Red"]);
        let nobody = RequestId::from_random(random()).to_string();
        for unknown in [nobody.as_str(), "ffff"] {
            let error = engine.inbox().asked(&asker, unknown).await.unwrap_err();
            assert_eq!(error.kind(), Kind::NotFound, "{error}");
        }
    }
    // What one session asked is no other's business.
    let asked = ask(&scene).await;
    let other = engine.sessions().create(scene.project, None).await.unwrap().stored.id;
    let error =
        engine.inbox().asked(&Asker::Session(other), &asked.id().to_string()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound, "{error}");
    engine.stop().await;
}

#[tokio::test]
async fn q19_pending_waits_fail_when_the_daemon_stops() {
    let scene = World::with(&Script::new()).begin().await;
    let asked = ask(&scene).await;
    let id = asked.id();
    asked.leave();
    let (engine, asker) = (scene.engine.clone(), Asker::Session(scene.session));
    let again = tokio::spawn(async move { engine.inbox().asked_again(&asker, id).await });
    tokio::task::yield_now().await;
    scene.engine.stop().await;
    let outcome = tokio::time::timeout(TIMEOUT, again).await.expect("it waits for ever");
    assert_eq!(outcome.unwrap().unwrap_err().kind(), Kind::Unavailable);
}

#[tokio::test]
async fn q1_questions_in_files_are_in_the_same_inbox() {
    let world = World::with(&Script::new());
    let engine = world.open().await;
    let mut changes = engine.follow();
    let folder = Questions::new(world.settings.questions_dir.clone(), world.settings.questions);
    for round in 0..3 {
        let id = RequestId::from_random(random());
        let new = NewSet {
            questions: vec![question()],
            call_id: None,
            working_directory: Some("/srv/app".to_owned()),
            asked_by: Some(format!("script {round}")),
        };
        // Another program asks, and the daemon notices by itself.
        folder.create(id, new, now()).unwrap();
        loop {
            let items = engine.inbox().list().await.unwrap();
            if let [item] = items.as_slice() {
                assert_eq!(item.request.id(), id);
                assert_eq!(item.asked_by, Some(format!("script {round}")));
                assert!(item.session.is_none());
                break;
            }
            inbox_changes(&mut changes).await;
        }
        while changes.try_recv().is_ok() {}
        let error =
            engine.inbox().answer(&id.to_string(), answers("Green"), None).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid, "{error}");
        match round {
            0 => engine.inbox().answer(&id.to_string()[..8], answers("Red"), None).await.unwrap(),
            1 => engine.inbox().reject(&id.to_string(), Some("no".to_owned()), None).await.unwrap(),
            _ => {
                // Another program answers, and the daemon notices that, too.
                let verdict = convoke_files::questions::Verdict::Reject { reason: None };
                folder.settle(id, verdict, now()).unwrap();
                inbox_changes(&mut changes).await;
            }
        }
        let error = engine.inbox().answer(&id.to_string(), answers("Red"), None).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict, "{error}");
        assert_eq!(engine.inbox().list().await.unwrap(), []);
    }
    engine.stop().await;
}

#[tokio::test]
async fn q19_an_external_asker_asks_in_files_and_detaches() {
    let mut world = World::with(&Script::new());
    world.settings.questions.sessions_max = 2;
    let engine = world.open().await;
    let mut asked = engine.inbox().ask(outside(), vec![question()]).await.unwrap();
    let id = asked.id();
    assert!(world.settings.questions_dir.join(id.to_string()).join("status.json").exists());
    engine.inbox().answer(&id.to_string(), answers("Red"), None).await.unwrap();
    assert_eq!(labels(asked.wait().await.unwrap()), ["Red"]);

    let abandoned = engine.inbox().ask(outside(), vec![question()]).await.unwrap();
    let id = abandoned.id();
    drop(abandoned);
    let mut changes = engine.follow();
    let gone = async {
        while engine.inbox().asked(&outside(), &id.to_string()).await.unwrap().2.is_none() {
            inbox_changes(&mut changes).await;
        }
    };
    tokio::time::timeout(SOON, gone).await.expect("it takes long");
    // It is still there, and can be answered.
    assert_eq!(engine.inbox().list().await.unwrap()[0].request.status(), Status::Abandoned);
    engine.inbox().answer(&id.to_string(), answers("Blue"), None).await.unwrap();
    assert_eq!(labels(engine.inbox().asked_again(&outside(), id).await.unwrap()), ["Blue"]);

    let one = engine.inbox().ask(outside(), vec![question()]).await.unwrap();
    let two = engine.inbox().ask(outside(), vec![question()]).await.unwrap();
    let error = engine.inbox().ask(outside(), vec![question()]).await.map(drop).unwrap_err();
    assert_eq!(error.kind(), Kind::Busy, "{error}");
    drop((one, two));
    engine.stop().await;
}

#[tokio::test]
async fn q17_too_many_questions_and_none_are_refused() {
    let scene = World::with(&Script::new()).begin().await;
    for asker in [Asker::Session(scene.session), outside()] {
        for questions in [Vec::new(), vec![question(); 6]] {
            let error =
                scene.engine.inbox().ask(asker.clone(), questions).await.map(drop).unwrap_err();
            assert!(matches!(error, Error::Questions(_)), "{error}");
            assert_eq!(error.kind(), Kind::Invalid);
        }
    }
    // As many as may wait, and one more.
    let mut asked = Vec::new();
    for _ in 0..convoke_core::session::PENDING_MAX {
        asked.push(ask(&scene).await);
    }
    let asker = Asker::Session(scene.session);
    let error = scene.engine.inbox().ask(asker, vec![question()]).await.map(drop).unwrap_err();
    assert_eq!(error.kind(), Kind::Busy, "{error}");
    scene.engine.stop().await;
}

#[tokio::test]
async fn s1_what_a_session_was_asked_is_in_the_inbox_again_when_it_is_resumed() {
    let scene = World::with(&Script::new()).begin().await;
    let engine: &Engine = &scene.engine;
    let asked = ask(&scene).await;
    engine.sessions().complete(scene.session).await.unwrap();
    assert_eq!(engine.inbox().list().await.unwrap(), []);
    let mut changes = engine.follow();
    engine.sessions().resume(scene.session, None).await.unwrap();
    inbox_changes(&mut changes).await;
    let items = engine.inbox().list().await.unwrap();
    let Request::Questions(record) = &items[0].request else { panic!("no questions") };
    assert_eq!(record.request_id, asked.id());
    engine.sessions().archive(scene.session).await.unwrap();
    inbox_changes(&mut changes).await;
    assert_eq!(engine.inbox().list().await.unwrap(), []);
    let mut log = Log::of(engine, scene.session).await;
    log.until("archived").await;
    assert_eq!(engine.agents().await.unwrap()[0].agent.name.as_str(), AGENT);
    engine.stop().await;
}
