//! An echo with the settings of `/ws` on the daemon's own way of taking connections, for outside judges of the protocol.
//!
//! The daemon has no such route; `examples/echo_socket.rs` has nothing else.

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::bounded;
use super::socket::hang_up;

/// Sends every message back to where it came from, until the process ends.
pub async fn echo(listener: TcpListener) {
    let router = Router::new().route("/", get(open));
    crate::listen::serve(listener, router, CancellationToken::new()).await;
}

async fn open(upgrade: WebSocketUpgrade) -> Response {
    bounded(upgrade).on_upgrade(converse)
}

async fn converse(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let sent = match message {
            Message::Text(_) | Message::Binary(_) => socket.send(message).await,
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => break,
        };
        if sent.is_err() {
            break;
        }
    }
    hang_up(socket).await;
}
