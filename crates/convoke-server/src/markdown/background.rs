//! Rendering on blocking threads, so that a long text does not block the runtime.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::{Stream, Tail, render};

/// Texts that are rendered at the same time; further ones wait. More would take processors from the agents.
const AT_ONCE: usize = 2;

/// The longest text that is rendered on the calling thread, which is faster than handing it over.
const LIGHT_MAX: usize = 16 * 1024;

/// Renders texts. Clones share the limit.
#[derive(Debug, Clone)]
pub(crate) struct Renderer {
    places: Arc<Semaphore>,
}

impl Renderer {
    /// A renderer with the default limit.
    pub(crate) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Renders a whole text.
    pub(crate) async fn render(&self, text: String) -> String {
        if is_light(&text) {
            return render(&text);
        }
        self.beside(move || render(&text)).await
    }

    /// Renders what may have changed in a text that grows, and gives the stream back.
    pub(crate) async fn tail(&self, mut stream: Stream) -> (Stream, Tail) {
        if is_light(stream.open_text()) {
            let tail = stream.render();
            return (stream, tail);
        }
        self.beside(move || {
            let tail = stream.render();
            (stream, tail)
        })
        .await
    }

    async fn beside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let place = self.places.clone().acquire_owned().await;
        let done = spawn_blocking(move || {
            // The permit is held until the work is done, even if the caller has stopped waiting.
            let _place = place;
            work()
        });
        match done.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(done) => done,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime is shutting down, and cancels the caller as well.
            Err(Err(_)) => pending().await,
        }
    }
}

impl Default for Renderer {
    fn default() -> Self {
        Self::new()
    }
}

fn is_light(text: &str) -> bool {
    text.len() <= LIGHT_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn short_and_long_texts_come_out_as_if_rendered_on_the_spot() {
        let renderer = Renderer::new();
        for text in
            ["*words*".to_owned(), "```json\n{\"a\": 1}\n```".to_owned(), "a\n\n".repeat(9000)]
        {
            assert_eq!(renderer.render(text.clone()).await, render(&text));
        }
    }

    #[tokio::test]
    async fn a_stream_comes_back_and_goes_on() {
        let renderer = Renderer::new();
        let mut stream = Stream::new();
        let mut tails = Vec::new();
        for push in ["a\n\n", "```json\n", "1\n", "```\n\nb"] {
            stream.push(push);
            let (back, tail) = renderer.tail(stream).await;
            stream = back;
            tails.push((tail.from, tail.html.matches("</p>").count()));
        }
        assert_eq!(tails, [(0, 1), (0, 1), (1, 0), (1, 1)]);
    }

    #[tokio::test]
    async fn a_cancelled_render_frees_its_slot() {
        let renderer = Renderer::new();
        for _ in 0..3 * AT_ONCE {
            let waiting = renderer.beside(|| ());
            drop(waiting);
            let started = renderer.beside(|| ());
            tokio::select! {
                biased;
                () = started => {}
                () = std::future::ready(()) => {}
            }
        }
        renderer.beside(|| ()).await;
        assert_eq!(renderer.beside(|| 5).await, 5);
    }
}
