//! Teams, asked by agents of sessions and by others; and a daemon that is still preparing them.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use convoke_engine::{Permissions, Team, TeamLimits, TeamSettings};
use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::{Value, json};

use super::scene::{AGENT, Answer, Scene};

/// A server with teams in folders of their names.
async fn with_teams(names: &[&str]) -> Scene {
    with_teams_of(&Script::new(), names).await
}

/// The same with agents that follow a script.
async fn with_teams_of(script: &Script, names: &[&str]) -> Scene {
    let scene = Scene::with(script, |_| {}).await;
    let team = |name: &&str| {
        let path = scene.path("base").join(name);
        std::fs::create_dir_all(&path).unwrap();
        Team {
            name: name.parse().unwrap(),
            path,
            agent: AGENT.parse().unwrap(),
            description: Some(format!("The team {name}")),
            permissions: Permissions::Ask,
            init_timeout: None,
            color: None,
        }
    };
    let settings = TeamSettings {
        teams: names.iter().map(team).collect(),
        init_timeout: Duration::from_secs(30),
        limits: TeamLimits { hops_max: 5, chain_messages_max: 50, pair_messages_per_hour: 200 },
    };
    scene.app.engine.teams().open(settings, |_| {}).await.unwrap();
    scene
}

/// Calls a tool with a token; tells its text, and whether it is a failure.
async fn call(scene: &Scene, token: &str, tool: &str, arguments: Value) -> (String, bool) {
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = Request::builder()
        .method(Method::POST)
        .uri("/mcp")
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Body::from(body.to_string()))
        .unwrap();
    let answer = Answer::of(scene.send(request).await).await;
    let events = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let messages = events.chain([&*answer.body]).filter_map(|it| serde_json::from_str(it).ok());
    let message: Value = messages.into_iter().find(|it: &Value| it["id"] == 1).unwrap();
    let text = message["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{message}")).to_owned();
    (text, message["result"]["isError"] == true)
}

#[tokio::test]
async fn t13_the_agent_of_a_session_speaks_only_for_its_own_team() {
    let scene = with_teams(&["a", "b"]).await;
    let projects = scene.get("/api/repos").await.json();
    let of_a = projects["repos"].as_array().unwrap().iter().find(|it| it["name"] == "a").unwrap();
    let begun = scene.post("/api/sessions", json!({"repoId": of_a["id"]})).await.json();
    let key = scene.keys.issue(begun["id"].as_str().unwrap().parse().unwrap());
    let question = |from: Value| {
        let mut arguments = json!({"team": "b", "question": "hello"});
        if !from.is_null() {
            arguments["fromTeam"] = from;
        }
        arguments
    };
    let said = ("hello".to_owned(), false);
    assert_eq!(call(&scene, key.token(), "teams_ask", question(json!(null))).await, said);
    assert_eq!(call(&scene, key.token(), "teams_ask", question(json!("a"))).await, said);
    let (text, is_error) = call(&scene, key.token(), "teams_ask", question(json!("b"))).await;
    assert!(is_error);
    assert_eq!(text, "this session belongs to the team a, not to b; leave fromTeam out");
    let (text, _) = call(&scene, key.token(), "teams_report", json!({"team": "b"})).await;
    assert_eq!(text, "hello");
    let pairs = scene.get("/api/teams/sessions?from=a").await.json();
    assert_eq!(pairs["sessions"][0]["messageCount"], 2);
    // The owner of the daemon may speak for any team.
    let owner = scene.token.as_str();
    assert_eq!(call(&scene, owner, "teams_ask", question(json!("a"))).await, said);
    let (text, _) = call(&scene, owner, "teams_list", json!({})).await;
    assert_eq!(text, "- a: The team a (scripted)\n- b: The team b (scripted)");
    let (text, _) = call(&scene, owner, "teams_status", json!({})).await;
    assert!(text.contains("a: 0 of 1 conversation busy"), "{text}");
}

#[tokio::test]
async fn t13_a_session_without_a_team_asks_from_outside() {
    let scene = with_teams(&["a"]).await;
    let session = scene.session().await;
    let key = scene.keys.issue(session.parse().unwrap());
    let asked =
        call(&scene, key.token(), "teams_ask", json!({"team": "a", "question": "hello"})).await;
    assert_eq!(asked, ("hello".to_owned(), false));
    let pairs = scene.get("/api/teams/sessions?external=true").await.json();
    assert_eq!(pairs["sessions"][0]["messageCount"], 1);
    let posing = json!({"team": "a", "question": "hello", "fromTeam": "a"});
    let (text, is_error) = call(&scene, key.token(), "teams_ask", posing).await;
    assert!(is_error && text.contains("belongs to no team and cannot ask for a"), "{text}");
}

#[tokio::test]
async fn t3_only_agents_are_served_while_the_teams_are_being_prepared() {
    let scene = with_teams(&["a"]).await;
    let session = scene.session().await;
    let key = scene.keys.issue(session.parse().unwrap());
    scene.app.teams.set_not_ready();
    for path in ["/api/teams", "/healthz", "/api/sessions"] {
        let answer = scene.get(path).await;
        assert_eq!(answer.problem(), "503 starting: the daemon is still preparing the teams");
    }
    let (text, _) = call(&scene, key.token(), "teams_list", json!({})).await;
    assert_eq!(text, "- a: The team a (scripted)");
    let read = TeamSettings::none();
    let reader = std::sync::Arc::new(move || Ok(read.clone()));
    scene.app.teams.open(&scene.app.engine, reader, |_| {}).await.ok();
    assert_eq!(scene.get("/api/teams").await.json(), json!({"teams": []}));
}

#[tokio::test]
async fn n7_a_member_of_one_project_attaches_files_and_asks_its_team() {
    let scene = with_teams(&["a", "b"]).await;
    let token = scene.user("ada", "viewer").await;
    let attach = async || {
        let path = "/api/blobs?name=notes.txt";
        scene.as_user(&token, Method::POST, path, json!("a file")).await.status
    };
    assert_eq!(attach().await, 403, "she may prompt nowhere");
    let repos = scene.get("/api/repos").await.json()["repos"].clone();
    let is_a = |repo: &&Value| repo["path"].as_str().is_some_and(|path| path.ends_with("/a"));
    let repo = repos.as_array().unwrap().iter().find(is_a).unwrap()["id"].clone();
    let change = json!({"role": "member", "repoId": repo});
    let changed = scene.call(Method::PATCH, "/api/users/ada", Some(change)).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_eq!(attach().await, 201);
    let ask = async |team: &str| {
        let arguments = json!({"team": team, "question": "how are you?"});
        let by_tool = call(&scene, &token, "teams_ask", arguments).await;
        let path = format!("/api/teams/{team}/ask");
        let body = json!({"question": "how are you?"});
        (by_tool, scene.as_user(&token, Method::POST, &path, body).await.status)
    };
    let ((text, failed), status) = ask("a").await;
    assert_eq!((failed, status), (false, 200), "{text}");
    let ((text, failed), status) = ask("b").await;
    assert_eq!((failed, status), (true, 403), "{text}");
    assert!(text.contains("ada is a viewer here, and this needs a member"), "{text}");
}

#[tokio::test]
async fn n7_a_question_to_a_team_says_who_asks() {
    let scene = with_teams(&["a"]).await;
    let token = scene.user("ada", "member").await;
    let body = json!({"question": "by rest"});
    let asked = scene.as_user(&token, Method::POST, "/api/teams/a/ask", body).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let arguments = json!({"team": "a", "question": "by tool"});
    assert!(!call(&scene, &token, "teams_ask", arguments).await.1);
    // An agent asks for the user who prompted it.
    let session = scene.session().await;
    let path = format!("/api/sessions/{session}/prompt");
    let prompted = scene.as_user(&token, Method::POST, &path, json!({"text": "hello"})).await;
    assert_eq!(prompted.status, 202, "{}", prompted.body);
    let key = scene.keys.issue(session.parse().unwrap());
    let arguments = json!({"team": "a", "question": "by agent"});
    assert!(!call(&scene, key.token(), "teams_ask", arguments).await.1);
    let body = json!({"question": "by the owner"});
    assert_eq!(scene.post("/api/teams/a/ask", body).await.status, 200);
    let id = asked.json()["sessionId"].as_str().unwrap().to_owned();
    let messages = scene.get(&format!("/api/sessions/{id}/messages")).await.json();
    let prompts = messages.as_array().unwrap().iter().filter(|it| it["role"] == "user");
    let prompts = prompts.map(|it| (it["content"]["text"].clone(), it["content"]["by"].clone()));
    let ada = |text: &str| (json!(text), json!("ada"));
    let owner = (json!("by the owner"), json!(null));
    let expected = [ada("by rest"), ada("by tool"), ada("by agent"), owner];
    assert_eq!(prompts.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn n7_a_session_without_a_team_reads_only_the_answers_to_its_own_questions() {
    let scene = with_teams(&["a"]).await;
    assert_eq!(scene.post("/api/teams/a/ask", json!({"question": "the plan"})).await.status, 200);
    let asked = scene.get("/api/teams/a/report").await.json();
    let project = scene.project().await;
    let session = async || {
        let begun = scene.post("/api/sessions", json!({"repoId": project})).await.json();
        begun["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (session().await, session().await);
    let key = scene.keys.issue(first.parse().unwrap());
    let report =
        async |arguments: Value| call(&scene, key.token(), "teams_report", arguments).await;
    let nothing = "this session has not asked the team a anything since the daemon started";
    assert_eq!(report(json!({"team": "a"})).await, (nothing.to_owned(), true));
    let by_id = json!({"team": "a", "messageId": asked["messageId"]});
    let foreign = "this session has not asked the team a this question since the daemon started";
    assert_eq!(report(by_id.clone()).await, (foreign.to_owned(), true));
    let ask = json!({"team": "a", "question": "mine"});
    assert_eq!(call(&scene, key.token(), "teams_ask", ask).await, ("mine".to_owned(), false));
    assert_eq!(scene.post("/api/teams/a/ask", json!({"question": "more"})).await.status, 200);
    // Its own one, although it is not the last one.
    assert_eq!(report(json!({"team": "a"})).await, ("mine".to_owned(), false));
    assert_eq!(report(by_id).await, (foreign.to_owned(), true));
    let other = scene.keys.issue(second.parse().unwrap());
    let (text, failed) = call(&scene, other.token(), "teams_report", json!({"team": "a"})).await;
    assert_eq!((&*text, failed), (nothing, true));
    // The owner reads all.
    let owner = scene.token.as_str();
    let (text, _) = call(&scene, owner, "teams_report", json!({"team": "a"})).await;
    assert_eq!(text, "more");
}

/// An agent whose turns go on until they are cancelled.
fn waiting() -> Script {
    let turn = || {
        let tool = Tool::named("t", "Bash", json!({"command": "cargo test"}));
        [Step::Ask(Ask::new(tool, &[("yes", "allow_once"), ("no", "reject_once")]))]
    };
    Script::new().turn(turn()).turn(turn())
}

#[tokio::test]
async fn n7_a_session_without_a_team_cancels_only_its_own_questions() {
    let scene = with_teams_of(&waiting(), &["a"]).await;
    let ask = json!({"question": "the plan", "timeout": -1});
    let asked = scene.post("/api/teams/a/ask", ask).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
    let session = scene.session().await;
    let key = scene.keys.issue(session.parse().unwrap());
    let cancel = async || call(&scene, key.token(), "teams_cancel", json!({"team": "a"})).await;
    let status = async || {
        let report = scene.get("/api/teams/a/report").await;
        report.json()["status"].as_str().unwrap_or_default().to_owned()
    };
    while status().await != "working" {
        tokio::task::yield_now().await;
    }
    let (text, failed) = cancel().await;
    assert!(failed && text.contains("works on no question of this session"), "{text}");
    let send = json!({"toTeam": "a", "message": "mine", "waitForResponse": false});
    let (text, failed) = call(&scene, key.token(), "teams_send_message", send).await;
    assert!(!failed, "{text}");
    assert!(cancel().await.1, "it is queued");
    let owners = scene.get("/api/teams/sessions?external=true").await.json();
    let id = owners["sessions"][0]["sessionId"].as_str().unwrap().to_owned();
    let running = scene.app.engine.sessions().live(id.parse().unwrap()).running.unwrap();
    // The owner stops his own one; then it is the session's turn.
    let stopped = scene.post(&format!("/api/sessions/{id}/cancel"), json!({})).await;
    assert_eq!(stopped.status, 200, "{}", stopped.body);
    while cancel().await.1 {
        tokio::task::yield_now().await;
    }
    let messages = scene.get(&format!("/api/sessions/{id}/messages")).await.json();
    let prompts = messages.as_array().unwrap().iter().filter(|it| it["role"] == "user");
    let prompts: Vec<_> = prompts.map(|it| it["content"]["text"].clone()).collect();
    assert_eq!(prompts, ["the plan", "mine"]);
    assert_eq!(messages[0]["id"], running.id.to_string());
}
