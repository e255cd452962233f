//! Rules and evidence over REST and the WebSocket.

use axum::http::Method;
use serde_json::{Value, json};

use super::scene::{Scene, asking};
use super::socket::Page;

fn is(kind: &'static str) -> impl Fn(&Value) -> bool {
    move |frame| frame["type"] == kind
}

#[tokio::test]
async fn p1_p2_evidence_and_rules_reach_the_sockets_and_an_answer_makes_a_rule() {
    let (scene, address) = Scene::listening(&asking()).await;
    let uid = scene.session().await;
    let mut page = Page::open(&scene, address).await;
    let mut other = Page::open(&scene, address).await;
    page.ask(json!({"type": "session:open", "sessionId": uid})).await;
    page.ask(json!({"type": "session:send", "sessionId": uid, "content": "one"})).await;
    let asked = page.until(|frame| frame["entry"]["type"] == "permission").await["entry"].clone();
    assert_eq!(asked["evidence"], json!({"kind": "command", "command": "cargo test"}));
    let labels: Vec<&str> =
        asked["rules"].as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    let expected = ["`cargo test` in app", "`cargo test …` in app", "`cargo test …` everywhere"];
    assert_eq!(labels, expected);
    let listed = page.ask(json!({"type": "inbox:list"})).await;
    assert_eq!(listed["items"][0]["permission"]["evidence"], asked["evidence"]);
    let answer = json!({"type": "permission:answer", "permissionId": asked["permissionId"], "optionId": "yes", "rule": 2});
    assert_eq!(page.ask(answer).await["type"], "inbox:settled");
    other.until(is("rule:changed")).await;
    page.until_turns(1).await;
    page.ask(json!({"type": "session:send", "sessionId": uid, "content": "two"})).await;
    let applied = page.until(|frame| frame["entry"]["event"] == "rule_applied").await;
    page.until_turns(2).await;
    let rules = page.ask(json!({"type": "rule:list"})).await["rules"].clone();
    assert_eq!(rules[0]["text"], "Allow `cargo test …` everywhere");
    assert_eq!(applied["entry"]["ruleId"], rules[0]["id"]);
    assert_eq!(applied["entry"]["what"], "cargo test");
    let removed = page.ask(json!({"type": "rule:remove", "ruleId": rules[0]["id"]})).await;
    assert_eq!((&removed["type"], &removed["ruleId"]), (&json!("rule:removed"), &rules[0]["id"]));
    other.until(is("rule:changed")).await;
    let matcher = json!({"kind": "edit", "glob": "src/**"});
    let new =
        json!({"type": "rule:add", "effect": "deny", "matcher": matcher, "agent": "scripted"});
    let added = page.ask(new).await;
    assert_eq!(added["rule"]["text"], "Deny changes to `src/**` everywhere for scripted");
}

#[tokio::test]
async fn p2_rules_are_made_listed_and_revoked_over_rest() {
    let scene = Scene::new().await;
    let project = scene.project().await;
    let matcher = json!({"kind": "command", "words": ["cargo", "test"], "more": true});
    let new = json!({"effect": "allow", "matcher": matcher, "repoId": project[..8]});
    let made = scene.post("/api/rules", new.clone()).await;
    assert_eq!((made.status, &made.json()["text"]), (201, &json!("Allow `cargo test …` in app")));
    assert_eq!(
        scene.post("/api/rules", new).await.json()["id"],
        made.json()["id"],
        "it says the same"
    );
    let listed = scene.get(&format!("/api/rules?repoId={project}")).await.json();
    assert_eq!(listed, json!({"rules": [made.json()]}));
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/rules/{id}");
    assert_eq!(scene.call(Method::DELETE, &path, None).await.status, 204);
    let mut told = vec![scene.call(Method::DELETE, &path, None).await.problem()];
    for (effect, matcher, agent) in [
        ("allow", json!({"kind": "command", "words": ["sudo"], "more": true}), None),
        ("allow", json!({"kind": "command", "words": []}), None),
        ("allow", json!({"kind": "tool", "tool": "Bash"}), None),
        ("allow", json!({"kind": "fetch", "domain": "localhost"}), None),
        ("deny", json!({"kind": "edit", "glob": "../x"}), None),
        ("deny", json!({"kind": "edit", "glob": "x"}), Some("missing")),
        ("perhaps", json!({"kind": "edit", "glob": "x"}), None),
        ("deny", json!({"kind": "edit", "globs": "x"}), None),
    ] {
        let new = json!({"effect": effect, "matcher": matcher, "agent": agent});
        told.push(scene.post("/api/rules", new).await.problem());
    }
    insta::assert_snapshot!(told.join("\n").replace(&id, "[id]"));
    assert_eq!(scene.get("/api/rules").await.json(), json!({"rules": []}));
}
