//! Records what the driver sends and receives in every scene if `CONVOKE_ACP_RECORD` names a folder, for
//! `scripts/judge-acp`.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// The driver's end of a pipe, and what went through it.
pub(super) struct Recorded {
    pipe: DuplexStream,
    sent: Option<File>,
    received: Option<File>,
}

impl Recorded {
    /// Records under a name that no other scene has, if anything is to be recorded.
    pub(super) fn new(pipe: DuplexStream, name: &str) -> Self {
        let folder = std::env::vars_os().find(|(name, _)| name == "CONVOKE_ACP_RECORD");
        let file = |kind: &str| {
            let (_, folder) = folder.as_ref()?;
            Some(File::create(Path::new(folder).join(format!("{name}.{kind}"))).unwrap())
        };
        let (sent, received) = (file("sent"), file("received"));
        Self { pipe, sent, received }
    }
}

impl AsyncRead for Recorded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.pipe).poll_read(context, buffer))?;
        if let Some(received) = &mut self.received {
            received.write_all(&buffer.filled()[before..])?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Recorded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.pipe).poll_write(context, bytes))?;
        if let Some(sent) = &mut self.sent {
            sent.write_all(&bytes[..count])?;
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(context)
    }
}
