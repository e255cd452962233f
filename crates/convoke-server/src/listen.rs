//! Accepting connections: TCP for browsers, agents and programs, and the control socket for the owner's commands.
//!
//! The control socket has its own accept loop, its own capacity and spare descriptors: TCP cannot starve it.

mod control;
mod pooled;
mod pools;
mod spare;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use pooled::{InFlightBody, PooledStream};
use pools::{Closed, Limits, Pools};
use spare::Spare;

pub(crate) use pools::{Connection, assign};

/// The timeout for a request's head, and for an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest request head; a longer one is answered with 431.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The pause before the next `accept` when the process is out of descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// The listening sockets of a daemon, all bound.
#[derive(Debug)]
pub struct Listeners {
    /// For browsers, agents and programs: one listener for each loopback address.
    pub tcp: Vec<TcpListener>,
    /// The Unix socket for the owner's commands.
    pub control: Option<UnixListener>,
    /// The limit of open descriptors of this process.
    pub descriptors: usize,
}

impl From<TcpListener> for Listeners {
    /// One address, no control socket, and the full connection limits.
    fn from(listener: TcpListener) -> Self {
        Self { tcp: vec![listener], control: None, descriptors: usize::MAX }
    }
}

/// What all accept loops share.
#[derive(Clone)]
struct Acceptor {
    router: Router,
    pools: Arc<Pools>,
    spare: Arc<Spare>,
    connections: TaskTracker,
    head_timeout: Duration,
    stop: CancellationToken,
}

/// Serves until `stop` is cancelled, then lets responses in progress finish.
///
/// Streams do not end by themselves: the caller must also end what feeds them.
pub async fn serve(listeners: impl Into<Listeners>, router: Router, stop: CancellationToken) {
    let listeners = listeners.into();
    let limits = Limits::within(listeners.descriptors);
    serve_within(limits, HEAD_TIMEOUT, listeners, router, stop).await;
}

async fn serve_within(
    limits: Limits,
    head_timeout: Duration,
    listeners: Listeners,
    router: Router,
    stop: CancellationToken,
) {
    let acceptor = Acceptor {
        router,
        pools: Pools::new(limits),
        spare: Spare::open(),
        connections: TaskTracker::new(),
        head_timeout,
        stop,
    };
    let Acceptor { spare, pools, connections, stop, .. } = acceptor.clone();
    let loops = TaskTracker::new();
    for listener in listeners.tcp {
        loops.spawn(acceptor.clone().accept_tcp(listener));
    }
    if let Some(listener) = listeners.control {
        loops.spawn(acceptor.clone().accept_control(listener));
    }
    let keeping = spare.keep(|| {
        pools.close_stranger();
    });
    tokio::select! {
        () = keeping => {}
        () = stop.cancelled() => {}
    }
    loops.close();
    loops.wait().await;
    connections.close();
    connections.wait().await;
}

impl Acceptor {
    async fn accept_tcp(self, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                accepted = async { self.spare.wait_until_held().await; listener.accept().await } => accepted,
                () = self.stop.cancelled() => return,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // Dropping the stream closes the connection.
                    let Some(slot) = self.pools.admit() else { continue };
                    // Responses are written at once, so Nagle's algorithm would only delay them.
                    stream.set_nodelay(true).ok();
                    let place = slot.connection();
                    let stream = PooledStream::new(stream, slot);
                    self.connections.spawn(self.clone().serve_connection(
                        stream,
                        peer,
                        Some(place),
                    ));
                }
                Err(error) if is_connection_error(&error) => {}
                Err(error) => {
                    if self.pools.close_stranger() == Closed::None {
                        tracing::error!("cannot accept TCP connections: {error}");
                    }
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    }

    async fn serve_connection(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: SocketAddr,
        place: Option<Connection>,
    ) {
        let router = self.router;
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            let in_flight = place.clone().map(|place| {
                request.extensions_mut().insert(place.clone());
                place.begin()
            });
            // A `Router` is always ready and cheap to clone.
            let answering = router.clone().call(request);
            async move {
                let response = answering.await?;
                if let (StatusCode::SWITCHING_PROTOCOLS, Some(in_flight)) =
                    (response.status(), &in_flight)
                {
                    in_flight.upgraded();
                }
                Ok::<_, std::convert::Infallible>(
                    response.map(|body| InFlightBody::new(body, in_flight)),
                )
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.head_timeout)
            .max_header_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            // The peer may disconnect at any time.
            tracing::debug!(%peer, "a connection ended: {error}");
        }
    }
}

/// Whether the error belongs to one connection, whose peer disconnected before it was accepted.
fn is_connection_error(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests;
