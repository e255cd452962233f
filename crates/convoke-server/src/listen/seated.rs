//! A connection together with its place in a pool, which it keeps also after it has become a WebSocket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::seats::{Seat, Underway};

/// A stream that breaks off when its place is needed for another connection.
pub(super) struct Seated<S> {
    stream: S,
    seat: Seat,
    displaced: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<S> Seated<S> {
    pub(super) fn new(stream: S, seat: Seat) -> Self {
        let displaced = Box::pin(seat.close().clone().cancelled_owned());
        Self { stream, seat, displaced }
    }
}

fn displaced() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "closed to make room for another connection")
}

impl<S: AsyncRead + Unpin> AsyncRead for Seated<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.displaced.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(displaced()));
        }
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Seated<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // A peer that does not read its response must not keep its place either.
        if this.displaced.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(displaced()));
        }
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.displaced.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(displaced()));
        }
        Pin::new(&mut this.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.seat.close().is_cancelled() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

/// A response body during which the connection counts as busy.
pub(super) struct Sending {
    body: axum::body::Body,
    _underway: Option<Underway>,
}

impl Sending {
    pub(super) const fn new(body: axum::body::Body, underway: Option<Underway>) -> Self {
        Self { body, _underway: underway }
    }
}

impl Body for Sending {
    type Data = hyper::body::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
