//! Creating, finding, listing and validating.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use convoke_core::id::RequestId;
use serde_json::json;

use crate::scene::{Scene, answer, at, new_set, reject};

#[test]
fn q1_q5_asking_makes_a_folder_with_request_and_status() {
    let scene = Scene::new();
    let id = scene.ask_as(Some("call-1"));
    assert_eq!(scene.names(id), ["request.json", "status.json"]);
    assert_eq!(
        scene.json(id, "request.json"),
        json!({
            "sessionId": id, "status": "pending", "timestamp": "2026-11-15T10:00:00.000Z",
            "callId": "call-1", "workingDirectory": "/srv/app", "askedBy": "a test",
            "questions": [{
                "prompt": "Which one?", "title": "Which", "multiSelect": false,
                "options": [{"label": "A", "description": "the first"}, {"label": "B"}],
            }],
        })
    );
    assert_eq!(
        scene.json(id, "status.json"),
        json!({
            "sessionId": id, "status": "pending", "totalQuestions": 1, "callId": "call-1",
            "createdAt": "2026-11-15T10:00:00.000Z", "lastModified": "2026-11-15T10:00:00.000Z",
            "rejectionReason": null, "workingDirectory": "/srv/app",
        })
    );
    let text = fs::read_to_string(scene.path(id, "status.json")).unwrap();
    assert!(text.starts_with("{\n  \""), "pretty-printed with two spaces: {text}");
}

#[test]
fn q2_session_files_are_private() {
    let scene = Scene::new();
    let id = scene.ask();
    scene.settle(id, answer("A"));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(scene.questions.dir().to_owned()), 0o700);
    assert_eq!(mode(scene.questions.folder(id)), 0o700);
    for name in scene.names(id) {
        assert_eq!(mode(scene.path(id, &name)), 0o600, "{name}");
    }
}

#[test]
fn q3_no_questions_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    let mut new = new_set(None);
    new.questions.clear();
    let error = scene.questions.create(scene.next_id(), new, at(0)).unwrap_err();
    assert_eq!(error.to_string(), "At least one question is required to create a session");
    assert!(!scene.questions.dir().exists());
}

#[test]
fn q17_as_many_sessions_may_wait_as_are_allowed() {
    let scene = Scene::with_sessions_max(2);
    let first = scene.ask();
    scene.ask();
    let refused = scene.questions.create(scene.next_id(), new_set(None), at(0)).unwrap_err();
    assert_eq!(refused.to_string(), "2 question sessions already waiting for an answer");
    scene.settle(first, answer("A"));
    scene.ask();
}

#[test]
fn q17_of_many_simultaneous_askers_only_as_many_as_are_allowed_succeed() {
    let scene = Scene::with_sessions_max(3);
    let asked: usize = thread::scope(|scope| {
        let askers: Vec<_> = (0..20)
            .map(|_| {
                scope
                    .spawn(|| scene.questions.create(scene.next_id(), new_set(None), at(0)).is_ok())
            })
            .collect();
        askers.into_iter().map(|asker| usize::from(asker.join().unwrap())).sum()
    });
    assert_eq!(asked, 3);
    assert_eq!(scene.questions.list().unwrap().entries.len(), 3);
}

#[test]
fn q17_sessions_of_other_programs_count_and_settled_or_deleted_ones_do_not() {
    let scene = Scene::with_sessions_max(2);
    let (first, foreign) = (scene.ask(), scene.next_id());
    // Another program makes a session of the same format, and knows nothing of what we remember.
    let folder = scene.questions.folder(foreign);
    fs::create_dir(&folder).unwrap();
    for name in ["request.json", "status.json"] {
        let text = scene.json(first, name).to_string();
        let text = text.replace(&first.to_string(), &foreign.to_string());
        fs::write(folder.join(name), text).unwrap();
    }
    let ask = || {
        let id = scene.next_id();
        let asked = scene.questions.create(id, new_set(None), at(0));
        asked.map(|()| id).map_err(|error| error.to_string())
    };
    let full = "2 question sessions already waiting for an answer".to_owned();
    assert_eq!(ask(), Err(full.clone()));
    scene.settle(foreign, reject(None));
    let third = ask().unwrap();
    assert_eq!(ask(), Err(full.clone()));
    fs::remove_dir_all(scene.questions.folder(third)).unwrap();
    ask().unwrap();
    assert_eq!(ask(), Err(full));
}

#[test]
fn q17_what_is_remembered_of_pending_sessions_may_be_lost_or_garbage() {
    let scene = Scene::with_sessions_max(2);
    let remembered = scene.questions.dir().join(".pending");
    scene.ask();
    for garbage in
        ["", "{", "null", r#"{"folder":{"seconds":0,"nanoseconds":0,"links":0},"ids":[]}"#]
    {
        fs::write(&remembered, garbage).unwrap();
        let id = scene.ask();
        let refused = scene.questions.create(scene.next_id(), new_set(None), at(0));
        assert!(refused.is_err(), "{garbage}");
        scene.settle(id, reject(None));
        fs::remove_file(&remembered).unwrap();
    }
}

#[test]
fn a_session_is_found_by_id_and_by_prefix() {
    let scene = Scene::new();
    let id = scene.ask();
    let text = id.to_string();
    let find = |text: &str| scene.questions.find(text).map_err(|error| error.to_string());
    assert_eq!(find(&text), Ok(id));
    assert_eq!(find(&text[..8].to_uppercase()), Ok(id));
    assert_eq!(find("abcd"), Err("Session not found: abcd".to_owned()));
    for bad in ["", "abc", "../..", "zzzzzzzz"] {
        assert_eq!(find(bad), Err(format!("Invalid session ID format: {bad}")));
    }
    let mut bytes = [0; 16];
    bytes[15] = 1;
    let twin = RequestId::from_random(bytes);
    scene.questions.create(twin, new_set(None), at(0)).unwrap();
    assert_eq!(find("0000"), Err(format!("0000 matches several sessions: {id}, {twin}")));
}

#[test]
fn sessions_are_listed_oldest_first_and_other_folders_are_ignored() {
    let scene = Scene::new();
    assert_eq!(scene.questions.list().unwrap().entries, []);
    let (a, b, c) = (scene.next_id(), scene.next_id(), scene.next_id());
    for (id, seconds) in [(a, 3), (b, 1), (c, 2)] {
        scene.questions.create(id, new_set(None), at(seconds)).unwrap();
    }
    scene.settle(c, reject(None));
    fs::create_dir(scene.questions.dir().join("not-an-id")).unwrap();
    fs::write(scene.questions.dir().join("notes.txt"), "mine").unwrap();
    let listed = scene.questions.list().unwrap();
    let seen: Vec<_> =
        listed.entries.iter().map(|entry| (entry.id, entry.status.as_str())).collect();
    assert_eq!(seen, [(b, "pending"), (c, "rejected"), (a, "pending")]);
    assert!(listed.damaged.is_empty());
}

#[test]
fn q16_validation_says_what_is_wrong_and_changes_nothing() {
    let scene = Scene::new();
    let issues = |id| scene.questions.validate(id).unwrap();
    let id = scene.ask();
    assert_eq!(issues(id), [""; 0]);
    assert_eq!(issues(scene.next_id()), ["Session directory does not exist"]);

    let mut status = scene.json(id, "status.json");
    status["totalQuestions"] = json!(2);
    status["sessionId"] = json!(scene.next_id());
    status["status"] = json!("completed");
    fs::write(scene.path(id, "status.json"), status.to_string()).unwrap();
    assert_eq!(
        issues(id),
        [
            "Session ID mismatch in status.json",
            "Question count mismatch between status and request",
            "Completed, but answers.json is missing",
        ]
    );
    fs::write(scene.path(id, "request.json"), "{").unwrap();
    fs::remove_file(scene.path(id, "status.json")).unwrap();
    assert_eq!(
        issues(id),
        [
            "request.json is damaged: EOF while parsing an object at line 1 column 1",
            "Required file missing: status.json",
        ]
    );
    assert_eq!(scene.names(id), ["request.json"]);
}
