//! A connection together with its slot in a pool, which it also keeps as a WebSocket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::pools::{InFlight, Slot};

/// A stream that fails when its slot is needed for another connection.
pub(super) struct PooledStream<S> {
    stream: S,
    slot: Slot,
    evicted: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<S> PooledStream<S> {
    pub(super) fn new(stream: S, slot: Slot) -> Self {
        let evicted = Box::pin(slot.close().clone().cancelled_owned());
        Self { stream, slot, evicted }
    }
}

fn evicted() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "closed to make room for another connection")
}

impl<S: AsyncRead + Unpin> AsyncRead for PooledStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.evicted.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(evicted()));
        }
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PooledStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // A peer that does not read its response must not keep the slot either.
        if this.evicted.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(evicted()));
        }
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.evicted.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(evicted()));
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
        if this.slot.close().is_cancelled() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

/// A response body that marks its connection as busy until it is sent.
pub(super) struct InFlightBody {
    body: axum::body::Body,
    _in_flight: Option<InFlight>,
}

impl InFlightBody {
    pub(super) const fn new(body: axum::body::Body, in_flight: Option<InFlight>) -> Self {
        Self { body, _in_flight: in_flight }
    }
}

impl Body for InFlightBody {
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
