//! A WebSocket echo server for protocol conformance suites: `echo_socket ADDRESS`. Prints the address it listens on.
//!
//! The daemon's own socket does not echo, so this serves an echo with the daemon's connection handling and frame limits.

use std::io::Write as _;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use convoke_server::{hang_up, limit_frames, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address).await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    let router = Router::new().route("/", get(open));
    serve(listener, router, CancellationToken::new()).await;
    Ok(())
}

async fn open(upgrade: WebSocketUpgrade) -> Response {
    limit_frames(upgrade).on_upgrade(echo)
}

async fn echo(mut socket: WebSocket) {
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
