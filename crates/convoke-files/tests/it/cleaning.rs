//! Retention.

use std::fs;
use std::time::Duration;

use convoke_files::questions::{Until, Verdict, Which};

use crate::scene::{Scene, answer, at, reject};

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn q13_old_sessions_are_deleted_but_never_one_that_is_waited_on() {
    let scene = Scene::new();
    let (done, pending, waited_on) = (scene.ask(), scene.ask(), scene.ask());
    scene.settle(done, answer("A"));
    let questions = scene.questions.clone();
    let (ready, waits) = tokio::sync::oneshot::channel();
    let waiter = tokio::spawn(async move {
        let wait = questions.wait(waited_on, None, Until::NotPending, None);
        tokio::pin!(wait);
        // Polled once, it holds the session.
        tokio::select! {
            biased;
            _ = &mut wait => panic!("nobody answered yet"),
            () = std::future::ready(()) => {}
        }
        ready.send(()).unwrap();
        wait.await
    });
    waits.await.unwrap();

    let young = scene.questions.clean(Which::All, DAY, at(86_400)).unwrap();
    assert_eq!(young.deleted, []);
    let cleaned = scene.questions.clean(Which::All, DAY, at(86_461)).unwrap();
    let mut deleted = cleaned.deleted;
    deleted.sort_unstable();
    assert_eq!(deleted, [done, pending]);
    assert_eq!(cleaned.waited_on, [waited_on]);
    assert!(cleaned.failed.is_empty());
    assert!(!scene.questions.folder(done).exists());

    scene.settle(waited_on, answer("A"));
    waiter.await.unwrap().unwrap().unwrap();
}

#[test]
fn q13_q17_cleaning_by_itself_spares_what_the_human_may_still_answer() {
    let scene = Scene::new();
    let ids: [_; 5] = std::array::from_fn(|_| scene.ask());
    let [pending, timed_out, abandoned, answered, rejected] = ids;
    scene.settle(timed_out, Verdict::TimeOut);
    scene.settle(abandoned, Verdict::Abandon);
    scene.settle(answered, answer("A"));
    scene.settle(rejected, reject(None));
    let mut cleaned = scene.questions.clean(Which::Settled, DAY, at(86_400 * 900)).unwrap();
    cleaned.deleted.sort_unstable();
    assert_eq!(cleaned.deleted, [answered, rejected]);
    for id in [pending, timed_out, abandoned] {
        scene.settle(id, answer("B"));
    }
}

#[test]
fn q13_what_a_killed_asker_left_is_deleted_when_it_is_old() {
    let scene = Scene::new();
    let (unfinished, pending) = (scene.ask(), scene.ask());
    for file in ["request.json", "status.json"] {
        fs::remove_file(scene.path(unfinished, file)).unwrap();
    }
    fs::write(scene.path(unfinished, ".half.tmp"), "").unwrap();
    // The folder was made just now, whatever the clock of the questions says.
    let young = scene.questions.clean(Which::Settled, DAY, at(0)).unwrap();
    assert_eq!(young.deleted, []);
    let cleaned = scene.questions.clean(Which::Settled, DAY, at(86_400 * 9_000)).unwrap();
    assert_eq!(cleaned.deleted, [unfinished]);
    assert!(scene.questions.folder(pending).exists());
}

#[test]
fn q13_cleaning_goes_on_past_a_session_that_fails() {
    let scene = Scene::new();
    let (bad, good) = (scene.ask(), scene.ask());
    // A file where a folder should be cannot be cleaned like a session.
    fs::remove_dir_all(scene.questions.folder(bad)).unwrap();
    fs::write(scene.questions.folder(bad), "not a folder").unwrap();
    let cleaned = scene.questions.clean(Which::All, DAY, at(86_400 * 9)).unwrap();
    assert_eq!(cleaned.deleted, [good]);
    assert_eq!(cleaned.failed.len(), 1);
    assert_eq!(cleaned.failed[0].id, bad);
}

#[test]
fn a_damaged_session_is_kept_as_long_as_any_other() {
    let scene = Scene::new();
    let id = scene.ask();
    fs::write(scene.path(id, "status.json"), "garbage").unwrap();
    // The folder was made just now, whatever the clock of the questions says.
    let cleaned = scene.questions.clean(Which::All, DAY, at(0)).unwrap();
    assert_eq!(cleaned.deleted, []);
    assert!(scene.questions.folder(id).exists());
}
