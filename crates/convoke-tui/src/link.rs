//! The connection to the daemon: one task that owns the socket, sends requests, and reconnects.

use std::time::Duration;

use convoke_api::frames::{ClientFrame, Envelope, ServerFrame};
use convoke_api::{Client, Error, Socket};
use convoke_core::explain;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::Reach;

/// How long to wait before the first new try after one that failed; each further one waits twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// How long to wait between tries at most.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// An event of the connection task.
pub(crate) enum LinkEvent {
    /// The daemon is connected.
    Linked(Box<Client>),
    /// There is none any more, and why.
    Unlinked(String),
    /// A frame of the daemon.
    Frame(Box<Envelope<ServerFrame>>),
    /// An error that changes nothing else.
    Failed(String),
}

/// Keeps the connection to the daemon until the receiver is dropped; without a first client, it
/// looks for a daemon.
pub(crate) async fn hold(
    first: Option<Client>,
    reach: Reach,
    mut orders: mpsc::Receiver<Envelope<ClientFrame>>,
    events: mpsc::Sender<LinkEvent>,
) {
    let mut client = first;
    let mut pause = PAUSE_MIN;
    loop {
        let Some(known) = client else {
            let Ok(found) = reconnect(&reach, &mut pause, &events).await else { return };
            client = found;
            continue;
        };
        let words = match known.socket().await {
            Ok(socket) => {
                // Frames for a daemon that has exited are not sent to its successor.
                while orders.try_recv().is_ok() {}
                if events.send(LinkEvent::Linked(Box::new(known.clone()))).await.is_err() {
                    return;
                }
                pause = PAUSE_MIN;
                match exchange(socket, &mut orders, &events).await {
                    Ended::Gone(words) => words,
                    Ended::ReceiverDropped => return,
                }
            }
            Err(error) => explain(&error),
        };
        if events.send(LinkEvent::Unlinked(words)).await.is_err() {
            return;
        }
        let Ok(found) = reconnect(&reach, &mut pause, &events).await else { return };
        client = found.or(Some(known));
    }
}

/// The receiver was dropped.
struct ReceiverDropped;

/// Reconnects to the daemon after a delay, with backoff.
async fn reconnect(
    reach: &Reach,
    pause: &mut Duration,
    events: &mpsc::Sender<LinkEvent>,
) -> Result<Option<Client>, ReceiverDropped> {
    sleep(*pause).await;
    *pause = (*pause * 2).min(PAUSE_MAX);
    match reach().await {
        Ok(found) => Ok(Some(found)),
        Err(words) => match events.send(LinkEvent::Unlinked(words)).await {
            Ok(()) => Ok(None),
            Err(_) => Err(ReceiverDropped),
        },
    }
}

enum Ended {
    /// Lost the connection to the daemon, and how.
    Gone(String),
    /// The receiver was dropped.
    ReceiverDropped,
}

async fn exchange(
    mut socket: Socket,
    orders: &mut mpsc::Receiver<Envelope<ClientFrame>>,
    events: &mpsc::Sender<LinkEvent>,
) -> Ended {
    loop {
        let message = tokio::select! {
            order = orders.recv() => {
                let Some(order) = order else { return Ended::ReceiverDropped };
                match socket.send(&order).await {
                    Ok(()) => continue,
                    Err(error) => return Ended::Gone(explain(&error)),
                }
            }
            received = socket.next() => match received {
                Ok(Some(envelope)) => LinkEvent::Frame(Box::new(envelope)),
                Ok(None) => return Ended::Gone("The daemon has stopped".to_owned()),
                // Another version may send frames that this one does not know.
                Err(error @ Error::Malformed { .. }) => LinkEvent::Failed(explain(&error)),
                Err(_) => return Ended::Gone("Lost the connection to the daemon".to_owned()),
            },
        };
        if events.send(message).await.is_err() {
            return Ended::ReceiverDropped;
        }
    }
}
