//! What waits for a human.

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use super::scene::Scene;

/// An agent that asks before it writes.
fn asking() -> Script {
    let tool = Tool::named("t1", "Write", json!({"path": "a.txt"}));
    let choices = [("yes", "allow_once"), ("always", "allow_always"), ("no", "reject_once")];
    let ask = Ask::new(tool, &choices)
        .then("yes", [Step::say("written")])
        .then("no", [Step::say("left")]);
    Script::new().turn([Step::Ask(ask)])
}

/// Prompts, and waits until something is asked.
async fn asked(scene: &Scene, session: &str) -> Value {
    let mut changes = scene.app.engine.follow();
    scene.post(&format!("/api/sessions/{session}/prompt"), json!({"text": "go"})).await;
    loop {
        let inbox = scene.get("/api/inbox").await.json();
        if let Some(item) = inbox["items"].get(0) {
            return item.clone();
        }
        changes.recv().await.unwrap();
    }
}

#[tokio::test]
async fn a_permission_is_answered_once() {
    let scene = Scene::with(&asking(), |_| {}).await;
    let session = scene.session().await;
    let item = asked(&scene, &session).await;
    let mut shown = item.clone();
    shown["permission"]["options"] = json!("…");
    insta::assert_snapshot!(super::scene::mask(&serde_json::to_string_pretty(&shown).unwrap()), @r#"
    {
      "agent": "scripted",
      "createdAt": "[time]",
      "id": "[id]",
      "kind": "permission",
      "permission": {
        "evidence": {
          "args": {
            "path": "a.txt"
          },
          "kind": "tool",
          "tool": "Write"
        },
        "options": "…",
        "permissionId": "[id]",
        "status": "pending",
        "title": "Write",
        "tool": "Write",
        "toolCallId": "t1"
      },
      "project": "app",
      "projectId": "[id]",
      "sessionId": "[id]",
      "status": "pending",
      "title": "Write",
      "uid": "[id]"
    }
    "#);
    let id = item["id"].as_str().unwrap();
    let answer = |body: Value| {
        let (scene, path) = (&scene, format!("/api/inbox/{id}/answer"));
        async move {
            let answer = scene.post(&path, body).await;
            if answer.status == 204 { "204".to_owned() } else { answer.problem() }
        }
    };
    let told = [
        answer(json!({"optionId": "nope"})).await,
        answer(json!({"answers": {"0": {"customText": "x"}}})).await,
        answer(json!({"optionId": "yes", "answers": {}})).await,
        answer(json!({})).await,
        answer(json!({"optionId": "yes"})).await,
        answer(json!({"optionId": "no"})).await,
    ];
    insta::assert_snapshot!(told.join("\n"), @r"
    422 invalid_answer: the permission has no option `nope`
    422 invalid_answer: the request is for a permission
    422 invalid: invalid body: give either optionId or answers, not both
    422 invalid: invalid body: missing field `optionId` (of a permission) or `answers` (of questions)
    204
    409 already_settled: the request is already answered
    ");
    assert_eq!(scene.get("/api/inbox").await.body, r#"{"items":[]}"#);
    let unknown =
        scene.post("/api/inbox/11111111-1111-4111-8111-111111111111/reject", json!({})).await;
    assert_eq!(unknown.json()["code"], "request_not_found");
}

#[tokio::test]
async fn a_permission_is_rejected_with_a_reason_or_without_a_body() {
    for body in [Some(json!({"reason": "not today"})), None] {
        let scene = Scene::with(&asking(), |_| {}).await;
        let session = scene.session().await;
        let item = asked(&scene, &session).await;
        let path = format!("/api/inbox/{}/reject", item["id"].as_str().unwrap());
        assert_eq!(scene.call(axum::http::Method::POST, &path, body).await.status, 204);
        assert_eq!(scene.get("/api/inbox").await.body, r#"{"items":[]}"#);
    }
}
