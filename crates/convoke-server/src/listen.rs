//! Taking connections, as many as may be, and letting them end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

/// How much is taken on.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Connections at once; more wait in the kernel's queue until one ends.
    connections: usize,
    /// How long a request's head may take, which is also how long a connection may be idle.
    head_timeout: Duration,
}

const LIMITS: Limits = Limits { connections: 1024, head_timeout: Duration::from_secs(10) };
/// Bytes of a request's head; more is answered with 431.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long to wait when the system has no more connections to give.
const OUT_OF_FILES: Duration = Duration::from_millis(100);

/// Serves until `stop`, then lets answers that are under way end.
///
/// Streams do not end by themselves; whoever stops must end what feeds them.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    serve_within(LIMITS, listener, router, stop).await;
}

async fn serve_within(
    limits: Limits,
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = stop.cancelled() => break,
        };
        // Nobody closes the semaphore.
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let head_timeout = limits.head_timeout;
                let connection = converse(stream, peer, router.clone(), head_timeout, stop.clone());
                connections.spawn(async move {
                    connection.await;
                    drop(place);
                });
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                tracing::error!("cannot take connections: {error}");
                tokio::time::sleep(OUT_OF_FILES).await;
            }
        }
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// Whether the caller went away before we took their call.
fn is_of_the_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

async fn converse(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    head_timeout: Duration,
    stop: CancellationToken,
) {
    // Answers are written whole, so waiting for more to send would only delay them.
    stream.set_nodelay(true).ok();
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        // A router is always ready, and cheap to clone.
        router.clone().call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_header_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Whoever calls may hang up at any time.
        tracing::debug!(%peer, "a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn start(limits: Limits) -> (SocketAddr, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let router = Router::new().route("/", get(|| async { "hello" }));
        tokio::spawn(serve_within(limits, listener, router, stop.clone()));
        (address, stop)
    }

    async fn read(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn whoever_does_not_finish_a_request_is_hung_up_on() {
        let (address, _stop) =
            start(Limits { head_timeout: Duration::from_millis(50), ..LIMITS }).await;
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: ").await.unwrap();
        assert_eq!(read(&mut slow).await, "");
    }

    #[tokio::test]
    async fn a_head_that_is_too_large_is_refused() {
        let (address, _stop) = start(LIMITS).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(HEAD_BYTES_MAX));
        stream.write_all(head.as_bytes()).await.unwrap();
        let told = read(&mut stream).await;
        assert!(told.starts_with("HTTP/1.1 431 "), "{told}");
    }

    #[tokio::test]
    async fn beyond_the_limit_connections_wait_for_one_to_end() {
        let (address, _stop) = start(Limits { connections: 1, ..LIMITS }).await;
        let ask = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let first = TcpStream::connect(address).await.unwrap();
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(ask).await.unwrap();
        let mut byte = [0];
        let patience = Duration::from_millis(100);
        assert!(tokio::time::timeout(patience, second.peek(&mut byte)).await.is_err());
        drop(first);
        assert!(read(&mut second).await.ends_with("hello"));
    }

    #[tokio::test]
    async fn stopping_lets_an_answer_end_and_hangs_up_on_the_idle() {
        let (address, stop) = start(LIMITS).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        idle.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut bytes = [0; 4];
        idle.read_exact(&mut bytes).await.unwrap();
        stop.cancel();
        assert!(read(&mut idle).await.ends_with("hello"));
        assert!(TcpStream::connect(address).await.is_err());
    }
}
