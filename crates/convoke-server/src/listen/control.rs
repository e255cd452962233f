//! The control socket: a Unix socket in the home that serves the same routes to the owner's commands.
//!
//! A peer must be of the same user and not be confined more than the daemon itself is; besides, every request must
//! carry the token, as everywhere.

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

use super::{Acceptor, OUT_OF_FILES, is_of_the_connection};
use crate::failure::Failure;
use peer::{Refusal, Standing};

/// Connections of the owner's at once; one more waits in the kernel's queue until one ends.
const CONNECTIONS: usize = 128;
/// Refused connections that are told why at once; one more is closed without a word.
const REFUSALS: usize = 8;
/// How long a refused connection may take to ask and to hear why.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(2);
/// Refusals within this time after one that was logged are only counted.
const LOG_INTERVAL: Duration = Duration::from_secs(1);
/// What the log and the count of wrong tokens call peers of the socket; they have no address.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

impl Acceptor {
    pub(super) async fn accept_control(self, listener: UnixListener) {
        let daemon = match Standing::of_this_process() {
            Ok(standing) => Some(standing),
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
                        let connection = self.clone().converse(stream, PEER, None);
                        self.connections.spawn(async move {
                            connection.await;
                            drop(place);
                        });
                        continue;
                    };
                    refused.log(&refusal);
                    if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                        self.connections.spawn(async move {
                            tokio::time::timeout(REFUSAL_PATIENCE, refuse(stream, refusal))
                                .await
                                .ok();
                            drop(place);
                        });
                    }
                }
                Err(error) if is_of_the_connection(&error) => {}
                Err(error) => {
                    tracing::warn!("no descriptor is left for the control socket: {error}");
                    self.spare.release();
                    self.seats.close_stranger();
                    // Others may have been faster; nothing else can be given up at once.
                    tokio::time::sleep(OUT_OF_FILES / 10).await;
                }
            }
        }
    }
}

/// Logs refusals, one line a second at most: the log must not fill the disk for an agent that tries without end.
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

/// Answers whatever is asked with why the peer is refused.
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
