//! Waiting for a human.

use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_files::questions::{Outcome, Until, Verdict};

use crate::scene::{Scene, answer, answers_file, reject};

/// Waits in a task that has begun to wait when this returns.
async fn waiting(
    scene: &Scene,
    id: RequestId,
    call_id: Option<&'static str>,
) -> tokio::task::JoinHandle<Option<Outcome>> {
    let questions = scene.questions.clone();
    let (ready, waits) = tokio::sync::oneshot::channel();
    let waiter = tokio::spawn(async move {
        let wait = questions.wait(id, call_id, Until::NotPending, None);
        tokio::pin!(wait);
        tokio::select! {
            biased;
            outcome = &mut wait => return outcome.unwrap(),
            () = std::future::ready(()) => {}
        }
        ready.send(()).unwrap();
        wait.await.unwrap()
    });
    waits.await.ok();
    waiter
}

fn label(outcome: Option<Outcome>) -> String {
    match outcome {
        Some(Outcome::Answered(file)) => file.answers[0].selected_option.clone().unwrap(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn q11_a_waiter_wakes_on_answers_rejection_timeout_and_abandonment() {
    let scene = Scene::new();
    let cases = [
        (answer("B"), "B".to_owned()),
        (
            reject(Some("no")),
            format!("{:?}", Some(Outcome::Rejected { reason: Some("no".into()) })),
        ),
        (Verdict::TimeOut, "Some(TimedOut)".to_owned()),
        (Verdict::Abandon, "Some(Abandoned)".to_owned()),
    ];
    for (verdict, expected) in cases {
        let id = scene.ask();
        let waiter = waiting(&scene, id, None).await;
        scene.settle(id, verdict);
        assert_eq!(label(waiter.await.unwrap()), expected);
    }
}

#[tokio::test]
async fn q11_a_session_that_is_settled_already_is_not_waited_for() {
    let scene = Scene::new();
    let id = scene.ask();
    scene.settle(id, answer("A"));
    let outcome = scene.questions.wait(id, None, Until::NotPending, None).await.unwrap();
    assert_eq!(label(outcome), "A");
}

#[tokio::test]
async fn q11_waiting_ends_when_its_time_is_over_and_settles_nothing() {
    let scene = Scene::new();
    let id = scene.ask();
    let outcome = scene
        .questions
        .wait(id, None, Until::NotPending, Some(Duration::from_millis(20)))
        .await
        .unwrap();
    assert_eq!(outcome, None);
    assert_eq!(scene.status(id), "pending");
}

#[tokio::test]
async fn q12_answers_with_another_call_id_are_waited_past() {
    let scene = Scene::new();
    let id = scene.ask_as(Some("mine"));
    let waiter = waiting(&scene, id, Some("mine")).await;
    let foreign = answers_file(id, "A", Some("another"));
    convoke_files::atomic::write(&scene.path(id, "answers.json"), foreign.to_string().as_bytes())
        .unwrap();
    assert_eq!(scene.questions.outcome_now(id, Some("mine")).unwrap(), None);
    let own = answers_file(id, "B", Some("mine"));
    convoke_files::atomic::write(&scene.path(id, "answers.json"), own.to_string().as_bytes())
        .unwrap();
    assert_eq!(label(waiter.await.unwrap()), "B");
}

#[tokio::test]
async fn a_waiter_gets_an_error_when_its_session_is_deleted() {
    let scene = Scene::new();
    let id = scene.ask();
    let questions = scene.questions.clone();
    let waiter =
        tokio::spawn(async move { questions.wait(id, None, Until::NotPending, None).await });
    tokio::task::yield_now().await;
    std::fs::remove_dir_all(scene.questions.folder(id)).unwrap();
    let error = waiter.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), format!("Session not found: {id}"));
}

#[tokio::test]
async fn one_who_comes_back_waits_past_an_asker_that_has_left() {
    let scene = Scene::new();
    for ending in [Verdict::Abandon, Verdict::TimeOut] {
        let id = scene.ask();
        scene.settle(id, ending);
        let wait = scene.questions.wait(id, None, Until::Settled, None);
        tokio::pin!(wait);
        let early = tokio::time::timeout(Duration::from_millis(20), &mut wait).await;
        assert!(early.is_err(), "nobody has answered yet");
        scene.settle(id, answer("A"));
        assert_eq!(label(wait.await.unwrap()), "A");
    }
}
