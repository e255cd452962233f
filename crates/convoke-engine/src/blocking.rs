//! Runs file operations and other work that blocks on threads of their own, and reports tasks that panicked.

use tokio::sync::oneshot;
use tokio::task::JoinError;

use crate::error::{Error, Result};

/// Runs work that blocks on a blocking thread.
pub(crate) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let (sender, receiver) = oneshot::channel();
    // Fails when the caller has stopped waiting.
    let work = Box::new(move || drop(sender.send(work())));
    finish(work, receiver)
}

/// Takes the work in a box, so that tokio's code for it is compiled once and not for every closure.
async fn finish<T>(work: Box<dyn FnOnce() + Send>, receiver: oneshot::Receiver<T>) -> Result<T> {
    run(work).await?;
    receiver.await.map_err(|error| Error::Panicked { source: std::io::Error::other(error) })
}

async fn run(work: Box<dyn FnOnce() + Send>) -> Result<()> {
    tokio::task::spawn_blocking(work).await.map_err(panicked)
}

/// The error of a spawned task that panicked or was cancelled.
pub(crate) fn panicked(error: JoinError) -> Error {
    Error::Panicked { source: std::io::Error::other(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[tokio::test]
    async fn work_returns_its_value_and_a_panic_is_an_internal_error_that_names_no_path() {
        assert_eq!(blocking(|| 6 * 7).await.unwrap(), 42);
        let error = blocking(|| panic!("oh no")).await.map(|(): ()| ()).unwrap_err();
        assert_eq!(error.kind(), Kind::Internal);
        let chain = convoke_core::explain(&error);
        assert!(chain.starts_with("a task of the engine failed: task "), "{chain}");
        assert!(chain.ends_with("panicked with message \"oh no\""), "{chain}");
    }
}
