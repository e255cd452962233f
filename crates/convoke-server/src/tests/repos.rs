//! Projects, and what may become one.

use std::os::unix::fs::symlink;

use axum::http::Method;
use serde_json::json;

use super::scene::Scene;

#[tokio::test]
async fn s5_a_project_lies_within_the_workspace_root_once_links_are_followed() {
    let scene = Scene::new().await;
    symlink(scene.path("base-evil"), scene.path("base/link")).unwrap();
    std::fs::write(scene.path("base/file"), "").unwrap();
    let mut told = Vec::new();
    for path in [
        "base-evil",
        "base/../base-evil",
        "base/app/../../base-evil",
        "base/link",
        "base/../../../../../etc",
        "base/nope",
        "base/nope/../../base-evil",
        "base/file",
    ] {
        let path = format!("{}/{path}", scene.path("").display().to_string().trim_end_matches('/'));
        let answer = scene.post("/api/repos", json!({"path": path})).await;
        told.push(format!("{} {}", answer.status, answer.json()["code"].as_str().unwrap()));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    403 outside_workspace
    403 outside_workspace
    403 outside_workspace
    403 outside_workspace
    403 outside_workspace
    404 no_such_directory
    403 outside_workspace
    404 no_such_directory
    ");
    assert_eq!(scene.get("/api/repos").await.body, r#"{"repos":[]}"#);
}

#[tokio::test]
async fn s5_a_project_is_added_once_and_listed_and_removed() {
    let scene = Scene::new().await;
    let path = scene.path("base/app");
    let added = scene.post("/api/repos", json!({"path": path, "name": "  "})).await;
    insta::assert_snapshot!(scene.told(&added), @r#"
    201
    {
      "addedAt": "[time]",
      "id": "[id]",
      "name": "app",
      "path": "[tmp]/base/app"
    }
    "#);
    let again = scene.post("/api/repos", json!({"path": scene.path("base/./app/")})).await;
    assert_eq!(again.json()["code"], "repo_exists");
    assert_eq!(scene.get("/api/repos").await.json(), json!({"repos": [added.json()]}));
    let id = added.json()["id"].as_str().unwrap().to_owned();
    let removed = scene.call(Method::DELETE, &format!("/api/repos/{}", &id[..8]), None).await;
    assert_eq!((removed.status, &*removed.body), (204, ""));
    let removed = scene.call(Method::DELETE, &format!("/api/repos/{id}"), None).await;
    assert_eq!(removed.json()["code"], "repo_not_found");
}

#[tokio::test]
async fn s1_the_sessions_of_a_removed_project_stay_readable() {
    let scene = Scene::new().await;
    let session = scene.session().await;
    let repo = scene.get("/api/repos").await.json()["repos"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(scene.call(Method::DELETE, &format!("/api/repos/{repo}"), None).await.status, 204);
    let shown = scene.get(&format!("/api/sessions/{session}")).await;
    assert_eq!((shown.status, &shown.json()["repo"]["id"]), (200, &json!(repo)));
}
