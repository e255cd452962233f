//! Renders text: as a whole for a complete entry, incrementally for an open one.

use convoke_api::entry::{Entry, EntryBody, ToolHtml};
use convoke_api::frames::ChunkHtml;
use convoke_core::message::Rev;
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;

use super::Render;
use crate::markdown::{Renderer, Stream, Tail, terminal};

/// Entries of one history that are rendered concurrently; the renderer has its own limit for all.
const AT_ONCE: usize = 4;

/// The open text of one subscription.
pub(super) struct OpenText {
    render: Render,
    open: Option<Open>,
}

/// An entry with open text.
struct Open {
    entry_id: String,
    stream: Stream,
    /// Text that has not been sent.
    unsent: String,
    /// The revision of the newest text.
    rev: Rev,
    /// When text was last sent.
    sent_at: Instant,
}

/// Text to send, with its change of the rendered entry.
pub(super) struct Chunk {
    pub(super) entry_id: String,
    pub(super) rev: Rev,
    pub(super) content: String,
    pub(super) html: ChunkHtml,
}

/// When text is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// At once.
    Now,
    /// After the debounce interval.
    Soon,
}

impl OpenText {
    pub(super) const fn new(render: Render) -> Self {
        Self { render, open: None }
    }

    /// Records an entry that the client has.
    pub(super) fn seen(&mut self, entry: &Entry) {
        if self.render == Render::Plain {
            return;
        }
        match &entry.body {
            EntryBody::Assistant(words) | EntryBody::Thinking(words) if words.partial => {
                self.open = Some(Open::new(entry, &words.content));
            }
            EntryBody::Assistant(_) | EntryBody::Thinking(_) => {
                self.open.take_if(|open| open.entry_id == entry.entry_id);
            }
            EntryBody::User(_)
            | EntryBody::ToolCall(_)
            | EntryBody::Plan { .. }
            | EntryBody::Permission(_)
            | EntryBody::Question(_)
            | EntryBody::Notice(_)
            | EntryBody::Queue { .. }
            | EntryBody::Commands { .. }
            | EntryBody::Modes { .. }
            | EntryBody::Settings { .. }
            | EntryBody::Usage(_) => {}
        }
    }

    /// Appends text; returns when it is to be sent.
    pub(super) fn append(&mut self, entry_id: &str, content: &str, rev: Rev) -> When {
        match self.open.as_mut().filter(|open| open.entry_id == entry_id) {
            // The client has it already.
            Some(open) if open.rev >= rev => When::Soon,
            Some(open) => {
                open.stream.push(content);
                open.unsent.push_str(content);
                open.rev = rev;
                When::Soon
            }
            None => When::Now,
        }
    }

    /// Waits until held-back text is due; for ever if there is none.
    pub(super) async fn due(&self) {
        match self.open.as_ref().filter(|open| !open.unsent.is_empty()) {
            Some(open) => tokio::time::sleep_until(open.sent_at + open.stream.pause()).await,
            None => std::future::pending().await,
        }
    }

    /// The text that has not been sent, if there is any.
    pub(super) async fn flush(&mut self, renderer: &Renderer) -> Option<Chunk> {
        let open = self.open.as_mut().filter(|open| !open.unsent.is_empty())?;
        let (stream, tail) = renderer.tail(std::mem::take(&mut open.stream)).await;
        let Tail { from, html } = tail;
        open.stream = stream;
        open.sent_at = Instant::now();
        Some(Chunk {
            entry_id: open.entry_id.clone(),
            rev: open.rev,
            content: std::mem::take(&mut open.unsent),
            html: ChunkHtml { from, html },
        })
    }

    /// Drops held-back text of an entry that is sent as a whole.
    pub(super) fn drop_unsent(&mut self, entry: &Entry) {
        if let Some(open) = self.open.as_mut().filter(|open| open.entry_id == entry.entry_id) {
            open.unsent.clear();
        }
    }

    /// Renders an entry that is sent as a whole.
    pub(super) async fn render(&mut self, renderer: &Renderer, entry: Entry) -> Entry {
        self.seen(&entry);
        let mut entry = entry;
        let open = self.open.as_mut().filter(|open| open.entry_id == entry.entry_id);
        let (Some(open), EntryBody::Assistant(words) | EntryBody::Thinking(words)) =
            (open, &mut entry.body)
        else {
            return render(renderer, entry, self.render).await;
        };
        // Rendered as a stream from the beginning, so that later chunks match.
        let (stream, tail) = renderer.tail(std::mem::take(&mut open.stream)).await;
        open.stream = stream;
        words.html = Some(tail.html);
        entry
    }
}

impl Open {
    fn new(entry: &Entry, content: &str) -> Self {
        let mut stream = Stream::new();
        stream.push(content);
        Self {
            entry_id: entry.entry_id.clone(),
            stream,
            unsent: String::new(),
            rev: entry.rev,
            sent_at: Instant::now(),
        }
    }
}

/// Renders entries.
pub(super) async fn render_all(
    renderer: &Renderer,
    entries: Vec<Entry>,
    how: Render,
) -> Vec<Entry> {
    if how == Render::Plain {
        return entries;
    }
    stream::iter(entries)
        .map(|entry| render(renderer, entry, how))
        .buffered(AT_ONCE)
        .collect()
        .await
}

async fn render(renderer: &Renderer, mut entry: Entry, how: Render) -> Entry {
    if how == Render::Plain {
        return entry;
    }
    match &mut entry.body {
        EntryBody::User(prompted) => {
            prompted.html = Some(renderer.render(prompted.content.clone()).await);
        }
        EntryBody::Assistant(words) | EntryBody::Thinking(words) => {
            words.html = Some(renderer.render(words.content.clone()).await);
        }
        EntryBody::Question(set) => {
            for question in &mut set.questions {
                question.html = Some(renderer.render(question.prompt.clone()).await);
            }
        }
        EntryBody::Queue { prompts, .. } => {
            for prompt in prompts {
                prompt.html = Some(renderer.render(prompt.content.clone()).await);
            }
        }
        EntryBody::ToolCall(call) => {
            // One pass over a bounded text; plain text is detected by a search.
            let html = |text: &Option<String>| text.as_deref().and_then(terminal::render);
            call.html = ToolHtml::of(html(&call.result), html(&call.error));
        }
        EntryBody::Plan { .. }
        | EntryBody::Permission(_)
        | EntryBody::Notice(_)
        | EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => {}
    }
    entry
}
