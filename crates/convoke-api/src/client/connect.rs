//! The client's connections: over TCP, or over the control socket in the daemon's home.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tower_service::Service;

use super::CONNECT_TIMEOUT;

/// The pause before the next attempt when the backlog of the control socket is full.
const QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// Where the daemon accepts connections.
#[derive(Debug, Clone)]
pub(super) enum Endpoint {
    /// A host with its port.
    Tcp(String),
    /// The path of a Unix socket.
    Control(PathBuf),
}

impl Endpoint {
    /// The TCP endpoint of a URL; `None` when it names no host.
    pub(super) fn of_url(url: &Uri) -> Option<Self> {
        let authority = url.authority()?;
        Some(Self::Tcp(match authority.port() {
            Some(_) => authority.to_string(),
            None => format!("{authority}:80"),
        }))
    }

    /// Connects, with a timeout.
    pub(super) async fn open(&self) -> io::Result<Stream> {
        let connecting = async {
            match self {
                Self::Tcp(address) => {
                    let stream = TcpStream::connect(address).await?;
                    stream.set_nodelay(true)?;
                    Ok(Stream::Tcp(stream))
                }
                Self::Control(path) => loop {
                    match UnixStream::connect(path).await {
                        // The backlog is full: refused peers may be flooding it.
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            tokio::time::sleep(QUEUE_PAUSE).await;
                        }
                        connected => return connected.map(Stream::Control),
                    }
                },
            }
        };
        match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Service<Uri> for Endpoint {
    type Response = TokioIo<Stream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// All URLs of a client have the same daemon, so the endpoint does not depend on the URL.
    fn call(&mut self, _: Uri) -> Self::Future {
        let endpoint = self.clone();
        Box::pin(async move { endpoint.open().await.map(TokioIo::new) })
    }
}

/// A connection to the daemon.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Control(UnixStream),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Control(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Control(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Control(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Control(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
