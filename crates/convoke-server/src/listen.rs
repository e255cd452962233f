//! Accepting connections: TCP for browsers, agents and programs, and the control socket for the owner's commands.
//!
//! The control socket has its own accept loop, its own capacity and spare descriptors: TCP cannot starve it.

mod control;
mod seated;
mod seats;
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

use seated::{Seated, Sending};
use seats::{Closed, Limits, Seats};
use spare::Spare;

pub(crate) use seats::{Connection, recognise};

/// How long a request's head may take, which is also how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of a request's head; more is answered with 431.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long to wait when the system has no more connections to give.
const OUT_OF_FILES: Duration = Duration::from_millis(100);

/// Where a daemon accepts connections; all of it is bound already.
#[derive(Debug)]
pub struct Listeners {
    /// For browsers, agents and programs: one listener for each loopback address.
    pub tcp: Vec<TcpListener>,
    /// The Unix socket for the owner's commands.
    pub control: Option<UnixListener>,
    /// Descriptors that this process may have open.
    pub descriptors: usize,
}

impl From<TcpListener> for Listeners {
    /// One address, no control socket, and as many connections as are of use.
    fn from(listener: TcpListener) -> Self {
        Self { tcp: vec![listener], control: None, descriptors: usize::MAX }
    }
}

/// What all accept loops share.
#[derive(Clone)]
struct Acceptor {
    router: Router,
    seats: Arc<Seats>,
    spare: Arc<Spare>,
    connections: TaskTracker,
    head_timeout: Duration,
    stop: CancellationToken,
}

/// Serves until `stop`, then lets answers that are under way end.
///
/// Streams do not end by themselves; the caller of `stop` must end what feeds them.
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
        seats: Seats::new(limits),
        spare: Spare::open(),
        connections: TaskTracker::new(),
        head_timeout,
        stop,
    };
    let Acceptor { spare, seats, connections, stop, .. } = acceptor.clone();
    let loops = TaskTracker::new();
    for listener in listeners.tcp {
        loops.spawn(acceptor.clone().accept_tcp(listener));
    }
    if let Some(listener) = listeners.control {
        loops.spawn(acceptor.clone().accept_control(listener));
    }
    let keeping = spare.keep(|| {
        seats.close_stranger();
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
                accepted = async { self.spare.at_home().await; listener.accept().await } => accepted,
                () = self.stop.cancelled() => return,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // A connection that finds no place is closed by being dropped.
                    let Some(seat) = self.seats.admit() else { continue };
                    // Answers are written whole, so waiting for more to send would only delay them.
                    stream.set_nodelay(true).ok();
                    let place = seat.connection();
                    let stream = Seated::new(stream, seat);
                    self.connections.spawn(self.clone().converse(stream, peer, Some(place)));
                }
                Err(error) if is_of_the_connection(&error) => {}
                Err(error) => {
                    if self.seats.close_stranger() == Closed::None {
                        tracing::error!("cannot accept TCP connections: {error}");
                    }
                    tokio::time::sleep(OUT_OF_FILES).await;
                }
            }
        }
    }

    async fn converse(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: SocketAddr,
        place: Option<Connection>,
    ) {
        let router = self.router;
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            let underway = place.clone().map(|place| {
                request.extensions_mut().insert(place.clone());
                place.begin()
            });
            // A router is always ready, and cheap to clone.
            let answering = router.clone().call(request);
            async move {
                let response = answering.await?;
                if let (StatusCode::SWITCHING_PROTOCOLS, Some(underway)) =
                    (response.status(), &underway)
                {
                    underway.upgraded();
                }
                Ok::<_, std::convert::Infallible>(response.map(|body| Sending::new(body, underway)))
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
            // A peer may hang up at any time.
            tracing::debug!(%peer, "a connection ended: {error}");
        }
    }
}

/// Whether the caller went away before the connection was accepted.
fn is_of_the_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests;
