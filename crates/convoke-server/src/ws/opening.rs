//! What a socket of the page sends first: the second secret of its browser session.
//!
//! A browser cannot add a header to the opening of a socket, and sends the cookie also for pages on other ports of this
//! host. So nothing is served, and nothing said, before the secret has come.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use serde::Deserialize;

use super::carry::Client;
use super::socket::{SIGNED_OUT, converse};
use crate::actor::Login;
use crate::app::App;
use crate::listen::Connection;

/// How long the secret may take to come; the page sends it at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the refusal may take to leave.
const FAREWELL: Duration = Duration::from_millis(200);
/// What the page is sent when the secret is right.
const READY: Utf8Bytes = Utf8Bytes::from_static(r#"{"type":"browser:ready"}"#);

/// The first frame of a page.
#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum First {
    #[serde(rename = "browser:auth")]
    Auth { secret: String },
}

/// A socket with the cookie of a browser, before it has sent the secret.
pub(super) struct Visitor {
    pub(super) cookies: Vec<String>,
    pub(super) peer: IpAddr,
    /// What keeps it in its pool of connections; tests have none.
    pub(super) connection: Option<Connection>,
}

/// Serves a socket once it has sent the secret that belongs to one of these cookies; closes it otherwise.
pub(super) async fn prove(mut socket: WebSocket, app: Arc<App>, visitor: Visitor) {
    let Visitor { cookies, peer, connection } = visitor;
    let secret = tokio::select! {
        secret = tokio::time::timeout(PATIENCE, secret(&mut socket)) => secret.ok().flatten(),
        () = app.stop.cancelled() => None,
    };
    let cookies = cookies.iter().map(String::as_str);
    let visit = secret.and_then(|secret| app.auth.browsers.visit(cookies, &secret));
    let Some(visit) = visit else {
        tracing::warn!(target: "security", %peer, "refused a socket without the secret of its browser");
        tokio::time::sleep(app.auth.record_failure(peer)).await;
        let reason = Utf8Bytes::from_static("this browser is not signed in");
        let frame = CloseFrame { code: SIGNED_OUT, reason };
        // A client that is gone, or does not read, is cut off by dropping the socket.
        tokio::time::timeout(FAREWELL, socket.send(Message::Close(Some(frame)))).await.ok();
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

/// The secret in the first frame of words, if that is what it should be.
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
