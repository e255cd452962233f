//! One session that a socket follows: updates become frames.

use std::sync::Arc;

use convoke_api::entry::Entry;
use convoke_api::frames::{Envelope, ServerFrame, StopReason};
use convoke_core::content::Content;
use convoke_core::explain;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Rev, Role};
use convoke_core::state::{SessionState, StateKind};
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{Delta, Update};
use convoke_engine::{Error, Published, SessionView, Watcher};
use futures_util::FutureExt as _;
use tokio::sync::broadcast;

use super::Render;
use super::open_text::{OpenText, When};
use crate::app::App;
use crate::nodes::with_waiting;
use crate::view;

/// Updates that are taken in one batch if they are available; frames of other sessions wait
/// meanwhile.
const BATCH: usize = 256;
/// Bytes of updates that end a batch, which limits the memory for a client that does not read.
const BATCH_BYTES_MAX: usize = 128 * 1024;
/// The maximum size of text in one frame.
const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// A session that is followed.
pub(super) struct Subscription {
    app: Arc<App>,
    session: SessionId,
    /// The session's canonical id.
    name: String,
    watcher: Watcher,
    open_text: OpenText,
    opening: Option<Opening>,
    /// The revision up to which the client has everything.
    rev: Rev,
    /// Notifies of prompts that are queued for the node of a session; `None` for a session of this
    /// node.
    waiting: Option<broadcast::Receiver<SessionId>>,
    /// Whether the client must be sent the queue.
    is_queue_due: bool,
    /// Set when the session can no longer be followed.
    has_ended: bool,
}

/// A client that is catching up.
pub(super) struct Opening {
    /// The request id of the client.
    pub(super) request_id: Option<String>,
    /// The revision at which it has caught up.
    pub(super) upto: Rev,
}

/// Frames for one socket.
pub(super) type Frames = Vec<Envelope<ServerFrame>>;

impl Subscription {
    pub(super) fn new(
        app: Arc<App>,
        session: SessionView,
        watcher: Watcher,
        opening: Option<Opening>,
        render: Render,
    ) -> Self {
        let nodes = app.engine.nodes();
        let is_elsewhere = session.stored.node != nodes.own();
        let waiting = is_elsewhere.then(|| nodes.follow_waiting());
        let item = view::session_item(session);
        let open_text = OpenText::new(render);
        let (session, name, rev) = (item.uid, item.id, watcher.rev());
        Self {
            app,
            session,
            name,
            watcher,
            open_text,
            opening,
            rev,
            waiting,
            is_queue_due: is_elsewhere,
            has_ended: false,
        }
    }

    /// The session's own id.
    pub(super) const fn session(&self) -> SessionId {
        self.session
    }

    /// Whether no further frames follow.
    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Continues from the text that the client has already in a history.
    pub(super) fn continue_with(&mut self, entries: &[Entry]) {
        entries.iter().for_each(|entry| self.open_text.seen(entry));
    }

    /// Waits for the next update, and returns it with all that are available.
    pub(super) async fn next(mut self) -> (Self, Frames) {
        let mut frames = Vec::new();
        while frames.is_empty() && !self.has_ended {
            if self.is_queue_due {
                self.push_queue(&mut frames).await;
                continue;
            }
            let published = tokio::select! {
                published = self.watcher.next() => published,
                () = waiting_changed(&mut self.waiting, self.session) => {
                    self.is_queue_due = true;
                    continue;
                }
                () = self.open_text.due() => {
                    self.flush(&mut frames).await;
                    continue;
                }
            };
            let mut bytes = self.take(published, &mut frames).await;
            for _ in 1..BATCH {
                if self.has_ended || bytes >= BATCH_BYTES_MAX {
                    break;
                }
                let Some(published) = self.watcher.next().now_or_never() else { break };
                bytes += self.take(published, &mut frames).await;
            }
        }
        (self, frames)
    }

    /// Handles an update; returns its size in bytes.
    async fn take(
        &mut self,
        published: Result<Arc<Published>, Error>,
        frames: &mut Frames,
    ) -> usize {
        let update = match &published {
            Ok(published) => &published.update,
            Err(error) => {
                self.has_ended = true;
                tracing::debug!("a session is not followed any more: {}", explain(error));
                let (session_id, uid) = (self.name.clone(), self.session);
                let message = error.to_string();
                frames.push(Envelope::push(ServerFrame::SessionError { session_id, uid, message }));
                return 0;
            }
        };
        match update {
            Update::Message(message) => self.push_message(message, frames).await,
            Update::Delta(delta) => self.push_delta(delta, frames),
            Update::State { rev, state } => {
                self.push_entry(Entry::of_state(state, *rev), frames).await;
                // Prompts for another node are shown after those in the session.
                self.is_queue_due |= self.waiting.is_some() && state.kind() == StateKind::Queue;
            }
        }
        self.rev = update.rev();
        if self.opening.as_ref().is_some_and(|opening| opening.upto <= update.rev()) {
            self.flush(frames).await;
            frames.extend(self.opened().await);
        }
        update.bytes()
    }

    /// Sends the client the queue: the prompts in the session and those for its node.
    async fn push_queue(&mut self, frames: &mut Frames) {
        self.is_queue_due = false;
        let state = match self.app.engine.sessions().state(self.session).await {
            Ok(state) => state.into_iter().map(|(_, state)| state),
            Err(error) => return tracing::debug!("a queue cannot be read: {error}"),
        };
        let queue = state.filter(|state| state.kind() == StateKind::Queue).collect();
        let Ok(queue) = with_waiting(&self.app, self.session, queue).await else { return };
        let empty = || SessionState::Queue { prompts: Vec::new(), held: false };
        let queue = queue.into_iter().next().unwrap_or_else(empty);
        // Not a change of the session, so the revision of the client stays the same.
        self.push_entry(Entry::of_state(&queue, self.rev), frames).await;
    }

    /// The response that the client has caught up, if it waits for that.
    pub(super) async fn opened(&mut self) -> Option<Envelope<ServerFrame>> {
        let Opening { request_id, upto: rev } = self.opening.take()?;
        let (session_id, uid) = (self.name.clone(), self.session);
        // If the generation cannot be read, an empty one is sent, which matches none: the client
        // then receives everything again.
        let generation = self.app.generation().await.unwrap_or_default();
        let frame = ServerFrame::SessionOpened { session_id, uid, rev, generation };
        Some(Envelope { request_id, frame })
    }

    async fn push_message(&mut self, message: &Message, frames: &mut Frames) {
        self.keep_name(message).await;
        self.push_entry(Entry::from(message), frames).await;
        let turn = message.turn.as_ref().filter(|_| message.role == Role::User);
        let (session_id, uid) = (self.name.clone(), self.session);
        match turn {
            Some(Turn::Ended(stop)) => {
                let entry_id = message.id.to_string();
                let frame = complete(session_id, uid, message.rev, entry_id, stop.clone());
                frames.push(Envelope::push(frame));
            }
            Some(Turn::Cancelling) => {
                let frame = ServerFrame::SessionCancelled { session_id, uid };
                frames.push(Envelope::push(frame));
            }
            Some(Turn::Running) | None => {}
        }
    }

    async fn push_entry(&mut self, entry: Entry, frames: &mut Frames) {
        self.open_text.drop_unsent(&entry);
        self.flush(frames).await;
        let rev = entry.rev;
        let entry = self.open_text.render(&self.app.renderer, entry).await;
        let (session_id, uid) = (self.name.clone(), self.session);
        frames.push(Envelope::push(ServerFrame::SessionUpdate { session_id, uid, rev, entry }));
    }

    fn push_delta(&mut self, delta: &Delta, frames: &mut Frames) {
        let entry_id = delta.id.to_string();
        if self.open_text.append(&entry_id, &delta.text, delta.rev) == When::Now {
            let frame = ServerFrame::SessionChunk {
                session_id: self.name.clone(),
                uid: self.session,
                rev: delta.rev,
                entry_id,
                content: delta.text.clone(),
                html: None,
            };
            push_chunk(frames, frame);
        }
    }

    /// A new agent process may have created another agent session, which changes the canonical id.
    async fn keep_name(&mut self, message: &Message) {
        if !matches!(message.content, Content::Notice(_)) {
            return;
        }
        if let Ok(session) = self.app.engine.sessions().get(self.session).await {
            self.name = view::session_item(session).id;
        }
    }

    /// Sends the text that is held back.
    async fn flush(&mut self, frames: &mut Frames) {
        let Some(chunk) = self.open_text.flush(&self.app.renderer).await else { return };
        frames.push(Envelope::push(ServerFrame::SessionChunk {
            session_id: self.name.clone(),
            uid: self.session,
            rev: chunk.rev,
            entry_id: chunk.entry_id,
            content: chunk.content,
            html: Some(chunk.html),
        }));
    }
}

/// Completes when prompts begin or cease to wait for the node of a session; never for a session of
/// this node.
async fn waiting_changed(waiting: &mut Option<broadcast::Receiver<SessionId>>, session: SessionId) {
    let Some(waiting) = waiting else { return std::future::pending().await };
    loop {
        match waiting.recv().await {
            Ok(changed) if changed == session => return,
            Ok(_) => {}
            Err(broadcast::error::RecvError::Lagged(_)) => return,
            Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
        }
    }
}

fn complete(
    session_id: String,
    uid: SessionId,
    rev: Rev,
    entry_id: String,
    stop: Stop,
) -> ServerFrame {
    let (stop_reason, failure) = StopReason::of(stop);
    ServerFrame::SessionComplete { session_id, uid, rev, entry_id, stop_reason, failure }
}

/// Appends text to the last frame if it is of the same entry, else adds a frame.
fn push_chunk(frames: &mut Frames, frame: ServerFrame) {
    if let ServerFrame::SessionChunk { rev, entry_id, content, .. } = &frame
        && let Some(Envelope {
            frame: ServerFrame::SessionChunk { rev: last, entry_id: same, content: words, .. },
            ..
        }) = frames.last_mut()
        && same == entry_id
        && words.len() + content.len() <= CHUNK_BYTES_MAX
    {
        words.push_str(content);
        *last = *rev;
        return;
    }
    frames.push(Envelope::push(frame));
}
