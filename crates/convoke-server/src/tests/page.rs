//! The files of the page.

use axum::body::Body;
use axum::http::Method;

use super::scene::{Answer, Scene};

#[tokio::test]
async fn the_page_is_served_from_the_program_and_asked_for_only_once() {
    let scene = Scene::new().await;
    let shell = scene.get("/").await;
    assert_eq!((shell.status, shell.header("content-type")), (200, "text/html; charset=utf-8"));
    assert_eq!(shell.header("cache-control"), "no-cache");
    let tag = shell.header("etag").to_owned();
    let request =
        scene.request(Method::GET, "/").header("if-none-match", format!("W/{tag}, \"x\""));
    let again = Answer::of(scene.send(request.body(Body::empty()).unwrap()).await).await;
    assert_eq!((again.status, &*again.body, again.header("etag")), (304, "", &*tag));
    assert_eq!(scene.get("/s/demo%3Aabc").await.status, 200);
    let icon = scene.get("/assets/icon.svg").await;
    assert_eq!((icon.status, icon.header("content-type")), (200, "image/svg+xml"));
}

#[tokio::test]
async fn nothing_but_the_page_is_served() {
    let scene = Scene::new().await;
    for path in [
        "/assets/",
        "/assets/nope.js",
        "/assets/../index.html",
        "/assets/..%2F..%2FCargo.toml",
        "/assets/%2e%2e/package.json",
        "/assets//etc/passwd",
        "/package.json",
        "/denied.html",
    ] {
        assert_eq!(scene.get(path).await.status, 404, "{path}");
    }
}
