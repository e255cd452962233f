//! What the API says about itself.

use serde_json::Value;

use super::scene::Scene;

/// One line for each route: method, path, name and every status, after a look at the type of each error.
fn described(document: &Value) -> String {
    let mut lines = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let statuses: Vec<&str> =
                operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
            let id = operation["operationId"].as_str().unwrap();
            lines.push(format!("{method} {path} {id}: {}", statuses.join(" ")));
            for (status, response) in operation["responses"].as_object().unwrap() {
                let is_problem = response["content"].get("application/problem+json").is_some();
                assert_eq!(is_problem, status.starts_with(['4', '5']), "{path} {status}");
            }
        }
    }
    lines.join("\n")
}

/// A contract: every route, its name, and every status that it can have.
#[tokio::test]
async fn every_route_is_described_with_all_that_it_can_answer() {
    let scene = Scene::new().await;
    let document = scene.get("/api/openapi.json").await.json();
    assert_eq!(
        (&document["openapi"], &document["info"]["title"]),
        (&"3.1.0".into(), &"Convoke".into())
    );
    insta::assert_snapshot!(described(&document));
}

#[tokio::test]
async fn every_schema_that_is_named_is_there() {
    let scene = Scene::new().await;
    let document = scene.get("/api/openapi.json").await;
    let known = document.json()["components"]["schemas"].clone();
    for part in document.body.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(known.get(name).is_some(), "{name}");
    }
}

#[tokio::test]
async fn the_daemon_tells_what_it_does() {
    let scene = Scene::new().await;
    scene.session().await;
    let mut status = scene.get("/api/status").await.json();
    assert!(status["pid"].is_u64() && status["uptimeMs"].is_u64());
    status["pid"] = Value::Null;
    status["uptimeMs"] = Value::Null;
    let status = serde_json::to_string(&status).unwrap();
    let folder = scene.path("home");
    insta::assert_snapshot!(status.replace(folder.to_str().unwrap(), "[home]"), @r#"
    {"activeSessions":1,"busy":0,"failed":0,"home":"[home]","inbox":0,"pid":null,"processes":1,"unseen":0,"uptimeMs":null,"url":"http://127.0.0.1:7717","version":"1.2.3","waiting":0,"working":0}
    "#);
    let metrics = scene.get("/metrics").await;
    assert_eq!(metrics.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert!(metrics.body.contains("\nconvoke_sessions_active 1\n"), "{}", metrics.body);
    let counted = r#"convoke_http_requests_total{route="/api/sessions",status="201"} 1"#;
    assert!(metrics.body.contains(counted), "{}", metrics.body);
    let agents = scene.get("/api/agents").await.json();
    assert_eq!(
        (&agents["agents"][0]["name"], &agents["agents"][0]["protocol"]),
        (&"scripted".into(), &"acp".into())
    );
}

#[tokio::test]
async fn what_was_said_is_found_again() {
    let scene = Scene::new().await;
    let session = scene.session().await;
    scene.turn(&session, "the quick brown fox").await;
    let hits =
        scene.get(&format!("/api/search?q=quick%20bro*&sessionId={session}&limit=1")).await.json();
    assert_eq!(
        (&hits["hits"][0]["sessionId"], hits["hits"].as_array().unwrap().len()),
        (&session.into(), 1)
    );
    let next = hits["next"].as_u64().unwrap();
    let more = scene.get(&format!("/api/search?q=quick&before={next}")).await.json();
    assert_eq!(more["hits"].as_array().unwrap().len(), 1);
    assert_eq!(scene.get("/api/search?q=nothing").await.body, r#"{"hits":[]}"#);
    assert_eq!(scene.get("/api/search?q=x&limit=101").await.status, 422);
}

#[tokio::test]
async fn h8_every_source_of_an_import_is_described() {
    let scene = Scene::new().await;
    let document = scene.get("/api/openapi.json").await.json();
    let sources = &document["components"]["schemas"]["NewHistoryImport"]["properties"]["sources"];
    let known = convoke_engine::HistoryAgent::ALL.map(|agent| agent.as_str().to_owned());
    assert_eq!(sources["items"]["enum"], serde_json::json!(known));
}

/// Who can write the database can have these executed: nothing that changes settings, users or rules, or adds projects.
#[tokio::test]
async fn n3_k1_nodes_execute_only_the_listed_routes_for_each_other() {
    let scene = Scene::new().await;
    let document = scene.get("/api/openapi.json").await.json();
    let mut allowed = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            if crate::nodes::is_allowed_request(&method, &path.replace(['{', '}'], "")) {
                allowed.push(format!("{method} {path}"));
            }
        }
    }
    insta::assert_snapshot!(allowed.join("\n"), @r"
    POST /api/inbox/{id}/answer
    POST /api/inbox/{id}/reject
    DELETE /api/repos/{id}
    GET /api/repos/{id}/files
    POST /api/sessions
    DELETE /api/sessions/{id}
    PATCH /api/sessions/{id}
    POST /api/sessions/{id}/cancel
    GET /api/sessions/{id}/changes
    GET /api/sessions/{id}/changes/file
    POST /api/sessions/{id}/complete
    POST /api/sessions/{id}/erase
    POST /api/sessions/{id}/finish
    POST /api/sessions/{id}/fork
    POST /api/sessions/{id}/mode
    POST /api/sessions/{id}/move
    POST /api/sessions/{id}/prompt
    DELETE /api/sessions/{id}/queue/{prompt}
    PATCH /api/sessions/{id}/queue/{prompt}
    POST /api/sessions/{id}/queue/{prompt}/send
    POST /api/sessions/{id}/restore
    POST /api/sessions/{id}/resume
    POST /api/sessions/{id}/revert
    POST /api/sessions/{id}/seen
    POST /api/sessions/{id}/setting
    POST /api/sessions/{id}/undo
    DELETE /api/teams/sessions/{id}
    POST /api/teams/sessions/{id}/compact
    POST /api/teams/{team}/cancel
    GET /api/teams/{team}/report
    POST /api/teams/{team}/sleep
    POST /api/teams/{team}/wake
    ");
}
