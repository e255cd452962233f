//! The first frame of the page's socket: the second secret of its browser session.
//!
//! A browser cannot add a header to the opening handshake of a socket, and sends the cookie also
//! for pages on other ports of this host. So nothing is sent or executed before the secret has
//! arrived.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use serde::Deserialize;

use super::execute::Client;
use super::socket::{CLOSE_TIMEOUT, SIGNED_OUT, converse};
use crate::actor::Login;
use crate::app::App;
use crate::listen::Connection;

/// The timeout for the secret; the page sends it at once.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The response to the right secret.
const READY: Utf8Bytes = Utf8Bytes::from_static(r#"{"type":"browser:ready"}"#);

/// The first frame of a page.
#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum First {
    #[serde(rename = "browser:auth")]
    Auth { secret: String },
}

/// The upgrade request of a browser that has a cookie, and must still send the secret.
pub(super) struct BrowserHandshake {
    pub(super) cookies: Vec<String>,
    pub(super) peer: IpAddr,
    /// Its slot in a connection pool; tests have none.
    pub(super) connection: Option<Connection>,
}

/// Serves a socket after it has sent the secret that belongs to one of these cookies; else closes
/// it.
pub(super) async fn authenticate(
    mut socket: WebSocket,
    app: Arc<App>,
    handshake: BrowserHandshake,
) {
    let BrowserHandshake { cookies, peer, connection } = handshake;
    let secret = tokio::select! {
        secret = tokio::time::timeout(TIMEOUT, secret(&mut socket)) => secret.ok().flatten(),
        () = app.stop.cancelled() => None,
    };
    let cookies = cookies.iter().map(String::as_str);
    let visit = secret.and_then(|secret| app.auth.browsers.visit(cookies, &secret));
    let Some(visit) = visit else {
        tracing::warn!(target: "security", %peer, "refused a socket without the secret of its browser");
        tokio::time::sleep(app.auth.record_failure(peer)).await;
        let reason = Utf8Bytes::from_static("this browser is not signed in");
        let frame = CloseFrame { code: SIGNED_OUT, reason };
        // A client that has disconnected or does not read loses the connection when the socket is
        // dropped.
        tokio::time::timeout(CLOSE_TIMEOUT, socket.send(Message::Close(Some(frame)))).await.ok();
        return;
    };
    let client = Client { login: Login::Browser(visit), peer };
    if connection.is_some_and(|connection| connection.assign_human(&client.login).is_err()) {
        tracing::warn!("a page is closed: all connections of its kind are busy");
        return;
    }
    match socket.send(Message::Text(READY)).await {
        Ok(()) => {
            converse(socket, app, client).await;
        }
        Err(error) => tracing::debug!("a page disconnected while it signed in: {error}"),
    }
}

/// The secret in the first text frame, if it has the right form.
async fn secret(socket: &mut WebSocket) -> Option<String> {
    loop {
        match socket.recv().await?.ok()? {
            Message::Text(text) => {
                let First::Auth { secret } = serde_json::from_str(&text).ok()?;
                return Some(secret);
            }
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Binary(_) | Message::Close(_) => return None,
        }
    }
}
