//! Users: what each role may do at every door, and who is recorded.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use convoke_api::frames::ClientFrame;
use convoke_testkit::agent::Script;
use serde_json::{Value, json};

use super::scene::{Answer, Scene, asking};
use super::socket::Page;

const ROLES: [&str; 3] = ["viewer", "member", "owner"];

impl Scene {
    /// Adds a user, and makes a token for them.
    pub(super) async fn user(&self, name: &str, role: &str) -> String {
        let added = self.post("/api/users", json!({"name": name, "role": role})).await;
        assert_eq!(added.status, 201, "{}", added.body);
        let made = self.post(&format!("/api/users/{name}/tokens"), json!({"label": "test"})).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.json()["token"].as_str().unwrap().to_owned()
    }

    pub(super) async fn as_user(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Value,
    ) -> Answer {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.header("content-type", "application/json");
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        Answer::of(self.send(request.body(body).unwrap()).await).await
    }
}

/// Whether a role is too little.
fn is_refused(problem: &str) -> bool {
    problem.contains(" here, and this needs a")
}

#[tokio::test]
async fn n7_every_route_is_open_to_the_roles_of_the_table() {
    let scene = Scene::new().await;
    let mut tokens = Vec::new();
    for role in ROLES {
        tokens.push((role, scene.user(role, role).await));
    }
    let document = scene.get("/api/openapi.json").await.json();
    let mut table = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            // Signing in needs no role, and the health check is public.
            if path == "/healthz" || (path == "/api/browser-sessions" && method == Method::POST) {
                continue;
            }
            let concrete = path.replace(['{', '}'], "");
            let mut allowed = Vec::new();
            for (role, token) in &tokens {
                let body = if method == Method::GET { Value::Null } else { json!({}) };
                let answer = scene.as_user(token, method.clone(), &concrete, body).await;
                assert_ne!(answer.status, 401, "{role} {method} {path}");
                if !is_refused(&answer.body) {
                    allowed.push(*role);
                }
            }
            table.push(format!("{:6} {path:45} {}", method.as_str(), allowed.join(" ")));
        }
    }
    table.sort();
    insta::assert_snapshot!(table.join("\n"));
}

/// A frame of every type.
fn frames(session: &str, project: &str) -> Vec<Value> {
    let request = "0946c618-939b-4472-993f-815ba78cdd9d";
    let about = |kind: &str| json!({"type": kind, "sessionId": session});
    let with = |mut frame: Value, name: &str, value: Value| {
        frame[name] = value;
        frame
    };
    let queued = |kind: &str| with(about(kind), "messageId", json!(request));
    vec![
        json!({"type": "project:list"}),
        json!({"type": "project:add", "path": "/nope"}),
        json!({"type": "project:remove", "projectId": "nope"}),
        json!({"type": "folder:complete", "path": "/"}),
        json!({"type": "file:complete", "projectId": project, "query": "a"}),
        json!({"type": "file:open", "path": "/nope"}),
        json!({"type": "agent:list"}),
        json!({"type": "session:list", "projectId": project}),
        json!({"type": "session:create", "projectId": "nope"}),
        about("session:open"),
        with(about("session:page"), "before", json!(1)),
        about("session:close"),
        with(about("session:send"), "content", json!("hello")),
        with(queued("queue:edit"), "content", json!("x")),
        queued("queue:remove"),
        with(queued("queue:move"), "to", json!(0)),
        queued("queue:send"),
        about("session:cancel"),
        about("session:seen"),
        json!({"type": "session:erase", "sessionId": "nope"}),
        about("session:archive"),
        about("session:unarchive"),
        with(about("session:rename"), "title", json!("x")),
        about("session:resume"),
        json!({"type": "session:end", "sessionId": "nope", "how": "complete"}),
        with(about("session:mode"), "mode", json!("x")),
        with(with(about("session:setting"), "setting", json!("x")), "choice", json!("y")),
        json!({"type": "permission:answer", "permissionId": request, "optionId": "yes"}),
        json!({"type": "rule:list"}),
        json!({"type": "rule:add", "effect": "allow", "matcher": {"kind": "edit", "glob": "a"}}),
        json!({"type": "rule:remove", "ruleId": "nope"}),
        json!({"type": "question:answer", "questionId": request, "answers": {}}),
        json!({"type": "question:reject", "questionId": request}),
        json!({"type": "inbox:list"}),
        json!({"type": "home:list"}),
        json!({"type": "search", "query": "x"}),
        json!({"type": "config:get"}),
        json!({"type": "config:set", "changes": {}}),
        json!({"type": "ping"}),
    ]
}

#[tokio::test]
async fn n7_every_frame_is_open_to_the_roles_of_the_table() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let session = scene.session().await;
    let project = scene.get("/api/repos").await.json()["repos"][0]["id"].clone();
    let frames = frames(&session, project.as_str().unwrap());
    let kinds: Vec<&str> = frames.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ClientFrame::TYPES, "none is missing");
    let mut allowed = vec![Vec::new(); frames.len()];
    for role in ROLES {
        let token = scene.user(role, role).await;
        let mut page = Page::with_token(address, &token).await;
        for (frame, allowed) in frames.iter().zip(&mut allowed) {
            let answer = page.ask(frame.clone()).await;
            if !is_refused(answer["message"].as_str().unwrap_or_default()) {
                allowed.push(role);
            }
        }
    }
    let rows = kinds.iter().zip(allowed);
    let rows = rows.map(|(kind, allowed)| format!("{kind:20} {}", allowed.join(" ")));
    insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
}

#[tokio::test]
async fn n7_every_tool_is_open_to_members_and_owners() {
    let scene = Scene::new().await;
    let call = async |token: &str, method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = Request::post("/mcp").header("authorization", format!("Bearer {token}"));
        let request = request.header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        Answer::of(scene.send(request.body(Body::from(body.to_string())).unwrap()).await).await
    };
    let listed = call(scene.token.as_str(), "tools/list", json!({})).await;
    let data = listed.body.lines().find_map(|line| line.strip_prefix("data: "));
    let listed: Value = serde_json::from_str(data.unwrap_or(&listed.body)).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.len() > 5, "{listed}");
    for role in ROLES {
        let token = scene.user(role, role).await;
        for tool in &tools {
            // Without arguments most of them say what is missing.
            let params = json!({"name": tool["name"], "arguments": {}});
            let answer = call(&token, "tools/call", params).await;
            let expected = if role == "viewer" { 403 } else { 200 };
            assert_eq!(answer.status, expected, "{role} {}: {}", tool["name"], answer.body);
        }
    }
}

#[tokio::test]
async fn n7_who_prompts_and_who_decides_is_in_the_messages_and_in_the_audit_trail() {
    let (scene, address) = Scene::listening(&asking()).await;
    let session = scene.session().await;
    let (ada, bob) = (scene.user("ada", "member").await, scene.user("bob", "member").await);
    let mut page = Page::with_token(address, &ada).await;
    page.ask(json!({"type": "session:open", "sessionId": session})).await;
    let send = json!({"type": "session:send", "sessionId": session, "content": "one"});
    page.send(send.to_string()).await;
    let asked = page.until(|frame| frame["entry"]["type"] == "permission").await["entry"].clone();
    let id = asked["permissionId"].as_str().unwrap().to_owned();
    let answer = json!({"optionId": "yes", "rule": 0});
    let path = format!("/api/inbox/{id}/answer");
    let answered = scene.as_user(&bob, Method::POST, &path, answer).await;
    assert_eq!(answered.status, 204, "{}", answered.body);
    page.until_turns(1).await;
    let messages = scene.get(&format!("/api/sessions/{session}/messages")).await.json();
    let by = |kind: &str| {
        let mut found = messages.as_array().unwrap().iter().map(|it| &it["content"]);
        found.find(|content| content["type"] == kind).unwrap()["by"].clone()
    };
    assert_eq!((by("text"), by("permission")), (json!("ada"), json!("bob")));
    // Entries are written in the background.
    scene.app.recording.close();
    scene.app.recording.wait().await;
    scene.app.recording.reopen();
    let audit = scene.get("/api/audit?limit=2").await.json();
    let entries = audit["entries"].as_array().unwrap();
    let shown = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        [text("user"), text("action"), text("subject"), text("sessionId")]
    };
    assert_eq!(shown(&entries[0]), ["bob", "answer request", "Bash: cargo test: yes", &session]);
    assert_eq!(shown(&entries[1])[..2], ["ada", "prompt"]);
    assert!(entries[0]["from"].as_str().unwrap().starts_with("token "), "{audit}");
    let older = scene.get(&format!("/api/audit?before={}", audit["next"])).await.json();
    assert_eq!(shown(&older["entries"][0])[..2], ["", "make token for user"]);
    let hers = scene.get("/api/audit?user=ada").await.json();
    assert_eq!(hers["entries"].as_array().unwrap().len(), 1);
    // Bob's rule holds when he prompts, and not when Ada does.
    let rules = scene.get("/api/rules").await.json();
    assert_eq!(rules["rules"][0]["user"], "bob");
    let send = json!({"type": "session:send", "sessionId": session, "content": "two"});
    page.send(send.to_string()).await;
    let asked = page.until(|frame| frame["entry"]["status"] == "pending").await["entry"].clone();
    let answer = json!({"type": "permission:answer", "permissionId": asked["permissionId"], "optionId": "yes"});
    assert_eq!(page.ask(answer).await["type"], "inbox:settled");
    page.until_turns(2).await;
    let path = format!("/api/sessions/{session}/prompt");
    let prompted = scene.as_user(&bob, Method::POST, &path, json!({"text": "three"})).await;
    assert_eq!(prompted.status, 202, "{}", prompted.body);
    page.until(|frame| frame["entry"]["event"] == "rule_applied").await;
}

impl Scene {
    /// Signs a browser in with a link; returns its cookie and its secret.
    async fn browser(&self, link: &str) -> Result<(String, String), u16> {
        let request = Request::post("/api/browser-sessions");
        let request = request.header("content-type", "application/json");
        let body = Body::from(json!({"link": link}).to_string());
        let answer = Answer::of(self.send(request.body(body).unwrap()).await).await;
        if answer.status != 201 {
            return Err(answer.status);
        }
        let cookie = answer.header("set-cookie").split_once(';').unwrap().0.to_owned();
        Ok((cookie, answer.json()["secret"].as_str().unwrap().to_owned()))
    }

    /// Who a browser is.
    async fn me(&self, (cookie, secret): &(String, String)) -> Answer {
        let request = Request::get("/api/me").header("cookie", cookie);
        let request = request.header("x-convoke-browser", secret);
        Answer::of(self.send(request.body(Body::empty()).unwrap()).await).await
    }
}

fn secret_of(url: &str) -> String {
    url.split_once("#link=").unwrap().1.to_owned()
}

#[tokio::test]
async fn n7_a_link_of_a_user_signs_in_that_user_and_ends_with_her() {
    let scene = Scene::new().await;
    let token = scene.user("olga", "owner").await;
    let make = async |form: &str| {
        let body = json!({"as": form});
        let made = scene.as_user(&token, Method::POST, "/api/browser-links", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.json()
    };
    let by_url = secret_of(make("url").await["url"].as_str().unwrap());
    let file = std::fs::read_to_string(make("file").await["file"].as_str().unwrap()).unwrap();
    let by_file = secret_of(&file).split_once('"').unwrap().0.to_owned();
    let mut browsers = Vec::new();
    for link in [by_url, by_file] {
        let browser = scene.browser(&link).await.unwrap();
        assert_eq!(scene.me(&browser).await.json()["name"], "olga");
        browsers.push(browser);
    }
    assert_eq!(scene.call(Method::DELETE, "/api/users/olga", None).await.status, 204);
    for browser in &browsers {
        assert_eq!(scene.me(browser).await.status, 401);
    }
}

#[tokio::test]
async fn n7_a_waiting_link_ends_when_another_node_signs_its_user_out() {
    let scene = Scene::new().await;
    scene.user("ada", "member").await;
    let link = async || {
        let made = scene.post("/api/users/ada/link", json!({})).await.json();
        secret_of(made["url"].as_str().unwrap())
    };
    // Another node changes the database; the links of this one stay.
    let unused = link().await;
    scene.app.engine.users().sign_out("ada").await.unwrap();
    assert_eq!(scene.browser(&unused).await, Err(403));
    let unused = link().await;
    scene.app.engine.users().remove("ada").await.unwrap();
    scene.user("ada", "owner").await;
    assert_eq!(scene.browser(&unused).await, Err(403), "of another user");
    assert!(scene.browser(&link().await).await.is_ok());
}

#[tokio::test]
async fn n7_an_edited_prompt_says_the_words_of_the_user_who_edited_it() {
    let (scene, address) = Scene::listening(&asking()).await;
    let session = scene.session().await;
    let (ada, bob) = (scene.user("ada", "member").await, scene.user("bob", "member").await);
    let mut queued = Vec::new();
    for text in ["runs", "by rest", "by frame", "as it is"] {
        let path = format!("/api/sessions/{session}/prompt");
        let prompted = scene.as_user(&ada, Method::POST, &path, json!({"text": text})).await;
        assert_eq!(prompted.status, 202, "{}", prompted.body);
        queued.push(prompted.json()["messageId"].as_str().unwrap().to_owned());
    }
    let path = format!("/api/sessions/{session}/queue/{}", queued[1]);
    let edited = scene.as_user(&bob, Method::PATCH, &path, json!({"text": "bob's"})).await;
    assert_eq!(edited.status, 200, "{}", edited.body);
    let mut page = Page::with_token(address, &bob).await;
    let edit = json!({"type": "queue:edit", "sessionId": session, "messageId": queued[2], "content": "bob's"});
    assert_eq!(page.ask(edit).await["type"], "session:changed");
    // What is only moved is still hers.
    let path = format!("/api/sessions/{session}/queue/{}", queued[3]);
    let moved = scene.as_user(&bob, Method::PATCH, &path, json!({"position": 0})).await;
    assert_eq!(moved.status, 200, "{}", moved.body);
    let state = scene.get(&format!("/api/sessions/{session}/state")).await.json();
    let states = state["state"].as_array().unwrap();
    let queue = states.iter().find_map(|state| state["prompts"].as_array()).unwrap();
    let shown: Vec<_> = queue.iter().map(|it| (it["text"].clone(), it["by"].clone())).collect();
    let bobs = (json!("bob's"), json!("bob"));
    assert_eq!(shown, [(json!("as it is"), json!("ada")), bobs.clone(), bobs]);
}

#[tokio::test]
async fn n7_a_role_in_a_project_holds_there_and_a_change_holds_at_once() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let session = scene.session().await;
    let project = scene.get("/api/repos").await.json()["repos"][0]["id"].clone();
    let token = scene.user("ada", "viewer").await;
    let path = format!("/api/sessions/{session}/prompt");
    let prompt = async || scene.as_user(&token, Method::POST, &path, json!({"text": "hi"})).await;
    let mut page = Page::with_token(address, &token).await;
    let refused = prompt().await;
    assert_eq!(refused.problem(), "403 forbidden: ada is a viewer here, and this needs a member");
    let change = json!({"role": "member", "repoId": project});
    let changed = scene.call(Method::PATCH, "/api/users/ada", Some(change)).await;
    assert_eq!(changed.json()["projects"][0]["role"], "member", "{}", changed.body);
    assert_eq!(prompt().await.status, 202);
    let send = json!({"type": "session:send", "sessionId": session, "content": "again"});
    assert_eq!(page.ask(send.clone()).await["type"], "session:sent");
    let create = json!({"repoId": project});
    let created = scene.as_user(&token, Method::POST, "/api/sessions", create).await;
    assert_eq!(created.status, 201, "{}", created.body);
    // In general she is still a viewer.
    let other = scene.path("base/other");
    std::fs::create_dir(&other).unwrap();
    let other = scene.post("/api/repos", json!({"path": other})).await.json()["id"].clone();
    let created =
        scene.as_user(&token, Method::POST, "/api/sessions", json!({"repoId": other})).await;
    assert_eq!(created.status, 403, "{}", created.body);
    let me = scene.as_user(&token, Method::GET, "/api/me", Value::Null).await.json();
    assert_eq!((&me["name"], &me["role"]), (&json!("ada"), &json!("viewer")));
    assert_eq!(me["projects"][0]["project"], "app");
    let clear = json!({"role": null, "repoId": project});
    scene.call(Method::PATCH, "/api/users/ada", Some(clear)).await;
    assert_eq!(prompt().await.status, 403);
    assert_eq!(page.ask(send).await["type"], "error");
    let nothing = scene.call(Method::PATCH, "/api/users/ada", Some(json!({"role": null}))).await;
    assert_eq!(nothing.json()["role"], "viewer", "{}", nothing.body);
}

#[tokio::test]
async fn n7_devices_are_listed_and_signed_out_with_their_open_sockets() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let token = scene.user("ada", "member").await;
    let me =
        async |token: &str| scene.as_user(token, Method::GET, "/api/me", Value::Null).await.status;
    assert_eq!(me(&token).await, 200);
    let listed = scene.get("/api/users").await.json();
    let device = &listed["users"][0]["devices"][0];
    assert_eq!((&device["kind"], &device["label"]), (&json!("token"), &json!("test")));
    assert!(device["lastUsedAt"].is_string(), "{listed}");
    let stored = std::fs::read(scene.path("home/convoke.db")).unwrap_or_default();
    assert!(!stored.windows(token.len()).any(|part| part == token.as_bytes()), "only a digest");
    let mut page = Page::with_token(address, &token).await;
    page.ask(json!({"type": "ping"})).await;
    let path = format!("/api/users/ada/devices/{}", device["id"].as_str().unwrap());
    assert_eq!(scene.call(Method::DELETE, &path, None).await.status, 204);
    assert_eq!(scene.call(Method::DELETE, &path, None).await.status, 404);
    assert_eq!(page.next().await, None, "the socket is closed");
    assert_eq!(me(&token).await, 401);
    // A browser, which signs in with the link.
    let link = async || {
        let made = scene.post("/api/users/ada/link", json!({})).await.json();
        made["url"].as_str().unwrap().split_once("#link=").unwrap().1.to_owned()
    };
    let sign_in = async |link: String| {
        let request = Request::post("/api/browser-sessions");
        let request = request.header("content-type", "application/json");
        let body = Body::from(json!({"link": link}).to_string());
        Answer::of(scene.send(request.body(body).unwrap()).await).await
    };
    let browser = sign_in(link().await).await;
    assert_eq!(browser.status, 201, "{}", browser.body);
    let cookie = browser.header("set-cookie").split_once(';').unwrap().0.to_owned();
    let secret = browser.json()["secret"].as_str().unwrap().to_owned();
    let visit = async |method: Method, path: &str| {
        let request = Request::builder().method(method).uri(path).header("cookie", &cookie);
        let request = request.header("x-convoke-browser", &secret);
        Answer::of(scene.send(request.body(Body::empty()).unwrap()).await).await
    };
    assert_eq!(visit(Method::GET, "/api/me").await.json()["name"], "ada");
    assert_eq!(visit(Method::GET, "/api/config").await.status, 403);
    let listed = scene.get("/api/users").await.json();
    assert_eq!(listed["users"][0]["devices"][0]["kind"], "browser");
    let unused = link().await;
    assert_eq!(scene.post("/api/users/ada/sign-out", json!({})).await.status, 204);
    assert_eq!(visit(Method::GET, "/api/me").await.status, StatusCode::UNAUTHORIZED.as_u16());
    assert_eq!(sign_in(unused).await.status, 403, "links are dropped, too");
    // One of the same name, added later, is another user.
    let again = sign_in(link().await).await;
    assert_eq!(again.status, 201);
    assert_eq!(scene.call(Method::DELETE, "/api/users/ada", None).await.status, 204);
    scene.user("ada", "owner").await;
    assert_eq!(visit(Method::GET, "/api/me").await.status, 401);
    // A browser of an owner makes no lasting credentials.
    let browser = sign_in(link().await).await;
    let cookie = browser.header("set-cookie").split_once(';').unwrap().0.to_owned();
    let secret = browser.json()["secret"].as_str().unwrap().to_owned();
    for path in ["/api/users/ada/link", "/api/users/ada/tokens", "/api/browser-links"] {
        let request = Request::post(path).header("cookie", &cookie);
        let request = request.header("x-convoke-browser", &secret);
        let request = request.header("content-type", "application/json");
        let body = Body::from(json!({"label": "x"}).to_string());
        let answer = Answer::of(scene.send(request.body(body).unwrap()).await).await;
        assert_ne!(answer.status, 201, "{path}: {}", answer.body);
    }
}
