//! A browser signs in with a link, and what half of its secrets is worth.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use convoke_testkit::agent::Script;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::scene::{Answer, Scene};

/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A browser that is signed in.
struct Browser {
    id: String,
    cookie: String,
    secret: String,
}

impl Browser {
    async fn sign_in(scene: &Scene) -> Self {
        let answer = sign_in(scene, &link(scene).await, &[]).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        let (cookie, rest) = answer.header("set-cookie").split_once("; ").unwrap();
        assert_eq!(rest, "Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000");
        let body = answer.json();
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        Self { id: text("id"), cookie: cookie.to_owned(), secret: text("secret") }
    }

    /// The headers that the page sends.
    fn headers(&self) -> [(&str, &str); 2] {
        [("cookie", &self.cookie), ("x-convoke-browser", &self.secret)]
    }
}

/// The secret of a new link.
async fn link(scene: &Scene) -> String {
    let made = scene.post("/api/browser-links", json!({})).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let url = made.json()["url"].as_str().unwrap().to_owned();
    url.split_once("/#link=").unwrap().1.to_owned()
}

async fn send(
    scene: &Scene,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = match body {
        Some(body) => {
            request.header("content-type", "application/json").body(Body::from(body.to_string()))
        }
        None => request.body(Body::empty()),
    };
    Answer::of(scene.send(request.unwrap()).await).await
}

async fn sign_in(scene: &Scene, link: &str, headers: &[(&str, &str)]) -> Answer {
    let body = Some(json!({"link": link}));
    send(scene, Method::POST, "/api/browser-sessions", headers, body).await
}

#[tokio::test]
async fn k6_a_link_signs_in_one_browser_once_and_soon() {
    let scene = Scene::new().await;
    let spent = link(&scene).await;
    assert_eq!(sign_in(&scene, &spent, &[]).await.status, 201);
    let refused = "403 forbidden: this link was used before, or has expired";
    assert_eq!(sign_in(&scene, &spent, &[]).await.problem(), refused);
    let expired = link(&scene).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(5 * 60)).await;
    tokio::time::resume();
    assert_eq!(sign_in(&scene, &expired, &[]).await.problem(), refused);
    for guess in ["", "x", scene.token.as_str()] {
        assert_eq!(sign_in(&scene, guess, &[]).await.problem(), refused);
    }
    let long = sign_in(&scene, &"x".repeat(2000), &[]).await;
    assert_eq!(long.problem(), "413 too_large: the body is larger than 1024 bytes");
}

#[tokio::test]
async fn k6_a_browser_that_is_signed_in_keeps_its_secret_when_it_follows_another_link() {
    let scene = Scene::new().await;
    let browser = Browser::sign_in(&scene).await;
    let next = link(&scene).await;
    let again = sign_in(&scene, &next, &browser.headers()).await;
    assert_eq!((again.status, again.json()), (200, json!({"id": browser.id})));
    assert_eq!(again.header("set-cookie"), "");
    assert_eq!(sign_in(&scene, &next, &[]).await.status, 403, "it is spent all the same");
    let listed = scene.get("/api/browser-sessions").await.json();
    assert_eq!(listed["browserSessions"].as_array().unwrap().len(), 1);
}

/// Every path and method that the API has, with something where a name belongs.
async fn routes(scene: &Scene) -> Vec<(Method, String)> {
    let document = scene.get("/api/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap();
    let mut routes = Vec::new();
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().unwrap() {
            // What says itself that it is open.
            if operation.get("security").is_none() {
                let method = method.to_uppercase().parse().unwrap();
                routes.push((method, path.replace("{id}", "abcd").replace("{team}", "a")));
            }
        }
    }
    assert!(routes.len() > 30, "{routes:?}");
    routes.extend(["/api/openapi.json", "/ws", "/mcp"].map(|it| (Method::GET, it.to_owned())));
    routes.push((Method::POST, "/mcp".to_owned()));
    routes
}

#[tokio::test]
async fn k6_no_route_takes_the_cookie_alone_or_the_secret_alone() {
    let scene = Scene::new().await;
    let browser = Browser::sign_in(&scene).await;
    let [cookie, secret] = browser.headers();
    let stranger = Browser::sign_in(&scene).await;
    // Wrong secrets are answered slowly; this is about what is answered.
    tokio::time::pause();
    for (method, path) in routes(&scene).await {
        let is_upgrade = path == "/ws";
        for headers in [vec![cookie], vec![secret], vec![cookie, stranger.headers()[1]]] {
            let answer = send(&scene, method.clone(), &path, &headers, None).await;
            // With the cookie a socket may be opened, which serves nothing before the secret.
            let expected = if is_upgrade && headers == [cookie] { 400 } else { 401 };
            assert_eq!(answer.status, expected, "{method} {path} {headers:?}");
        }
    }
    // The control: the same browser with both.
    let get = async |path| send(&scene, Method::GET, path, &browser.headers(), None).await.status;
    assert_eq!((get("/api/sessions").await, get("/metrics").await), (200, 200));
    assert_eq!(get("/mcp").await, 401, "not for browsers");
    let minted = send(&scene, Method::POST, "/api/browser-links", &browser.headers(), None).await;
    assert_eq!(minted.problem(), "403 forbidden: a browser cannot sign in other browsers");
}

#[tokio::test]
async fn k6_what_a_browser_sends_for_another_port_is_refused_even_with_every_secret() {
    let scene = Scene::new().await;
    let browser = Browser::sign_in(&scene).await;
    let [cookie, secret] = browser.headers();
    for path in ["/api/sessions", "/ws", "/mcp"] {
        for site in ["same-site", "cross-site"] {
            let headers = [cookie, secret, ("sec-fetch-site", site)];
            let answer = send(&scene, Method::GET, path, &headers, None).await;
            let said = "403 forbidden: the browser sent this for a page of another origin";
            assert_eq!(answer.problem(), format!("{said} ({site})"), "{path}");
        }
    }
    let link = link(&scene).await;
    let refused = sign_in(&scene, &link, &[("sec-fetch-site", "same-site")]).await;
    assert_eq!(refused.status, 403);
    assert_eq!(sign_in(&scene, &link, &[("sec-fetch-site", "same-origin")]).await.status, 201);
    let headers = [cookie, secret, ("sec-fetch-site", "same-origin")];
    assert_eq!(send(&scene, Method::GET, "/api/sessions", &headers, None).await.status, 200);
    // A link in another page may lead to ours.
    let headers = [("sec-fetch-site", "cross-site")];
    assert_eq!(send(&scene, Method::GET, "/", &headers, None).await.status, 200);
}

#[tokio::test]
async fn k6_the_main_token_in_an_address_opens_nothing() {
    let scene = Scene::new().await;
    let token = scene.token.as_str();
    let shell = send(&scene, Method::GET, &format!("/?token={token}"), &[], None).await;
    assert_eq!((shell.status, shell.header("set-cookie")), (200, ""));
    assert!(!shell.body.contains(token));
    for path in ["/api/sessions", "/ws", "/mcp"] {
        let path = format!("{path}?token={token}");
        assert_eq!(send(&scene, Method::GET, &path, &[], None).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn k6_browser_sessions_are_listed_and_revoked() {
    let scene = Scene::new().await;
    let (first, second) = (Browser::sign_in(&scene).await, Browser::sign_in(&scene).await);
    let listed = scene.get("/api/browser-sessions").await.json();
    let listed = listed["browserSessions"].as_array().unwrap();
    let mut ids: Vec<&str> = listed.iter().map(|it| it["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let mut expected = [first.id.as_str(), second.id.as_str()];
    expected.sort_unstable();
    assert_eq!(ids, expected);
    let path = format!("/api/browser-sessions/{}", first.id);
    assert_eq!(scene.call(Method::DELETE, &path, None).await.status, 204);
    assert_eq!(scene.call(Method::DELETE, &path, None).await.status, 404);
    let get = async |browser: &Browser| {
        send(&scene, Method::GET, "/api/sessions", &browser.headers(), None).await.status
    };
    assert_eq!((get(&first).await, get(&second).await), (401, 200));
}

type Socket = WebSocketStream<TcpStream>;

async fn connect(address: SocketAddr, browser: &Browser) -> Socket {
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
    request.headers_mut().insert("cookie", browser.cookie.parse().unwrap());
    let origin = format!("http://{address}");
    request.headers_mut().insert("origin", origin.parse().unwrap());
    let stream = TcpStream::connect(address).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

async fn say(socket: &mut Socket, frame: Value) {
    socket.send(Message::Text(frame.to_string().into())).await.unwrap();
}

/// What comes next: a frame as JSON, or the code of the close.
async fn next(socket: &mut Socket) -> Value {
    loop {
        let message = tokio::time::timeout(TIMEOUT, socket.next()).await.unwrap();
        match message {
            Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
            Some(Ok(Message::Close(frame))) => {
                return json!({"closed": frame.map(|frame| u16::from(frame.code))});
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn k6_a_socket_with_the_cookie_is_served_nothing_before_the_secret() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let browser = Browser::sign_in(&scene).await;
    let stranger = Browser::sign_in(&scene).await;
    let closed = json!({"closed": 4401});
    for first in [
        json!({"type": "project:list"}),
        json!({"type": "browser:auth", "secret": ""}),
        json!({"type": "browser:auth", "secret": stranger.secret}),
        json!({"type": "browser:auth", "secret": scene.token.as_str()}),
        json!("browser:auth"),
    ] {
        let mut socket = connect(address, &browser).await;
        say(&mut socket, first.clone()).await;
        // What would have been said to a socket that is served.
        scene.project().await;
        assert_eq!(next(&mut socket).await, closed, "{first}");
        let repos = scene.get("/api/repos").await.json();
        let id = repos["repos"][0]["id"].as_str().unwrap().to_owned();
        scene.call(Method::DELETE, &format!("/api/repos/{id}"), None).await;
    }
    // The control.
    let mut socket = connect(address, &browser).await;
    say(&mut socket, json!({"type": "browser:auth", "secret": browser.secret})).await;
    assert_eq!(next(&mut socket).await, json!({"type": "browser:ready"}));
    say(&mut socket, json!({"type": "project:list"})).await;
    assert_eq!(next(&mut socket).await, json!({"type": "project:list", "projects": []}));
}

#[tokio::test]
async fn k6_a_socket_that_never_sends_the_secret_is_closed() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let browser = Browser::sign_in(&scene).await;
    let mut socket = connect(address, &browser).await;
    // The clock goes on by itself when there is nothing left to do.
    tokio::time::pause();
    assert_eq!(next(&mut socket).await, json!({"closed": 4401}));
}

#[tokio::test]
async fn k6_revoking_a_browser_closes_its_sockets_and_its_streams() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let session = scene.session().await;
    let (browser, other) = (Browser::sign_in(&scene).await, Browser::sign_in(&scene).await);
    let mut sockets = Vec::new();
    for browser in [&browser, &other] {
        let mut socket = connect(address, browser).await;
        say(&mut socket, json!({"type": "browser:auth", "secret": browser.secret})).await;
        assert_eq!(next(&mut socket).await, json!({"type": "browser:ready"}));
        sockets.push(socket);
    }
    let mut request = Request::get(format!("/api/sessions/{session}/events"));
    for (name, value) in browser.headers() {
        request = request.header(name, value);
    }
    let following = scene.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(following.status(), 200);
    let path = format!("/api/browser-sessions/{}", browser.id);
    assert_eq!(scene.call(Method::DELETE, &path, None).await.status, 204);
    until(&mut sockets[0], &json!({"closed": 4401})).await;
    // Ends instead of following for ever.
    tokio::time::timeout(TIMEOUT, Answer::of(following)).await.unwrap();
    let again = refused(address, &browser).await;
    assert_eq!(again, 401, "the cookie is worth nothing any more");
    say(&mut sockets[1], json!({"type": "ping"})).await;
    until(&mut sockets[1], &json!({"type": "pong"})).await;
}

/// Waits for a frame, past news of what happens meanwhile.
async fn until(socket: &mut Socket, expected: &Value) {
    let mut last = next(socket).await;
    while last != *expected {
        assert_eq!(last["type"], "inbox:changed", "{last}");
        last = next(socket).await;
    }
}

/// The status with which a socket is refused.
async fn refused(address: SocketAddr, browser: &Browser) -> u16 {
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
    request.headers_mut().insert("cookie", browser.cookie.parse().unwrap());
    let stream = TcpStream::connect(address).await.unwrap();
    match tokio_tungstenite::client_async(request, stream).await {
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => response.status().as_u16(),
        other => panic!("{other:?}"),
    }
}
