//! What can go wrong, told apart.

use std::error::Error as _;

use convoke_api::{Client, Error};

use crate::scripted::{Line, Scripted};

async fn failure(url: &str) -> Error {
    Client::connect(url, "secret").unwrap().status().await.unwrap_err()
}

/// An error and its causes, with what differs from run to run left out.
fn told(error: &Error, url: &str) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text.replace(url, "URL")
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = failure(&url).await;
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_unreachable());
    insta::assert_snapshot!(told(&error, &url), @"cannot connect to URL: Connection refused (os error 111)");
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_times_out() {
    let server = Scripted::start(vec![Line::Wait]).await;
    let error = failure(&server.url).await;
    assert!(matches!(error, Error::TimedOut { .. }) && error.is_unreachable());
    insta::assert_snapshot!(told(&error, &server.url), @"URL did not answer within 15 s");
}

#[tokio::test]
async fn a_connection_that_closes_without_a_word_broke_off() {
    let server = Scripted::start(Vec::new()).await;
    let error = failure(&server.url).await;
    assert!(matches!(error, Error::Broken { .. }) && error.is_unreachable());
}

#[tokio::test]
async fn a_problem_is_what_the_daemon_says() {
    let body = r#"{"type":"about:blank","title":"Not Found","status":404,"detail":"no session 0000","hint":"see `convoke session list`","code":"session_not_found"}"#;
    let server = Scripted::answering(404, "application/problem+json", body).await;
    let error = failure(&server.url).await;
    assert_eq!((error.to_string().as_str(), error.is_unreachable()), ("no session 0000", false));
    let problem = error.problem().unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (404, "session_not_found"));
    assert_eq!(problem.hint.as_deref(), Some("see `convoke session list`"));
}

#[tokio::test]
async fn another_server_is_not_the_daemon() {
    let server = Scripted::answering(502, "text/html", "<h1>Bad Gateway</h1>\n").await;
    let error = failure(&server.url).await;
    insta::assert_snapshot!(told(&error, &server.url), @"unexpected response from URL: status 502, <h1>Bad Gateway</h1>");
    let server = Scripted::answering(200, "text/html", "<h1>Welcome</h1>").await;
    let error = failure(&server.url).await;
    insta::assert_snapshot!(told(&error, &server.url), @"URL sent an invalid response: expected value at line 1 column 1");
}

#[test]
fn an_address_is_plain_http() {
    for url in ["", "127.0.0.1:7717", "https://127.0.0.1:7717", "http://", "/tmp/x", "http://a b"] {
        let error = Client::connect(url, "secret").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("not the address of a daemon: {}", url.trim_end_matches('/'))
        );
    }
    assert!(Client::connect("http://127.0.0.1:7717", "no\nnewline").is_err());
    assert_eq!(Client::connect("http://[::1]:7717/", "secret").unwrap().url(), "http://[::1]:7717");
}
