//! Standard input that reports its end, so that a disconnected client is noticed at once.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// A reader that cancels a token when it ends. The protocol's own library would first wait for open calls.
pub(super) struct EndOfInput<R> {
    reader: R,
    ended: CancellationToken,
}

impl<R> EndOfInput<R> {
    pub(super) const fn new(reader: R, ended: CancellationToken) -> Self {
        Self { reader, ended }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for EndOfInput<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.reader).poll_read(context, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.ended.cancel();
        }
        Poll::Ready(result)
    }
}
