//! One task per socket: reads the client's frames, and sends responses, updates of followed sessions, and broadcasts.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use convoke_api::frames::{ClientFrame, Envelope, ServerFrame};
use convoke_core::id::SessionId;
use convoke_engine::ListSubscription;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, SinkExt as _};
use tokio::sync::broadcast;
use tokio::time::{Instant, MissedTickBehavior};

use super::broadcasts::Broadcast;
use super::execute::{Client, Reply};
use super::pending_frames::{FrameReply, PendingFrames};
use super::subscription::{Frames, Subscription};
use crate::actor::Login;
use crate::app::App;

/// How long a client may take to read a frame; then it is disconnected, and resumes from its cursor when it
/// reconnects.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval between pings.
const PING: Duration = Duration::from_secs(30);
/// The timeout without a frame of the client; clients answer every ping.
const SILENCE_MAX: Duration = Duration::from_secs(90);
/// How long the close frame may take to be sent.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_millis(200);
/// Sessions that one socket follows at most.
const SESSIONS_MAX: usize = 64;

/// RFC 6455: the server is about to stop.
const GOING_AWAY: u16 = 1001;
/// Application-defined: the browser must sign in.
pub(super) const SIGNED_OUT: u16 = 4401;
/// IANA: try again later; the client is too slow.
const TRY_AGAIN: u16 = 1013;

/// Serves a client until either side closes the socket.
pub(super) async fn converse(socket: WebSocket, app: Arc<App>, client: Client) {
    let signed_out = {
        let (app, client) = (Arc::clone(&app), client.clone());
        async move { app.signed_out(&client.login, client.peer).await }
    };
    let mut task = SocketTask {
        socket,
        signed_out: signed_out.boxed(),
        broadcasts: app.broadcasts.subscribe(),
        _list_subscription: app.engine.nodes().subscribe_to_lists(),
        pending_frames: PendingFrames::new(Arc::clone(&app), client.clone()),
        client,
        followed: Vec::new(),
        last_received: Instant::now(),
        app,
    };
    if let Ended::Close(code, reason) = task.run().await {
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        let farewell = task.socket.send(Message::Close(Some(frame)));
        // A client that has disconnected or does not read sees the connection close.
        tokio::time::timeout(CLOSE_TIMEOUT, farewell).await.ok();
    } else {
        hang_up(task.socket).await;
    }
}

/// Flushes the answer to a client's close frame, which the library has written and not yet sent.
pub async fn hang_up(mut socket: WebSocket) {
    // Without a close frame there is nothing to flush; errors of a closed connection are ignored.
    tokio::time::timeout(CLOSE_TIMEOUT, socket.flush()).await.ok();
}

struct SocketTask {
    app: Arc<App>,
    socket: WebSocket,
    client: Client,
    /// Completes when the client is signed out.
    signed_out: BoxFuture<'static, ()>,
    broadcasts: broadcast::Receiver<Broadcast>,
    _list_subscription: ListSubscription,
    pending_frames: PendingFrames,
    followed: Vec<Followed>,
    /// When the last frame of the client arrived.
    last_received: Instant,
}

/// A subscription that waits for its next frames.
struct Followed {
    session: SessionId,
    next: BoxFuture<'static, (Subscription, Frames)>,
}

/// Why the loop ends.
enum Ended {
    /// The client disconnected, or does not read.
    Gone,
    /// The server closes the socket with this code and reason.
    Close(u16, &'static str),
}

/// An event of the loop.
enum SocketEvent {
    Received(Option<Result<Message, axum::Error>>),
    Replied(FrameReply),
    Followed(Box<Subscription>, Frames),
    Broadcast(Result<Broadcast, broadcast::error::RecvError>),
    Tick,
    Revoked,
    Stop,
}

impl SocketTask {
    async fn run(&mut self) -> Ended {
        let mut ticks = tokio::time::interval(PING);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let stop = self.app.stop.clone();
            let has_room = self.pending_frames.has_room();
            let event = tokio::select! {
                message = self.socket.recv(), if has_room => SocketEvent::Received(message),
                reply = self.pending_frames.next() => SocketEvent::Replied(reply),
                (subscription, frames) = poll_fn(|context| next(&mut self.followed, context)) => {
                    SocketEvent::Followed(Box::new(subscription), frames)
                }
                broadcast = self.broadcasts.recv() => SocketEvent::Broadcast(broadcast),
                _ = ticks.tick() => SocketEvent::Tick,
                () = &mut self.signed_out => SocketEvent::Revoked,
                () = stop.cancelled() => SocketEvent::Stop,
            };
            if let Err(ended) = self.handle(event).await {
                return ended;
            }
        }
    }

    async fn handle(&mut self, event: SocketEvent) -> Result<(), Ended> {
        match event {
            SocketEvent::Received(Some(Ok(message))) => self.handle_message(message).await,
            SocketEvent::Received(Some(Err(_)) | None) => Err(Ended::Gone),
            SocketEvent::Replied(reply) => self.send_reply(reply).await,
            SocketEvent::Followed(subscription, frames) => {
                if !subscription.has_ended() {
                    self.follow(*subscription);
                }
                self.send(frames).await
            }
            SocketEvent::Broadcast(Ok(Broadcast::Frame(text))) => {
                self.put([Message::Text(text)]).await
            }
            SocketEvent::Broadcast(
                Ok(Broadcast::Lost) | Err(broadcast::error::RecvError::Lagged(_)),
            ) => Err(Ended::Close(TRY_AGAIN, "fell behind; reconnect")),
            SocketEvent::Broadcast(Err(broadcast::error::RecvError::Closed))
            | SocketEvent::Stop => Err(Ended::Close(GOING_AWAY, "the daemon is stopping")),
            SocketEvent::Tick if self.last_received.elapsed() > SILENCE_MAX => Err(Ended::Gone),
            SocketEvent::Tick => {
                if let Login::Browser(visit) = &self.client.login {
                    self.app.auth.browsers.touch(&visit.id);
                }
                self.put([Message::Ping(Default::default())]).await
            }
            SocketEvent::Revoked => Err(Ended::Close(SIGNED_OUT, "this browser is not signed in")),
        }
    }

    async fn handle_message(&mut self, message: Message) -> Result<(), Ended> {
        self.last_received = Instant::now();
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                let frame = error("a message is a text frame, not a binary one".to_owned(), None);
                return self.send(vec![Envelope::push(frame)]).await;
            }
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Close(_) => return Err(Ended::Gone),
        };
        let Envelope { request_id, frame } = ClientFrame::read(&text);
        match frame {
            Ok(frame) => {
                self.pending_frames.take(Envelope { request_id, frame });
                Ok(())
            }
            Err(malformed) => {
                let frame = error(malformed.to_string(), None);
                self.send(vec![Envelope { request_id, frame }]).await
            }
        }
    }

    async fn send_reply(&mut self, reply: FrameReply) -> Result<(), Ended> {
        let Envelope { request_id, frame: reply } = reply;
        let frames = match reply {
            Ok(Reply::Send(frames)) => frames,
            Ok(Reply::Follow(subscription, frames)) => {
                self.leave(subscription.session());
                if self.followed.len() >= SESSIONS_MAX {
                    let hint = Some("close some of them first".to_owned());
                    vec![error(format!("one socket follows at most {SESSIONS_MAX} sessions"), hint)]
                } else {
                    self.follow(*subscription);
                    frames
                }
            }
            Ok(Reply::Leave(session, frame)) => {
                self.leave(session);
                vec![*frame]
            }
            Err(failure) => {
                if let Some(chain) = failure.chain() {
                    tracing::error!("{chain}");
                }
                let (message, hint) = failure.message();
                vec![error(message.to_owned(), hint.map(ToOwned::to_owned))]
            }
        };
        let envelope = |frame| Envelope { request_id: request_id.clone(), frame };
        self.send(frames.into_iter().map(envelope).collect()).await
    }

    fn follow(&mut self, subscription: Subscription) {
        let session = subscription.session();
        self.followed.push(Followed { session, next: subscription.next().boxed() });
    }

    fn leave(&mut self, session: SessionId) {
        self.followed.retain(|followed| followed.session != session);
    }

    async fn send(&mut self, frames: Frames) -> Result<(), Ended> {
        let mut messages = Vec::with_capacity(frames.len());
        for frame in frames {
            match frame.to_text() {
                Ok(text) => messages.push(Message::Text(text.into())),
                Err(error) => tracing::error!("a frame cannot be written: {error}"),
            }
        }
        self.put(messages).await
    }

    /// Sends frames and waits until the kernel has accepted them. Nothing is queued beyond that.
    async fn put(&mut self, messages: impl IntoIterator<Item = Message>) -> Result<(), Ended> {
        let socket = &mut self.socket;
        let sending = async move {
            for message in messages {
                socket.feed(message).await?;
            }
            socket.flush().await
        };
        match tokio::time::timeout(SEND_TIMEOUT, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Ended::Gone),
            Err(_) => {
                tracing::info!("cut off a socket that does not read");
                Err(Ended::Gone)
            }
        }
    }
}

const fn error(message: String, hint: Option<String>) -> ServerFrame {
    ServerFrame::Error { message, hint }
}

/// The frames of the first subscription that has some, which then moves to the end of the list.
fn next(followed: &mut Vec<Followed>, context: &mut Context<'_>) -> Poll<(Subscription, Frames)> {
    for index in 0..followed.len() {
        let Some(one) = followed.get_mut(index) else { break };
        if let Poll::Ready(had) = Pin::new(&mut one.next).poll(context) {
            followed.remove(index);
            return Poll::Ready(had);
        }
    }
    Poll::Pending
}
