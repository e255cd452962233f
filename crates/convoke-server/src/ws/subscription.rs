//! One session that a socket follows: messages become entries, and entries become frames.

use std::sync::Arc;

use convoke_api::entry::{Change, Entry, Fold};
use convoke_api::frames::{Envelope, ServerFrame, StopReason};
use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Seq};
use convoke_core::turn::Stop;
use convoke_engine::{Error, Published, SessionView, Watcher};
use futures_util::FutureExt as _;

use super::Render;
use super::words::{When, Words};
use crate::app::App;
use crate::failure;
use crate::view;

/// Messages that are taken at once when they are there already; frames of other sessions wait so long.
const BATCH: usize = 256;
/// Bytes of messages after which no more are taken at once, so that a client that does not read costs little.
const BATCH_BYTES_MAX: usize = 128 * 1024;
/// Bytes of words that one frame carries at most.
const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// A session that is followed.
pub(super) struct Subscription {
    app: Arc<App>,
    session: SessionId,
    /// The session's canonical id.
    name: String,
    watcher: Watcher,
    fold: Fold,
    words: Words,
    /// What the client has; older messages are folded and not told.
    known: Seq,
    opening: Option<Opening>,
    /// Set when the log cannot be followed any further.
    has_ended: bool,
}

/// A client that is being brought up to date.
pub(super) struct Opening {
    /// Its own word for it.
    pub(super) request_id: Option<String>,
    /// The place at which it is up to date.
    pub(super) upto: Seq,
}

/// What a subscription begins with.
pub(super) struct Beginning {
    pub(super) watcher: Watcher,
    pub(super) fold: Fold,
    pub(super) known: Seq,
    pub(super) opening: Option<Opening>,
    pub(super) render: Render,
}

/// Frames for one socket.
pub(super) type Frames = Vec<Envelope<ServerFrame>>;

impl Subscription {
    pub(super) fn new(app: Arc<App>, session: SessionView, beginning: Beginning) -> Self {
        let Beginning { watcher, fold, known, opening, render } = beginning;
        let item = view::session_item(session);
        let words = Words::new(render);
        let (session, name) = (item.uid, item.id);
        Self { app, session, name, watcher, fold, words, known, opening, has_ended: false }
    }

    /// The session's own id.
    pub(super) const fn session(&self) -> SessionId {
        self.session
    }

    /// Whether nothing more comes.
    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Goes on with words that the client has already in a history.
    pub(super) fn goes_on(&mut self, entries: &[Entry]) {
        entries.iter().for_each(|entry| self.words.seen(entry));
    }

    /// Waits for what comes next, and gives it with all that is there already.
    pub(super) async fn next(mut self) -> (Self, Frames) {
        let mut frames = Vec::new();
        while frames.is_empty() && !self.has_ended {
            let published = tokio::select! {
                published = self.watcher.next() => published,
                () = self.words.due() => {
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

    /// Takes a message; tells how many bytes it has.
    async fn take(
        &mut self,
        published: Result<Arc<Published>, Error>,
        frames: &mut Frames,
    ) -> usize {
        let message = match &published {
            Ok(published) => &published.message,
            Err(error) => {
                self.has_ended = true;
                tracing::debug!("a session is not followed any more: {}", failure::chain(error));
                let (session_id, uid) = (self.name.clone(), self.session);
                let message = error.to_string();
                frames.push(Envelope::push(ServerFrame::SessionError { session_id, uid, message }));
                return 0;
            }
        };
        self.keep_name(message).await;
        for change in self.fold.apply(message) {
            self.tell(change, message.seq, frames).await;
        }
        if self.opening.as_ref().is_some_and(|opening| opening.upto <= message.seq) {
            self.flush(frames).await;
            frames.extend(self.opened());
        }
        message.content.bytes()
    }

    /// Tells the client that it is up to date, if it waits for that.
    pub(super) fn opened(&mut self) -> Option<Envelope<ServerFrame>> {
        let Opening { request_id, upto: seq } = self.opening.take()?;
        let (session_id, uid) = (self.name.clone(), self.session);
        let frame = ServerFrame::SessionOpened { session_id, uid, seq };
        Some(Envelope { request_id, frame })
    }

    /// A new process may have begun a session of its own, and with it another canonical id.
    async fn keep_name(&mut self, message: &Message) {
        if !matches!(message.content, Content::Notice(_)) || message.seq <= self.known {
            return;
        }
        if let Ok(session) = self.app.engine.session(self.session).await {
            self.name = view::session_item(session).id;
        }
    }

    async fn tell(&mut self, change: Change, seq: Seq, frames: &mut Frames) {
        if seq <= self.known {
            self.words.follow(&change);
            return;
        }
        let (session_id, uid) = (self.name.clone(), self.session);
        let frame = match change {
            Change::Append { entry_id, content } => {
                if self.words.append(&entry_id, &content, seq) == When::Now {
                    let html = None;
                    push_words(
                        frames,
                        ServerFrame::SessionChunk { session_id, uid, seq, entry_id, content, html },
                    );
                }
                return;
            }
            Change::Upsert(entry) => {
                self.words.drop_those_of(&entry);
                self.flush(frames).await;
                let entry = self.words.render(&self.app.renderer, *entry).await;
                ServerFrame::SessionUpdate { session_id, uid, seq, entry }
            }
            Change::Completed { entry_id, stop } => {
                self.flush(frames).await;
                complete(session_id, uid, seq, entry_id, stop)
            }
            Change::Cancelling { .. } => {
                self.flush(frames).await;
                ServerFrame::SessionCancelled { session_id, uid }
            }
        };
        frames.push(Envelope::push(frame));
    }

    /// Sends the words that wait.
    async fn flush(&mut self, frames: &mut Frames) {
        let Some(chunk) = self.words.flush(&self.app.renderer).await else { return };
        frames.push(Envelope::push(ServerFrame::SessionChunk {
            session_id: self.name.clone(),
            uid: self.session,
            seq: chunk.seq,
            entry_id: chunk.entry_id,
            content: chunk.content,
            html: Some(chunk.html),
        }));
    }
}

fn complete(
    session_id: String,
    uid: SessionId,
    seq: Seq,
    entry_id: String,
    stop: Stop,
) -> ServerFrame {
    let (stop_reason, failure) = StopReason::of(stop);
    ServerFrame::SessionComplete { session_id, uid, seq, entry_id, stop_reason, failure }
}

/// Puts words at the end, together with those of the same entry that stand there.
fn push_words(frames: &mut Frames, frame: ServerFrame) {
    if let ServerFrame::SessionChunk { seq, entry_id, content, .. } = &frame
        && let Some(Envelope {
            frame: ServerFrame::SessionChunk { seq: last, entry_id: same, content: words, .. },
            ..
        }) = frames.last_mut()
        && same == entry_id
        && words.len() + content.len() <= CHUNK_BYTES_MAX
    {
        words.push_str(content);
        *last = *seq;
        return;
    }
    frames.push(Envelope::push(frame));
}
