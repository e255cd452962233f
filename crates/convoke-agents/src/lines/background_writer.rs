//! Writes lines to an agent in the background: an agent that does not read its input must not block the reading of its
//! output.

use std::collections::VecDeque;
use std::pin::Pin;
use std::{future, io, mem};

use serde_json::Value;

use super::Writer;

/// Writes queued lines to an agent, in order, without blocking its caller.
pub(crate) enum BackgroundWriter {
    /// Nothing is being written.
    Idle(Writer),
    /// A line is being written.
    Busy(Pin<Box<dyn Future<Output = (Writer, io::Result<()>)> + Send>>),
    /// The agent has closed the pipe, or it is being closed.
    Gone,
}

impl BackgroundWriter {
    /// Starts to write the next line, unless the last one is unfinished.
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
            // The agent will never read them.
            Self::Gone => lines.clear(),
        }
    }

    /// Waits until the current line is written. Cancel-safe.
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

    /// Writes until the queue is empty, or the agent has closed the pipe. Cancel-safe.
    pub(crate) async fn write_all(&mut self, lines: &mut VecDeque<Value>) {
        loop {
            self.write_next(lines);
            if !matches!(self, Self::Busy(_)) {
                return;
            }
            // The exit of the process is about to be reported.
            self.written().await.ok();
        }
    }

    /// The agent's input. A write in progress is abandoned.
    pub(crate) fn take_writer(&mut self) -> Writer {
        match mem::replace(self, Self::Gone) {
            Self::Idle(writer) => writer,
            // Dropping the writer has closed the pipe.
            Self::Busy(_) | Self::Gone => Writer::new(tokio::io::sink()),
        }
    }
}
