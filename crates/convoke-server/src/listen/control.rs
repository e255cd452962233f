//! The control socket: a Unix socket in the home that serves the same routes to the owner's commands.
//!
//! The peer must belong to the same user and must not be confined more than the daemon; and every request must carry
//! the token.

mod peer;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse as _;
use convoke_api::bodies::code;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::{ACCEPT_RETRY_DELAY, Acceptor, is_connection_error};
use crate::failure::Failure;
use peer::{Confinement, Refusal};

/// Concurrent connections; further ones wait in the kernel's backlog.
const CONNECTIONS: usize = 128;
/// Refused connections that get a response at the same time; further ones are closed without one.
const REFUSALS: usize = 8;
/// How long a refused connection may take to send a request and read the response.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(2);
/// Refusals within this time after a logged one are only counted.
const LOG_INTERVAL: Duration = Duration::from_secs(1);
/// The address of these peers in the log and in the count of wrong tokens; Unix sockets have none.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

impl Acceptor {
    pub(super) async fn accept_control(self, listener: UnixListener) {
        let daemon = match Confinement::of_this_process() {
            Ok(confinement) => Some(confinement),
            Err(error) => {
                tracing::error!("cannot determine how this process is confined: {error}");
                None
            }
        };
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let refusals = Arc::new(Semaphore::new(REFUSALS));
        let mut refused = RefusalLog::default();
        loop {
            let accepted = tokio::select! {
                accepted = async {
                    let place = Arc::clone(&places).acquire_owned().await;
                    listener.accept().await.map(|(stream, _)| (stream, place))
                } => accepted,
                () = self.stop.cancelled() => return,
            };
            match accepted {
                Ok((stream, place)) => {
                    self.spare.provide();
                    let Err(refusal) = peer::check(&stream, daemon.as_ref()) else {
                        let connection = self.clone().serve_connection(stream, PEER, None);
                        self.connections.spawn(async move {
                            connection.await;
                            drop(place);
                        });
                        continue;
                    };
                    refused.log(&refusal);
                    if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                        self.connections.spawn(async move {
                            tokio::time::timeout(REFUSAL_TIMEOUT, refuse(stream, refusal))
                                .await
                                .ok();
                            drop(place);
                        });
                    }
                }
                Err(error) if is_connection_error(&error) => {}
                Err(error) => {
                    tracing::warn!("no descriptor is left for the control socket: {error}");
                    self.spare.release();
                    self.pools.close_stranger();
                    // Other threads may have used the freed descriptors, and nothing else can be freed.
                    tokio::time::sleep(ACCEPT_RETRY_DELAY / 10).await;
                }
            }
        }
    }
}

/// Logs at most one refusal per second, so that a process that retries in a loop cannot fill the disk.
#[derive(Debug, Default)]
struct RefusalLog {
    last: Option<Instant>,
    unlogged: u64,
}

impl RefusalLog {
    fn log(&mut self, refusal: &Refusal) {
        if self.last.is_some_and(|last| last.elapsed() < LOG_INTERVAL) {
            self.unlogged += 1;
            return;
        }
        let unlogged = std::mem::take(&mut self.unlogged);
        tracing::warn!(target: "security", unlogged, "refused a peer of the control socket: {refusal}");
        self.last = Some(Instant::now());
    }
}

/// Answers any request with the reason of the refusal.
async fn refuse(stream: UnixStream, refusal: Refusal) {
    let service = hyper::service::service_fn(move |_: Request<Incoming>| {
        let failure = Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, refusal.to_string());
        let response: Response<Body> = failure.hint(refusal.hint()).into_response();
        async move { Ok::<_, std::convert::Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!("a refused connection ended: {error}");
    }
}
