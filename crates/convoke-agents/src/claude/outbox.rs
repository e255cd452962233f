//! Frames on their way to the agent. An agent that does not listen must not keep us from listening to it.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::{io, mem};

use serde_json::Value;
use tokio::io::sink;

use crate::lines::Writer;

/// Frames that may wait; when there are as many, nothing more is read from the agent until it reads.
const WAITING_MAX: usize = 64;

/// Frames that are written one after the other while other things go on.
pub(super) struct Outbox {
    waiting: VecDeque<Value>,
    state: State,
}

enum State {
    Idle(Writer),
    Writing(Pin<Box<dyn Future<Output = (Writer, io::Result<()>)> + Send>>),
    /// Nobody reads any more.
    Broken,
}

impl Outbox {
    pub(super) const fn new(input: Writer) -> Self {
        Self { waiting: VecDeque::new(), state: State::Idle(input) }
    }

    pub(super) fn push(&mut self, frame: Value) {
        self.waiting.push_back(frame);
    }

    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < WAITING_MAX
    }

    /// Writes whatever there is to write, and never ends. Cancel-safe: what was begun goes on with the next call.
    pub(super) async fn deliver(&mut self) {
        self.finish().await;
        pending::<()>().await;
    }

    /// Writes until nothing is left. Cancel-safe.
    pub(super) async fn finish(&mut self) {
        loop {
            match &mut self.state {
                State::Idle(_) => {
                    let Some(frame) = self.waiting.pop_front() else { return };
                    self.begin(frame);
                }
                State::Writing(writing) => {
                    let (input, result) = writing.await;
                    self.state = match result {
                        Ok(()) => State::Idle(input),
                        Err(error) => {
                            tracing::debug!(%error, "claude does not listen any more");
                            State::Broken
                        }
                    };
                }
                // The end of the process is about to be told.
                State::Broken => return self.waiting.clear(),
            }
        }
    }

    /// The way to the agent. What is being written just now is not finished.
    pub(super) fn take_writer(&mut self) -> Writer {
        match mem::replace(&mut self.state, State::Broken) {
            State::Idle(input) => input,
            // The pipe is closed by dropping it, and whoever closes it again closes nothing.
            State::Writing(_) | State::Broken => Writer::new(sink()),
        }
    }

    fn begin(&mut self, frame: Value) {
        let mut input = self.take_writer();
        self.state = State::Writing(Box::pin(async move {
            let result = input.send(&frame).await;
            (input, result)
        }));
    }
}
