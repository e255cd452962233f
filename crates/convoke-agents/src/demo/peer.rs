//! The client from the demo agent's side: responses, updates, and requests to it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, oneshot};

use crate::lines::Writer;

/// Lines that may be queued for the client; with more, turns wait.
const LINES_MAX: usize = 64;

/// A handle to the client; cheap to clone.
#[derive(Clone)]
pub(super) struct Peer {
    lines: mpsc::Sender<Value>,
    pending: Arc<Mutex<BTreeMap<u64, oneshot::Sender<Value>>>>,
    next: Arc<AtomicU64>,
}

impl Peer {
    /// Starts the task that writes to the client.
    pub(super) fn start(output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (lines, mut waiting) = mpsc::channel::<Value>(LINES_MAX);
        tokio::spawn(async move {
            let mut writer = Writer::new(output);
            while let Some(line) = waiting.recv().await {
                // A client that does not read has disconnected; its input ends soon.
                if writer.send(&line).await.is_err() {
                    return;
                }
            }
        });
        Self { lines, pending: Arc::default(), next: Arc::default() }
    }

    /// Answers a request of the client.
    pub(super) async fn answer(&self, id: Value, answer: Result<Value, (i64, String)>) {
        self.send(match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        })
        .await;
    }

    /// Sends the client an update of a session.
    pub(super) async fn update(&self, session: &str, update: Value) {
        let params = json!({"sessionId": session, "update": update});
        self.send(json!({"jsonrpc": "2.0", "method": "session/update", "params": params})).await;
    }

    /// Sends the client a request; `None` if it disconnects or refuses.
    pub(super) async fn request(&self, method: &str, params: Value) -> Option<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        self.pending().insert(id, reply);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        answer.await.ok()?.get("result").cloned()
    }

    /// Passes the client's answer to the waiting caller.
    pub(super) fn settle(&self, id: &Value, message: Value) {
        let reply = id.as_u64().and_then(|id| self.pending().remove(&id));
        if let Some(reply) = reply {
            // The caller may have been cancelled.
            reply.send(message).ok();
        }
    }

    async fn send(&self, line: Value) {
        // A client that has disconnected cannot be written to.
        self.lines.send(line).await.ok();
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, oneshot::Sender<Value>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
