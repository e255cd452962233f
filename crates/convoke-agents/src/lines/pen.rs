//! Writing lines to an agent while other things go on: one that does not listen must not keep us from listening to it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::{future, io, mem};

use serde_json::Value;

use super::Writer;

/// What writes to an agent, one line after the other, without anybody waiting for it.
pub(crate) enum Pen {
    /// Nothing is being written.
    Idle(Writer),
    /// A line is.
    Busy(Pin<Box<dyn Future<Output = (Writer, io::Result<()>)> + Send>>),
    /// The agent has closed the pipe, or somebody else closes it.
    Gone,
}

impl Pen {
    /// Begins with the next line, unless the last one is not finished.
    pub(crate) fn write_next(&mut self, lines: &mut VecDeque<Value>) {
        if lines.is_empty() {
            return;
        }
        match mem::replace(self, Self::Gone) {
            Self::Idle(mut writer) => {
                if let Some(line) = lines.pop_front() {
                    *self = Self::Busy(Box::pin(async move {
                        let sent = writer.send(&line).await;
                        (writer, sent)
                    }));
                }
            }
            busy @ Self::Busy(_) => *self = busy,
            // Nobody will ever read them.
            Self::Gone => lines.clear(),
        }
    }

    /// Waits for the end of a line. Cancel-safe.
    pub(crate) async fn written(&mut self) -> io::Result<()> {
        match self {
            Self::Busy(writing) => {
                let (writer, sent) = writing.await;
                *self = if sent.is_ok() { Self::Idle(writer) } else { Self::Gone };
                sent.inspect_err(|error| tracing::debug!(%error, "an agent does not read any more"))
            }
            Self::Idle(_) | Self::Gone => future::pending().await,
        }
    }

    /// Writes until nothing is left, or nobody reads. Cancel-safe.
    pub(crate) async fn write_all(&mut self, lines: &mut VecDeque<Value>) {
        loop {
            self.write_next(lines);
            if !matches!(self, Self::Busy(_)) {
                return;
            }
            // The end of the process is about to be told.
            self.written().await.ok();
        }
    }

    /// The way to the agent. What is being written just now is not finished.
    pub(crate) fn take_writer(&mut self) -> Writer {
        match mem::replace(self, Self::Gone) {
            Self::Idle(writer) => writer,
            // The pipe is closed by dropping it, and whoever closes it again closes nothing.
            Self::Busy(_) | Self::Gone => Writer::new(tokio::io::sink()),
        }
    }
}
