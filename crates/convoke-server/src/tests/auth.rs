//! Who is let in, and what every answer carries.

use axum::body::Body;
use axum::http::{Method, Request};

use super::scene::{Answer, HOST, Scene};

async fn ask(scene: &Scene, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::of(scene.send(request.body(Body::empty()).unwrap()).await).await
}

#[tokio::test]
async fn s8_only_healthz_answers_without_a_token() {
    let scene = Scene::new().await;
    for path in
        ["/api/sessions", "/api/openapi.json", "/metrics", "/ws", "/mcp", "/nope", "/api/nope"]
    {
        let answer = ask(&scene, path, &[]).await;
        assert!(answer.problem().starts_with("401 unauthorized: "), "{path}");
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"convoke\"", "{path}");
        let answer = ask(&scene, path, &[("authorization", "Bearer 0123")]).await;
        assert_eq!(answer.status, 401, "{path}");
    }
    let answer = ask(&scene, "/healthz", &[]).await;
    assert_eq!((answer.status, &*answer.body), (200, r#"{"status":"ok"}"#));
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_turned_away_everywhere() {
    let scene = Scene::new().await;
    let token = format!("Bearer {}", scene.token.as_str());
    let token = ("authorization", token.as_str());
    for path in ["/", "/healthz", "/api/sessions", "/ws", "/mcp", "/assets/icon.svg"] {
        let answer = ask(&scene, path, &[token, ("host", "evil.example:7717")]).await;
        assert_eq!(
            answer.problem(),
            "403 forbidden: the Host `evil.example:7717` is not this daemon"
        );
        let answer = ask(&scene, path, &[token, ("origin", "http://evil.example")]).await;
        assert_eq!(
            answer.problem(),
            "403 forbidden: the Origin `http://evil.example` is not this daemon's page"
        );
    }
    let own = format!("http://{HOST}");
    assert_eq!(ask(&scene, "/api/sessions", &[token, ("origin", &own)]).await.status, 200);
    // It answers nothing to GET, but that has nothing to do with the Origin.
    assert_eq!(ask(&scene, "/mcp", &[token, ("origin", &own)]).await.status, 405);
}

#[tokio::test]
async fn the_key_of_a_session_opens_its_tools_and_nothing_else() {
    let scene = Scene::new().await;
    let session = scene.session().await.parse().unwrap();
    let key = scene.keys.issue(session);
    let (own, stranger) =
        (format!("Bearer {}", key.token()), format!("Bearer {}", "01".repeat(32)));
    assert_eq!(ask(&scene, "/mcp", &[("authorization", &stranger)]).await.status, 401);
    // An authenticated caller gets as far as the wrong method.
    assert_eq!(ask(&scene, "/mcp", &[("authorization", &own)]).await.status, 405);
    for path in ["/api/sessions", "/ws", "/metrics"] {
        let answer = ask(&scene, path, &[("authorization", &own)]).await;
        let said = "403 forbidden: the key of a session is valid for /mcp only";
        assert_eq!(answer.problem(), said, "{path}");
    }
    // K3: a key ends with its process.
    drop(key);
    assert_eq!(ask(&scene, "/mcp", &[("authorization", &own)]).await.status, 401);
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let scene = Scene::new().await;
    for (path, status) in
        [("/healthz", 200), ("/api/sessions", 401), ("/", 200), ("/assets/nope.js", 404)]
    {
        let answer = ask(&scene, path, &[("x-request-id", "mine-1")]).await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("x-request-id"), "mine-1");
        let names = [
            "content-security-policy",
            "x-content-type-options",
            "referrer-policy",
            "cross-origin-resource-policy",
            "cross-origin-opener-policy",
        ];
        insta::allow_duplicates! {
            insta::assert_snapshot!(names.map(|name| answer.header(name)).join("\n"), @r"
            default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'
            nosniff
            no-referrer
            same-origin
            same-origin
            ");
        }
    }
    let answer = ask(&scene, "/healthz", &[("x-request-id", "not fine")]).await;
    assert_ne!(answer.header("x-request-id"), "not fine");
    assert!(!answer.header("x-request-id").is_empty());
}

#[tokio::test]
async fn a_browser_at_an_unknown_path_gets_a_page_and_a_program_a_problem() {
    let scene = Scene::new().await;
    let visit = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let page = ask(&scene, "/nope", &visit).await;
    assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    let api = ask(&scene, "/api/nope", &visit).await;
    assert!(api.problem().starts_with("401 "), "{}", api.problem());
    let program = ask(&scene, "/nope", &[("accept", "*/*")]).await;
    assert!(program.problem().starts_with("401 "), "{}", program.problem());
}

#[tokio::test]
async fn an_unknown_path_and_a_wrong_method_are_problems_too() {
    let scene = Scene::new().await;
    let answer = scene.get("/api/nope").await;
    assert_eq!(answer.problem(), "404 not_found: there is nothing at this path");
    let answer = scene.call(Method::PUT, "/api/repos", None).await;
    assert_eq!((answer.status, answer.header("allow")), (405, "POST,GET,HEAD"));
    assert!(answer.problem().starts_with("405 invalid: "));
}
