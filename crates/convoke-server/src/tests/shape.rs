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
    insta::assert_snapshot!(described(&document), @"
    get /api/agents listAgents: 200 401 403 422 500 503
    post /api/agents/stop stopAgents: 200 401 403 500 503
    get /api/backups backups: 200 401 403 500 503
    post /api/backups beginBackup: 202 400 401 403 408 409 413 415 422 500 503
    post /api/blobs storeBlob: 201 400 401 403 408 413 415 422 500 503
    get /api/blobs/{hash} readBlob: 200 401 403 404 422 500 503
    post /api/browser-links makeBrowserLink: 201 400 401 403 408 413 415 422 500 503
    get /api/browser-sessions listBrowserSessions: 200 401 403 500 503
    post /api/browser-sessions signInBrowser: 200 201 400 403 408 413 415 422 500 503
    delete /api/browser-sessions/{id} revokeBrowserSession: 204 401 403 404 422 500 503
    get /api/config showConfig: 200 401 403 409 500 503
    patch /api/config changeConfig: 200 400 401 403 404 408 409 413 415 422 500 503
    get /api/home showHome: 200 401 403 500 503
    post /api/imports importTranscript: 200 400 401 403 404 408 409 413 415 422 500 503
    get /api/inbox listInbox: 200 401 403 500 503
    post /api/inbox/{id}/answer answerRequest: 204 400 401 403 404 408 409 413 415 422 500 503
    post /api/inbox/{id}/reject rejectRequest: 204 400 401 403 404 408 409 413 415 422 500 503
    get /api/repos listRepos: 200 401 403 500 503
    post /api/repos addRepo: 201 400 401 403 404 408 409 413 415 422 500 503
    delete /api/repos/{id} removeRepo: 204 401 403 404 409 422 500 503
    get /api/repos/{id}/files findFiles: 200 401 403 404 409 422 500 503
    get /api/rules listRules: 200 401 403 404 409 422 500 503
    post /api/rules addRule: 201 400 401 403 404 408 409 413 415 422 500 503
    delete /api/rules/{id} removeRule: 204 401 403 404 409 422 500 503
    get /api/search search: 200 401 403 404 409 422 500 503
    get /api/sessions listSessions: 200 401 403 404 409 422 500 503
    post /api/sessions createSession: 201 400 401 403 404 408 409 413 415 422 429 500 502 503
    delete /api/sessions/{id} cancelSession: 200 401 403 404 409 422 500 503
    get /api/sessions/{id} showSession: 200 401 403 404 409 422 500 503
    patch /api/sessions/{id} changeSession: 200 400 401 403 404 408 409 413 415 422 500 503
    post /api/sessions/{id}/cancel cancelTurn: 200 400 401 403 404 408 409 413 415 422 500 503
    post /api/sessions/{id}/complete completeSession: 200 401 403 404 409 422 500 503
    post /api/sessions/{id}/erase eraseSession: 204 401 403 404 409 422 500 503
    get /api/sessions/{id}/events followSession: 200 401 403 404 409 422 500 503
    get /api/sessions/{id}/messages listMessages: 200 401 403 404 409 422 500 503
    post /api/sessions/{id}/mode setMode: 200 400 401 403 404 408 409 413 415 422 500 502 503
    post /api/sessions/{id}/prompt prompt: 202 400 401 403 404 408 409 413 415 422 429 500 503
    delete /api/sessions/{id}/queue/{prompt} removeQueued: 200 401 403 404 409 422 500 503
    patch /api/sessions/{id}/queue/{prompt} editQueued: 200 400 401 403 404 408 409 413 415 422 500 503
    post /api/sessions/{id}/queue/{prompt}/send sendQueued: 200 401 403 404 409 422 500 503
    post /api/sessions/{id}/resume resumeSession: 200 401 403 404 409 422 429 500 503
    post /api/sessions/{id}/seen seeSession: 204 401 403 404 409 422 500 503
    post /api/sessions/{id}/setting setSetting: 200 400 401 403 404 408 409 413 415 422 500 502 503
    get /api/sessions/{id}/state showState: 200 401 403 404 409 422 500 503
    get /api/status status: 200 401 403 500 503
    get /api/teams listTeams: 200 401 403 500 503
    get /api/teams/analytics teamAnalytics: 200 401 403 422 500 503
    post /api/teams/reload reloadTeams: 200 401 403 422 500 502 503
    get /api/teams/sessions listTeamSessions: 200 401 403 422 500 503
    delete /api/teams/sessions/{id} deleteTeamSession: 200 401 403 404 409 422 500 503
    post /api/teams/sessions/{id}/compact compactTeamSession: 200 401 403 404 409 422 500 502 503
    get /api/teams/stats teamStats: 200 401 403 500 503
    post /api/teams/{team}/ask askTeam: 200 202 400 401 403 404 408 409 413 415 422 429 500 502 503
    post /api/teams/{team}/cancel cancelTeam: 200 400 401 403 404 408 409 413 415 422 500 503
    get /api/teams/{team}/report reportOfTeam: 200 401 403 404 422 500 503
    post /api/teams/{team}/send sendToTeam: 200 202 400 401 403 404 408 409 413 415 422 429 500 502 503
    post /api/teams/{team}/sleep sleepTeam: 200 401 403 404 422 500 503
    get /api/teams/{team}/status showTeam: 200 401 403 404 422 500 503
    post /api/teams/{team}/wake wakeTeam: 200 401 403 404 409 422 500 502 503
    get /healthz health: 200 403 500 503
    get /metrics metrics: 200 401 403 500 503
    ");
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
