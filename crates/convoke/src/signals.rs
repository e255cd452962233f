//! Termination signals: SIGINT, SIGTERM and SIGHUP.

use std::future::Future;
use std::pin::Pin;

use anyhow::Context;
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// Listens from now on; the future ends when the first of the signals comes.
pub(crate) fn ended() -> anyhow::Result<impl Future<Output = ()>> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hang_up = listen(SignalKind::hangup())?;
    // A write beyond the file size limit then fails with an error instead of killing the process.
    drop(listen(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}

/// Runs a command that waits for something, on this thread.
pub(crate) fn block_on<T>(command: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    // In a box, because tokio's scheduler would be compiled again for the future of each command.
    let command: Pin<Box<dyn Future<Output = anyhow::Result<T>> + '_>> = Box::pin(command);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let result = runtime.block_on(command);
    // A pending read of stdin must not keep the process alive.
    runtime.shutdown_background();
    result
}
