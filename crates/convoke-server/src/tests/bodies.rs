//! Requests that make no sense.

use axum::body::Body;
use axum::http::Method;

use super::scene::{Answer, Scene};

async fn send(scene: &Scene, media: &str, body: impl Into<Body>) -> String {
    let request = scene.request(Method::POST, "/api/repos");
    let request = if media.is_empty() { request } else { request.header("content-type", media) };
    Answer::of(scene.send(request.body(body.into()).unwrap()).await).await.problem()
}

#[tokio::test]
async fn a_body_that_makes_no_sense_is_refused_with_the_reason() {
    let scene = Scene::new().await;
    let json = "application/json; charset=utf-8";
    let told = [
        send(&scene, "", "{}").await,
        send(&scene, "text/plain", "{}").await,
        send(&scene, json, "").await,
        send(&scene, json, "{").await,
        send(&scene, json, "{}").await,
        send(&scene, json, r#"{"path": 1}"#).await,
        send(&scene, json, r#"{"path": "/x", "nmae": "x"}"#).await,
        send(&scene, json, r#"["/x"]"#).await,
        send(&scene, json, "null").await,
        send(&scene, json, r#"{"path": "relative"}"#).await,
    ];
    insta::assert_snapshot!(told.join("\n"), @r"
    415 invalid: the body must be application/json, and this request has no Content-Type
    415 invalid: the body must be application/json, and this request has text/plain
    400 invalid: the body is empty
    400 invalid: the body is not JSON: EOF while parsing an object at line 1 column 1
    422 invalid: invalid body: missing field `path` at line 1 column 2
    422 invalid: invalid body: invalid type: integer `1`, expected a string at line 1 column 10
    422 invalid: invalid body: unknown field `nmae`, expected `path` or `name` at line 1 column 21
    422 invalid: the body must be a JSON object
    422 invalid: the body must be a JSON object
    422 invalid: the path relative is not absolute
    ");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_announced_or_not() {
    let scene = Scene::new().await;
    let large = " ".repeat(4 * 1024 * 1024 + 1);
    let detail = "413 too_large: the body is larger than 4194304 bytes";
    assert_eq!(send(&scene, "application/json", large.clone()).await, detail);
    let pieces = futures_util::stream::iter([Ok::<_, std::io::Error>(large)]);
    assert_eq!(send(&scene, "application/json", Body::from_stream(pieces)).await, detail);
}

#[tokio::test]
async fn a_query_that_makes_no_sense_is_refused_by_name() {
    let scene = Scene::new().await;
    let mut told = Vec::new();
    for query in [
        "limit=0",
        "limit=10001",
        "limit=abc",
        "limit=+5",
        "limit=",
        "offset=-1",
        "status=foo",
        "status=active,",
        "archived=yes",
        "limt=5",
        "limit=1&limit=2",
    ] {
        told.push(scene.get(&format!("/api/sessions?{query}")).await.problem());
    }
    told.push(scene.get("/api/sessions?repoId=abcdef").await.problem());
    told.push(scene.get("/api/search").await.problem());
    insta::assert_snapshot!(told.join("\n"), @r"
    422 invalid: invalid query: limit: must be a whole number between 1 and 10000, and is `0`
    422 invalid: invalid query: limit: must be a whole number between 1 and 10000, and is `10001`
    422 invalid: invalid query: limit: must be a whole number between 1 and 10000, and is `abc`
    422 invalid: invalid query: limit: must be a whole number between 1 and 10000, and is ` 5`
    422 invalid: invalid query: limit: must be a whole number between 1 and 10000, and is ``
    422 invalid: invalid query: offset: must be a whole number between 0 and 4294967295, and is `-1`
    422 invalid: invalid query: status: `foo` is not one of active, completed, cancelled, error
    422 invalid: invalid query: status: `` is not one of active, completed, cancelled, error
    422 invalid: invalid query: archived: provided string was not `true` or `false`
    422 invalid: invalid query: limt: unknown field `limt`, expected one of `repoId`, `status`, `archived`, `limit`, `offset`
    422 invalid: invalid query: duplicate field `limit`
    404 repo_not_found: there is no project abcdef
    422 invalid: invalid query: missing field `q`
    ");
}
