//! The WebSocket: requests, responses, and updates that the daemon pushes.

use futures_util::{SinkExt as _, StreamExt as _};
use hyper::header::AUTHORIZATION;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use super::connect::Stream;
use super::{CONNECT_TIMEOUT, Client};
use crate::error::{Error, Result};
use crate::frames::{ClientFrame, Envelope, ServerFrame};

/// A WebSocket connection. When it ends or breaks, connect again and send `session:open` with the last cursor.
#[derive(Debug)]
pub struct Socket {
    client: Client,
    stream: WebSocketStream<Stream>,
}

impl Client {
    /// Opens a WebSocket.
    pub async fn socket(&self) -> Result<Socket> {
        self.within(CONNECT_TIMEOUT, async {
            let stream = self.endpoint.open().await;
            let stream = stream.map_err(|error| Error::Unreachable {
                url: self.place.clone(),
                source: error.into(),
            })?;
            let url = format!("{}/ws", self.base.replacen("http", "ws", 1));
            let request = url.as_str().into_client_request();
            let mut request = request.map_err(|_| Error::Address { url })?;
            request.headers_mut().insert(AUTHORIZATION, self.authorization.clone());
            let opened = tokio_tungstenite::client_async(request, stream).await;
            let (stream, _) = opened.map_err(|error| self.refused_socket(error))?;
            Ok(Socket { client: self.clone(), stream })
        })
        .await
    }

    fn refused_socket(&self, error: tungstenite::Error) -> Error {
        if let tungstenite::Error::Http(response) = &error {
            let body = response.body().as_deref().unwrap_or_default();
            return self.unexpected(response.status(), body);
        }
        self.broke(error.into())
    }

    fn broke(&self, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Broken { url: self.place.clone(), source }
    }
}

impl Socket {
    /// Sends a frame.
    pub async fn send(&mut self, frame: &Envelope<ClientFrame>) -> Result<()> {
        let text = frame.to_text().map_err(|source| self.client.malformed(source))?;
        let sent = self.stream.send(Message::text(text)).await;
        sent.map_err(|error| self.client.broke(error.into()))
    }

    /// Receives the next frame; `None` when the daemon closes the connection. Cancel-safe.
    ///
    /// After [`Error::Malformed`] the connection can still be used.
    pub async fn next(&mut self) -> Result<Option<Envelope<ServerFrame>>> {
        loop {
            let message = match self.stream.next().await {
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                Some(message) => message.map_err(|error| self.client.broke(error.into()))?,
            };
            if let Message::Text(text) = message {
                let frame = Envelope::read(&text);
                return frame.map(Some).map_err(|source| self.client.malformed(source));
            }
        }
    }
}
