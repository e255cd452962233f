//! Idle, numerous and incomplete connections.

use axum::extract::Request as Asked;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::actor::Login;
use crate::middleware::Caller;

const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const ASK_AND_CLOSE: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const ASK_AS_OWNER: &[u8] = b"GET /owner HTTP/1.1\r\nhost: x\r\n\r\n";

async fn start(limits: Limits, head_timeout: Duration) -> (SocketAddr, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let owner = |request: Asked| async move {
        assign(request.extensions(), &Caller::Human(Login::Owner)).map(|()| "owner")
    };
    let router = Router::new().route("/", get(|| async { "hello" })).route("/owner", get(owner));
    tokio::spawn(serve_within(limits, head_timeout, listener.into(), router, stop.clone()));
    (address, stop)
}

async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A connection that is closed with unread bytes ends in an error.
    stream.read_to_end(&mut bytes).await.ok();
    String::from_utf8(bytes).unwrap()
}

/// Sends a request and reads the response up to its last word.
async fn ask(stream: &mut TcpStream, request: &[u8], last: &str) {
    stream.write_all(request).await.unwrap();
    let mut text = String::new();
    while !text.ends_with(last) {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).await.unwrap();
        assert!(count > 0, "closed after {text:?}");
        text += std::str::from_utf8(&bytes[..count]).unwrap();
    }
}

#[tokio::test]
async fn k5_a_request_that_is_not_finished_is_hung_up_on() {
    let (address, _stop) = start(Limits::FULL, Duration::from_millis(50)).await;
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: ").await.unwrap();
    assert_eq!(read(&mut slow).await, "");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let (address, _stop) = start(Limits::FULL, HEAD_TIMEOUT).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(HEAD_BYTES_MAX));
    stream.write_all(head.as_bytes()).await.unwrap();
    let told = read(&mut stream).await;
    assert!(told.starts_with("HTTP/1.1 431 "), "{told}");
}

#[tokio::test]
async fn k5_a_new_connection_displaces_an_idle_stranger_and_never_the_owner() {
    let limits = Limits { strangers: 1, ..Limits::FULL };
    let (address, _stop) = start(limits, Duration::from_secs(60)).await;
    let mut owner = TcpStream::connect(address).await.unwrap();
    ask(&mut owner, ASK_AS_OWNER, "owner").await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    ask(&mut idle, ASK, "hello").await;
    let mut next = TcpStream::connect(address).await.unwrap();
    next.write_all(ASK_AND_CLOSE).await.unwrap();
    assert!(read(&mut next).await.ends_with("hello"));
    assert_eq!(read(&mut idle).await, "", "it made room");
    ask(&mut owner, ASK, "hello").await;
}

#[tokio::test]
async fn stopping_lets_an_answer_end_and_hangs_up_on_the_idle() {
    let (address, stop) = start(Limits::FULL, HEAD_TIMEOUT).await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(ASK).await.unwrap();
    let mut bytes = [0; 4];
    idle.read_exact(&mut bytes).await.unwrap();
    stop.cancel();
    assert!(read(&mut idle).await.ends_with("hello"));
    assert!(TcpStream::connect(address).await.is_err());
}
