//! Imported sessions whose folder is no project: who may make it one, and which folders are never adopted.

use std::path::PathBuf;

use axum::http::Method;
use convoke_testkit::agent::Script;
use serde_json::{Value, json};

use super::scene::{AGENT, Scene};
use super::socket::Page;

impl Scene {
    /// An imported session in a folder whose project was removed since.
    async fn imported(&self, folder: PathBuf) -> String {
        let added = self.post("/api/repos", json!({"path": folder})).await;
        assert_eq!(added.status, 201, "{}", added.body);
        let project = added.json()["id"].as_str().unwrap().to_owned();
        let at = "2024-05-01T10:00:00.000Z";
        let turn = json!({"role": "user", "content": "hi", "timestamp": at, "tokens": 1});
        let import = json!({"repoId": project, "agent": AGENT, "transcript": "one", "createdAt": at,
            "after": 0, "turns": [turn]});
        let imported = self.post("/api/imports", import).await;
        assert_eq!(imported.status, 200, "{}", imported.body);
        let removed = self.call(Method::DELETE, &format!("/api/repos/{project}"), None).await;
        assert_eq!(removed.status, 204, "{}", removed.body);
        imported.json()["session"]["id"].as_str().unwrap().to_owned()
    }

    async fn projects(&self) -> usize {
        self.get("/api/repos").await.json()["repos"].as_array().unwrap().len()
    }
}

#[tokio::test]
async fn n7_only_an_owner_makes_the_folder_of_an_imported_session_a_project() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let folder = scene.path("base/app");
    let session = scene.imported(folder.clone()).await;
    let (member, owner) = (scene.user("mia", "member").await, scene.user("olga", "owner").await);
    let refusal = format!(
        "the session's folder {} is no project, and only an owner can add it",
        folder.display()
    );
    for (what, body) in [("prompt", json!({"text": "go on"})), ("resume", Value::Null)] {
        let path = format!("/api/sessions/{session}/{what}");
        let refused = scene.as_user(&member, Method::POST, &path, body).await;
        assert_eq!(refused.problem(), format!("403 forbidden: {refusal}"));
        let hint = format!("ask an owner to add it: `convoke project add {}`", folder.display());
        assert_eq!(refused.json()["hint"], hint);
    }
    let mut page = Page::with_token(address, &member).await;
    for frame in [
        json!({"type": "session:send", "sessionId": session, "content": "go on"}),
        json!({"type": "session:resume", "sessionId": session}),
    ] {
        assert_eq!(page.ask(frame).await["message"], refusal);
    }
    assert_eq!(scene.projects().await, 0);
    let path = format!("/api/sessions/{session}/prompt");
    let body = json!({"text": "go on"});
    let prompted = scene.as_user(&owner, Method::POST, &path, body.clone()).await;
    assert_eq!(prompted.status, 202, "{}", prompted.body);
    assert_eq!(scene.projects().await, 1);
    // It is a project like any other now.
    let prompted = scene.as_user(&member, Method::POST, &path, body).await;
    assert_eq!(prompted.status, 202, "{}", prompted.body);
}

#[tokio::test]
async fn n7_a_folder_that_contains_a_home_is_not_adopted() {
    for folder in ["", "home"] {
        let root = |settings: &mut convoke_engine::Settings| {
            settings.workspace_root = settings.workspace_root.parent().unwrap().to_owned();
        };
        let scene = Scene::with(&Script::new(), root).await;
        let folder = scene.path(folder);
        let folder = folder.canonicalize().unwrap();
        // No such folder can be added, so it takes the place of one that was.
        let outer = scene.path("").canonicalize().unwrap().join("outer");
        std::fs::create_dir(&outer).unwrap();
        let session = scene.imported(outer.clone()).await;
        std::fs::remove_dir(&outer).unwrap();
        std::os::unix::fs::symlink(&folder, &outer).unwrap();
        let path = format!("/api/sessions/{session}/prompt");
        let refused = scene.post(&path, json!({"text": "go on"})).await;
        let detail = format!(
            "the session's folder {} contains Convoke's home, and is no project",
            folder.display()
        );
        assert_eq!(refused.problem(), format!("403 forbidden: {detail}"));
        assert_eq!(scene.projects().await, 0);
        // It cannot be added either, and stays readable.
        let added = scene.post("/api/repos", json!({"path": folder})).await;
        let home = "choose a folder that does not contain Convoke's home (";
        assert!(added.status == 403 && added.body.contains(home), "{}", added.body);
        assert_eq!(scene.get(&format!("/api/sessions/{session}")).await.status, 200);
    }
}

#[tokio::test]
async fn n7_k10_a_folder_with_secrets_or_settings_of_the_user_is_not_adopted() {
    for folder in [".ssh", ".config/autostart", "link"] {
        let root = |settings: &mut convoke_engine::Settings| {
            settings.workspace_root = settings.workspace_root.parent().unwrap().to_owned();
        };
        let scene = Scene::with(&Script::new(), root).await;
        let folder = scene.path("").canonicalize().unwrap().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let session = scene.imported(folder.clone()).await;
        if folder.ends_with("link") {
            // Made a link after the import, by an agent in the folder around it.
            let elsewhere = folder.with_file_name("elsewhere");
            std::fs::rename(&folder, &elsewhere).unwrap();
            std::os::unix::fs::symlink(elsewhere, &folder).unwrap();
        }
        let path = format!("/api/sessions/{session}/prompt");
        let refused = scene.post(&path, json!({"text": "go on"})).await;
        assert_eq!(refused.status, 403, "{}: {}", folder.display(), refused.body);
        assert_eq!(scene.projects().await, 0);
    }
}
