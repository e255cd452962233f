//! Answering and rejecting, one at a time.

use convoke_files::questions::Verdict;
use serde_json::json;

use crate::scene::{Scene, answer, at, reject};

#[test]
fn q9_q5_an_answer_is_written_and_completes_the_session() {
    let scene = Scene::new();
    let id = scene.ask_as(Some("call-1"));
    assert_eq!(scene.settle(id, answer("B")), "completed");
    assert_eq!(scene.names(id), ["answers.json", "request.json", "status.json"]);
    assert_eq!(
        scene.json(id, "answers.json"),
        json!({
            "sessionId": id, "callId": "call-1", "timestamp": at(60),
            "answers": [{"questionIndex": 0, "selectedOption": "B", "timestamp": at(30)}],
        })
    );
    let status = scene.json(id, "status.json");
    assert_eq!(status["lastModified"], json!(at(60)));
    assert_eq!(status["createdAt"], json!(at(0)));
}

#[test]
fn q9_a_session_that_does_not_exist_cannot_be_answered() {
    let scene = Scene::new();
    let id = scene.next_id();
    assert_eq!(scene.settle(id, answer("A")), format!("Session not found: {id}"));
}

#[test]
fn q10_a_rejection_records_its_reason_or_null() {
    let scene = Scene::new();
    for (reason, recorded) in [(Some("not now"), json!("not now")), (None, json!(null))] {
        let id = scene.ask();
        assert_eq!(scene.settle(id, reject(reason)), "rejected");
        assert_eq!(scene.json(id, "status.json")["rejectionReason"], recorded);
        assert_eq!(scene.names(id), ["request.json", "status.json"]);
    }
}

#[test]
fn q4_nothing_leaves_completed_or_rejected() {
    let scene = Scene::new();
    for (first, word) in [(answer("A"), "completed"), (reject(None), "rejected")] {
        let id = scene.ask();
        scene.settle(id, first);
        for second in [answer("B"), reject(Some("late")), Verdict::TimeOut, Verdict::Abandon] {
            assert_eq!(scene.settle(id, second), format!("Session {id} is already {word}"));
        }
        assert_eq!(scene.status(id), word);
    }
}

#[test]
fn q4_a_late_answer_to_a_timed_out_or_abandoned_set_is_kept() {
    let scene = Scene::new();
    for (ending, word) in [(Verdict::TimeOut, "timed_out"), (Verdict::Abandon, "abandoned")] {
        let id = scene.ask();
        assert_eq!(scene.settle(id, ending), word);
        assert_eq!(scene.settle(id, answer("A")), "completed");
        let shown = scene.questions.show(id).unwrap();
        assert_eq!(shown.answers.unwrap().answers[0].selected_option.as_deref(), Some("A"));
    }
}

#[test]
fn q15_an_answer_that_does_not_fit_is_refused_and_the_session_stays_answerable() {
    let scene = Scene::new();
    let id = scene.ask();
    let refusal = "Answer for question 0 references non-existent option: C";
    assert_eq!(scene.settle(id, answer("C")), refusal);
    assert_eq!(scene.settle(id, Verdict::Answer(Vec::new())), "No answers provided");
    assert_eq!(scene.names(id), ["request.json", "status.json"]);
    assert_eq!(scene.settle(id, answer("A")), "completed");
}

#[test]
fn what_other_programs_write_beside_ours_is_kept() {
    let scene = Scene::new();
    let id = scene.ask();
    let mut status = scene.json(id, "status.json");
    status["currentQuestionIndex"] = json!(3);
    status["status"] = json!("in-progress");
    std::fs::write(scene.path(id, "status.json"), status.to_string()).unwrap();
    assert_eq!(scene.settle(id, reject(None)), "rejected");
    assert_eq!(scene.json(id, "status.json")["currentQuestionIndex"], json!(3));
}
