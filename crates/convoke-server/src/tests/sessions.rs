//! Sessions over REST.

use axum::http::Method;
use convoke_testkit::agent::{Script, Step};
use serde_json::{Value, json};

use super::scene::{AGENT, Scene};

#[tokio::test]
async fn s8_a_session_is_created_listed_and_shown() {
    let scene = Scene::new().await;
    let project = scene.project().await;
    let body = json!({"repoId": project, "agent": AGENT});
    let begun = scene.post("/api/sessions", body).await;
    insta::assert_snapshot!(scene.told(&begun), @r#"
    201
    {
      "acceptsPrompts": true,
      "activity": "idle",
      "agent": "scripted",
      "agentSessionId": "s1",
      "archived": false,
      "attention": "idle",
      "createdAt": "[time]",
      "id": "[id]",
      "lastActiveAt": "[time]",
      "messageCount": 0,
      "metadata": {},
      "repoId": "[id]",
      "status": "active",
      "title": "New Session",
      "unseen": false,
      "updatedAt": "[time]"
    }
    "#);
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(begun.header("location"), format!("/api/sessions/{id}"));
    let listed = scene.get("/api/sessions").await.json();
    assert_eq!(listed, json!({"sessions": [begun.json()], "total": 1, "limit": 20, "offset": 0}));
    for name in
        [id.clone(), id[..8].to_owned(), "scripted:s1".to_owned(), "scripted%3As1".to_owned()]
    {
        let shown = scene.get(&format!("/api/sessions/{name}")).await.json();
        assert_eq!((&shown["id"], &shown["messages"]), (&json!(id), &json!([])), "{name}");
        assert_eq!(shown["repo"]["id"], json!(project));
    }
    let repo = format!("/api/sessions?repoId={project}&status=active,error&limit=1&offset=1");
    let listed = scene.get(&repo).await.json();
    assert_eq!(listed, json!({"sessions": [], "total": 1, "limit": 1, "offset": 1}));
}

#[tokio::test]
async fn s8_lists_are_cached_until_something_changes() {
    let scene = Scene::with(&Script::new().turn([Step::Hang]), |_| {}).await;
    let id = scene.session().await;
    let path = format!("/api/sessions/{id}");
    let both = || async {
        [scene.get("/api/sessions").await, scene.get(&path).await].map(|answer| answer.json())
    };
    let [listed, shown] = both().await;
    assert_eq!(both().await, [listed, shown]);
    scene.call(Method::PATCH, &path, Some(json!({"title": "Named"}))).await;
    let [listed, shown] = both().await;
    assert_eq!([&listed["sessions"][0]["title"], &shown["title"]], ["Named", "Named"]);
    assert_eq!(both().await, [listed, shown]);
    scene.post(&format!("{path}/prompt"), json!({"text": "work"})).await;
    let [listed, shown] = both().await;
    assert_eq!([&listed["sessions"][0]["activity"], &shown["activity"]], ["running", "running"]);
    // What was not there may come, and what is cut off is kept apart from what is not.
    let empty = "/api/sessions?archived=true";
    assert_eq!(scene.get(empty).await.json()["total"], 0);
    scene.call(Method::PATCH, &path, Some(json!({"archived": true}))).await;
    assert_eq!(scene.get(empty).await.json()["total"], 1);
    assert_eq!(scene.get("/api/sessions").await.json()["total"], 0);
}

#[tokio::test]
async fn s8_a_list_that_is_sent_while_it_is_read_reads_like_any_other() {
    let scene = Scene::new().await;
    let project = scene.project().await;
    assert_eq!(
        scene.get("/api/sessions?limit=10000").await.json(),
        json!({"sessions": [], "total": 0, "limit": 10_000, "offset": 0})
    );
    // More than two pieces.
    for number in 0..520 {
        let turn = json!({"role": "user", "content": format!("say {number}"),
            "timestamp": "2026-01-01T00:00:00Z", "tokens": 2});
        let import = json!({"repoId": project, "transcript": format!("t{number}"), "agent": AGENT,
            "createdAt": "2026-01-01T00:00:00Z", "turns": [turn]});
        assert_eq!(scene.post("/api/imports", import).await.status, 200);
    }
    let mut sessions = Vec::new();
    for offset in (0..520).step_by(200) {
        let page = scene.get(&format!("/api/sessions?limit=200&offset={offset}")).await.json();
        sessions.extend(page["sessions"].as_array().unwrap().clone());
    }
    let whole = json!({"sessions": sessions, "total": 520, "limit": 10_000, "offset": 0});
    assert_eq!(scene.get("/api/sessions?limit=10000").await.json(), whole);
    let last = scene.get("/api/sessions?limit=300&offset=519").await.json();
    let last_alone =
        json!({"sessions": [sessions[519]], "total": 520, "limit": 300, "offset": 519});
    assert_eq!(last, last_alone);
}

#[tokio::test]
async fn unknown_things_have_their_own_error_codes() {
    let scene = Scene::new().await;
    let project = scene.project().await;
    let unknown = "11111111-1111-4111-8111-111111111111";
    let told = [
        scene.get("/api/sessions/nope").await,
        scene.get("/api/sessions/ab").await,
        scene.get(&format!("/api/sessions/{unknown}")).await,
        scene.get("/api/sessions/x%3Ay").await,
        scene.get("/api/sessions/%C3%B8%3Ay").await,
        scene.get("/api/sessions/%FF").await,
        scene.post("/api/sessions", json!({"repoId": unknown})).await,
        scene.post("/api/sessions", json!({"repoId": project, "agent": "nobody"})).await,
        scene.post("/api/sessions", json!({"repoId": project, "agent": "../x"})).await,
    ];
    insta::assert_snapshot!(told.map(|answer| answer.problem()).join("\n"), @"
    404 session_not_found: there is no session nope
    404 session_not_found: there is no session ab
    404 session_not_found: there is no session 11111111-1111-4111-8111-111111111111
    404 session_not_found: there is no session x:y
    404 session_not_found: there is no session ø:y
    422 invalid: Invalid URL: Invalid UTF-8 in `id`
    404 repo_not_found: there is no project 11111111-1111-4111-8111-111111111111
    404 unknown_agent: there is no agent called nobody
    422 invalid_id: Invalid agent name: ../x
    ");
}

#[tokio::test]
async fn s8_a_prompt_is_answered_at_once_and_the_agent_later() {
    let script = Script::new().turn([Step::Stream(vec!["Hi ".to_owned(), "there".to_owned()])]);
    let scene = Scene::with(&script, |_| {}).await;
    let session = scene.session().await;
    let messages = scene.turn(&session, "hello").await;
    let said: Vec<String> = messages
        .iter()
        .map(|message| format!("{} {} {}", message["seq"], message["role"], message["content"]))
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    1 "user" {"text":"hello","type":"text"}
    2 "agent" {"text":"Hi there","type":"text"}
    "#);
    let shown = scene.get(&format!("/api/sessions/{session}")).await.json();
    assert_eq!(shown["messages"], Value::Array(messages));
    assert_eq!(shown["title"], "hello");
    let prompted =
        scene.post(&format!("/api/sessions/{session}/prompt"), json!({"text": " "})).await;
    assert_eq!(prompted.json()["code"], "empty_prompt");
    assert_eq!(prompted.status, 422);
}

#[tokio::test]
async fn s3_a_session_is_completed_resumed_and_cancelled() {
    let scene = Scene::new().await;
    let session = scene.session().await;
    let post = |action: &'static str, body: Value| {
        let path = format!("/api/sessions/{session}/{action}");
        let scene = &scene;
        async move {
            let answer = scene.post(&path, body).await;
            let told = answer.json();
            let word = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
            format!(
                "{action}: {} {}{} {}",
                answer.status,
                word("status"),
                word("code"),
                told["metadata"]
            )
        }
    };
    let prompt = json!({"text": "x"});
    let path = format!("/api/sessions/{session}");
    let mut told = vec![
        post("cancel", json!({})).await,
        post("resume", json!({})).await,
        post("complete", json!({})).await,
        post("complete", json!({})).await,
        post("prompt", prompt.clone()).await,
    ];
    let ended = scene.post(&format!("{path}/prompt"), prompt.clone()).await;
    let way_out = format!("resume it first: POST {path}/resume");
    assert!(ended.problem().ends_with(&way_out), "{}", ended.body);
    let kept = scene.call(Method::DELETE, &path, None).await;
    told.push(format!("delete: {} {}", kept.status, kept.json()["status"]));
    told.push(post("resume", json!({})).await);
    let cancelled = scene.call(Method::DELETE, &path, None).await;
    told.push(format!("delete: {} {}", cancelled.status, cancelled.json()["status"]));
    told.push(post("prompt", prompt).await);
    told.push(post("resume", json!({})).await);
    let again = scene.call(Method::DELETE, &path, None).await;
    told.push(format!("delete: {} {}", again.status, again.json()["status"]));
    insta::assert_snapshot!(told.join("\n"), @r#"
    cancel: 409 no_turn null
    resume: 409 session_active null
    complete: 200 completed {"reason":"user"}
    complete: 409 session_ended null
    prompt: 409 session_ended null
    delete: 200 "completed"
    resume: 200 active {}
    delete: 200 "cancelled"
    prompt: 409 session_cancelled null
    resume: 409 session_cancelled null
    delete: 200 "cancelled"
    "#);
    let events: Vec<Value> = scene
        .get(&format!("{path}/messages"))
        .await
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"]["text"].clone())
        .collect();
    assert_eq!(
        events,
        ["The session was completed.", "The session was resumed.", "The session was cancelled.",]
    );
}

#[tokio::test]
async fn a_session_is_renamed_and_archived() {
    let scene = Scene::new().await;
    let session = scene.session().await;
    let path = format!("/api/sessions/{session}");
    let patch = |body: Value| scene.call(Method::PATCH, &path, Some(body));
    let patched = patch(json!({"title": " A title ", "archived": true})).await.json();
    assert_eq!((&patched["title"], &patched["archived"]), (&json!("A title"), &json!(true)));
    assert_eq!(scene.get("/api/sessions").await.json()["total"], 0);
    assert_eq!(scene.get("/api/sessions?archived=true").await.json()["total"], 1);
    assert_eq!(patch(json!({"archived": true})).await.status, 200);
    assert_eq!(patch(json!({"archived": false})).await.json()["archived"], false);
    assert_eq!(patch(json!({"title": ""})).await.json()["code"], "invalid_title");
    assert_eq!(patch(json!({"title": "x".repeat(201)})).await.json()["code"], "invalid_title");
    assert_eq!(patch(json!({})).await.json()["title"], "A title");
}

#[tokio::test]
async fn s9_at_the_session_limit_the_answer_has_retry_after() {
    let scene = Scene::with(&Script::new(), |settings| settings.sessions_max = 1).await;
    let session = scene.session().await;
    let project = scene.get("/api/repos").await.json()["repos"][0]["id"].clone();
    let body = json!({"repoId": project});
    let refused = scene.post("/api/sessions", body.clone()).await;
    insta::assert_snapshot!(scene.told(&refused), @r#"
    429
    {
      "code": "too_many_sessions",
      "detail": "the limit of 1 active session is reached",
      "hint": "complete or cancel a session, wait for one to be idle long enough, or raise sessions.max_active",
      "status": 429,
      "title": "Too Many Requests",
      "type": "about:blank"
    }
    "#);
    assert_eq!(refused.header("retry-after"), "60");
    scene.post(&format!("/api/sessions/{session}/complete"), json!({})).await;
    assert_eq!(scene.post("/api/sessions", body).await.status, 201);
    let resumed = scene.post(&format!("/api/sessions/{session}/resume"), json!({})).await;
    assert_eq!(resumed.status, 429);
}

#[tokio::test]
async fn an_agent_that_does_not_start_is_a_502() {
    let script = Script::new().on("session/new", [Step::fail(-32000, "log in first")]);
    let scene = Scene::with(&script, |_| {}).await;
    let project = scene.project().await;
    let answer = scene.post("/api/sessions", json!({"repoId": project})).await;
    assert_eq!((answer.status, &answer.json()["code"]), (502, &json!("agent_failed")));
    assert!(answer.problem().contains("log in first"), "{}", answer.body);
    assert_eq!(scene.get("/api/sessions").await.json()["total"], 0);
}
