//! The WebSocket: the page and other clients follow sessions live. See `docs/interfaces/websocket.md`.

mod broadcasts;
mod execute;
mod history;
mod open_text;
mod opening;
mod pending_frames;
mod socket;
mod subscription;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use convoke_api::bodies::code;

use crate::failure::Failure;
use crate::listen::Connection;
use crate::middleware::{Caller, Peer};
use crate::rest::Daemon;

pub(crate) use broadcasts::Broadcasts;
use execute::Client;
pub(crate) use execute::execute_frame;
use opening::BrowserHandshake;
pub use socket::hang_up;

/// The longest frame of a client; a longer one closes the socket.
const FRAME_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that may be buffered before sending waits for the client.
const WRITE_BUFFER: usize = 128 * 1024;

/// Whether entries carry `html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Render {
    /// Only text.
    Plain,
    /// Text and rendered HTML.
    Html,
}

impl Render {
    fn asked(render: Option<bool>) -> Self {
        if render == Some(true) { Self::Html } else { Self::Plain }
    }
}

/// Opens a socket. If it only has the cookie of a browser, it must send the secret before it is
/// served.
pub(crate) async fn open(
    State(app): Daemon,
    Extension(caller): Extension<Caller>,
    Peer(peer): Peer,
    connection: Option<Extension<Connection>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Failure> {
    let upgrade = upgrade.map_err(|rejection| {
        let detail = format!("this path is a WebSocket: {}", rejection.body_text());
        Failure::new(StatusCode::BAD_REQUEST, code::INVALID, detail)
    })?;
    let upgrade = limit_frames(upgrade);
    Ok(match caller {
        Caller::UnverifiedBrowser => {
            let cookies: Vec<String> = app.auth.cookies(&headers).map(ToOwned::to_owned).collect();
            let connection = connection.map(|Extension(connection)| connection);
            let handshake = BrowserHandshake { cookies, peer, connection };
            upgrade.on_upgrade(move |socket| opening::authenticate(socket, app, handshake))
        }
        Caller::Human(login) => {
            let client = Client { login, peer };
            upgrade.on_upgrade(move |socket| socket::converse(socket, app, client))
        }
        // The middleware admits no other caller to this route.
        Caller::Anonymous | Caller::Session(_) => {
            return Err(Failure::internal("a socket of a caller that is no human"));
        }
    })
}

/// Limits the size of received frames, and the send buffer.
pub fn limit_frames(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .max_message_size(FRAME_BYTES_MAX)
        .max_frame_size(FRAME_BYTES_MAX)
        .write_buffer_size(WRITE_BUFFER)
}
