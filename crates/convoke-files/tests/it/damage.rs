//! Files that are half-written, garbage, or left by a killed process.

use std::fs;

use convoke_files::questions::{Outcome, Until};

use crate::scene::{Scene, answer, answers_file, reject};

#[test]
fn an_answerer_killed_half_way_has_answered() {
    let scene = Scene::new();
    let id = scene.ask();
    // Killed after `answers.json` was written: its lock, a temporary file and the old status are left.
    fs::write(scene.path(id, "answers.json"), answers_file(id, "A", None).to_string()).unwrap();
    fs::write(scene.path(id, "status.json.lock"), "4194305").unwrap();
    fs::write(scene.path(id, ".half.tmp"), "{").unwrap();
    let entry = scene.questions.entry(id).unwrap().unwrap();
    assert_eq!(entry.status.as_str(), "completed");
    assert_eq!(scene.settle(id, reject(None)), format!("Session {id} is already completed"));
    assert_eq!(scene.names(id), ["answers.json", "request.json", "status.json"]);
    assert_eq!(scene.status(id), "completed");
}

#[test]
fn a_reader_completes_what_a_killed_answerer_began() {
    let scene = Scene::new();
    let id = scene.ask();
    fs::write(scene.path(id, "answers.json"), answers_file(id, "B", None).to_string()).unwrap();
    let shown = scene.questions.show(id).unwrap();
    assert_eq!(shown.status.status.as_str(), "completed");
    assert_eq!(scene.status(id), "completed");
}

#[test]
fn an_answerer_killed_before_the_answer_appeared_has_not_answered() {
    let scene = Scene::new();
    let id = scene.ask();
    fs::write(scene.path(id, ".answers.tmp"), "{\"answers\":").unwrap();
    assert_eq!(scene.settle(id, answer("B")), "completed");
    assert_eq!(scene.names(id), ["answers.json", "request.json", "status.json"]);
}

#[test]
fn q18_unreadable_answers_are_set_aside_and_the_set_is_abandoned() {
    let scene = Scene::new();
    for garbage in ["{", "[]", "\u{0}", "{\"answers\":1}"] {
        let id = scene.ask();
        scene.leave(id, "answers.json", garbage);
        let outcome = scene.questions.outcome_now(id, None).unwrap();
        assert_eq!(outcome, Some(Outcome::Abandoned), "{garbage}");
        assert_eq!(scene.status(id), "abandoned");
        assert_eq!(fs::read_to_string(scene.path(id, "answers.json.bad0")).unwrap(), garbage);
        // It can still be answered, and the garbage is still there.
        assert_eq!(scene.settle(id, answer("A")), "completed");
        assert!(scene.path(id, "answers.json.bad0").exists());
    }
}

#[test]
fn a_set_that_was_rejected_while_another_program_wrote_its_answers_can_be_shown() {
    let scene = Scene::new();
    let id = scene.ask();
    // Just now, and not whole: it is given the time to become so.
    fs::write(scene.path(id, "answers.json"), "{\"answers\":").unwrap();
    assert_eq!(scene.questions.show(id).unwrap().status.status.as_str(), "pending");
    assert_eq!(scene.settle(id, reject(Some("no"))), "rejected");
    let shown = scene.questions.show(id).unwrap();
    assert_eq!((shown.status.status.as_str(), shown.answers), ("rejected", None));
}

#[test]
fn q18_answers_with_an_unknown_label_do_not_reach_the_asker() {
    let scene = Scene::new();
    let id = scene.ask();
    scene.leave(id, "answers.json", &answers_file(id, "Z", None).to_string());
    assert_eq!(scene.questions.outcome_now(id, None).unwrap(), Some(Outcome::Abandoned));
    assert_eq!(scene.status(id), "abandoned");
}

#[test]
fn q18_a_damaged_status_is_set_aside_and_rebuilt() {
    let scene = Scene::new();
    let id = scene.ask();
    fs::write(scene.path(id, "status.json"), "garbage").unwrap();
    let listed = scene.questions.list().unwrap();
    assert_eq!((listed.entries.len(), listed.damaged.len()), (1, 0));
    assert_eq!(listed.entries[0].status.as_str(), "abandoned");
    assert_eq!(scene.settle(id, answer("A")), "completed");
    assert_eq!(fs::read_to_string(scene.path(id, "status.json.bad0")).unwrap(), "garbage");
    assert_eq!(scene.json(id, "status.json")["totalQuestions"], 1);
}

#[test]
fn q18_a_damaged_request_is_said_and_hides_no_other() {
    let scene = Scene::new();
    let (bad, good) = (scene.ask(), scene.ask());
    fs::write(scene.path(bad, "request.json"), "{").unwrap();
    let error = scene.settle(bad, answer("A"));
    assert_eq!(error, format!("{} is damaged", scene.path(bad, "request.json").display()));
    assert_eq!(scene.settle(good, answer("A")), "completed");
}

#[test]
fn a_link_in_the_folder_is_no_session() {
    let scene = Scene::new();
    let target = scene.ask();
    let id = scene.next_id();
    std::os::unix::fs::symlink(scene.questions.folder(target), scene.questions.folder(id)).unwrap();
    assert_eq!(scene.settle(id, answer("A")), format!("Session not found: {id}"));
}

#[test]
fn q18_a_completed_session_without_readable_answers_can_be_answered_again() {
    let scene = Scene::new();
    for answers in [None, Some("garbage"), Some("[]")] {
        let id = scene.ask();
        let mut status = scene.json(id, "status.json");
        status["status"] = serde_json::json!("completed");
        fs::write(scene.path(id, "status.json"), status.to_string()).unwrap();
        if let Some(answers) = answers {
            scene.leave(id, "answers.json", answers);
        }
        assert_eq!(scene.settle(id, answer("A")), "completed", "{answers:?}");
        assert_eq!(scene.questions.validate(id).unwrap(), [""; 0]);
    }
}

#[tokio::test]
async fn an_answer_that_is_written_in_place_is_waited_for() {
    let scene = Scene::new();
    let id = scene.ask();
    let text = answers_file(id, "B", None).to_string();
    let (first, second) = text.split_at(text.len() / 2);
    fs::write(scene.path(id, "answers.json"), first).unwrap();
    let wait = scene.questions.wait(id, None, Until::NotPending, None);
    tokio::pin!(wait);
    let half = tokio::time::timeout(std::time::Duration::from_millis(100), &mut wait).await;
    assert!(half.is_err(), "half an answer is none");
    let mut file = fs::File::options().append(true).open(scene.path(id, "answers.json")).unwrap();
    std::io::Write::write_all(&mut file, second.as_bytes()).unwrap();
    let Some(Outcome::Answered(file)) = wait.await.unwrap() else { panic!("it was not answered") };
    assert_eq!(file.answers[0].selected_option.as_deref(), Some("B"));
}

#[test]
fn pipes_and_links_in_the_place_of_files_block_no_reader() {
    let scene = Scene::new();
    let (piped, locked, linked, good) = (scene.ask(), scene.ask(), scene.ask(), scene.ask());
    let pipe = |path: std::path::PathBuf| {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    fs::remove_file(scene.path(piped, "status.json")).unwrap();
    pipe(scene.path(piped, "status.json"));
    assert_eq!(scene.questions.list().unwrap().entries.len(), 4);
    assert_eq!(scene.settle(good, answer("A")), "completed");
    // Neither can be a lock file; they are removed once they are too old to be one that is being created.
    pipe(scene.path(locked, "status.json.lock"));
    std::os::unix::fs::symlink("/nowhere", scene.path(linked, "status.json.lock")).unwrap();
    for id in [locked, linked] {
        assert_eq!(scene.settle(id, answer("A")), "completed");
    }
}
