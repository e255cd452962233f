//! Reads without their types: the code that finds a connection, or a thread, is compiled once and
//! not for every read.

use tokio::sync::oneshot;

use crate::db::Db;
use crate::error::{Error, Fault, Result};

/// A read that keeps its result.
pub(crate) type Reading<'r> = &'r mut dyn FnMut(Db<'_>) -> Result<(), Fault>;

/// A read that sends its result, and may run on another thread.
pub(crate) type SentReading = Box<dyn FnMut(Db<'_>) -> Result<(), Fault> + Send>;

/// Runs a read with `run`, which calls it at most once, and returns its result.
pub(crate) fn result_of<T>(
    read: impl FnOnce(Db<'_>) -> Result<T, Fault>,
    run: impl FnOnce(Reading<'_>) -> Result<()>,
) -> Result<T> {
    let (mut read, mut result) = (Some(read), None);
    run(&mut |db| {
        if let Some(read) = read.take() {
            result = Some(read(db)?);
        }
        Ok(())
    })?;
    result.ok_or(Error::Closed)
}

/// A read for another thread, with the place where its result arrives.
pub(crate) fn sent<T: Send + 'static>(
    read: impl FnOnce(Db<'_>) -> Result<T, Fault> + Send + 'static,
) -> (SentReading, oneshot::Receiver<T>) {
    let (sender, result) = oneshot::channel();
    let mut read = Some((read, sender));
    let reading = move |db: Db<'_>| {
        if let Some((read, sender)) = read.take() {
            // The caller may have stopped waiting.
            sender.send(read(db)?).ok();
        }
        Ok(())
    };
    (Box::new(reading), result)
}
